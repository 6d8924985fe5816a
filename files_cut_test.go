package gateway_test

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestAFileThatBreaksOffIsNotKept has readers fail as connections and archives do
// that end too early.
func TestAFileThatBreaksOffIsNotKept(t *testing.T) {
	for _, tt := range []struct {
		name string
		size int
	}{{"at once", 0}, {"in its first chunk", 10}, {"in a later one", 9 << 20}} {
		t.Run(tt.name, func(t *testing.T) {
			client, platform := batchClient(t)
			_, err := client.Files.Create(t.Context(), &gateway.FileRequest{
				File: io.MultiReader(strings.NewReader(long(tt.size)), iotest.ErrReader(io.ErrUnexpectedEOF)), Purpose: "batch",
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, gateway.ErrInvalidRequest) {
				t.Errorf("%v", err)
			}
			if list := platform.Objects("bucket"); len(list) != 0 {
				t.Errorf("%v is left", list)
			}
		})
	}
}

// garbled answers questions about an upload with a range that is none, once.
type garbled struct {
	http.RoundTripper
	done bool
}

func (g *garbled) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.done || r.Header.Get("Content-Range") != "bytes */*" {
		return g.RoundTripper.RoundTrip(r)
	}
	g.done = true
	return &http.Response{StatusCode: http.StatusPermanentRedirect, Header: http.Header{"Range": {"bytes=0-x"}}, Body: http.NoBody, Request: r}, nil
}

// TestAnUploadOutlivesARangeThatIsNone asks again after it.
func TestAnUploadOutlivesARangeThatIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		platform := vertextest.New()
		defer platform.Close()
		platform.ScriptVerb("uploadChunk", vertextest.Auto(), vertextest.Error(503, "UNAVAILABLE", "busy"))
		client, err := gateway.New(
			gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"), gateway.WithBucket("gs://bucket"),
			gateway.WithHTTPClient(&http.Client{Transport: &garbled{RoundTripper: platform.Transport()}}),
		)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		text := long(9 << 20)
		f, err := client.Files.Create(t.Context(), &gateway.FileRequest{File: strings.NewReader(text), Purpose: "batch"})
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, client, f.ID); got != text {
			t.Errorf("%d of %d bytes came back", len(got), len(text))
		}
	})
}

// TestAnUploadCanBeSentAgain sends one request of an SDK twice, in the process.
func TestAnUploadCanBeSentAgain(t *testing.T) {
	client, _ := batchClient(t)
	const form = "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--b--\r\n"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/v1/files", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	for range 2 {
		if r.Body, err = r.GetBody(); err != nil {
			t.Fatal(err)
		}
		body := r.Body
		res, err := client.RoundTripper().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Status != "200 OK" {
			t.Errorf("%s %s", res.Status, text)
		}
		if r.Body != body || r.MultipartForm != (*multipart.Form)(nil) {
			t.Error("the request was changed")
		}
	}
}

// TestAnAnswerToHeadHasNoBody asks in the process for heads.
func TestAnAnswerToHeadHasNoBody(t *testing.T) {
	client, _ := batchClient(t)
	id := upload(t, client, long(100<<10))
	for _, path := range []string{"/v1/models", "/v1/files", "/v1/files/" + id, "/v1/files/" + id + "/content", "/v1/files/none"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://x"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.RoundTripper().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || len(text) != 0 || res.Body.Close() != nil || res.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %s, %d bytes, %v %v", path, res.Status, len(text), err, res.Header)
		}
	}
}
