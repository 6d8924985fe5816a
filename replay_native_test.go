package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/internal/sse"
)

// TestReplayNative plays real traffic through the paths of Google's own schema: a
// whole answer is the same byte by byte, and so is the data of each event, and the
// request reaches the platform as it was. GATEWAY_RECORDED_DIR names the recordings;
// without it the test is skipped.
func TestReplayNative(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	exchanges, want := loadRecordings(t, dir, "gemini")
	for _, framing := range []string{"whole", "event", "7"} {
		for _, path := range []string{
			"/v1beta/models/MODEL:METHOD", "/v1beta1/projects/p/locations/global/publishers/google/models/MODEL:METHOD",
		} {
			t.Run(framing+path, func(t *testing.T) {
				r := newNativeReplay(t, framing, path)
				whole, streams, errs := 0, 0, 0
				for _, x := range exchanges {
					t.Run(x.ID, func(t *testing.T) {
						switch {
						case x.Response.Status != http.StatusOK:
							errs++
							r.refused(t, x)
						case x.Stream:
							streams++
							r.streamed(t, x, want[x.ID])
						default:
							whole++
							r.whole(t, x)
						}
					})
				}
				t.Logf("replayed %d whole answers, %d streams and %d refusals in the schema of Google", whole, streams, errs)
				if whole == 0 || streams == 0 || errs == 0 {
					t.Error("a kind of exchange was not replayed")
				}
			})
		}
	}
}

// nativeReplay is a gateway before a server that plays exchanges.
type nativeReplay struct {
	play  *replayServer
	front *httptest.Server
	path  string

	mu   sync.Mutex
	sent []byte // what the server was sent last
}

func newNativeReplay(t *testing.T, framing, path string) *nativeReplay {
	t.Helper()
	r := &nativeReplay{play: &replayServer{framing: framing}, path: path}
	r.play.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.sent = body
		r.mu.Unlock()
		r.play.ServeHTTP(w, q)
	}))
	t.Cleanup(r.play.Close)
	client, err := gateway.New(gateway.WithBaseURL(r.play.URL), gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("token"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	r.front = httptest.NewServer(client.Handler())
	t.Cleanup(r.front.Close)
	return r
}

// ask sends the exchange's request and returns the answer with what was read of it.
func (r *nativeReplay) ask(t *testing.T, x *exchange) (*http.Response, []byte, error) {
	t.Helper()
	r.play.x = x
	method, model := "generateContent", "gemini-2.5-flash"
	if x.Stream {
		method = "streamGenerateContent?alt=sse"
	}
	if m := modelInURL.FindStringSubmatch(x.Request.URL); m != nil {
		model = m[1]
	}
	body := []byte(x.Request.Body)
	if len(body) == 0 || body[0] != '{' {
		body = []byte(`{"contents":[]}`)
	}
	url := r.front.URL + strings.NewReplacer("MODEL", model, "METHOD", method).Replace(r.path)
	res, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(string(body), string(r.sent)); diff != "" && !bytes.Contains(body, []byte(`"model"`)) {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	return res, data, err
}

func (r *nativeReplay) whole(t *testing.T, x *exchange) {
	res, data, err := r.ask(t, x)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Equal(x.Response.Body, data) {
		t.Errorf("status %d, %v (-want +got):\n%s", res.StatusCode, err, cmp.Diff(string(x.Response.Body), string(data)))
	}
}

func (r *nativeReplay) refused(t *testing.T, x *exchange) {
	res, data, err := r.ask(t, x)
	var want, got struct{ Error map[string]any }
	body := bytes.Trim(x.Response.Body, "[] \n")
	if e := json.Unmarshal(body, &want); e != nil || want.Error == nil {
		if err != nil || res.StatusCode != x.Response.Status {
			t.Errorf("status %d, %v", res.StatusCode, err)
		}
		return
	}
	if e := json.Unmarshal(data, &got); e != nil || err != nil {
		t.Fatalf("%s: %v, %v", data, e, err)
	}
	if want.Error["details"] == nil { // the gateway says what it knows
		delete(got.Error, "details")
	}
	if diff := cmp.Diff(want.Error, got.Error); diff != "" || res.StatusCode != x.Response.Status {
		t.Errorf("status %d (-want +got):\n%s", res.StatusCode, diff)
	}
}

// streamed wants the same events, and a break where the recording has one.
func (r *nativeReplay) streamed(t *testing.T, x *exchange, want *expectation) {
	_, data, err := r.ask(t, x)
	if x.Response.SSE == nil { // a list, or an error, in the place of events
		if len(data) == 0 {
			t.Error("no answer")
		}
		return
	}
	sent, got := eventsOf(t, *x.Response.SSE), eventsOf(t, string(data))
	if errors.Is(err, io.ErrUnexpectedEOF) { // cut behind the event that says so
		if n := len(got); want.Outcome == "completion" || n == 0 || !strings.HasPrefix(got[n-1], `{"error":`) {
			t.Fatalf("broken with %d events, the outcome is %s", n, want.Outcome)
		}
		got = got[:len(got)-1]
		sent = sent[:min(len(sent), len(got))]
	} else if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(data), `{"error":`) && want.Outcome != "completion" {
		return // before the first event
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// eventsOf returns the data of the events of a stream that say anything.
func eventsOf(t *testing.T, stream string) []string {
	t.Helper()
	var list []string
	for d := sse.NewDecoder(strings.NewReader(stream), 0); ; {
		e, err := d.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if data := strings.TrimSpace(string(e.Data)); data != "" {
			list = append(list, data)
		}
	}
}
