package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/b650d4bf/gateway"
)

// exchange is one recorded request and answer.
type exchange struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Stream     bool     `json:"stream"`
	Provenance string   `json:"provenance"`
	Tags       []string `json:"tags"`
	Request    struct {
		URL  string          `json:"url"`
		Body json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		SSE     *string           `json:"sse"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

// TestReplay answers with real traffic, recorded elsewhere, and compares what
// the client returns with what the exchange says. GATEWAY_RECORDED_DIR names
// the recordings with their oracle.py; without it the test is skipped.
func TestReplay(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	exchanges, want := loadRecordings(t, dir, "gemini")
	for _, framing := range []string{"whole", "event", "7"} {
		t.Run(framing, func(t *testing.T) {
			srv := newReplayServer(t)
			var ran atomic.Int64
			t.Run("exchanges", func(t *testing.T) {
				for _, x := range exchanges {
					t.Run(x.ID, func(t *testing.T) {
						srv.answer(x, framing)
						replay(t, srv.URL, x, want[x.ID])
						ran.Add(1)
					})
				}
			})
			t.Logf("replayed %d exchanges, framing %s", ran.Load(), framing)
			if ran.Load() == 0 {
				t.Error("no exchange was replayed")
			}
		})
	}
}

// loadRecordings reads the exchanges of a kind and asks the oracle about them.
func loadRecordings(t *testing.T, dir, kind string) ([]*exchange, map[string]*expectation) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s", dir)
	}
	var list []*exchange
	args := []string{filepath.Join(dir, "oracle.py")}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		x := new(exchange)
		if err := json.Unmarshal(data, x); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if x.Kind == kind && slices.Contains([]string{"recorded", "recorded_response_only"}, x.Provenance) {
			list = append(list, x)
			args = append(args, f)
		}
	}
	out, err := exec.CommandContext(t.Context(), "python3", args...).Output()
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	want := make(map[string]*expectation, len(list))
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		e := new(expectation)
		if err := dec.Decode(e); err != nil {
			t.Fatal(err)
		}
		want[e.ID] = e
	}
	return list, want
}

// replayServer answers with one exchange at a time, over a real socket.
type replayServer struct {
	*httptest.Server
	x       *exchange
	framing string
}

func newReplayServer(t *testing.T) *replayServer {
	t.Helper()
	s := &replayServer{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *replayServer) answer(x *exchange, framing string) { s.x, s.framing = x, framing }

var eventEnd = regexp.MustCompile(`\r?\n\r?\n`)

func (s *replayServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	res := &s.x.Response
	ctype := res.Headers["content-type"]
	body := []byte(res.Body)
	if res.SSE != nil {
		body = []byte(*res.SSE)
	} else if text := ""; json.Unmarshal(res.Body, &text) == nil {
		body = []byte(text)
	}
	if ctype == "" {
		ctype = "application/json"
		if s.x.Stream {
			ctype = "text/event-stream"
		}
	}
	w.Header().Set("Content-Type", ctype)
	w.WriteHeader(res.Status)
	for _, piece := range cut(body, s.framing) {
		_, _ = w.Write(piece)
		_ = http.NewResponseController(w).Flush()
	}
}

// cut divides a body as the framing says.
func cut(body []byte, framing string) [][]byte {
	switch framing {
	case "event":
		var out [][]byte
		for len(body) > 0 {
			end := len(body)
			if loc := eventEnd.FindIndex(body); loc != nil {
				end = loc[1]
			}
			out = append(out, body[:end])
			body = body[end:]
		}
		return out
	case "7":
		return slices.Collect(slices.Chunk(body, 7))
	}
	return [][]byte{body}
}

var modelInURL = regexp.MustCompile(`models/([^:/?]+)`)

func replay(t *testing.T, base string, x *exchange, want *expectation) {
	t.Helper()
	model := "gemini-2.5-flash"
	if m := modelInURL.FindStringSubmatch(x.Request.URL); m != nil {
		model = m[1]
	}
	client, err := gateway.New(gateway.WithBaseURL(base), gateway.WithProjectID("p"), gateway.WithRegion("global"),
		gateway.WithAccessToken("token"), gateway.WithStrictCompliance(false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	req := &gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{gateway.UserMessage("hi")}}
	var answer *gateway.ChatCompletion
	if x.Stream {
		var stream *gateway.ChatStream
		if stream, err = client.Chat.Completions.CreateStream(context.Background(), req); err == nil {
			answer, err = stream.Collect()
		}
	} else {
		answer, err = client.Chat.Completions.Create(context.Background(), req)
	}
	if err != nil {
		compareError(t, want, err)
		return
	}
	if want.Outcome != "completion" {
		t.Fatalf("an answer, want %s", want.Outcome)
	}
	compareAnswer(t, want, answer)
}
