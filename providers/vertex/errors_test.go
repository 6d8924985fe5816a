package vertex_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
)

// refused calls both methods and returns the error, which must be the same.
func refused(t *testing.T, status int, header http.Header, body string) *providers.Error {
	t.Helper()
	answer := func() *player {
		p := plays([]byte(body))
		p.status, p.header = status, header
		return p
	}
	const model = "gemini-3.5-flash"
	_, err := newProvider(t, answer()).ChatCompletion(t.Context(), target(model), hello(t, model))
	_, streamErr := newProvider(t, answer()).ChatCompletionStream(t.Context(), target(model), hello(t, model))
	if err == nil || streamErr == nil {
		t.Fatalf("whole: %v, streamed: %v, want errors", err, streamErr)
	}
	if diff := cmp.Diff(outcome.Describe(err), outcome.Describe(streamErr)); diff != "" {
		t.Errorf("the stream's error differs (-whole +streamed)\n%s", diff)
	}
	var e *providers.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T, want a *providers.Error", err)
	}
	return e
}

func rpcError(code int, status, message string, details ...string) string {
	s := `{"error":{"code":` + strconv.Itoa(code) + `,"message":` + strconv.Quote(message) + `,"status":"` + status + `"`
	if len(details) > 0 {
		s += `,"details":[` + strings.Join(details, ",") + `]`
	}
	return s + "}}"
}

func TestEveryStatusIsAKindOfError(t *testing.T) {
	for _, tt := range []struct {
		http    int
		status  string
		message string
		want    providers.Code
		sent    bool
	}{
		{400, "INVALID_ARGUMENT", "bad field", providers.ErrInvalidRequest, false},
		{400, "FAILED_PRECONDITION", "billing", providers.ErrInvalidRequest, false},
		{400, "INVALID_ARGUMENT", "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", providers.ErrContextLength, false},
		{400, "INVALID_ARGUMENT", "Multiple tools are supported only when they are all search tools.", providers.ErrOneToolOnly, false},
		{400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", providers.ErrAuthentication, false},
		{400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", providers.ErrTooLarge, false},
		{401, "UNAUTHENTICATED", "no", providers.ErrAuthentication, false},
		{402, "", "pay", providers.ErrInvalidRequest, false},
		{403, "PERMISSION_DENIED", "no", providers.ErrPermission, false},
		{404, "NOT_FOUND", "no", providers.ErrModelNotFound, false},
		{408, "CANCELLED", "slow", providers.ErrTimeout, false},
		{409, "ABORTED", "again", providers.ErrInvalidRequest, false},
		{413, "", "large", providers.ErrTooLarge, false},
		{429, "RESOURCE_EXHAUSTED", "Resource exhausted.", providers.ErrRateLimited, false},
		{429, "RESOURCE_EXHAUSTED", "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-pro.", providers.ErrRateLimited, false},
		{429, "RESOURCE_EXHAUSTED", "Too many requests. Exceeded the Provisioned Throughput.", providers.ErrQuotaExceeded, false},
		{429, "RESOURCE_EXHAUSTED", "Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_day_per_project_per_base_model.", providers.ErrQuotaExceeded, false},
		{499, "CANCELLED", "gone", providers.ErrCanceled, false},
		{500, "INTERNAL", "oops", providers.ErrServer, true},
		{502, "", "bad gateway", providers.ErrServer, true},
		{503, "UNAVAILABLE", "overloaded", providers.ErrUnavailable, true},
		{504, "DEADLINE_EXCEEDED", "late", providers.ErrTimeout, true},
		{529, "", "overloaded", providers.ErrUnavailable, true},
		{599, "", "odd", providers.ErrServer, true},
	} {
		t.Run(strconv.Itoa(tt.http)+" "+tt.message, func(t *testing.T) {
			e := refused(t, tt.http, nil, rpcError(tt.http, tt.status, tt.message))
			want := providers.Error{Code: tt.want, StatusCode: tt.http, NativeStatus: tt.status, Provider: "vertex-ai", Sent: tt.sent}
			got := *e
			got.Message = ""
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !strings.HasPrefix(e.Message, tt.message) {
				t.Errorf("message %q, want %q first", e.Message, tt.message)
			}
		})
	}
}

func TestErrorBodiesOfEveryForm(t *testing.T) {
	envelope := rpcError(503, "UNAVAILABLE", "overloaded")
	for _, tt := range []struct{ name, body, message, native string }{
		{"an envelope", envelope, "overloaded", "UNAVAILABLE"},
		{"an envelope in a list", "[" + envelope + "\n]", "overloaded", "UNAVAILABLE"},
		{"a pretty envelope", "{\n \"error\" : {\n \"message\":\"over\\u006coaded\" , \"status\": \"UNAVAILABLE\" }\n}\n", "overloaded", "UNAVAILABLE"},
		{"that of another vendor", `{"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}`, "overloaded", "overloaded_error"},
		{"that of OpenAI", `{"error":{"message":"overloaded","type":"server_error","param":null,"code":null}}`, "overloaded", "server_error"},
		{"without an envelope", `{"object":"error","message":"overloaded","type":"ServerError","param":null,"code":503}`, "overloaded", "ServerError"},
		{"a bare string", `{"error":"overloaded"}`, "overloaded", ""},
		{"no message", `{"error":{"code":503,"status":"UNAVAILABLE"}}`, "", "UNAVAILABLE"},
		{"an odd code", `{"error":{"code":"503","message":"overloaded","status":"UNAVAILABLE"}}`, "overloaded", "UNAVAILABLE"},
		{"HTML", "<!DOCTYPE html><title>503</title>", "the answer is HTML, not JSON: the host, region or base URL may be wrong", ""},
		{"plain text", "upstream connect error", "the answer is not the platform's JSON", ""},
		{"JSON of something else", `{"text":"no envelope"}`, "the answer is not the platform's JSON", ""},
		{"an empty list", `[]`, "the answer is not the platform's JSON", ""},
		{"a number", `12`, "the answer is not the platform's JSON", ""},
		{"JSON that is cut", `{"error":{"message":"overlo`, "the answer is not the platform's JSON", ""},
		{"nothing", "", "the answer has no body", ""},
		{"blanks", " \n", "the answer has no body", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, 503, nil, tt.body)
			want := &providers.Error{
				Code: providers.ErrUnavailable, StatusCode: 503, NativeStatus: tt.native,
				Message: tt.message, Provider: "vertex-ai", Sent: true,
			}
			if diff := cmp.Diff(want, e); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestErrorDetailsAreRead(t *testing.T) {
	const (
		retry    = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}`
		field    = `{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config.top_k","description":"d"},{"field":"other"}]}`
		disabled = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com","metadata":{"consumer":"projects/p"}}`
	)
	t.Run("RetryInfo", func(t *testing.T) {
		if e := refused(t, 429, nil, rpcError(429, "RESOURCE_EXHAUSTED", "m", `"odd"`, field, retry)); e.RetryAfter != 34400*time.Millisecond {
			t.Errorf("retry after %v, want 34.4s", e.RetryAfter)
		}
	})
	t.Run("BadRequest", func(t *testing.T) {
		e := refused(t, 400, nil, rpcError(400, "INVALID_ARGUMENT", "m", field))
		if e.Param != "top_k" {
			t.Errorf("param %q", e.Param)
		}
		if diff := cmp.Diff("["+field+"]", string(e.Details)); diff != "" {
			t.Errorf("details (-want +got)\n%s", diff)
		}
	})
	t.Run("a violation without a field", func(t *testing.T) {
		for _, d := range []string{`{"fieldViolations":[]}`, `{"fieldViolations":{}}`, `{"fieldViolations":[1]}`, `{"fieldViolations":[{}]}`} {
			if e := refused(t, 400, nil, rpcError(400, "INVALID_ARGUMENT", "m", d)); e.Param != "" || e.Message != "m" {
				t.Errorf("%s: param %q, message %q", d, e.Param, e.Message)
			}
		}
	})
	t.Run("SERVICE_DISABLED needs no hint at a role", func(t *testing.T) {
		e := refused(t, 403, nil, rpcError(403, "PERMISSION_DENIED", "Vertex AI API is disabled.", disabled))
		if strings.Contains(e.Message, "roles/") {
			t.Errorf("message %q", e.Message)
		}
	})
	t.Run("a missing right names the permission", func(t *testing.T) {
		e := refused(t, 403, nil, rpcError(403, "PERMISSION_DENIED", "m"))
		if !strings.Contains(e.Message, "aiplatform.endpoints.predict") {
			t.Errorf("message %q", e.Message)
		}
	})
	t.Run("a missing model hints at its place", func(t *testing.T) {
		e := refused(t, 404, nil, rpcError(404, "NOT_FOUND", "m"))
		if !strings.Contains(e.Message, "global, us or eu") {
			t.Errorf("message %q", e.Message)
		}
	})
	t.Run("details that are no list", func(t *testing.T) {
		e := refused(t, 400, nil, `{"error":{"message":"m","details":{"a":1}}}`)
		if e.Message != "m" || string(e.Details) != `{"a":1}` {
			t.Errorf("%s", outcome.Describe(e))
		}
	})
}

func TestRetryAfterInEveryForm(t *testing.T) {
	info := func(d string) string {
		return rpcError(429, "RESOURCE_EXHAUSTED", "m", `{"retryDelay":"`+d+`"}`)
	}
	for _, tt := range []struct {
		name, header, value, body string
		want                      time.Duration
	}{
		{"seconds", "Retry-After", "7", info("1s"), 7 * time.Second},
		{"parts of a second", "Retry-After", "0.5", "", 500 * time.Millisecond},
		{"a date", "Retry-After", "Sat, 01 Jan 2000 00:01:30 GMT", "", 90 * time.Second},
		{"a date gone by", "Retry-After", "Fri, 31 Dec 1999 23:00:00 GMT", "", 0},
		{"milliseconds", "Retry-After-Ms", "250", "", 250 * time.Millisecond},
		{"nothing but RetryInfo", "X-Other", "1", info("1.25s"), 1250 * time.Millisecond},
		{"zero leaves it to RetryInfo", "Retry-After", "0", info("2s"), 2 * time.Second},
		{"less than nothing", "Retry-After", "-5", info("-3s"), 0},
		{"beyond reason", "Retry-After", "1e300", "", 24 * time.Hour},
		{"infinite", "Retry-After", "Inf", "", 24 * time.Hour},
		{"infinite milliseconds", "Retry-After-Ms", "+Inf", "", 24 * time.Hour},
		{"no number", "Retry-After", "NaN", "", 0},
		{"beyond reason in RetryInfo", "X-Other", "1", info("2000000h"), 24 * time.Hour},
		{"nonsense", "Retry-After", "soon", info("later"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where it is the year 2000
				e := refused(t, 429, http.Header{tt.header: {tt.value}}, tt.body)
				if e.RetryAfter != tt.want || e.Code != providers.ErrRateLimited {
					t.Errorf("%s after %v, want %v", e.Code, e.RetryAfter, tt.want)
				}
			})
		})
	}
}

func TestASuccessThatIsNotOneIsAnError(t *testing.T) {
	inside := rpcError(503, "UNAVAILABLE", "overloaded")
	for _, tt := range []struct {
		name, body  string
		status      int
		want        providers.Code
		wantStatus  int
		wantMessage string
	}{
		{"an error inside", inside, 200, providers.ErrUnavailable, 503, "overloaded"},
		{"an error inside, in a list", "[" + inside + "]", 200, providers.ErrUnavailable, 503, "overloaded"},
		{"an error inside without a code", `{"error":{"message":"m"}}`, 200, providers.ErrServer, 500, "m"},
		{"an rpc code is no status", `{"error":{"code":8,"message":"m"}}`, 200, providers.ErrServer, 500, "m"},
		{"HTML", "<html>", 200, providers.ErrBadResponse, 0, "the answer is HTML"},
		{"nothing", "", 200, providers.ErrBadResponse, 0, "the answer has no body"},
		{"JSON that is cut", `{"candidates":[`, 200, providers.ErrBadResponse, 0, "not valid JSON"},
		{"JSON of something else", `{"id":"chatcmpl-1"}`, 200, providers.ErrBadResponse, 0, "not one of generateContent"},
		{"text after it", okAnswer + "x", 200, providers.ErrBadResponse, 0, "not valid JSON"},
		{"members of wrong kinds", `{"candidates":{"a":1}}`, 200, providers.ErrBadResponse, 0, "not valid JSON"},
		{"an index out of range", `{"candidates":[{"index":4000}]}`, 200, providers.ErrBadResponse, 0, "index is out of range"},
		{"an empty list of candidates", `{"candidates":[]}`, 200, providers.ErrEmptyResponse, 0, "without a candidate"},
		{"another good status", okAnswer, 206, providers.ErrBadResponse, 0, "not the platform's JSON"},
		{"no content", "", 204, providers.ErrBadResponse, 0, "the answer has no body"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plays([]byte(tt.body))
			p.status = tt.status
			_, err := newProvider(t, p).ChatCompletion(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.want || e.StatusCode != tt.wantStatus ||
				!strings.Contains(e.Message, tt.wantMessage) || e.Provider != "vertex-ai" || !e.Sent {
				t.Errorf("%v, want %s %d %q, sent", err, tt.want, tt.wantStatus, tt.wantMessage)
			}
		})
	}
	t.Run("an error of null is none", func(t *testing.T) {
		p := plays([]byte(`{"error":null,` + okAnswer[1:]))
		if _, err := newProvider(t, p).ChatCompletion(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash")); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorsWithinAStream(t *testing.T) {
	const begun = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hel\"}]}}]}\r\n\r\n"
	inside := rpcError(503, "UNAVAILABLE", "overloaded")
	pretty := "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"overloaded\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"
	for _, tt := range []struct {
		name, body string
		want       providers.Code
		status     int
		chunks     int
	}{
		{"an event", begun + "data: " + inside + "\r\n\r\n", providers.ErrUnavailable, 503, 1},
		{"an event with a name", begun + "event: error\ndata: " + inside + "\n\n", providers.ErrUnavailable, 503, 1},
		{"raw JSON over several lines", begun + pretty, providers.ErrUnavailable, 503, 1},
		{"raw JSON with carriage returns", begun + strings.ReplaceAll(pretty, "\n", "\r\n") + "\r\n", providers.ErrUnavailable, 503, 1},
		{"raw JSON in a list", begun + "[" + pretty + "]", providers.ErrUnavailable, 503, 1},
		{"the first event", "data: " + inside + "\n\n", providers.ErrUnavailable, 503, 0},
		{"the whole body", pretty, providers.ErrUnavailable, 503, 0},
		{"after what looked like the end", "data: " + okAnswer + "\n\ndata: " + inside + "\n\n", providers.ErrUnavailable, 503, 1},
		{"HTML", "<html>\n<body>sorry</body>\n</html>\n", providers.ErrBadResponse, 0, 0},
		{"HTML in the middle", begun + "<html>", providers.ErrBadResponse, 0, 1},
		{"broken JSON with events after it", begun + "data: {\"candidates\":[}\n\n" + begun, providers.ErrBadResponse, 0, 1},
		{"no event at all", "", providers.ErrStreamCut, 0, 0},
		{"comments alone", ": ping\n\n: ping\n\n", providers.ErrStreamCut, 0, 0},
		{"an end mark without an end", begun + "data: [DONE]\n\n", providers.ErrStreamCut, 0, 1},
		{"usage alone", "data: {\"usageMetadata\":{\"promptTokenCount\":1}}\n\n", providers.ErrStreamCut, 0, 0},
		{"a reason that is none", "data: {\"candidates\":[{\"finishReason\":\"FINISH_REASON_UNSPECIFIED\"}]}\n\n", providers.ErrStreamCut, 0, 0},
		{"one of two choices is not finished", "data: {\"candidates\":[{\"finishReason\":\"STOP\"},{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n", providers.ErrStreamCut, 0, 1},
		{"arguments that can't be", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"willContinue\":true,\"partialArgs\":[{\"jsonPath\":\"$.a[7]\",\"boolValue\":true}]}}]}}]}\n\n", providers.ErrBadResponse, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chunks, _, err := streamed(t, func() io.Reader { return strings.NewReader(tt.body) })
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.want || e.StatusCode != tt.status || !e.Sent || e.Provider != "vertex-ai" {
				t.Errorf("%v, want %s %d, sent", err, tt.want, tt.status)
			}
			if len(chunks) != tt.chunks {
				t.Errorf("%d chunks before it, want %d", len(chunks), tt.chunks)
			}
			checkCuts(t, []byte(tt.body), func(r io.Reader) string {
				_, _, err := streamed(t, func() io.Reader { return r })
				return outcome.Describe(err)
			})
		})
	}
}

func TestRecvRepeatsItsError(t *testing.T) {
	for name, body := range map[string]string{"cut": "", "whole": "data: " + okAnswer + "\n\n"} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, plays([]byte(body)))
			r, err := p.ChatCompletionStream(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
			if err != nil {
				t.Fatal(err)
			}
			var first error
			for first == nil {
				_, first = r.Recv()
			}
			_ = r.Close()
			if chunk, again := r.Recv(); chunk != nil || !errors.Is(again, first) {
				t.Errorf("%v, want %v again", again, first)
			}
		})
	}
}

func TestALargeAnswerIsRefused(t *testing.T) {
	const limit = 1000
	text := strings.Replace(okAnswer, `"ok"`, `"`+strings.Repeat("x", limit)+`"`, 1)
	for name, body := range map[string]string{"whole": text, "streamed": "data: " + text + "\n\n"} {
		t.Run(name, func(t *testing.T) {
			p := limited(limit, []byte(body))
			var err error
			if name == "whole" {
				_, err = p.ChatCompletion(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
			} else {
				var r providers.ChunkReader
				if r, err = p.ChatCompletionStream(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash")); err == nil {
					_, _, err = outcome.Read(r)
				}
			}
			if !errors.Is(err, providers.ErrBadResponse) || strings.Contains(err.Error(), "xxx") {
				t.Errorf("%v, want %s", err, providers.ErrBadResponse)
			}
		})
	}
}
