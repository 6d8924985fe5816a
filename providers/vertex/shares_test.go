package vertex_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// shares answers the n-th request of a call as the n-th function does.
type shares struct {
	next atomic.Int32
	each []func(*http.Request) (*http.Response, error)
}

func (s *shares) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	return s.each[s.next.Add(1)-1](r)
}

// says answers with a status and a body.
func says(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: -1, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// waits answers nothing until the caller has had enough.
func waits(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAShareThatFailsSaysWhy(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for range 50 { // as the order in which the others end is by chance
			rt := &shares{each: []func(*http.Request) (*http.Response, error){
				waits, waits, waits, says(429, rpcError(429, "RESOURCE_EXHAUSTED", "no more")), waits, waits, waits, waits,
			}}
			_, err := answerTo(t, newProvider(t, rt), hello(t, "gemini-3-flash", `"n":8`), stream)
			if !errors.Is(err, providers.ErrRateLimited) {
				t.Fatalf("stream=%v: %v, want %s", stream, err, providers.ErrRateLimited)
			}
		}
	}
}

// unreached finds no connection for the second request, a second after it was
// made. The first is answered as then does.
type unreached struct {
	next atomic.Int32
	then func(*http.Request) (*http.Response, error)
}

func (u *unreached) RoundTrip(r *http.Request) (*http.Response, error) {
	if u.next.Add(1) == 2 {
		time.Sleep(time.Second)
		return noConnection(r)
	}
	return u.then(r)
}

func noConnection(r *http.Request) (*http.Response, error) {
	return nil, errors.Join(&net.OpError{Op: "dial", Net: "tcp", Err: net.ErrClosed}, r.Body.Close())
}

// read lets the answer follow once the request was read.
func read(then func(*http.Request) (*http.Response, error)) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		_, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
		return then(r)
	}
}

func TestAShareThatIsNotSentHidesNoOther(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other func(*http.Request) (*http.Response, error)
		sent  bool
	}{
		{"another was answered", read(says(200, okAnswer)), true},
		{"another was under way", read(waits), true},
		{"no other was sent", func(r *http.Request) (*http.Response, error) { time.Sleep(time.Minute); return noConnection(r) }, false},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream=%v", tt.name, stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, err := answerTo(t, newProvider(t, &unreached{then: tt.other}), hello(t, "gemini-3-flash", `"n":2`), stream)
					e, ok := errors.AsType[*providers.Error](err)
					if !ok || e.Code != providers.ErrConnection || e.Sent != tt.sent {
						t.Errorf("%v, want %s with Sent %v", err, providers.ErrConnection, tt.sent)
					}
				})
			})
		}
	}
}

const countedAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{
"promptTokenCount":10,"candidatesTokenCount":5,"toolUsePromptTokenCount":3,"totalTokenCount":19,"thoughtsTokenCount":1,"cachedContentTokenCount":2,
"promptTokensDetails":[{"modality":"IMAGE","tokenCount":4},{"modality":"AUDIO","tokenCount":6}],
"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":5}],"trafficType":"ON_DEMAND"}}`

func TestUsageOfSharesAddsUpInEachCounter(t *testing.T) {
	want := `{"prompt_tokens":26,"completion_tokens":12,"total_tokens":38,` +
		`"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":12,"image_tokens":8},` +
		`"completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":0,"image_tokens":10},` +
		`"traffic_type":"ON_DEMAND","tool_use_prompt_tokens":6}`
	for _, stream := range []bool{false, true} {
		body := countedAnswer
		if stream {
			body = "data: " + strings.ReplaceAll(body, "\n", "") + "\n\n"
		}
		rt := &shares{each: []func(*http.Request) (*http.Response, error){says(200, body), says(200, body)}}
		answer, err := answerTo(t, newProvider(t, rt), hello(t, "gemini-3-flash", `"n":2`), stream)
		if err != nil {
			t.Fatal(err)
		}
		got, err := answer.Usage.MarshalJSON()
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("stream=%v: %v (-want +got)\n%s", stream, err, diff)
		}
	}
}

func TestSharesEndWithTheCaller(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				rt := &shares{each: []func(*http.Request) (*http.Response, error){waits, says(200, okAnswer), waits}}
				q, p := hello(t, "gemini-3-flash", `"n":3`), newProvider(t, rt)
				var err error
				if stream {
					_, err = p.ChatCompletionStream(ctx, target(q.Model), q)
				} else {
					_, err = p.ChatCompletion(ctx, target(q.Model), q)
				}
				if !errors.Is(err, providers.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
