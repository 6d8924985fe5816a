package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/openai"
	"github.com/b650d4bf/gateway/providers/providertest"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// key is an API key.
type key string

func (k key) Token(context.Context) (*auth.Token, error) { return &auth.Token{Value: string(k)}, nil }

func TestProvidersPass(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		for _, model := range []string{"gpt-4.1", "gpt-5-mini"} {
			p := openai.New(openai.Config{Compatible: compatible})
			if compatible && model == "gpt-5-mini" {
				continue // a model that other servers do not have
			}
			t.Run(p.Name()+" "+model, func(t *testing.T) {
				providertest.Run(t, func(t *testing.T) (providers.Provider, *providers.Target) {
					server := vertextest.New(vertextest.WithToken("the-key"))
					t.Cleanup(server.Close)
					own := openai.New(openai.Config{Compatible: compatible, Transport: server.Transport()})
					t.Cleanup(func() { _ = own.Close() })
					target := &providers.Target{Provider: own.Name(), Model: model, Token: key("the-key")}
					if compatible {
						target.BaseURL = "https://llm.example/v1"
					}
					return own, target
				})
			})
		}
	}
}

// sent keeps a request and answers it.
type sent struct {
	url, body string
	header    http.Header
}

const okAnswer = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	s.url, s.body, s.header = r.URL.String(), string(body), r.Header.Clone()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(okAnswer)), Request: r}, err
}

func ask(t *testing.T, compatible bool, target *providers.Target, members string) (*sent, *providers.ChatCompletion, error) {
	t.Helper()
	q := new(providers.ChatCompletionRequest)
	if err := json.Unmarshal([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]`+members+`}`), q); err != nil {
		t.Fatal(err)
	}
	rt := new(sent)
	p := openai.New(openai.Config{Compatible: compatible, Transport: rt})
	defer func() { _ = p.Close() }()
	answer, err := p.ChatCompletion(t.Context(), target, q)
	return rt, answer, err
}

func TestWhereRequestsGo(t *testing.T) {
	for _, tt := range []struct {
		name       string
		compatible bool
		target     providers.Target
		url, auth  string
	}{
		{"OpenAI's own", false, providers.Target{Model: "gpt-5", Token: key("k")}, "https://api.openai.com/v1/chat/completions", "Bearer k"},
		{"a proxy before it", false, providers.Target{Model: "gpt-5", BaseURL: "https://proxy.example/openai/v1/", Token: key("k")}, "https://proxy.example/openai/v1/chat/completions", "Bearer k"},
		{"a server without keys", true, providers.Target{Model: "llama3:8b", BaseURL: "http://localhost:11434/v1"}, "http://localhost:11434/v1/chat/completions", ""},
		{"a name with slashes", true, providers.Target{Model: "meta-llama/Llama-3.3-70B-Instruct", BaseURL: "https://api.groq.com/openai/v1", Token: key("gsk")}, "https://api.groq.com/openai/v1/chat/completions", "Bearer gsk"},
		{
			"Azure's deployments", true,
			providers.Target{Model: "d1", BaseURL: "https://r.openai.azure.com/openai/deployments/d1", APIVersion: "2024-10-21", Header: http.Header{"Api-Key": {"k"}}},
			"https://r.openai.azure.com/openai/deployments/d1/chat/completions?api-version=2024-10-21", "",
		},
		{"a project and a region mean nothing", false, providers.Target{Model: "gpt-5", ProjectID: "p", Region: "eu", Token: key("k")}, "https://api.openai.com/v1/chat/completions", "Bearer k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, answer, err := ask(t, tt.compatible, &tt.target, "")
			if err != nil {
				t.Fatal(err)
			}
			if rt.url != tt.url || rt.header.Get("Authorization") != tt.auth {
				t.Errorf("%s as %q, want %s as %q", rt.url, rt.header.Get("Authorization"), tt.url, tt.auth)
			}
			if azure := tt.target.Header.Get("Api-Key"); rt.header.Get("Api-Key") != azure {
				t.Errorf("api-key %q, want %q", rt.header.Get("Api-Key"), azure)
			}
			if name := map[bool]string{false: "openai", true: "openai-compatible"}[tt.compatible]; answer.Provider != name {
				t.Errorf("the provider is %q, want %q", answer.Provider, name)
			}
			if len(answer.Meta.Warnings) > 0 {
				t.Errorf("warnings %v", answer.Meta.Warnings)
			}
			for name := range rt.header {
				if strings.HasPrefix(name, "X-Goog") {
					t.Errorf("the header %s is for another platform", name)
				}
			}
		})
	}
}

func TestWhatIsSent(t *testing.T) {
	const members = `,"max_tokens":9,"top_k":3,"reasoning_effort":"minimal","service_tier":"flex","verbosity":"low","labels":{"a":"b"},"some_member":[1, 2]`
	for _, tt := range []struct {
		name       string
		compatible bool
		members    string
		want       string
		warned     []string
	}{
		{"OpenAI's own", false, members, `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9,"reasoning_effort":"minimal",` +
			`"service_tier":"flex","verbosity":"low","some_member":[1, 2]}`, []string{"labels", "top_k"}},
		{"another server", true, members, `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}],"max_tokens":9,"reasoning_effort":"minimal","top_k":3,` +
			`"service_tier":"flex","verbosity":"low","some_member":[1, 2]}`, []string{"labels"}},
		{"thinking has another name", false, `,"thinking":{"type":"enabled","budget_tokens":5}`, `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}`, []string{"thinking"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, answer, err := ask(t, tt.compatible, &providers.Target{Model: "gpt-5", BaseURL: "https://h/v1", Token: key("k")}, tt.members)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(canonical(t, tt.want), canonical(t, rt.body)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			var warned []string
			for _, w := range answer.Meta.Warnings {
				warned = append(warned, w.Param)
			}
			if d := cmp.Diff(sorted(tt.warned), sorted(warned)); d != "" {
				t.Errorf("warnings (-want +got)\n%s", d)
			}
		})
	}
}

func canonical(t *testing.T, body string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return v
}

func sorted(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}

func TestWhatCannotBeSentIsRefusedBefore(t *testing.T) {
	for _, tt := range []struct {
		name       string
		compatible bool
		target     providers.Target
		code       providers.Code
		param      string
	}{
		{"no key", false, providers.Target{Model: "gpt-5"}, providers.ErrAuthentication, "api_key"},
		{"an empty key", false, providers.Target{Model: "gpt-5", Token: key("")}, providers.ErrAuthentication, "api_key"},
		{"no address", true, providers.Target{Model: "m", Token: key("k")}, providers.ErrInvalidConfig, "base_url"},
		{"an address with a password", true, providers.Target{Model: "m", BaseURL: "https://u:p@h/v1"}, providers.ErrInvalidConfig, "base_url"},
		{"no model", false, providers.Target{Token: key("k")}, providers.ErrInvalidRequest, "model"},
		{"a model with a line break", false, providers.Target{Model: "a\nb", Token: key("k")}, providers.ErrInvalidRequest, "model"},
		{"a model after a space", false, providers.Target{Model: " m", Token: key("k")}, providers.ErrInvalidRequest, "model"},
		{"a model without end", false, providers.Target{Model: strings.Repeat("m", 513), Token: key("k")}, providers.ErrInvalidRequest, "model"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, _, err := ask(t, tt.compatible, &tt.target, "")
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Param != tt.param || e.Sent {
				t.Fatalf("%v, want %s about %s", err, tt.code, tt.param)
			}
			if rt.url != "" {
				t.Errorf("a request went to %s", rt.url)
			}
		})
	}
}
