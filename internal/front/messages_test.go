package front

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const (
	messagesPath = "/v1/messages"
	countPath    = "/v1/messages/count_tokens"
	greet        = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`
	greetSSE     = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hello"}],"stream":true}`
)

// messageEnvelope is the error envelope of the Anthropic schema.
type messageEnvelope struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// readMessageEnvelope checks that the answer is an error as it should be.
func readMessageEnvelope(t *testing.T, res *http.Response) messageEnvelope {
	t.Helper()
	var e messageEnvelope
	dec := json.NewDecoder(strings.NewReader(readBody(t, res)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil || e.Type != "error" || e.Error.Type == "" || e.Error.Message == "" {
		t.Fatalf("status %d, %+v is no error envelope: %v", res.StatusCode, e, err)
	}
	if id := res.Header.Get("request-id"); id == "" || id != e.RequestID || id != res.Header.Get("x-gateway-request-id") {
		t.Errorf("request id %q in the body, header %v", e.RequestID, res.Header)
	}
	return e
}

func TestMessages(t *testing.T) {
	answer := &providers.ChatCompletion{
		ID: "a", Model: "m-1",
		Choices: []providers.Choice{{FinishReason: "stop", Message: providers.AssistantMessage("Hi!")}},
		Meta:    providers.Meta{RequestID: "r-1", Slug: "vx", Model: "m", Attempts: make([]providers.Attempt, 1)},
	}
	b := &fake{answer: answer}
	res := ask(t, Config{}, b, "POST", messagesPath+"?beta=true", greet,
		"anthropic-version", "2023-06-01", "anthropic-beta", "x-2026", "x-api-key", "anything", "x-gateway-strict-compliance", "true")
	const want = `{"id":"a","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"Hi!"}],` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,` +
		`"cache_read_input_tokens":0,"output_tokens":0}}`
	if diff := cmp.Diff(want, readBody(t, res)); diff != "" || res.StatusCode != 200 {
		t.Errorf("status %d, body (-want +got):\n%s", res.StatusCode, diff)
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Content-Length": {fmt.Sprint(len(want))}, "Request-Id": {"r-1"},
		"X-Gateway-Cache-Status": {"disabled"}, "X-Gateway-Attempts": {"1"}, "X-Gateway-Provider": {"vx"},
		"X-Gateway-Model": {"m"}, "X-Gateway-Target": {"@vx/m"}, "X-Gateway-Request-Id": {"r-1"},
	}
	if diff := cmp.Diff(header, res.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(http.Header{"Anthropic-Beta": {"x-2026"}}, b.overrides.Header); diff != "" {
		t.Errorf("header sent on (-want +got):\n%s", diff)
	}
}

func TestMessagesCount(t *testing.T) {
	b := &fake{count: providers.TokenCount{TotalTokens: 42, Meta: providers.Meta{RequestID: "r-1"}}}
	res := ask(t, Config{}, b, "POST", countPath, `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`)
	if got := readBody(t, res); got != `{"input_tokens":42}` || res.StatusCode != 200 || res.Header.Get("request-id") != "r-1" {
		t.Errorf("status %d, body %s, header %v", res.StatusCode, got, res.Header)
	}
}

func messageStart(id string) string {
	return "event: message_start\n" + `data: {"type":"message_start","message":{"id":"` + id + `","type":"message","role":"assistant","model":"m-1","content":[],` +
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}` +
		"\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n" +
		"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}` + "\n\n"
}

func TestMessagesStream(t *testing.T) {
	const end = "event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
		"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},` +
		`"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}` + "\n\n" +
		"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
	const failed = "event: error\n" + `data: {"type":"error","error":{"type":"%s","message":"%s"},"request_id":"r-1"}` + "\n\n"
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"whole", io.EOF, end},
		{"cut", &providers.Error{Code: providers.ErrStreamCut, Message: "cut", Err: io.EOF}, fmt.Sprintf(failed, "api_error", "cut")},
		{"overloaded", &providers.Error{Code: providers.ErrUnavailable, Message: "busy"}, fmt.Sprintf(failed, "overloaded_error", "busy")},
		{"for a reason not to be shown", errors.New("secret"), fmt.Sprintf(failed, "api_error", "the gateway failed")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(tt.err, "Hi")
			s.meta = providers.Meta{RequestID: "r-1"}
			res := ask(t, Config{}, &fake{stream: s}, "POST", messagesPath, greetSSE)
			if diff := cmp.Diff(messageStart("a")+tt.want, readBody(t, res)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if ct := res.Header.Get("Content-Type"); ct != "text/event-stream; charset=utf-8" || res.Header.Get("request-id") != "r-1" {
				t.Errorf("header %v", res.Header)
			}
			if !s.isClosed() {
				t.Error("the stream was not closed")
			}
		})
	}
}

func TestMessagesErrors(t *testing.T) {
	tests := []struct {
		name, kind, message string
		err                 *providers.Error
		status              int
	}{
		{"of the request", "invalid_request_error", "tools: no", providers.Invalid("tools", "no"), 400},
		{"of a model", "not_found_error", "no", &providers.Error{Code: providers.ErrModelNotFound, Message: "no"}, 404},
		{"of a right", "permission_error", "no", &providers.Error{Code: providers.ErrPermission, Message: "no", StatusCode: 403}, 403},
		{"of a rate", "rate_limit_error", "no", &providers.Error{Code: providers.ErrRateLimited, Message: "no", RetryAfter: time.Second}, 429},
		{"of time", "timeout_error", "no", &providers.Error{Code: providers.ErrTimeout, Message: "no"}, 504},
		{"of the platform", "api_error", "server error", &providers.Error{Code: providers.ErrServer}, 500},
		{"of its load", "overloaded_error", "no", &providers.Error{Code: providers.ErrUnavailable, Message: "no"}, 503},
		{"of a filter", "invalid_request_error", "no", &providers.Error{Code: providers.ErrContentFilter, Message: "no"}, 400},
	}
	for _, tt := range tests {
		for _, where := range [][2]string{{messagesPath, greet}, {messagesPath, greetSSE}, {countPath, greet}} {
			t.Run(tt.name+" "+where[0], func(t *testing.T) {
				res := ask(t, Config{}, &fake{err: tt.err}, "POST", where[0], where[1])
				e := readMessageEnvelope(t, res)
				if res.StatusCode != tt.status || e.Error.Type != tt.kind || e.Error.Message != tt.message {
					t.Errorf("status %d, %+v", res.StatusCode, e)
				}
				if tt.err.RetryAfter > 0 && res.Header.Get("Retry-After") != "1" {
					t.Errorf("header %v", res.Header)
				}
			})
		}
	}
}

func TestMessagesRefusals(t *testing.T) {
	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		kind, fragment           string
	}{
		{"no max_tokens", "POST", messagesPath, `{"model":"m","messages":[{"role":"user","content":"a"}]}`, nil, 400, "invalid_request_error", "max_tokens: required"},
		{"a wrong type", "POST", messagesPath, `{"model":"m","messages":[{"role":"user","content":7}]}`, nil, 400, "invalid_request_error", "messages[0].content: expected a string or a list"},
		{"no JSON", "POST", messagesPath, `{"model"`, nil, 400, "invalid_request_error", "unexpected end"},
		{"too large", "POST", messagesPath, greet + strings.Repeat(" ", 1<<10), nil, 413, "request_too_large", "over the limit of 1024 bytes"},
		{"another media type", "POST", countPath, greet, []string{"Content-Type", "text/plain"}, 415, "invalid_request_error", "application/json"},
		{"another method", "GET", messagesPath, "", nil, 405, "invalid_request_error", "use POST"},
		{"an unknown header", "POST", messagesPath, greet, []string{"x-gateway-porvider", "a"}, 400, "invalid_request_error", "x-gateway-provider"},
		{"no key", "POST", messagesPath, greet, []string{"x-api-key", "no"}, 401, "authentication_error", "x-api-key: KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{MaxBody: 1 << 10}
			if tt.status == 401 {
				cfg.Keys = []string{"key"}
			}
			res := ask(t, cfg, &fake{}, tt.method, tt.path, tt.body, tt.header...)
			e := readMessageEnvelope(t, res)
			if res.StatusCode != tt.status || e.Error.Type != tt.kind || !strings.Contains(e.Error.Message, tt.fragment) {
				t.Errorf("status %d, %+v", res.StatusCode, e)
			}
		})
	}
}

func TestMessagesKeys(t *testing.T) {
	tests := []struct {
		name, path string
		header     []string
		status     int
		token      string
	}{
		{"as x-api-key", messagesPath, []string{"x-api-key", "key"}, 200, ""},
		{"as x-api-key for tokens", countPath, []string{"x-api-key", "key"}, 200, ""},
		{"as Authorization", messagesPath, []string{"Authorization", "Bearer key"}, 200, ""},
		{"as Authorization beside another's", messagesPath, []string{"Authorization", "Bearer key", "x-api-key", "no"}, 200, ""},
		{"as the gateway's own", messagesPath, []string{"x-gateway-api-key", "key"}, 200, ""},
		{"with a token", messagesPath, []string{"x-api-key", "key", "Authorization", "Bearer tok"}, 200, "tok"},
		{"wrong", messagesPath, []string{"x-api-key", "no"}, 401, ""},
		{"empty", messagesPath, []string{"x-api-key", ""}, 401, ""},
		{"twice", messagesPath, []string{"x-api-key", "key", "x-api-key", "key"}, 401, ""},
		{"wrong as the gateway's own", messagesPath, []string{"x-gateway-api-key", "no", "x-api-key", "key"}, 401, ""},
		{"as x-api-key on other paths", chatPath, []string{"x-api-key", "key"}, 401, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{Keys: []string{"key", ""}}, b, "POST", tt.path, greet, tt.header...)
			if res.StatusCode != tt.status || b.overrides.Token != tt.token {
				t.Errorf("status %d, token %q, want %d and %q", res.StatusCode, b.overrides.Token, tt.status, tt.token)
			}
		})
	}
}
