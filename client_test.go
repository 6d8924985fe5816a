package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/oauth2"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// newClient returns a client of an emulator that the test can script.
func newClient(t *testing.T, opts ...gateway.ClientOption) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	client, platform := emulated(opts...)
	t.Cleanup(func() { _ = client.Close() })
	return client, platform
}

func hello(model string) *gateway.ChatCompletionRequest {
	return &gateway.ChatCompletionRequest{Model: model, Messages: []gateway.Message{gateway.UserMessage("Hello!")}}
}

// TestNew_reportsAllMistakes checks that each wrong option is named.
func TestNew_reportsAllMistakes(t *testing.T) {
	_, err := gateway.New(
		gateway.WithRegion("a/b"), gateway.WithProjectID("../x"), gateway.WithProvider("@"),
		gateway.WithBaseURL("ftp://x"), gateway.WithUniverseDomain("not a domain"), gateway.WithHeader("Authorization", "x"),
		gateway.WithHTTPClient(nil), gateway.WithModels(nil), gateway.WithMaxResponseBytes(0), gateway.WithObserver(nil),
		gateway.WithServiceAccountFile("key.json"), gateway.WithoutAuth(), gateway.WithQuotaProject("?"),
	)
	if err == nil || !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Fatalf("error %v, want %v", err, gateway.ErrInvalidConfig)
	}
	for _, member := range []string{
		"region", "project_id", "provider", "base_url", "universe_domain", "Authorization", "http_client", "models",
		"max_response_bytes", "observer", "quota_project", "more than one kind of credentials",
	} {
		if !strings.Contains(err.Error(), member) {
			t.Errorf("%q is not named in:\n%v", member, err)
		}
	}
}

// TestNew_checksCatalog checks that an entry nobody could serve is an error at
// once, and not at the first call.
func TestNew_checksCatalog(t *testing.T) {
	list, err := catalog.New(catalog.Entry{Slug: "good", Provider: "vertex-ai"}, catalog.Entry{Slug: "odd", Provider: "other"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = gateway.New(gateway.WithCatalog(list))
	if !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), `providers.odd.provider`) {
		t.Errorf("error %v, want %v about providers.odd.provider", err, gateway.ErrInvalidConfig)
	}
}

// TestNew_checksCredentials checks that credentials are judged without network.
func TestNew_checksCredentials(t *testing.T) {
	for name, tc := range map[string]struct {
		opt  gateway.ClientOption
		want string
	}{
		"wrong type":   {gateway.WithCredentialsJSON(gateway.ServiceAccount, []byte(`{"type":"authorized_user"}`)), "authorized_user"},
		"not JSON":     {gateway.WithCredentialsJSON(gateway.ServiceAccount, []byte(`nope`)), "JSON"},
		"unknown type": {gateway.WithCredentialsJSON("magic", []byte(`{}`)), "CredentialsType"},
		"missing file": {gateway.WithServiceAccountFile("/nowhere/key.json"), "no such file"},
		"nil source":   {gateway.WithTokenSource(nil), "TokenSource"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gateway.New(tc.opt)
			if !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %v with %q", err, gateway.ErrInvalidConfig, tc.want)
			}
		})
	}
}

// TestCreate_refusesBadInput checks that what can be known to be wrong is said,
// with its path, before anything is sent.
func TestCreate_refusesBadInput(t *testing.T) {
	user := gateway.UserMessage("Hello!")
	call := func(args string) gateway.Message {
		return gateway.Message{Role: "assistant", ToolCalls: []gateway.ToolCall{
			{ID: "c1", Type: "function", Function: gateway.FunctionCall{Name: "f", Arguments: args}},
		}}
	}
	req := func(messages ...gateway.Message) *gateway.ChatCompletionRequest {
		return &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: messages}
	}
	for name, tc := range map[string]struct {
		req   *gateway.ChatCompletionRequest
		opts  []gateway.RequestOption
		code  gateway.Code
		param string
	}{
		"nil request":       {nil, nil, gateway.ErrInvalidRequest, "request"},
		"no model":          {&gateway.ChatCompletionRequest{Messages: []gateway.Message{user}}, nil, gateway.ErrInvalidRequest, "model"},
		"no messages":       {req(), nil, gateway.ErrInvalidRequest, "messages"},
		"unknown role":      {req(gateway.Message{Role: "boss"}), nil, gateway.ErrInvalidRequest, "messages[0].role"},
		"result, no call":   {req(user, gateway.ToolMessage("c1", "x")), nil, gateway.ErrInvalidRequest, "messages[1].tool_call_id"},
		"bad arguments":     {req(user, call("{"), gateway.ToolMessage("c1", "x")), nil, gateway.ErrInvalidRequest, "messages[1].tool_calls[0].function.arguments"},
		"call unanswered":   {req(user, call("{}"), user), nil, gateway.ErrInvalidRequest, "messages[1].tool_calls[0]"},
		"stream in Create":  {&gateway.ChatCompletionRequest{Model: "m", Messages: []gateway.Message{user}, Stream: true}, nil, gateway.ErrInvalidRequest, "stream"},
		"bad slug":          {hello("@vx"), nil, gateway.ErrInvalidRequest, "model"},
		"unknown slug":      {hello("@vx/gemini-2.5-flash"), nil, gateway.ErrProviderNotFound, "model"},
		"unknown publisher": {hello("publishers/acme/models/x"), nil, gateway.ErrInvalidRequest, "model"},
		"path in the model": {hello("gemini/../../x"), nil, gateway.ErrInvalidRequest, "model"},
		"bad data URI":      {req(gateway.UserMessage([]gateway.ContentPart{gateway.ImagePart("data:image/png,abc")})), nil, gateway.ErrInvalidRequest, "messages[0].content[0].image_url.url"},
		"unknown media":     {req(gateway.UserMessage([]gateway.ContentPart{gateway.ImagePart("gs://b/o")})), nil, gateway.ErrInvalidRequest, "messages[0].content[0].image_url.url"},
		"bad option":        {req(user), []gateway.RequestOption{gateway.WithRegion("?")}, gateway.ErrInvalidConfig, ""},
		"bad label":         {&gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{user}, Labels: map[string]string{"Team": "a"}}, nil, gateway.ErrInvalidRequest, "labels"},
	} {
		t.Run(name, func(t *testing.T) {
			client, platform := newClient(t)
			_, err := client.Chat.Completions.Create(t.Context(), tc.req, tc.opts...)
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != tc.code || e.Param != tc.param || e.Sent {
				t.Errorf("error %#v, want %s about %q, not sent", err, tc.code, tc.param)
			}
			if n := len(platform.Requests()); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

// TestCreate_needsAPlace checks that project and region have no silent default.
func TestCreate_needsAPlace(t *testing.T) {
	platform := vertextest.New()
	over := gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()})
	for param, opts := range map[string][]gateway.ClientOption{
		"provider":   {over},
		"project_id": {over, gateway.WithRegion("global"), gateway.WithAccessToken("t")},
		"region":     {over, gateway.WithProjectID("p"), gateway.WithAccessToken("t")},
	} {
		client, err := gateway.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash"))
		var e *gateway.Error
		if !errors.As(err, &e) || e.Code != gateway.ErrInvalidConfig || e.Param != param {
			t.Errorf("error %v, want %s about %s", err, gateway.ErrInvalidConfig, param)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := len(platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestQuotaProject checks that the quota project goes with the client's token.
func TestQuotaProject(t *testing.T) {
	client, platform := newClient(t, gateway.WithQuotaProject("billed"))
	if _, err := client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash")); err != nil {
		t.Fatal(err)
	}
	if got := platform.Requests()[0].Header.Get("X-Goog-User-Project"); got != "billed" {
		t.Errorf("quota project %q, want billed", got)
	}
}

// TestClient_With checks that a view changes nothing of its client.
func TestClient_With(t *testing.T) {
	client, platform := newClient(t, gateway.WithMetadata(map[string]string{"a": "1"}), gateway.WithHeader("X-One", "1"))
	view, err := client.With(gateway.WithRegion("eu"), gateway.WithMetadata(map[string]string{"b": "2"}), gateway.WithHeader("X-Two", "2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*gateway.Client{view, client} {
		if _, err := c.Chat.Completions.Create(t.Context(), hello("gemini-3-flash-preview")); err != nil {
			t.Fatal(err)
		}
	}
	type seen struct{ location, one, two string }
	var got []seen
	for _, r := range platform.Requests() {
		got = append(got, seen{r.Location, r.Header.Get("X-One"), r.Header.Get("X-Two")})
	}
	want := []seen{{"eu", "1", "2"}, {"global", "1", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
}

// TestClient_Close checks that Close is safe under traffic, idempotent, and
// that later calls say why they fail.
func TestClient_Close(t *testing.T) {
	client, _ := newClient(t)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 20 {
				_, err := client.Chat.Completions.Create(context.Background(), hello("gemini-2.5-flash"))
				if err != nil && !errors.Is(err, gateway.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash")); !errors.Is(err, gateway.ErrClosed) {
		t.Errorf("error %v, want %v", err, gateway.ErrClosed)
	}
}

// TestClient_servesAllGoroutines checks that concurrent calls, whole and
// streamed, each get their own answer.
func TestClient_servesAllGoroutines(t *testing.T) {
	client, _ := newClient(t)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			mark := fmt.Sprintf("mark-%d", i)
			req := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage(mark)}}
			var answer *gateway.ChatCompletion
			var err error
			if i%2 == 0 {
				answer, err = client.Chat.Completions.Create(context.Background(), req)
			} else {
				var stream *gateway.ChatStream
				if stream, err = client.Chat.Completions.CreateStream(context.Background(), req); err == nil {
					answer, err = stream.Collect()
				}
			}
			if err != nil || !strings.Contains(answer.Text(), mark+`"`) {
				t.Errorf("%s: %v", mark, err)
			}
		})
	}
	wg.Wait()
}

// tokenSource mints numbered tokens.
type tokenSource struct{ minted atomic.Int64 }

func (s *tokenSource) Token() (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: fmt.Sprintf("token-%d", s.minted.Add(1)), Expiry: time.Now().Add(time.Hour)}, nil
}

// TestToken_isRenewedOnce checks that a refused token is renewed and the call
// sent again, once.
func TestToken_isRenewedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		accepted string
		requests int
		err      error
	}{
		"second token works":  {"token-2", 2, nil},
		"second token fails":  {"token-9", 2, gateway.ErrAuthentication},
		"first token is fine": {"token-1", 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			platform := vertextest.New(vertextest.WithToken(tc.accepted))
			client, err := gateway.New(gateway.WithTokenSource(&tokenSource{}), gateway.WithProjectID("p"), gateway.WithRegion("global"),
				gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, err = client.Chat.Completions.Create(t.Context(), hello("gemini-2.5-flash"))
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if got := len(platform.Requests()); got != tc.requests {
				t.Errorf("%d requests, want %d", got, tc.requests)
			}
		})
	}
}

// TestTimeouts checks each limit in virtual time, and that none of them cuts a
// stream that is slow but alive.
func TestTimeouts(t *testing.T) {
	paced := vertextest.Text("one two three four five six seven eight").Paced(50 * time.Second)
	for name, tc := range map[string]struct {
		limits gateway.Timeouts
		reply  vertextest.Reply
		opened bool // the stream begins
		err    error
		after  time.Duration // 0: not checked
	}{
		"first byte": {gateway.Timeouts{FirstByte: 3 * time.Second}, vertextest.Text("x").After(time.Minute), false, gateway.ErrTimeout, 3 * time.Second},
		"idle":       {gateway.Timeouts{Idle: 20 * time.Second}, paced, true, gateway.ErrTimeout, 20 * time.Second},
		"total":      {gateway.Timeouts{Total: 70 * time.Second}, paced, true, gateway.ErrTimeout, 70 * time.Second},
		"slow":       {gateway.Timeouts{Idle: time.Minute, FirstByte: time.Minute}, paced, true, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, platform := emulated(gateway.WithTimeouts(tc.limits))
				defer client.Close()
				platform.Script(tc.reply)
				start := time.Now()
				stream, err := client.Chat.Completions.CreateStream(t.Context(), hello("gemini-2.5-flash"))
				if (err == nil) != tc.opened {
					t.Fatalf("opened: %v", err)
				}
				for err == nil {
					_, err = stream.Recv()
				}
				if errors.Is(err, io.EOF) {
					err = nil
				}
				if !errors.Is(err, tc.err) {
					t.Errorf("error %v, want %v", err, tc.err)
				}
				if got := time.Since(start); tc.after != 0 && got != tc.after {
					t.Errorf("ended after %v, want %v", got, tc.after)
				}
			})
		})
	}
}

// TestStream_abandoned checks that a stream that is left early frees what it
// holds: the bubble fails when a goroutine is left behind.
func TestStream_abandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, platform := emulated()
		defer client.Close()
		for range 3 {
			platform.Script(vertextest.Text("one two three four five six seven eight").Paced(time.Second))
			stream, err := client.Chat.Completions.CreateStream(t.Context(), hello("gemini-2.5-flash"))
			if err != nil {
				t.Fatal(err)
			}
			for chunk, err := range stream.Chunks() {
				if chunk == nil || err != nil {
					t.Errorf("chunk %v, error %v", chunk, err)
				}
				break
			}
			if _, err := stream.Recv(); !errors.Is(err, gateway.ErrCanceled) {
				t.Errorf("error %v, want %v", err, gateway.ErrCanceled)
			}
		}
	})
}

// TestStream_cut checks that an answer that ends early is an error, whatever it
// ends with, and that the error says that it may be billed.
func TestStream_cut(t *testing.T) {
	for name, tc := range map[string]struct {
		reply vertextest.Reply
		code  gateway.Code
	}{
		"connection":  {vertextest.Text("one two three four five six seven").CutAfterEvents(1), gateway.ErrStreamCut},
		"clean end":   {vertextest.SSE(`{"candidates":[{"content":{"parts":[{"text":"one"}]}}]}`), gateway.ErrStreamCut},
		"error event": {vertextest.SSE(`{"candidates":[{"content":{"parts":[{"text":"one"}]}}]}`, `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`), gateway.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			client, platform := newClient(t)
			platform.Script(tc.reply)
			stream, err := client.Chat.Completions.CreateStream(t.Context(), hello("gemini-2.5-flash"))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := stream.Collect()
			var e *gateway.Error
			if answer != nil || !errors.As(err, &e) || e.Code != tc.code || !e.Sent {
				t.Errorf("answer %v, error %v, want %s, sent", answer, err, tc.code)
			}
		})
	}
}

// TestStream_errorFirst checks that a failure before any output is the error of
// CreateStream.
func TestStream_errorFirst(t *testing.T) {
	client, platform := newClient(t)
	platform.Script(vertextest.SSE(`{"error":{"code":429,"message":"busy","status":"RESOURCE_EXHAUSTED"}}`))
	_, err := client.Chat.Completions.CreateStream(t.Context(), hello("gemini-2.5-flash"))
	if !errors.Is(err, gateway.ErrRateLimited) {
		t.Errorf("error %v, want %v", err, gateway.ErrRateLimited)
	}
}

// TestLogger_keepsSecrets checks that an entry is written for each call and
// that neither prompt, answer nor token is in it.
func TestLogger_keepsSecrets(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	client, platform := newClient(t, gateway.WithLogger(zap.New(core)), gateway.WithAccessToken("canary-token"))
	req := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("canary-prompt")}}
	if _, err := client.Chat.Completions.Create(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	platform.Script(vertextest.Error(500, "INTERNAL", "it broke"))
	if _, err := client.Chat.Completions.Create(t.Context(), req); err == nil {
		t.Fatal("no error")
	}
	if logs.Len() != 2 {
		t.Fatalf("%d entries, want 2", logs.Len())
	}
	for _, e := range logs.All() {
		if text := fmt.Sprint(e.Message, e.ContextMap()); strings.Contains(text, "canary") {
			t.Errorf("a secret in %s", text)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", client, client, *client); strings.Contains(text, "canary") {
		t.Error("the client prints its token")
	}
}

// TestAllocations bounds what a call allocates; the floor, a stock net/http
// request, makes 22 of them with the same transport.
func TestAllocations(t *testing.T) {
	for _, w := range workloads() {
		limit := map[string]float64{"small": 28, "bigresp": 28, "conv40": 28, "image1m": 28, "stream1000": 2050, "stream1000thoughts": 4700}[w.name]
		client := benchClient(t, &fixed{ctype: w.ctype, body: w.answer})
		got := math.Inf(1)
		for range 10 { // a collection in between empties the pools
			got = min(got, testing.AllocsPerRun(10, func() {
				if err := w.run(t.Context(), client); err != nil {
					t.Fatal(err)
				}
			}))
		}
		if got > limit && !raceEnabled {
			t.Errorf("%s: %v allocations, want at most %v", w.name, got, limit)
		}
	}
}
