package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// secrets are credentials, each with the hosts that it may be sent to; "" is the
// platform.
var secrets = map[string][]string{
	"canary-client-token":  {""},
	"canary-client-header": {""},
	"canary-v-token":       {""},
	"canary-v-header":      {""},
	"canary-g-key":         {"generativelanguage.googleapis.com"},
	"canary-g-header":      {"generativelanguage.googleapis.com"},
	"canary-a-key":         {"api.anthropic.com"},
	"canary-a-header":      {"api.anthropic.com"},
	"canary-o-key":         {"api.openai.com"},
	"canary-o-header":      {"api.openai.com"},
	"canary-c-key":         {"llm.example"},
	"canary-c-header":      {"llm.example"},
	"canary-p-key":         {"proxy.example"}, // by a config with a host
	"canary-call-token":    {""},
	"canary-call-header":   {""},
	"canary-http-token":    {""},
	"canary-http-key":      {},
	"canary-http-cookie":   {},
	"canary-http-x-key":    {},
	"canary-http-goog":     {},
}

// secretEntries are catalog entries for each provider, with a model of each.
var secretEntries = map[string]catalog.Entry{
	"gemini-2.5-flash":                      {Slug: "v", Provider: "vertex-ai", ProjectID: "p", Region: "global"},
	"anthropic.claude-sonnet-4-5":           {Slug: "w", Provider: "vertex-ai", ProjectID: "p", Region: "global"},
	"gemini-2.5-pro":                        {Slug: "g", Provider: "google"},
	"claude-sonnet-4-6":                     {Slug: "a", Provider: "anthropic"},
	"gpt-5-mini":                            {Slug: "o", Provider: "openai"},
	"meta-llama/Llama-3.3-70B-Instruct":     {Slug: "c", Provider: "openai-compatible", BaseURL: "https://llm.example/v1"},
	"meta-llama/Llama-4-Scout-17B-Instruct": {Slug: "p", Provider: "openai-compatible", BaseURL: "https://unused.example"},
}

// spy looks at all that is sent, before it answers in the way of its mode.
type spy struct {
	t    *testing.T
	next http.RoundTripper
	mode string

	mu    sync.Mutex
	hosts map[string]bool
}

func (s *spy) RoundTrip(q *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.hosts[q.URL.Host] = true
	s.mu.Unlock()
	sent := q.URL.String() + "\n"
	for name, values := range q.Header {
		sent += name + ": " + strings.Join(values, ",") + "\n"
	}
	for canary, hosts := range secrets {
		if !strings.Contains(sent, canary) {
			continue
		}
		own := slices.Contains(hosts, q.URL.Host) || slices.Contains(hosts, "") && strings.HasSuffix(q.URL.Host, "aiplatform.googleapis.com")
		if !own {
			s.t.Errorf("%s reached %s", canary, q.URL.Host)
		}
	}
	if strings.Contains(sent, "canary-prompt") {
		s.t.Errorf("the prompt is in a header or the URL, to %s", q.URL.Host)
	}
	if q.Body != nil && s.mode != "" {
		_ = q.Body.Close()
	}
	answer := func(status int, header http.Header, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: q}, nil
	}
	kind := http.Header{"Content-Type": {"application/json"}}
	echo, _ := json.Marshal("you sent " + sent)
	switch s.mode {
	case "redirect":
		return answer(307, http.Header{"Location": {"https://elsewhere.example/?k=" + q.Header.Get("Authorization")}}, "")
	case "broken":
		return nil, errors.New("broken pipe")
	case "garbage":
		return answer(200, kind, `{"candidates":[{"canary`)
	case "echo":
		return answer(401, kind, `{"error":{"code":401,"status":"UNAUTHENTICATED","type":"authentication_error","message":`+string(echo)+`,"details":[{"got":`+string(echo)+`}]}}`)
	case "echo stream":
		return answer(200, http.Header{"Content-Type": {"text/event-stream"}}, `data: {"type":"error","error":{"code":503,"type":"overloaded_error","message":`+string(echo)+"}}\n\n")
	case "echo text":
		return answer(500, http.Header{"Content-Type": {"text/plain"}}, "you sent "+sent)
	}
	return s.next.RoundTrip(q)
}

// TestSecretsStayAtHome asks everything of every provider, in every way that it
// may fail, and looks for credentials where they do not belong: at other hosts,
// in errors, logs, what observers are told and what HTTP clients see.
func TestSecretsStayAtHome(t *testing.T) {
	for _, mode := range []string{"", "redirect", "broken", "garbage", "echo", "echo text", "echo stream"} {
		t.Run("mode "+mode, func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			s := &spy{t: t, next: srv.Transport(), mode: mode, hosts: map[string]bool{}}
			core, logs := observer.New(zap.DebugLevel)
			seen := &watcher{}
			client := secretClient(t, s, zap.New(core), seen)
			askInGo(t, client, mode)
			askOverHTTP(t, client, mode)
			for _, e := range logs.All() {
				clean(t, "the log", mode, fmt.Sprintf("%v %v", e.Message, e.ContextMap()))
			}
			for i := range seen.ends {
				clean(t, "a record", mode, shown(seen.ends[i], seen.ends[i].Err))
			}
			clean(t, "the client", mode, fmt.Sprintf("%v %+v %#v", client, *client, client))
			for _, host := range []string{"aiplatform.googleapis.com", "generativelanguage.googleapis.com", "api.anthropic.com", "api.openai.com", "llm.example", "proxy.example"} {
				if !s.hosts[host] {
					t.Errorf("%s was not asked, only %v", host, s.hosts)
				}
			}
		})
	}
}

// proxied is a config whose target has a host of its own.
const proxied = `{"provider":"@p","custom_host":"https://proxy.example/v1","forward_headers":["x-team"]}`

func secretClient(t *testing.T, rt http.RoundTripper, l *zap.Logger, o gateway.Observer) *gateway.Client {
	t.Helper()
	var entries []catalog.Entry
	for _, e := range secretEntries {
		e.Headers = map[string]catalog.Secret{"X-Own": catalog.Secret("canary-" + e.Slug + "-header")}
		switch {
		case e.Slug == "p":
			e.APIKey, e.Headers = "canary-p-key", nil
		case e.Slug == "v":
			e.AccessToken = "canary-v-token"
		case e.Slug == "w": // has the client's credentials
			e.Headers = nil
		default:
			e.APIKey = catalog.Secret("canary-" + e.Slug + "-key")
		}
		entries = append(entries, e)
	}
	list, err := catalog.New(entries...)
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(
		gateway.WithCatalog(list), gateway.WithHTTPClient(&http.Client{Transport: rt}), gateway.WithLogger(l), gateway.WithObserver(o),
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithBaseURL("https://aiplatform.googleapis.com"),
		gateway.WithAccessToken("canary-client-token"), gateway.WithHeader("X-Goog-Api-Key", "canary-client-header"),
		gateway.WithPrompts(&shelf{request: &gateway.ChatCompletionRequest{Model: "@g/gemini-2.5-pro"}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// shown is all that is to be seen of a value and an error.
func shown(v any, err error) string {
	text := fmt.Sprintf("%v %+v %#v %v %+v %#v", v, v, v, err, err, err)
	a, _ := json.Marshal(v)
	b, _ := json.Marshal(err)
	if e, ok := errors.AsType[*gateway.Error](err); ok {
		text += string(e.Details) + fmt.Sprintf("%+v", *e)
	}
	return text + string(a) + string(b)
}

// clean checks that no secret is in a text.
func clean(t *testing.T, where, mode, text string) {
	t.Helper()
	for canary := range secrets {
		if i := strings.Index(text, canary); i >= 0 {
			t.Errorf("%s: %s holds %s: …%s…", mode, where, canary, text[max(0, i-80):min(len(text), i+60)])
		}
	}
}

func askInGo(t *testing.T, client *gateway.Client, mode string) {
	t.Helper()
	ctx := t.Context()
	cfg, err := gateway.ParseConfig([]byte(proxied))
	if err != nil {
		t.Fatal(err)
	}
	own := []gateway.RequestOption{
		gateway.WithAccessToken("canary-call-token"), gateway.WithHeader("X-Goog-Api-Key", "canary-call-header"),
		gateway.WithBaseURL("https://aiplatform.googleapis.com"),
	}
	for model, entry := range secretEntries {
		for _, opts := range [][]gateway.RequestOption{nil, own, {gateway.WithConfig(cfg)}, append(slices.Clone(own), gateway.WithConfig(cfg))} {
			ref := "@" + entry.Slug + "/" + model
			if entry.Slug == "p" {
				if len(opts) == 0 || len(opts) == len(own) {
					continue
				}
				ref = model
			}
			for what, ask := range asks(client, ref) {
				v, err := ask(ctx, opts...)
				clean(t, what+" of "+ref, mode, shown(v, err))
				if mode != "" && err == nil {
					t.Errorf("%s of %s: no error", what, ref)
				}
			}
		}
	}
}

type asked func(context.Context, ...gateway.RequestOption) (any, error)

// asks are the ways to ask a model in Go.
func asks(client *gateway.Client, ref string) map[string]asked {
	chat := &gateway.ChatCompletionRequest{Model: ref, Messages: []gateway.Message{gateway.UserMessage("canary-prompt")}}
	message := []byte(`{"model":"` + ref + `","max_tokens":64,"messages":[{"role":"user","content":"canary-prompt"}]}`)
	return map[string]asked{
		"chat": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			return client.Chat.Completions.Create(ctx, chat, opts...)
		},
		"stream": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			stream, err := client.Chat.Completions.CreateStream(ctx, chat, opts...)
			if err != nil {
				return nil, err
			}
			return stream.Collect()
		},
		"message": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			return client.Messages.Create(ctx, message, opts...)
		},
		"embedding": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			return client.Embeddings.Create(ctx, &gateway.EmbeddingRequest{Model: ref, Input: gateway.EmbeddingTexts("canary-prompt")}, opts...)
		},
		"count": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			return client.Messages.CountTokens(ctx, message, opts...)
		},
		"prompt": func(ctx context.Context, opts ...gateway.RequestOption) (any, error) {
			return client.Prompts.Completions.Create(ctx, &gateway.PromptCompletionRequest{
				ID: "x", Variables: map[string]any{"name": "canary-prompt"}, Overrides: gateway.ChatCompletionRequest{Model: ref},
			}, opts...)
		},
	}
}

func askOverHTTP(t *testing.T, client *gateway.Client, mode string) {
	t.Helper()
	h := client.Handler(gateway.WithAPIKeys("canary-http-key"))
	for model, entry := range secretEntries {
		ref := "@" + entry.Slug + "/" + model
		if entry.Slug == "p" {
			continue
		}
		for _, path := range []string{
			"/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/embeddings", "/v1/prompts/x/completions", "/v1/models",
		} {
			body := `{"model":"` + ref + `","max_tokens":64,"messages":[{"role":"user","content":"canary-prompt"}]}`
			switch path {
			case "/v1/embeddings":
				body = `{"model":"` + ref + `","input":"canary-prompt"}`
			case "/v1/prompts/x/completions":
				body = `{"stream":true,"model":"` + ref + `","variables":{"name":"canary-prompt"}}`
			}
			for _, config := range []string{
				"", `{"forward_headers":["x-team"]}`, `{"forward_headers":["authorization"]}`, `{"forward_headers":["x-api-key"]}`, `{"forward_headers":["cookie"]}`,
			} {
				q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
				if path == "/v1/models" {
					q = httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
				}
				for name, value := range map[string]string{
					"X-Gateway-Api-Key": "canary-http-key", "Authorization": "Bearer canary-http-token", "Cookie": "a=canary-http-cookie",
					"X-Api-Key": "canary-http-x-key", "X-Goog-Api-Key": "canary-http-goog", "X-Team": "t", "Content-Type": "application/json",
				} {
					q.Header.Set(name, value)
				}
				if config != "" {
					q.Header.Set("X-Gateway-Config", config)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, q)
				clean(t, path+" of "+ref, mode, fmt.Sprint(w.Code, w.Header(), w.Body))
			}
		}
	}
}
