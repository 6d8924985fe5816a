package google_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/google"
	"github.com/b650d4bf/gateway/providers/providertest"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestProvider(t *testing.T) {
	for _, model := range []string{"gemini-2.5-flash", "gemini-3.8-flash", "models/gemini-4-neon"} {
		t.Run(model, func(t *testing.T) {
			providertest.Run(t, func(t *testing.T) (providers.Provider, *providers.Target) {
				srv := vertextest.New(vertextest.WithToken("key"))
				t.Cleanup(srv.Close)
				return newProvider(t, srv.Transport()), target(model)
			})
		})
	}
}

func TestProviderIsNamed(t *testing.T) {
	p := newProvider(t, plays(okAnswer))
	if p.Name() != "google" || p.APIKeyHeader() != http.CanonicalHeaderKey(p.APIKeyHeader()) || p.APIKeyHeader() != "X-Goog-Api-Key" {
		t.Errorf("%s %s", p.Name(), p.APIKeyHeader())
	}
}

func TestAddresses(t *testing.T) {
	const host = "https://generativelanguage.googleapis.com/v1beta/"
	for _, tt := range []struct{ model, base, want string }{
		{"gemini-3.5-flash", "", host + "models/gemini-3.5-flash:generateContent"},
		{"models/gemini-3.5-flash", "", host + "models/gemini-3.5-flash:generateContent"},
		{"google.gemini-3.5-flash", "", host + "models/gemini-3.5-flash:generateContent"},
		{"google/gemini-3.5-flash", "", host + "models/gemini-3.5-flash:generateContent"},
		{"models/google.gemini-3.5-flash", "", host + "models/gemini-3.5-flash:generateContent"},
		{"tunedModels/my-model-1", "", host + "tunedModels/my-model-1:generateContent"},
		{"gemini-3.5-flash", "https://proxy.example", "https://proxy.example/v1beta/models/gemini-3.5-flash:generateContent"},
		{"gemini-3.5-flash", "http://127.0.0.1:8080/a/b/", "http://127.0.0.1:8080/a/b/v1beta/models/gemini-3.5-flash:generateContent"},
	} {
		t.Run(tt.model+tt.base, func(t *testing.T) {
			rt := plays(okAnswer)
			to := target(tt.model)
			to.BaseURL, to.ProjectID, to.Region, to.UniverseDomain = tt.base, "Not A Project", "not a region", "theirs.example" // not looked at
			if _, err := newProvider(t, rt).ChatCompletion(t.Context(), to, hello(t, tt.model)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want}, rt.urls); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a stream", func(t *testing.T) {
		rt := plays("data: " + okAnswer + "\r\n\r\n")
		r, err := newProvider(t, rt).ChatCompletionStream(t.Context(), target("gemini-3.5-flash"), hello(t, "gemini-3.5-flash"))
		if err != nil {
			t.Fatal(err)
		}
		if _, whole, err := outcome.Read(r); err != nil || whole.Choices[0].Message.Content.Text() != "ok" {
			t.Errorf("%v %v", whole, err)
		}
		if want := host + "models/gemini-3.5-flash:streamGenerateContent?alt=sse"; rt.urls[0] != want {
			t.Errorf("%s, want %s", rt.urls[0], want)
		}
	})
}

func TestWhatIsWrongIsFoundBeforeAnythingIsSent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target providers.Target
		code   providers.Code
		param  string
	}{
		{"no key", providers.Target{Model: "gemini-3.5-flash"}, providers.ErrAuthentication, "api_key"},
		{"an empty key", providers.Target{Model: "gemini-3.5-flash", Token: apiKey("")}, providers.ErrAuthentication, "api_key"},
		{"a key that can't be one", providers.Target{Model: "gemini-3.5-flash", Token: apiKey("hunter2\r\nx")}, providers.ErrAuthentication, "api_key"},
		{"no model", providers.Target{}, providers.ErrInvalidRequest, "model"},
		{"no name", providers.Target{Model: "models/"}, providers.ErrInvalidRequest, "model"},
		{"dots", providers.Target{Model: "models/.."}, providers.ErrInvalidRequest, "model"},
		{"a path", providers.Target{Model: "gemini/../x"}, providers.ErrInvalidRequest, "model"},
		{"a verb", providers.Target{Model: "gemini-3.5-flash:predict"}, providers.ErrInvalidRequest, "model"},
		{"a query", providers.Target{Model: "gemini-3.5-flash?key=x"}, providers.ErrInvalidRequest, "model"},
		{"a tuned path", providers.Target{Model: "tunedModels/a/b"}, providers.ErrInvalidRequest, "model"},
		{"a name of Vertex AI", providers.Target{Model: "projects/p/locations/l/endpoints/1"}, providers.ErrInvalidRequest, "model"},
		{"a base URL with a query", providers.Target{Model: "gemini-3.5-flash", Token: apiKey("k"), BaseURL: "https://x.y?a=hunter2"}, providers.ErrInvalidConfig, "base_url"},
		{"a base URL without a host", providers.Target{Model: "gemini-3.5-flash", Token: apiKey("k"), BaseURL: "x.y"}, providers.ErrInvalidConfig, "base_url"},
		{"a broken key source", providers.Target{Model: "gemini-3.5-flash", Token: broken{}}, providers.ErrAuthentication, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays(okAnswer)
			_, err := newProvider(t, rt).ChatCompletion(t.Context(), &tt.target, hello(t, "m"))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Param != tt.param || e.Sent || len(rt.sent) > 0 || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v after %d requests, want %s about %q", err, len(rt.sent), tt.code, tt.param)
			}
		})
	}
}

// broken is a token source that fails.
type broken struct{}

func (broken) Token(context.Context) (*auth.Token, error) { return nil, errors.New("no") }

func TestTheKeyIsAHeader(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*providers.Target)
		want   string
	}{
		"of the token source":              {func(*providers.Target) {}, "key"},
		"of the header":                    {func(to *providers.Target) { to.Token, to.Header = nil, http.Header{"X-Goog-Api-Key": {"own"}} }, "own"},
		"the source's before the header's": {func(to *providers.Target) { to.Header = http.Header{"X-Goog-Api-Key": {"own"}} }, "key"},
		"none for a proxy":                 {func(to *providers.Target) { to.Token, to.BaseURL = nil, "https://proxy.example" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rt := plays(okAnswer)
			to := target("gemini-3.5-flash")
			tt.change(to)
			before := to.Header.Clone()
			if _, err := newProvider(t, rt).ChatCompletion(t.Context(), to, hello(t, "m")); err != nil {
				t.Fatal(err)
			}
			if got := rt.head.Get("X-Goog-Api-Key"); got != tt.want || rt.head.Get("Authorization") != "" || strings.Contains(rt.urls[0], "key") {
				t.Errorf("%q, %v, %s", got, rt.head, rt.urls[0])
			}
			if diff := cmp.Diff(before, to.Header); diff != "" {
				t.Errorf("the target's header changed: %s", diff)
			}
		})
	}
}

func TestLabelsAreLearnt(t *testing.T) {
	srv := vertextest.New(vertextest.WithRefusedField("labels"))
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	to := target("gemini-3.5-flash")
	to.Labels = map[string]string{"app": "x"}
	for i, want := range []string{"asked again without them", "has refused labels"} {
		out, err := p.ChatCompletion(t.Context(), to, hello(t, to.Model, `"labels":{"a":"b"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome.WarningLines(out.Meta.Warnings); !strings.Contains(got, want) {
			t.Errorf("call %d: %s", i, got)
		}
	}
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	to.Model = "gemini-2.5-flash"
	accepts := vertextest.New()
	defer accepts.Close()
	if out, err := newProvider(t, accepts.Transport()).ChatCompletion(t.Context(), to, hello(t, to.Model)); err != nil || len(out.Meta.Warnings) > 0 ||
		!strings.Contains(string(accepts.Requests()[0].Body), `"labels":{"app":"x"}`) {
		t.Errorf("%v %v", out, err)
	}
}

func TestCountTokens(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	req := hello(t, "gemini-3.5-flash", `"tools":[{"type":"function","function":{"name":"f"}}]`, `"service_tier":"flex"`, `"store":true`)
	out, err := p.CountTokens(t.Context(), target("gemini-3.5-flash"), req)
	if err != nil || out.TotalTokens == 0 || out.BillableCharacters != 0 || len(out.Meta.Warnings) > 0 {
		t.Fatalf("%+v %v", out, err)
	}
	const want = `{"generateContentRequest":{"model":"models/gemini-3.5-flash","contents":[{"role":"user","parts":[{"text":"hi"}]}],` +
		`"tools":[{"functionDeclarations":[{"name":"f"}]}]}}`
	if diff := cmp.Diff(want, string(srv.Requests()[0].Body)); diff != "" {
		t.Error(diff)
	}
}

func TestEmbeddings(t *testing.T) {
	for _, tt := range []struct {
		name, body, want string
		warned           int
	}{
		{"one", `{"model":"gemini-embedding-001","input":"a","dimensions":8,"task_type":"RETRIEVAL_DOCUMENT","title":"t"}`,
			`{"content":{"parts":[{"text":"a"}]},"model":"models/gemini-embedding-001","outputDimensionality":8,"taskType":"RETRIEVAL_DOCUMENT","title":"t"}`, 0},
		{"several", `{"model":"gemini-embedding-001","input":["a","b"]}`,
			`{"requests":[{"content":{"parts":[{"text":"a"}]},"model":"models/gemini-embedding-001"},{"content":{"parts":[{"text":"b"}]},"model":"models/gemini-embedding-001"}]}`, 0},
		{"by instruction", `{"model":"google/gemini-embedding-2","input":"a","task_type":"CLUSTERING"}`,
			`{"content":{"parts":[{"text":"task: clustering | query: a"}]},"model":"models/gemini-embedding-2"}`, 1},
		{"what it does not take", `{"model":"gemini-embedding-2","input":"a","auto_truncate":false,"document_ocr":true,"labels":{"a":"b"},"parameters":{"outputDimensionality":256}}`,
			`{"content":{"parts":[{"text":"a"}]},"model":"models/gemini-embedding-2","outputDimensionality":256}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			q := new(providers.EmbeddingRequest)
			if err := q.UnmarshalJSON([]byte(tt.body)); err != nil {
				t.Fatal(err)
			}
			out, err := newProvider(t, srv.Transport()).Embeddings(t.Context(), target(q.Model), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Data) != len(q.Input.Items) || len(out.Data[0].Embedding) == 0 || out.Provider != "google" {
				t.Errorf("%d vectors of %s", len(out.Data), out.Provider)
			}
			if diff := cmp.Diff(tt.want, string(srv.Requests()[0].Body)); diff != "" {
				t.Error(diff)
			}
			if len(out.Meta.Warnings) != tt.warned {
				t.Errorf("warnings %v", out.Meta.Warnings)
			}
		})
	}
	t.Run("more than a batch", func(t *testing.T) {
		srv := vertextest.New()
		defer srv.Close()
		q := &providers.EmbeddingRequest{Model: "gemini-embedding-001"}
		for range 250 {
			q.Input.Items = append(q.Input.Items, providers.EmbeddingItem{Text: "a"})
		}
		if out, err := newProvider(t, srv.Transport()).Embeddings(t.Context(), target(q.Model), q); err != nil || len(out.Data) != 250 || len(srv.Requests()) != 3 {
			t.Errorf("%v after %d requests", err, len(srv.Requests()))
		}
	})
}

func TestCachedContents(t *testing.T) {
	const kept = `{"name":"cachedContents/1","model":"models/gemini-2.5-flash","createTime":"2026-11-21T14:00:00Z","usageMetadata":{"totalTokenCount":4096}}`
	const all = "https://generativelanguage.googleapis.com/v1beta/cachedContents"
	rt := plays(kept)
	p := newProvider(t, rt)
	to := target("gemini-2.5-flash")
	q := &providers.CachedContentRequest{Model: to.Model, Messages: []providers.Message{providers.UserMessage("a book")}, TTL: time.Hour, DisplayName: "b"}
	calls := []struct {
		name      string
		call      func() error
		verb, url string
		body      string
	}{
		{"create", func() error { _, err := p.CreateCachedContent(t.Context(), to, q); return err }, http.MethodPost, all,
			`{"model":"models/gemini-2.5-flash","displayName":"b","contents":[{"role":"user","parts":[{"text":"a book"}]}],"ttl":"3600s"}`},
		{"get", func() error { _, err := p.GetCachedContent(t.Context(), to, "1"); return err }, http.MethodGet, all + "/1", ""},
		{"list", func() error { _, err := p.ListCachedContents(t.Context(), to, "a b"); return err }, http.MethodGet, all + "?pageToken=a+b", ""},
		{"update", func() error {
			_, err := p.UpdateCachedContent(t.Context(), to, "cachedContents/1", providers.CachedContentExpiry{TTL: time.Minute})
			return err
		}, http.MethodPatch, all + "/1?updateMask=ttl", `{"ttl":"60s"}`},
		{"delete", func() error { return p.DeleteCachedContent(t.Context(), to, "cachedContents/1") }, http.MethodDelete, all + "/1", ""},
	}
	for i, c := range calls {
		if err := c.call(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff([]string{c.verb, c.url, c.body}, []string{rt.verb, rt.urls[i], string(rt.sent[i])}); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for name, call := range map[string]func() error{
		"name": func() error { return p.DeleteCachedContent(t.Context(), to, "projects/p/locations/l/cachedContents/1") },
		"kms_key_name": func() error {
			own := *q
			own.KMSKeyName = "k"
			_, err := p.CreateCachedContent(t.Context(), to, &own)
			return err
		},
	} {
		var e *providers.Error
		if err := call(); !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != name || len(rt.sent) != len(calls) {
			t.Errorf("%v, want an error about %s", err, name)
		}
	}
}

func TestASignatureOfVertexAIIsReplaced(t *testing.T) {
	const refusal = `{"error":{"code":400,"message":"Invalid thought signature.","status":"INVALID_ARGUMENT"}}`
	rt := plays(refusal, okAnswer)
	q := decodeRequest(t, []byte(`{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c","type":"function",`+
		`"function":{"name":"f","arguments":"{}","thought_signature":"dmVydGV4"}}]},{"role":"tool","tool_call_id":"c","content":"y"}]}`))
	p := newProvider(t, rt)
	out, err := p.ChatCompletion(t.Context(), target("gemini-3.5-flash"), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(rt.sent) != 2 || !strings.Contains(string(rt.sent[0]), `"thoughtSignature":"dmVydGV4"`) ||
		!strings.Contains(string(rt.sent[1]), `"thoughtSignature":"skip_thought_signature_validator"`) {
		t.Errorf("%s", rt.sent)
	}
	if got := outcome.WarningLines(out.Meta.Warnings); !strings.Contains(got, providers.WarnSignature) || p.SignatureStats().Sentinels != 1 {
		t.Errorf("%s %+v", got, p.SignatureStats())
	}
}

func TestCloseTwice(t *testing.T) {
	p := google.New(google.Config{})
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}
