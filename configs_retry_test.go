package gateway_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// again is a target with so many retries, whose pauses are none unless the
// platform asks for one.
func again(model string, attempts int, more ...string) string {
	return to(model, append(more, retry(attempts, ""))...)
}

func retry(attempts int, more string) string {
	return fmt.Sprintf(`"retry":{"attempts":%d,"backoff":{"base":1,"max":1}%s}`, attempts, more)
}

func within(limit time.Duration) []call {
	return []call{{opts: []gateway.RequestOption{gateway.WithTimeouts(gateway.Timeouts{Total: limit})}}}
}

// TestConfigRetryStatus has each status that is retried, and those that are not.
func TestConfigRetryStatus(t *testing.T) {
	var list []scenario
	for _, status := range []int{408, 409, 429, 500, 502, 503, 504, 529} {
		list = append(list, scenario{
			name: fmt.Sprintf("%d is retried", status), config: again(first, 1), script: script(first, fails(status), text("one")),
			asked: "first@0s first@0s", saw: fmt.Sprintf("one@0s; - %d; -#1 ok", status),
		})
	}
	for status, code := range map[int]string{
		400: "invalid_request", 401: "authentication_failed", 403: "permission_denied", 404: "model_not_found", 413: "request_too_large",
		422: "invalid_request", 499: "canceled", 501: "server_error, sent", 505: "server_error, sent",
	} {
		list = append(list, scenario{
			name: fmt.Sprintf("%d is not retried", status), config: again(first, 5), script: script(first, fails(status), text("one")),
			asked: "first@0s", saw: fmt.Sprintf("!%s@0s; - %d", code, status),
		})
	}
	runScenarios(t, list)
}

// TestConfigRetryWaits has when the next try is made.
func TestConfigRetryWaits(t *testing.T) {
	limited := vertextest.RateLimited(0)
	asks := func(name, value string) vertextest.Reply { return limited.WithHeader(name, value) }
	runScenarios(t, []scenario{
		{name: "as long as retry-after says", config: again(first, 1), script: script(first, asks("Retry-After", "3"), text("one")),
			asked: "first@0s first@3s", saw: "one@3s; - 429; -#1+3s ok"},
		{name: "as long as retry-after-ms says", config: again(first, 1), script: script(first, asks("Retry-After-Ms", "1500"), text("one")),
			asked: "first@0s first@1.5s", saw: "one@1.5s; - 429; -#1+1.5s ok"},
		{name: "retry-after-ms is finer than retry-after", config: again(first, 1),
			script: script(first, asks("Retry-After-Ms", "1500").WithHeader("Retry-After", "2"), text("one")),
			asked:  "first@0s first@1.5s", saw: "one@1.5s; - 429; -#1+1.5s ok"},
		{name: "until the date of retry-after", config: again(first, 1), script: script(first, asks("Retry-After", "Sat, 01 Jan 2000 00:00:07 GMT"), text("one")),
			asked: "first@0s first@7s", saw: "one@7s; - 429; -#1+7s ok"},
		{name: "a date that has passed is no wait", config: again(first, 1), script: script(first, asks("Retry-After", "Fri, 31 Dec 1999 00:00:07 GMT"), text("one")),
			asked: "first@0s first@0s", saw: "one@0s; - 429; -#1 ok"},
		{name: "a retry-after that is none", config: again(first, 1), script: script(first, asks("Retry-After", "soon"), text("one")),
			asked: "first@0s first@0s", saw: "one@0s; - 429; -#1 ok"},
		{name: "as long as a RetryInfo says", config: again(first, 1), script: script(first, vertextest.RateLimited(2*time.Second), text("one")),
			asked: "first@0s first@2s", saw: "one@2s; - 429; -#1+2s ok"},
		{name: "as an overloaded platform asks", config: again(first, 1), script: script(first, vertextest.Overloaded().WithHeader("Retry-After", "4"), text("one")),
			asked: "first@0s first@4s", saw: "one@4s; - 503; -#1+4s ok"},
		{name: "each pause is asked for anew", config: again(first, 2), script: script(first, asks("Retry-After", "1"), asks("Retry-After", "5"), text("one")),
			asked: "first@0s first@1s first@6s", saw: "one@6s; - 429; -#1+1s 429; -#2+5s ok"},
		{name: "not at all when told so", config: to(first, retry(1, `,"use_retry_after_header":false`)), script: script(first, asks("Retry-After", "3"), text("one")),
			asked: "first@0s first@0s", saw: "one@0s; - 429; -#1 ok"},
		{name: "never more than a minute", config: again(first, 1), script: script(first, asks("Retry-After", "61")),
			asked: "first@0s", saw: "!rate_limit_exceeded@0s; - 429"},
		{name: "a minute", config: again(first, 1), script: script(first, asks("Retry-After", "60"), text("one")),
			asked: "first@0s first@1m0s", saw: "one@1m0s; - 429; -#1+1m0s ok"},
		{name: "too long for the platform's word, the next target answers at once", config: fallback(again(first, 1), to(second)),
			script: scripts(script(first, asks("Retry-After", "3600")), script(second, text("two"))),
			asked:  "first@0s second@0s", saw: "two@0s; [0] 429; [1] ok"},
		{name: "not beyond the time of the call", config: again(first, 1), calls: within(2 * time.Second), script: script(first, asks("Retry-After", "3")),
			asked: "first@0s", saw: "!rate_limit_exceeded@0s; - 429"},
		{name: "within the time of the call", config: again(first, 1), calls: within(4 * time.Second), script: script(first, asks("Retry-After", "3"), text("one")),
			asked: "first@0s first@3s", saw: "one@3s; - 429; -#1+3s ok"},
		{name: "a second try has what is left of the time", config: again(first, 1), calls: within(4 * time.Second),
			script: script(first, asks("Retry-After", "3"), text("one").After(time.Minute)),
			asked:  "first@0s first@3s", saw: "!timeout, sent@4s; - 429; -#1+3s timeout"},
		{name: "not while the caller has had enough", config: again(first, 1), calls: []call{{cancel: time.Second}}, script: script(first, asks("Retry-After", "3")),
			asked: "first@0s", saw: "!canceled@1s; - 429"},
		{name: "by chance when nobody asks", config: to(first, `"retry":{"attempts":2}`), script: script(first, limited, limited, text("one")), random: true,
			asked: "first first first", saw: "one; - 429; -#1 429; -#2 ok"},
	})
}

// TestConfigRetry has how often a target is asked, and what is not repeated.
func TestConfigRetry(t *testing.T) {
	busy, slow := vertextest.Overloaded(), text("one").After(time.Minute)
	runScenarios(t, []scenario{
		{name: "no retries", config: to(first, retry(0, "")), script: script(first, busy, text("one")),
			asked: "first@0s", saw: "!service_unavailable, sent@0s; - 503"},
		{name: "no retries without the member", config: to(first), script: script(first, busy, text("one")),
			asked: "first@0s", saw: "!service_unavailable, sent@0s; - 503"},
		{name: "the fifth retry answers", config: again(first, 5), script: script(first, append(repeat(busy, 5), text("one"))...),
			asked: "first@0s first@0s first@0s first@0s first@0s first@0s", saw: "one@0s; - 503; -#1 503; -#2 503; -#3 503; -#4 503; -#5 ok"},
		{name: "all tries fail", config: again(first, 2), script: script(first, repeat(busy, 4)...),
			asked: "first@0s first@0s first@0s", saw: "!service_unavailable, sent@0s; - 503; -#1 503; -#2 503"},
		{name: "the last error counts", config: again(first, 2), script: script(first, busy, busy, fails(500)),
			asked: "first@0s first@0s first@0s", saw: "!server_error, sent@0s; - 503; -#1 503; -#2 500"},
		{name: "an error that is not retried ends the tries", config: again(first, 5), script: script(first, busy, fails(403), text("one")),
			asked: "first@0s first@0s", saw: "!permission_denied@0s; - 503; -#1 403"},
		{name: "the retries come before the next target", config: fallback(again(first, 2), to(second)), script: scripts(script(first, repeat(busy, 4)...), script(second, text("two"))),
			asked: "first@0s first@0s first@0s second@0s", saw: "two@0s; [0] 503; [0]#1 503; [0]#2 503; [1] ok"},
		{name: "each target has its own retries", config: fallback(again(first, 1), again(second, 1)), script: scripts(script(first, busy, busy), script(second, busy, text("two"))),
			asked: "first@0s first@0s second@0s second@0s", saw: "two@0s; [0] 503; [0]#1 503; [1] 503; [1]#1 ok"},
		{name: "inherited from above", config: `{"strategy":{"mode":"fallback"},` + retry(1, "") + `,"targets":[` + to(first) + `,` + to(second) + `]}`,
			script: scripts(script(first, busy, busy), script(second, text("two"))),
			asked:  "first@0s first@0s second@0s", saw: "two@0s; [0] 503; [0]#1 503; [1] ok"},
		{name: "a target's own wins", config: `{"strategy":{"mode":"fallback"},` + retry(3, "") + `,"targets":[` + again(first, 0) + `,` + to(second) + `]}`,
			script: scripts(script(first, busy), script(second, text("two"))),
			asked:  "first@0s second@0s", saw: "two@0s; [0] 503; [1] ok"},
		{name: "the status is named", config: to(first, retry(1, `,"on_status_codes":[403]`)), script: script(first, fails(403), text("one")),
			asked: "first@0s first@0s", saw: "one@0s; - 403; -#1 ok"},
		{name: "the status is not named", config: to(first, retry(1, `,"on_status_codes":[500]`)), script: script(first, busy, text("one")),
			asked: "first@0s", saw: "!service_unavailable, sent@0s; - 503"},
		{name: "a quota that is used up", config: again(first, 5), script: script(first, dailyQuota(), text("one")),
			asked: "first@0s", saw: "!insufficient_quota@0s; - 429"},
		{name: "a quota that is used up, though 429 is named", config: to(first, retry(5, `,"on_status_codes":[429]`)), script: script(first, dailyQuota(), text("one")),
			asked: "first@0s", saw: "!insufficient_quota@0s; - 429"},
		{name: "a blocked prompt", config: again(first, 5), script: script(first, vertextest.Blocked("SAFETY"), text("one")),
			asked: "first@0s", saw: "!content_filter, sent@0s; - 400"},
		{name: "a blocked prompt, though 400 is named", config: to(first, retry(5, `,"on_status_codes":[400]`)), script: script(first, vertextest.Blocked("SAFETY"), text("one")),
			asked: "first@0s", saw: "!content_filter, sent@0s; - 400"},
		{name: "a time-out of ours may have been answered", config: again(first, 5, `"request_timeout":1000`), script: script(first, slow, text("one")),
			asked: "first@0s", saw: "!timeout, sent@1s; - timeout"},
		{name: "a time-out of the call", config: again(first, 5), calls: within(time.Second), script: script(first, slow, text("one")),
			asked: "first@0s", saw: "!timeout, sent@1s; - timeout"},
		{name: "a connection that broke may have been answered", config: again(first, 5), script: script(first, text("one").CutAfter(0), text("one")), whole: true,
			asked: "first@0s", saw: "!connection_error, sent@0s; - connection_error"},
		{name: "half an answer", config: again(first, 5), script: script(first, text("one").CutAfter(20), text("one")), whole: true,
			asked: "first@0s", saw: "!connection_error, sent@0s; - connection_error"},
		{name: "an answer that can't be read", config: again(first, 5), script: script(first, vertextest.JSON(200, `{"candidates":`), text("one")), whole: true,
			asked: "first@0s", saw: "!bad_response, sent@0s; - bad_response"},
		{name: "a connection that was refused", config: again(first, 2), script: script(first, text("one")), client: []gateway.ClientOption{refusing(2)}, random: true, whole: true,
			asked: "", saw: "hello; - connection_error; -#1 connection_error; -#2 ok"},
		{name: "a limit of the request's time is each try's own", config: again(first, 1, `"request_timeout":1000`),
			script: script(first, fails(500).After(900*time.Millisecond), text("one").After(900*time.Millisecond)),
			asked:  "first@0s first@900ms", saw: "one@1.8s; - 500; -#1 ok"},
		{name: "a Claude that is overloaded", config: again(third, 1), script: script(third, busy, text("three")),
			asked: "third@0s third@0s", saw: "three@0s; - 529; -#1 ok"},
		{name: "OpenAI's own API", config: at("@oai", `"override_params":{"model":"`+fourth+`"}`, retry(1, "")), catalog: vendorsWith(""),
			script: script(fourth, vertextest.Error(429, "rate_limit_exceeded", "slow down").WithHeader("Retry-After", "2"), text("four")),
			asked:  "fourth@0s(api.openai.com) fourth@2s(api.openai.com)", saw: "four@2s; - 429; -#1+2s ok"},
	})
}

// TestConfigTimeouts has the limits of a try and of the whole call.
func TestConfigTimeouts(t *testing.T) {
	slow := func(s string, d time.Duration) vertextest.Reply { return text(s).After(d) }
	limit := `"request_timeout":1000`
	runScenarios(t, []scenario{
		{name: "a slow target", config: to(first, limit), script: script(first, slow("one", time.Minute)),
			asked: "first@0s", saw: "!timeout, sent@1s; - timeout"},
		{name: "just in time", config: to(first, limit), script: script(first, slow("one", 990*time.Millisecond)),
			asked: "first@0s", saw: "one@990ms; - ok"},
		{name: "the next target after a slow one", config: fallback(to(first, limit), to(second)),
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", 5*time.Second))),
			asked:  "first@0s second@1s", saw: "two@6s; [0] timeout; [1] ok"},
		{name: "all are slow", config: fallback(to(first, limit), to(second, limit)),
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", time.Minute))),
			asked:  "first@0s second@1s", saw: "!timeout, sent@2s; [0] timeout; [1] timeout"},
		{name: "inherited, and a target's own", config: `{"strategy":{"mode":"fallback"},` + limit + `,"targets":[` + to(first) + `,` + to(second, `"request_timeout":3000`) + `]}`,
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", 2*time.Second))),
			asked:  "first@0s second@1s", saw: "two@3s; [0] timeout; [1] ok"},
		{name: "the call's limit is for all targets", config: fallback(to(first, limit), to(second)), calls: within(3 * time.Second),
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", time.Minute))),
			asked:  "first@0s second@1s", saw: "!timeout, sent@3s; [0] timeout; [1] timeout"},
		{name: "the call's limit is shorter than a try's", config: fallback(to(first, `"request_timeout":5000`), to(second)), calls: within(2 * time.Second),
			script: scripts(script(first, slow("one", time.Minute)), script(second, text("two"))),
			asked:  "first@0s", saw: "!timeout, sent@2s; [0] timeout"},
		{name: "the client's limit", config: fallback(to(first, limit), to(second)), client: []gateway.ClientOption{gateway.WithTimeouts(gateway.Timeouts{Total: 2 * time.Second})},
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", time.Minute))),
			asked:  "first@0s second@1s", saw: "!timeout, sent@2s; [0] timeout; [1] timeout"},
		{name: "a call's limit over the client's", config: fallback(to(first, limit), to(second)), calls: within(9 * time.Second),
			client: []gateway.ClientOption{gateway.WithTimeouts(gateway.Timeouts{Total: 2 * time.Second})},
			script: scripts(script(first, slow("one", time.Minute)), script(second, slow("two", 5*time.Second))),
			asked:  "first@0s second@1s", saw: "two@6s; [0] timeout; [1] ok"},
		{name: "a call without a limit over the client's", config: to(first), calls: within(-1),
			client: []gateway.ClientOption{gateway.WithTimeouts(gateway.Timeouts{Total: 2 * time.Second})}, script: script(first, slow("one", time.Minute)),
			asked: "first@0s", saw: "one@1m0s; - ok"},
		{name: "a stream is bound up to its first byte", config: to(first, limit), stream: true,
			script: script(first, text("one, and much more than that to say").Paced(2*time.Second)),
			asked:  "first@0s", saw: "one, and much more than that to say@6s; - ok"},
		{name: "a stream is bound by the call's limit up to its end", config: to(first), stream: true, calls: within(5 * time.Second),
			script: script(first, text("one, and much more than that to say").Paced(2*time.Second)),
			asked:  "first@0s", saw: `!timeout, sent, partial "one, and much more than that to"@5s; - timeout`},
	})
}

// refusing is a client whose first connections are refused, before anything is
// sent.
func refusing(n int) gateway.ClientOption {
	srv := vertextest.New()
	return gateway.WithHTTPClient(&http.Client{Transport: &refuser{n, srv.Transport()}})
}

type refuser struct {
	left int
	then http.RoundTripper
}

func (r *refuser) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.left--; r.left >= 0 {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: net.ErrClosed}
	}
	return r.then.RoundTrip(req)
}

// TestConfigRetryOfSharedChoices has choices of which one request was answered and
// another was not sent: the whole is not sent again, since a part of it is billed.
func TestConfigRetryOfSharedChoices(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := vertextest.New()
				defer srv.Close()
				s := scenario{config: again(second, 2), client: []gateway.ClientOption{
					gateway.WithHTTPClient(&http.Client{Transport: &secondRefused{then: srv.Transport()}}),
				}}
				client, _ := s.open(t)
				n := 2
				req := &gateway.ChatCompletionRequest{Model: second, N: &n, Messages: []gateway.Message{gateway.UserMessage("Hello")}}
				_, err := answerTo(t, client, req, stream)
				if !errors.Is(err, gateway.ErrConnection) {
					t.Errorf("%v, want %s", err, gateway.ErrConnection)
				}
				if got := len(srv.Requests()); got != 1 {
					t.Errorf("%d requests were sent, want 1", got)
				}
			})
		})
	}
}

// secondRefused refuses the second connection, a second after it was asked for.
type secondRefused struct {
	next atomic.Int32
	then http.RoundTripper
}

func (s *secondRefused) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.next.Add(1) == 2 {
		time.Sleep(time.Second)
		return nil, errors.Join(&net.OpError{Op: "dial", Net: "tcp", Err: net.ErrClosed}, r.Body.Close())
	}
	return s.then.RoundTrip(r)
}
