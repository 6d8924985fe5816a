package vertex_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// renewer is a token source whose tokens can be refused.
type renewer struct {
	tokens      []string // the first one is current
	fixed       bool
	invalidated []string
	fail        error
}

func (r *renewer) Token(context.Context) (*auth.Token, error) {
	if r.fail != nil {
		return nil, r.fail
	}
	return &auth.Token{Value: r.tokens[0]}, nil
}

func (r *renewer) Refreshable() bool { return !r.fixed }

func (r *renewer) Invalidate(token string) {
	r.invalidated = append(r.invalidated, token)
	if token == r.tokens[0] && len(r.tokens) > 1 {
		r.tokens = r.tokens[1:]
	}
}

// readyHeader is a token source that has the header ready.
type readyHeader struct{ renewer }

func (*readyHeader) Header(context.Context) (authorization, quotaProject string, err error) {
	return "Bearer ready", "quota", nil
}

// emptyToken mints no token at all, or one without a value.
type emptyToken struct{ token *auth.Token }

func (e emptyToken) Token(context.Context) (*auth.Token, error) { return e.token, nil }

func TestTheHeadersSent(t *testing.T) {
	agent := "b650d4bf-gateway gl-go/" + strings.TrimPrefix(runtime.Version(), "go")
	base := http.Header{"Content-Type": {"application/json"}, "User-Agent": {agent}, "X-Goog-Api-Client": {agent}}
	with := func(pairs ...string) http.Header {
		h := base.Clone()
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = []string{pairs[i+1]}
		}
		return h
	}
	for _, tt := range []struct {
		name   string
		change func(*providers.Target)
		stream bool
		want   http.Header
	}{
		{"a token", func(*providers.Target) {}, false, with("Authorization", "Bearer token")},
		{"a stream is not compressed", func(*providers.Target) {}, true, with("Authorization", "Bearer token", "Accept-Encoding", "identity")},
		{"no token", func(g *providers.Target) { g.Token = nil }, false, base},
		{"an empty token", func(g *providers.Target) { g.Token = staticToken("") }, false, base},
		{"a source without a token", func(g *providers.Target) { g.Token = emptyToken{} }, false, base},
		{"a ready header", func(g *providers.Target) { g.Token = new(readyHeader) }, false, with("Authorization", "Bearer ready", "X-Goog-User-Project", "quota")},
		{"headers of the target", func(g *providers.Target) {
			g.Header = http.Header{"X-Vertex-Ai-Llm-Request-Type": {"shared"}, "Content-Type": {"text/plain"}}
		}, false, with("Authorization", "Bearer token", "X-Vertex-Ai-Llm-Request-Type", "shared")},
		{"a limit on the whole call", func(g *providers.Target) { g.Timeouts.Total = 1500 * time.Millisecond }, false, with("Authorization", "Bearer token", "X-Server-Timeout", "2")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := target("gemini-2.5-flash")
				tt.change(g)
				given := g.Header.Clone()
				rt := plays([]byte("data: " + okAnswer + "\n\n"))
				if !tt.stream {
					rt = plays([]byte(okAnswer))
				}
				if err := ask(t, rt, g, tt.stream); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, rt.head); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(given, g.Header); diff != "" {
					t.Errorf("the target's own header has changed\n%s", diff)
				}
				if rt.method != http.MethodPost {
					t.Errorf("method %s", rt.method)
				}
			})
		})
	}
}

// ask sends a plain request and reads the answer.
func ask(t *testing.T, rt http.RoundTripper, g *providers.Target, stream bool) error {
	t.Helper()
	p := newProvider(t, rt)
	if !stream {
		_, err := p.ChatCompletion(t.Context(), g, hello(t, g.Model))
		return err
	}
	r, err := p.ChatCompletionStream(t.Context(), g, hello(t, g.Model))
	if err == nil {
		_, _, err = outcome.Read(r)
	}
	return err
}

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	for _, tt := range []struct {
		name     string
		source   *renewer
		requests int
		fails    bool
	}{
		{"a token that was refused", &renewer{tokens: []string{"old", "new"}}, 2, false},
		{"the new token is refused too", &renewer{tokens: []string{"old", "older"}}, 2, true},
		{"a token that can't be renewed", &renewer{tokens: []string{"old", "new"}, fixed: true}, 1, true},
		{"a good token", &renewer{tokens: []string{"new"}}, 1, false},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				srv := vertextest.New(vertextest.WithToken("new"))
				defer srv.Close()
				source := *tt.source
				g := target("gemini-2.5-flash")
				g.Token = &source
				err := ask(t, srv.Transport(), g, stream)
				if tt.fails != errors.Is(err, providers.ErrAuthentication) || !tt.fails && err != nil {
					t.Errorf("%v, want a failure: %v", err, tt.fails)
				}
				sent := srv.Requests()
				if len(sent) != tt.requests || len(source.invalidated) != tt.requests-1 {
					t.Fatalf("%d requests, invalidated %q, want %d requests", len(sent), source.invalidated, tt.requests)
				}
				if len(sent) == 2 {
					if diff := cmp.Diff(string(sent[0].Body), string(sent[1].Body)); diff != "" {
						t.Errorf("the second body differs\n%s", diff)
					}
					if source.invalidated[0] != "old" {
						t.Errorf("invalidated %q", source.invalidated)
					}
				}
				if err != nil && (strings.Contains(err.Error(), "old") || strings.Contains(err.Error(), "Bearer")) {
					t.Errorf("the error tells the token: %v", err)
				}
			})
		}
	}
	t.Run("a source that can't renew", func(t *testing.T) {
		srv := vertextest.New(vertextest.WithToken("new"))
		defer srv.Close()
		if err := ask(t, srv.Transport(), target("gemini-2.5-flash"), false); !errors.Is(err, providers.ErrAuthentication) || len(srv.Requests()) != 1 {
			t.Errorf("%v after %d requests", err, len(srv.Requests()))
		}
	})
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	own := &providers.Error{Code: providers.ErrTimeout, Message: "the token endpoint is slow"}
	for _, tt := range []struct {
		name string
		err  error
		want providers.Code
	}{
		{"a failing source", errors.New("no credentials"), providers.ErrAuthentication},
		{"a source that knows better", own, providers.ErrTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays(nil)
			g := target("gemini-2.5-flash")
			g.Token = &renewer{fail: tt.err}
			err := ask(t, rt, g, false)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.want || e.Sent || !errors.Is(err, tt.err) || rt.calls != 0 {
				t.Errorf("%v after %d requests, want %s", err, rt.calls, tt.want)
			}
		})
	}
	t.Run("the caller gave up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		g := target("gemini-2.5-flash")
		g.Token = &renewer{fail: ctx.Err()}
		_, err := newProvider(t, plays(nil)).ChatCompletion(ctx, g, hello(t, g.Model))
		if code(err) != providers.ErrCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %s", err, providers.ErrCanceled)
		}
	})
}

func TestNothingIsSentForAMistakenCall(t *testing.T) {
	for name, change := range map[string]func(*providers.Target, *providers.ChatCompletionRequest){
		"model":    func(g *providers.Target, _ *providers.ChatCompletionRequest) { g.Model = "publishers/acme/models/x" },
		"region":   func(g *providers.Target, _ *providers.ChatCompletionRequest) { g.Region = "" },
		"messages": func(_ *providers.Target, q *providers.ChatCompletionRequest) { q.Messages = nil },
	} {
		t.Run(name, func(t *testing.T) {
			rt := plays(nil)
			g, q := target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash")
			change(g, q)
			_, err := newProvider(t, rt).ChatCompletion(t.Context(), g, q)
			var e *providers.Error
			if !errors.As(err, &e) || e.Param != name || e.Sent || rt.calls != 0 {
				t.Errorf("%v after %d requests, want an error about %s", err, rt.calls, name)
			}
		})
	}
}

func TestTheURLOfAStream(t *testing.T) {
	for stream, want := range map[bool]string{false: ":generateContent", true: ":streamGenerateContent?alt=sse"} {
		rt := plays([]byte(okAnswer))
		_ = ask(t, rt, target("gemini-2.5-flash"), stream)
		if u, err := url.Parse(rt.url); err != nil || !strings.HasSuffix(u.String(), "models/gemini-2.5-flash"+want) {
			t.Errorf("%s %v, want %s", rt.url, err, want)
		}
	}
}

func TestClosingAStreamEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := vertextest.New()
		defer srv.Close()
		srv.Script(vertextest.Text("a long answer in several words").Paced(time.Hour))
		p := newProvider(t, srv.Transport())
		r, err := p.ChatCompletionStream(t.Context(), target("gemini-2.5-flash"), hello(t, "gemini-2.5-flash"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Recv(); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			_ = r.Close()
		}()
		begun := time.Now()
		_, err = r.Recv()
		if code(err) != providers.ErrCanceled || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v, want %s after a minute", err, time.Since(begun), providers.ErrCanceled)
		}
		if err := r.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
		if _, err := r.Recv(); code(err) != providers.ErrCanceled {
			t.Errorf("%v, want %s again", err, providers.ErrCanceled)
		}
	})
}

func TestTheNameAndTheFirstChunksMeta(t *testing.T) {
	p := newProvider(t, plays([]byte("data: "+okAnswer+"\n\n")))
	if p.Name() != "vertex-ai" {
		t.Errorf("name %q", p.Name())
	}
	r, err := p.ChatCompletionStream(t.Context(), target("gemini-9"), hello(t, "gemini-9"))
	if err != nil {
		t.Fatal(err)
	}
	chunks, _, err := outcome.Read(r)
	if err != nil || len(chunks) != 2 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	if m := chunks[0].Meta; m == nil || len(m.Warnings) != 1 || m.Warnings[0].Code != providers.WarnUnknownModel || chunks[1].Meta != nil {
		t.Errorf("meta %+v, then %+v", m, chunks[1].Meta)
	}
	if r, err = p.ChatCompletionStream(t.Context(), target("gemini-9"), hello(t, "gemini-9")); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := vertex.New(vertex.Config{}).Close(); err != nil {
		t.Error(err)
	}
	_, err = r.Recv()
	if errors.Is(err, io.EOF) {
		t.Error("a closed stream has no proper end")
	}
}
