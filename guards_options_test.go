package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestGuardsThatAreNone(t *testing.T) {
	good := finds("pii", "bad", "")
	for _, tt := range []struct {
		name string
		opt  gateway.ClientOption
		want string
	}{
		{"no name", gateway.WithGuards(gateway.Guard{Request: good.Request}), "guard.name: is made of letters"},
		{"a wrong name", gateway.WithGuards(gateway.Guard{Name: "a b", Request: good.Request}), "guard.name: is made of letters"},
		{"a long name", gateway.WithGuards(gateway.Guard{Name: strings.Repeat("a", 129), Request: good.Request}), "guard.name: is made of letters"},
		{"a wrong mode", gateway.WithGuards(gateway.Guard{Name: "a", Mode: "warn", Request: good.Request}), `guard.mode: must be "deny" or "observe"`},
		{"no function", gateway.WithGuards(gateway.Guard{Name: "a"}), "guard: the guard a judges nothing"},
		{"no function, by name", gateway.WithNamedGuards(gateway.Guard{Name: "a"}), "guard: the guard a judges nothing"},
		{"a mode, by name", gateway.WithNamedGuards(finds("a", "bad", gateway.GuardDeny)), "guard.mode: the config that names the guard a says its mode"},
		{"two of a name", gateway.WithNamedGuards(good, good), "guard.name: there are two guards named pii"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := gateway.New(tt.opt)
			if !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConfigsThatNameAnUnknownGuard(t *testing.T) {
	const text = `{"targets":[{"guards":[{"name":"pii"},{"name":"pi","mode":"observe"}]}]}`
	c, err := gateway.ParseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Parse([]byte(`{"providers":{"a":{"provider":"vertex-ai"}},"configs":{"one":` + text + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	const path = `targets[0].guards[1].name: no guard of that name is registered: "pi" (did you mean "pii"?)`
	client, srv := emulated(gateway.WithNamedGuards(finds("pii", "bad", "")))
	defer srv.Close()
	defer client.Close()
	for _, tt := range []struct {
		name string
		err  func() error
		want string
	}{
		{"of the catalog", func() error {
			_, err := gateway.New(gateway.WithCatalog(cat), gateway.WithNamedGuards(finds("pii", "bad", "")))
			return err
		}, "configs.one: " + path},
		{"of the client", func() error {
			_, err := gateway.New(gateway.WithConfig(c), gateway.WithNamedGuards(finds("pii", "bad", "")))
			return err
		}, "config: " + path},
		{"of a view", func() error { _, err := client.With(gateway.WithConfig(c)); return err }, "config: " + path},
		{"of a call", func() error {
			_, err := client.Chat.Completions.Create(t.Context(), prompted(""), gateway.WithConfig(c))
			return err
		}, "config: " + path},
		{"of embeddings", func() error {
			_, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "gemini-embedding-001", Input: gateway.EmbeddingTexts("a")}, gateway.WithConfig(c))
			return err
		}, "config: " + path},
		{"of an HTTP request", func() error {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"a"}]}`))
			r.Header.Set("x-gateway-config", text)
			client.Handler().ServeHTTP(w, r)
			return &gateway.Error{Code: gateway.ErrInvalidConfig, Message: strings.ReplaceAll(w.Body.String(), `\"`, `"`)}
		}, path},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.err(); !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestGuardsThatReturnWhatCannotBeUsed(t *testing.T) {
	type request = gateway.ChatCompletionRequest
	type completion = gateway.ChatCompletion
	for _, tt := range []struct {
		name  string
		guard gateway.Guard
		named bool
		want  string
	}{
		{"a request", gateway.Guard{Request: func(context.Context, *request) (*request, error) { return &request{Model: first}, nil }}, false,
			"the guard g returned a request that is not valid"},
		{"an answer", gateway.Guard{Answer: func(context.Context, *request, *completion) (*completion, error) { return &completion{}, nil }}, false,
			"the guard g returned an answer without choices"},
		{"another model", gateway.Guard{Request: func(_ context.Context, r *request) (*request, error) {
			own := *r
			own.Model = second
			return &own, nil
		}}, true, "a guard that a config names changed the model"},
	} {
		tt.guard.Name = "g"
		for _, stream := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				opts := []gateway.ClientOption{gateway.WithGuards(tt.guard)}
				if tt.named {
					c, err := gateway.ParseConfig([]byte(`{"guards":[{"name":"g"}]}`))
					if err != nil {
						t.Fatal(err)
					}
					opts = []gateway.ClientOption{gateway.WithNamedGuards(tt.guard), gateway.WithConfig(c)}
				}
				client, srv := emulated(opts...)
				defer srv.Close()
				defer client.Close()
				_, err := answerTo(t, client, prompted(""), stream)
				if !errors.Is(err, gateway.ErrInvalidConfig) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			})
		}
	}
}

func TestGuardsSeeNoRequestThatIsWrongAnyway(t *testing.T) {
	asked := false
	client, srv := emulated(gateway.WithGuards(gateway.Guard{Name: "g", Request: func(_ context.Context, r *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
		asked = true
		return r, nil
	}}))
	defer srv.Close()
	defer client.Close()
	if _, err := answerTo(t, client, &gateway.ChatCompletionRequest{Model: first}, false); !errors.Is(err, gateway.ErrInvalidRequest) || asked {
		t.Errorf("error %v, asked %v", err, asked)
	}
}

func TestGuardsMayChooseAnotherModel(t *testing.T) {
	client, srv := emulated(gateway.WithGuards(gateway.Guard{Name: "g", Request: func(_ context.Context, r *gateway.ChatCompletionRequest) (*gateway.ChatCompletionRequest, error) {
		own := *r
		own.Model = second
		return &own, nil
	}}))
	defer srv.Close()
	defer client.Close()
	if _, err := answerTo(t, client, prompted(""), false); err != nil || srv.Requests()[0].Model != second {
		t.Errorf("%v, asked %v", err, srv.Requests())
	}
}

func TestACallThatEndsWhileAGuardJudges(t *testing.T) {
	guard := finds("g", "bad", "")
	for _, tt := range []struct {
		name  string
		guard gateway.Guard
		code  gateway.Code
		sent  bool
		ctx   func(context.Context) (context.Context, context.CancelFunc)
	}{
		{"a deadline", requestOnly(guard), gateway.ErrTimeout, false, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second/2)
		}},
		{"its end", answerOnly(guard), gateway.ErrCanceled, true, func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second/2, cancel)
			return ctx, cancel
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended gateway.Record
				client, srv := emulated(gateway.WithGuards(tt.guard), gateway.WithObserver(&watch{end: func(r gateway.Record) { ended = r }}))
				defer srv.Close()
				defer client.Close()
				ctx, cancel := tt.ctx(t.Context())
				defer cancel()
				_, err := client.Chat.Completions.Create(ctx, prompted(""))
				var e *gateway.Error
				if !errors.As(err, &e) || e.Code != tt.code || e.Sent != tt.sent {
					t.Errorf("error %v", err)
				}
				if v := ended.Meta.Guards; len(v) != 1 || v[0].Denied || v[0].Err == nil {
					t.Errorf("verdicts %+v", v)
				}
			})
		})
	}
}

// The time that WithTimeouts gives a call with a config is that of the guards of
// its targets too.
func TestTheTotalTimeBoundsTheGuardsOfTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := gateway.ParseConfig([]byte(`{"guards":[{"name":"g"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		client, srv := emulated(gateway.WithNamedGuards(finds("g", "bad", "")), gateway.WithConfig(c), gateway.WithTimeouts(gateway.Timeouts{Total: time.Second / 2}))
		defer srv.Close()
		defer client.Close()
		if _, err := client.Chat.Completions.Create(t.Context(), prompted("")); !errors.Is(err, gateway.ErrTimeout) {
			t.Errorf("error %v", err)
		}
	})
}

// A guard that takes longer than the first request is waited for must not be taken for
// a slow model, and what it denied once must not be asked again.
func TestATargetWithGuardsMakesNoSecondRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := gateway.ParseConfig([]byte(`{"guards":[{"name":"g"}],"hedge":{"after":500}}`))
		if err != nil {
			t.Fatal(err)
		}
		client, srv := emulated(gateway.WithNamedGuards(finds("g", "bad", "")), gateway.WithConfig(c))
		defer srv.Close()
		defer client.Close()
		srv.Script(vertextest.Text("well").After(2*time.Second), vertextest.Text("well"))
		answer, err := client.Chat.Completions.Create(t.Context(), prompted(""))
		if err != nil || answer.Text() != "well" {
			t.Fatalf("%v, %v", answer, err)
		}
		if n := len(answer.Meta.Attempts); n != 1 || len(answer.Meta.Guards) != 2 {
			t.Errorf("%d attempts, verdicts: %s", n, verdicts(answer.Meta.Guards))
		}
		if w := answer.Meta.Warnings; len(w) != 1 || w[0].Code != gateway.WarnConflict || w[0].Param != "config.hedge" {
			t.Errorf("warnings %v", w)
		}
	})
}

// What a guard says may quote the prompt. It is for Go alone.
func TestTheWordsOfAGuardAreNotTold(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	client, srv := emulated(gateway.WithGuards(finds("g", "bad", "")), gateway.WithLogger(zap.New(core)))
	defer srv.Close()
	defer client.Close()
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	for path, want := range map[string]string{
		"/v1/chat/completions": `{"error":{"message":"the guard g denied the request","type":"invalid_request_error","param":null,"code":"guard_denied"}}`,
		"/v1/messages":         `{"type":"error","error":{"type":"invalid_request_error","message":"the guard g denied the request"},"request_id":"r"}`,
	} {
		for _, stream := range []string{"false", "true"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+path,
				strings.NewReader(`{"model":"gemini-2.5-flash","max_tokens":9,"stream":`+stream+`,"messages":[{"role":"user","content":"a bad one"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Gateway-Trace-Id", "r")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != 446 || string(body) != want {
				t.Errorf("%s: %d %s, want %s", path, res.StatusCode, body, want)
			}
		}
	}
	for _, e := range logs.All() {
		m := e.ContextMap()
		if m["code"] != "guard_denied" || m["cause"] != nil {
			t.Errorf("entry %v", m)
		}
		if names, ok := m["guards_denied"].([]any); !ok || len(names) != 1 || names[0] != "g" {
			t.Errorf("guards_denied %v", m["guards_denied"])
		}
	}
	if n := logs.Len(); n != 4 {
		t.Errorf("%d entries", n)
	}
}

func TestStoredPromptsAreGuarded(t *testing.T) {
	client, srv := emulated(gateway.WithGuards(finds("g", "Hello", "")), gateway.WithPrompts(&shelf{request: prompted("")}))
	defer srv.Close()
	defer client.Close()
	if _, err := client.Prompts.Completions.Create(t.Context(), &gateway.PromptCompletionRequest{ID: "p"}); !errors.Is(err, gateway.ErrGuardDenied) {
		t.Errorf("error %v", err)
	}
}

func TestEmbeddingsWarnOfTheGuardsOfAConfig(t *testing.T) {
	c, err := gateway.ParseConfig([]byte(`{"guards":[{"name":"g"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	client, srv := emulated(gateway.WithNamedGuards(finds("g", "bad", "")), gateway.WithConfig(c))
	defer srv.Close()
	defer client.Close()
	out, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "gemini-embedding-001", Input: gateway.EmbeddingTexts("bad")})
	if err != nil {
		t.Fatal(err)
	}
	if w := out.Meta.Warnings; len(w) != 1 || w[0].Param != "config.guards" {
		t.Errorf("warnings %+v", w)
	}
}

func TestViewsKeepTheirGuardsApart(t *testing.T) {
	none := func(name string) gateway.Option { return gateway.WithGuards(requestOnly(finds(name, "bad", ""))) }
	synctest.Test(t, func(t *testing.T) {
		client, srv := emulated(none("1"), none("2"), none("3")) // with room for one more
		defer srv.Close()
		defer client.Close()
		left, errLeft := client.With(none("left"))
		right, errRight := client.With(none("right"))
		if errLeft != nil || errRight != nil {
			t.Fatal(errLeft, errRight)
		}
		for name, c := range map[string]*gateway.Client{"": client, ", left request deny": left, ", right request deny": right} {
			answer, err := c.Chat.Completions.Create(t.Context(), prompted(""))
			if err != nil {
				t.Fatal(err)
			}
			if want, got := "1 request deny, 2 request deny, 3 request deny"+name, verdicts(answer.Meta.Guards); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
