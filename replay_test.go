package gateway_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
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

// expectation is what a client must see of an exchange.
type expectation struct {
	ID              string     `json:"id"`
	Outcome         string     `json:"outcome"`
	AcceptOutcomes  []string   `json:"accept_outcomes"`
	Text            string     `json:"text"`
	Thinking        string     `json:"thinking"`
	Signatures      []string   `json:"thinking_signatures"`
	ToolCalls       []wantCall `json:"tool_calls"`
	FinishAccept    []*string  `json:"finish_reason_accept"`
	FinishRaw       any        `json:"finish_reason_raw"`
	Usage           *wantUsage `json:"usage"`
	Images          []wantData `json:"images"`
	Error           *wantError `json:"error"`
	ResponseModel   string     `json:"response_model"`
	CandidateCounts []any      `json:"choices"`
}

type wantCall struct {
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	Arguments json.RawMessage `json:"arguments"`
	Signature string          `json:"thought_signature"`
}

type wantUsage struct {
	Prompt, Completion, Total, Reasoning, Cached int64
}

func (u *wantUsage) UnmarshalJSON(data []byte) error {
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	n := func(k string) int64 { f, _ := v[k].(float64); return int64(f) }
	*u = wantUsage{n("prompt_tokens"), n("completion_tokens"), n("total_tokens"), n("reasoning_tokens"), n("cached_tokens")}
	return nil
}

type wantData struct {
	Mime   string `json:"mime"`
	SHA256 string `json:"sha256"`
	URI    string `json:"uri"`
}

type wantError struct {
	Status     int    `json:"status"`
	Message    string `json:"message"`
	RetryAfter string `json:"retry_after"`
}

// TestReplay answers with real traffic, recorded elsewhere, and compares what
// the client returns with what the exchange says. GATEWAY_RECORDED_DIR names
// the recordings with their oracle.py; without it the test is skipped.
func TestReplay(t *testing.T) {
	dir := os.Getenv("GATEWAY_RECORDED_DIR")
	if dir == "" {
		t.Skip("GATEWAY_RECORDED_DIR is not set")
	}
	exchanges, want := loadRecordings(t, dir)
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

// loadRecordings reads the exchanges of Gemini and asks the oracle about them.
func loadRecordings(t *testing.T, dir string) ([]*exchange, map[string]*expectation) {
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
		if x.Kind == "gemini" && slices.Contains([]string{"recorded", "recorded_response_only"}, x.Provenance) {
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

func compareError(t *testing.T, want *expectation, err error) {
	t.Helper()
	if want.Outcome != "error" && !slices.Contains(want.AcceptOutcomes, "error") {
		t.Fatalf("%v, want %s", err, want.Outcome)
	}
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T, want *gateway.Error", err)
	}
	if want.Outcome != "error" {
		return
	}
	if e.HTTPStatus() != want.Error.Status {
		t.Errorf("status %d, want %d", e.HTTPStatus(), want.Error.Status)
	}
	if !strings.Contains(e.Message, want.Error.Message) {
		t.Errorf("message %q, want %q in it", e.Message, want.Error.Message)
	}
	if want.Error.RetryAfter != "" && e.RetryAfter.String() != want.Error.RetryAfter {
		t.Errorf("retry after %v, want %s", e.RetryAfter, want.Error.RetryAfter)
	}
}

func compareAnswer(t *testing.T, want *expectation, got *gateway.ChatCompletion) {
	t.Helper()
	if len(got.Choices) == 0 {
		t.Fatal("no choice")
	}
	c := &got.Choices[0]
	if text := c.Message.Content.Text(); text != want.Text {
		t.Errorf("text %q, want %q", text, want.Text)
	}
	var thinking strings.Builder
	signatures := []string{}
	for _, b := range c.Message.ContentBlocks {
		thinking.WriteString(b.Thinking)
		if b.Signature != "" {
			signatures = append(signatures, b.Signature)
		}
	}
	if thinking.String() != want.Thinking {
		t.Errorf("thinking %q, want %q", thinking.String(), want.Thinking)
	}
	if !slices.Equal(signatures, want.Signatures) {
		t.Errorf("signatures %q, want %q", signatures, want.Signatures)
	}
	compareCalls(t, want.ToolCalls, c.Message.ToolCalls)
	if !slices.ContainsFunc(want.FinishAccept, func(f *string) bool { return f != nil && *f == c.FinishReason }) {
		t.Errorf("finish reason %q is not accepted", c.FinishReason)
	}
	if raw, ok := want.FinishRaw.(string); ok && raw != c.NativeFinishReason {
		t.Errorf("native finish reason %q, want %q", c.NativeFinishReason, raw)
	}
	compareUsage(t, want.Usage, got.Usage)
	compareImages(t, want.Images, c.Message.ContentBlocks)
	if want.ResponseModel != "" && got.Model != want.ResponseModel {
		t.Errorf("model %q, want %q", got.Model, want.ResponseModel)
	}
	if n := len(want.CandidateCounts); n > 0 && len(got.Choices) != n {
		t.Errorf("%d choices, want %d", len(got.Choices), n)
	}
}

func compareCalls(t *testing.T, want []wantCall, got []gateway.ToolCall) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tool calls, want %d", len(got), len(want))
	}
	seen := map[string]bool{}
	for i, w := range want {
		g := &got[i]
		if g.ID == "" || seen[g.ID] || w.ID != "" && g.ID != w.ID {
			t.Errorf("call %d: id %q, want %q and unique", i, g.ID, w.ID)
		}
		seen[g.ID] = true
		var a, b any
		if err := errors.Join(json.Unmarshal([]byte(g.Function.Arguments), &a), json.Unmarshal(w.Arguments, &b)); err != nil {
			t.Errorf("call %d: arguments %q: %v", i, g.Function.Arguments, err)
		}
		if g.Function.Name != w.Name || !reflect.DeepEqual(a, b) {
			t.Errorf("call %d: %s(%s), want %s(%s)", i, g.Function.Name, g.Function.Arguments, w.Name, w.Arguments)
		}
		if g.Function.ThoughtSignature != w.Signature {
			t.Errorf("call %d: signature %q, want %q", i, g.Function.ThoughtSignature, w.Signature)
		}
	}
}

func compareImages(t *testing.T, want []wantData, blocks []gateway.ContentPart) {
	t.Helper()
	var got []wantData
	for _, b := range blocks {
		if b.ImageURL == nil {
			continue
		}
		head, data, inline := strings.Cut(b.ImageURL.URL, ";base64,")
		if !inline {
			got = append(got, wantData{URI: b.ImageURL.URL})
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Errorf("image: %v", err)
		}
		if mime := strings.TrimPrefix(head, "data:"); strings.HasPrefix(mime, "image/") {
			got = append(got, wantData{Mime: mime, SHA256: fmt.Sprintf("%x", sha256.Sum256(raw))})
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("images %v, want %v", got, want)
	}
}

func compareUsage(t *testing.T, want *wantUsage, got *gateway.Usage) {
	t.Helper()
	if want == nil || got == nil {
		if (want == nil) != (got == nil) {
			t.Errorf("usage %v, want %v", got, want)
		}
		return
	}
	g := wantUsage{
		got.PromptTokens, got.CompletionTokens, got.TotalTokens,
		got.CompletionTokensDetails.ReasoningTokens, got.PromptTokensDetails.CachedTokens,
	}
	if g != *want {
		t.Errorf("usage %s, want %s", fmt.Sprint(g), fmt.Sprint(*want))
	}
}
