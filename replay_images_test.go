package gateway_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

// TestReplayImages answers with recorded predictions of models that draw. The
// image that a model of Gemini answered with is asked for as well, and what is
// sent must be what was sent when it was recorded.
func TestReplayImages(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		x := new(exchange)
		if err := json.Unmarshal(data, x); err != nil {
			t.Fatal(err)
		}
		isVertexImage := x.Kind == "gemini" && slices.Contains(x.Tags, "image_out") && slices.Contains(x.Tags, "vertex") && x.Provenance == "recorded"
		if x.Kind != "predict" && !isVertexImage {
			continue
		}
		ran++
		for _, framing := range []string{"whole", "7"} {
			t.Run(x.ID+"/"+framing, func(t *testing.T) { replayImages(t, x, framing) })
		}
	}
	if t.Logf("replayed %d exchanges with images", ran); ran == 0 {
		t.Error("no exchange was replayed")
	}
}

// recordedImage is an image of a recorded answer: of what it is, and where.
type recordedImage struct{ sum, uri string }

func replayImages(t *testing.T, x *exchange, framing string) {
	t.Helper()
	replies := replayServer{x: x, framing: framing}
	var sent []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		replies.ServeHTTP(w, r)
	}))
	defer srv.Close()
	client, err := gateway.New(gateway.WithBaseURL(srv.URL), gateway.WithProjectID("p"), gateway.WithRegion("us-central1"), gateway.WithAccessToken("token"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	req := &gateway.ImageRequest{Model: modelInURL.FindStringSubmatch(x.Request.URL)[1], Prompt: "Generate an image of an axolotl.", N: new(4)}
	if x.Kind == "gemini" {
		req.N, req.OutputFormat, req.OutputCompression = nil, "jpeg", new(85)
	}
	got, err := client.Images.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var images []recordedImage
	for i := range got.Data {
		one := recordedImage{uri: got.Data[i].URL}
		if one.uri == "" {
			data, _, err := got.Data[i].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			one.sum = sum(data)
		}
		images = append(images, one)
	}
	want, reasons := imagesOf(t, x.Response.Body)
	if !slices.Equal(want, images) {
		t.Errorf("%v, want %v", images, want)
	}
	told := ""
	for _, w := range got.Meta.Warnings {
		told += w.Message
	}
	for _, r := range reasons {
		if !strings.Contains(told, r) {
			t.Errorf("%q is not told in %q", r, told)
		}
	}
	if x.Kind == "gemini" {
		compareSent(t, x.Request.Body, sent)
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// imagesOf reads the images of a recorded answer, and why others are missing.
func imagesOf(t *testing.T, body []byte) (list []recordedImage, reasons []string) {
	t.Helper()
	var doc struct {
		Predictions []struct {
			Bytes    []byte `json:"bytesBase64Encoded"`
			GCS      string `json:"gcsUri"`
			Filtered string `json:"raiFilteredReason"`
		}
		Candidates []struct {
			Content struct {
				Parts []struct {
					InlineData *struct{ Data []byte }
					Thought    bool
				}
			}
		}
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Predictions {
		switch {
		case p.Filtered != "":
			reasons = append(reasons, p.Filtered)
		case p.GCS != "":
			list = append(list, recordedImage{uri: p.GCS})
		default:
			list = append(list, recordedImage{sum: sum(p.Bytes)})
		}
	}
	for _, c := range doc.Candidates {
		for _, p := range c.Content.Parts {
			if p.InlineData != nil && !p.Thought {
				list = append(list, recordedImage{sum: sum(p.InlineData.Data)})
			}
		}
	}
	return list, reasons
}

// compareSent wants the same request as the recorded one, whatever the order of
// its members.
func compareSent(t *testing.T, recorded, sent []byte) {
	t.Helper()
	var want, got any
	if err := json.NewDecoder(bytes.NewReader(recorded)).Decode(&want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("what is sent (-recorded +ours)\n%s", diff)
	}
}
