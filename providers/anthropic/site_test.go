package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/anthropic"
	"github.com/b650d4bf/gateway/providers/providertest"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestProvider(t *testing.T) {
	providertest.Run(t, func(t *testing.T) (providers.Provider, *providers.Target) {
		srv := vertextest.New(vertextest.WithToken("sk-ant-secret"))
		t.Cleanup(srv.Close)
		return newProvider(t, srv.Transport()), target("claude-sonnet-4-5")
	})
}

func TestNames(t *testing.T) {
	p := anthropic.New(anthropic.Config{})
	defer func() { _ = p.Close() }()
	if got := p.Name() + " " + p.APIKeyHeader(); got != "anthropic X-Api-Key" {
		t.Error(got)
	}
}

func TestModelReferences(t *testing.T) {
	for ref, want := range map[string]string{
		"claude-sonnet-4-5-20250929":                  "claude-sonnet-4-5-20250929",
		"claude-sonnet-4-5":                           "claude-sonnet-4-5",
		"claude-3-7-sonnet-latest":                    "claude-3-7-sonnet-latest",
		"anthropic.claude-opus-4-6":                   "claude-opus-4-6",
		"anthropic/claude-opus-4-6":                   "claude-opus-4-6",
		"publishers/anthropic/models/claude-opus-4-6": "claude-opus-4-6",
		"claude-sonnet-4-5@20250929":                  "claude-sonnet-4-5-20250929",
		"anthropic.claude-haiku-4-5@20251001":         "claude-haiku-4-5-20251001",
		"claude-sonnet-4-6@default":                   "claude-sonnet-4-6",
		"claude-3-5-sonnet-v2@20241022":               "claude-3-5-sonnet-20241022",
		"claude-3-5-sonnet-v2":                        "claude-3-5-sonnet-20241022",
		"claude-2.1":                                  "claude-2.1",
		"":                                            "",
		"anthropic.":                                  "",
		"claude opus":                                 "",
		"claude/opus":                                 "",
		"../claude":                                   "",
		"claude@2025@09":                              "",
		"@default":                                    "",
		"claude-":                                     "",
		"claude\n":                                    "",
		"claude?beta=1":                               "",
		"claude-opus-4-6:generate":                    "",
		strings.Repeat("a", 201):                      "",
		"anthropic.anthropic.claude-opus-4-6":         "anthropic.claude-opus-4-6",
	} {
		t.Run(ref, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			_, err := newProvider(t, rt).ChatCompletion(t.Context(), target(ref), hello(t, "m"))
			if want == "" {
				var e *providers.Error
				if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != "model" || rt.calls > 0 {
					t.Errorf("%v after %d calls, want a refusal of the model", err, rt.calls)
				}
				return
			}
			if err != nil || !strings.HasPrefix(string(rt.sent), `{"model":"`+want+`",`) {
				t.Errorf("%v, %s", err, rt.sent)
			}
		})
	}
}

// FuzzModel sends each name that is taken as one string of safe characters.
func FuzzModel(f *testing.F) {
	for _, ref := range []string{"claude-opus-4-6", "anthropic.claude@1", "a/b", "@", "publishers/anthropic/models/x"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		rt := plays([]byte(okMessage))
		g := target(ref)
		req := &providers.ChatCompletionRequest{Model: "m", Messages: []providers.Message{providers.UserMessage("a")}}
		if _, err := newProvider(t, rt).ChatCompletion(t.Context(), g, req); err != nil {
			return
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(string(rt.sent), `{"model":"`), `"`)
		if name == "" || strings.ContainsAny(name, "/\\ @?#:%") || rt.url != "POST https://api.anthropic.com/v1/messages" {
			t.Errorf("%q becomes %q at %s", ref, name, rt.url)
		}
	})
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ base, want string }{
		{"", "https://api.anthropic.com/v1/messages"},
		{"https://proxy.example.com", "https://proxy.example.com/v1/messages"},
		{"http://localhost:8080/", "http://localhost:8080/v1/messages"},
		{"https://proxy.example.com/anthropic/", "https://proxy.example.com/anthropic/v1/messages"},
	} {
		t.Run(tt.base, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			g := target("claude-sonnet-5")
			g.BaseURL, g.ProjectID, g.Region = tt.base, "p", "us-central1"
			if _, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, "m")); err != nil || rt.url != "POST "+tt.want {
				t.Errorf("%v, %s, want %s", err, rt.url, tt.want)
			}
			rt = plays([]byte(`{"input_tokens":1}`))
			if _, err := newProvider(t, rt).CountTokens(t.Context(), g, hello(t, "m")); err != nil || rt.url != "POST "+tt.want+"/count_tokens" {
				t.Errorf("%v, %s", err, rt.url)
			}
		})
	}
	for _, base := range []string{"proxy.example.com", "ftp://x", "https://u:p@x", "https://x?a", "https://x#a", "https://x/a%2fb", "://"} {
		t.Run(base, func(t *testing.T) {
			rt := plays(nil)
			g := target("claude-sonnet-5")
			g.BaseURL = base
			_, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, "m"))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidConfig || e.Param != "base_url" || rt.calls > 0 {
				t.Errorf("%v", err)
			}
		})
	}
}

// failing is a source that has no key.
type failing struct{ err error }

func (f failing) Token(context.Context) (*auth.Token, error) { return nil, f.err }

func TestAKeyThatIsMissingIsToldBeforeAnythingIsSent(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		token auth.TokenProvider
		base  string
		code  providers.Code
		says  string
	}{
		{"none", t.Context(), nil, "", providers.ErrAuthentication, "api_key"},
		{"an empty one", t.Context(), key(""), "", providers.ErrAuthentication, "api_key"},
		{"an empty one for a proxy", t.Context(), key(""), "https://proxy", providers.ErrAuthentication, "api_key"},
		{"a line", t.Context(), key("sk-ant-secret\n"), "", providers.ErrAuthentication, "white space"},
		{"no ASCII", t.Context(), key("sk-änt"), "", providers.ErrAuthentication, "ASCII"},
		{"a source that fails", t.Context(), failing{errors.New("vault is sealed")}, "", providers.ErrAuthentication, "no access token"},
		{"a source without one", t.Context(), failing{}, "", providers.ErrAuthentication, "api_key"},
		{"a call that has ended", canceled, failing{context.Canceled}, "", providers.ErrCanceled, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			g := target("claude-sonnet-5")
			g.Token, g.BaseURL = tt.token, tt.base
			_, err := newProvider(t, rt).ChatCompletion(tt.ctx, g, hello(t, "m"))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.code || !strings.Contains(e.Message, tt.says) || e.Sent || rt.calls > 0 {
				t.Errorf("%v after %d calls", err, rt.calls)
			}
			if e.Err == nil && e.Param != "api_key" || strings.Contains(err.Error(), "secret") {
				t.Errorf("param %q: %v", e.Param, err)
			}
		})
	}
}

// TestHeaders holds what goes out against what the caller's header says.
func TestHeaders(t *testing.T) {
	own := http.Header{
		"Authorization": {"Bearer theirs"}, "X-Api-Key": {"theirs"}, "Anthropic-Version": {"2026-10-21"}, "Anthropic-Beta": {"a-2027-01-01"}, "X-Other": {"o"},
	}
	for _, tt := range []struct {
		name  string
		token auth.TokenProvider
		want  string
	}{
		{"with a key", key("mine"), "X-Api-Key: mine\nAnthropic-Version: 2023-06-01\nAnthropic-Beta: a-2027-01-01\n"},
		{"where a proxy has the key", nil, "Authorization: Bearer theirs\nAnthropic-Version: 2023-06-01\nAnthropic-Beta: a-2027-01-01\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			g := target("claude-sonnet-5")
			g.Header, g.Token, g.BaseURL = own, tt.token, "https://proxy.example.com"
			if _, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, "m")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, headerLines(rt.head)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if rt.head.Get("X-Other") != "o" || own.Get("X-Api-Key") != "theirs" || rt.head.Get("X-Goog-Api-Client") != "" {
				t.Errorf("sent %v, left %v", rt.head, own)
			}
		})
	}
}

// refused returns the error that both forms make of a refusal.
func refused(t *testing.T, status int, header http.Header, body string) *providers.Error {
	t.Helper()
	answer := func() *player {
		p := plays([]byte(body))
		p.status, p.header = status, header
		return p
	}
	_, err := newProvider(t, answer()).ChatCompletion(t.Context(), target("claude-sonnet-5"), hello(t, "m"))
	_, streamErr := newProvider(t, answer()).ChatCompletionStream(t.Context(), target("claude-sonnet-5"), hello(t, "m"))
	_, countErr := newProvider(t, answer()).CountTokens(t.Context(), target("claude-sonnet-5"), hello(t, "m"))
	var e *providers.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v, want an Error", err)
	}
	for _, other := range []error{streamErr, countErr} {
		if other == nil || outcome.Describe(other) != outcome.Describe(err) {
			t.Errorf("%v, want %v", other, err)
		}
	}
	return e
}

func TestErrors(t *testing.T) {
	const id = `{"request_id":"req_1"}`
	body := func(kind, message string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_1"}`
	}
	for _, tt := range []struct {
		status        int
		kind, message string
		code          providers.Code
		param, hint   string
	}{
		{400, "invalid_request_error", "max_tokens: 1 > 0", providers.ErrInvalidRequest, "max_tokens", ""},
		{400, "invalid_request_error", "mcp_servers.0.url: bad", providers.ErrInvalidRequest, "mcp_servers", ""},
		{400, "invalid_request_error", "prompt is too long: 2 tokens > 1 maximum", providers.ErrContextLength, "", ""},
		{401, "authentication_error", "invalid x-api-key", providers.ErrAuthentication, "", "check the catalog entry's api_key"},
		{402, "billing_error", "pay", providers.ErrInvalidRequest, "", ""},
		{403, "permission_error", "no", providers.ErrPermission, "", ""},
		{404, "not_found_error", "model: claude-0", providers.ErrModelNotFound, "model", "check the model's name, and the ids of files and containers, which belong to the key's workspace"},
		{413, "request_too_large", "large", providers.ErrTooLarge, "", ""},
		{429, "rate_limit_error", "slow down", providers.ErrRateLimited, "", ""},
		{500, "api_error", "oops", providers.ErrServer, "", ""},
		{504, "timeout_error", "late", providers.ErrTimeout, "", ""},
		{529, "overloaded_error", "Overloaded", providers.ErrUnavailable, "", ""},
	} {
		t.Run(tt.kind+" "+tt.message, func(t *testing.T) {
			e := refused(t, tt.status, http.Header{"Retry-After": {"7"}}, body(tt.kind, tt.message))
			want := &providers.Error{
				Code: tt.code, Message: tt.message, Param: tt.param, Provider: "anthropic", StatusCode: tt.status, NativeStatus: tt.kind,
				RetryAfter: 7 * time.Second, Sent: tt.status >= 500, Details: []byte(id),
			}
			if tt.hint != "" {
				want.Message += " (" + tt.hint + ")"
			}
			if diff := cmp.Diff(want, e); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if strings.Contains(e.Message, "aiplatform") || strings.Contains(e.Message, "region") {
				t.Errorf("a remedy for another platform: %s", e.Message)
			}
		})
	}
	t.Run("a page of a front end", func(t *testing.T) {
		e := refused(t, 502, http.Header{"Request-Id": {"req_1"}}, "<html>")
		if e.Code != providers.ErrServer || string(e.Details) != id {
			t.Errorf("%v with details %s", e, e.Details)
		}
	})
	t.Run("the id of the header", func(t *testing.T) {
		e := refused(t, 429, http.Header{"Request-Id": {"req_1"}}, `{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`)
		if string(e.Details) != id {
			t.Errorf("details %s", e.Details)
		}
	})
}

func TestCountTokens(t *testing.T) {
	rt := plays([]byte(`{"input_tokens":2095,"context_management":{"original_input_tokens":2095}}`))
	got, err := newProvider(t, rt).CountTokens(t.Context(), target("claude-sonnet-5"), hello(t, "m", `"max_tokens":5,"seed":1,"top_k":1`,
		`"tools":[{"type":"function","function":{"name":"f"}},{"type":"mcp_toolset","mcp_server_name":"a"}]`, `"reasoning_effort":"low"`,
		`"mcp_servers":[{"type":"url","url":"https://x","name":"a"}],"container":"c","service_tier":"auto","inference_geo":"us","safety_identifier":"u","hologram":1`))
	if err != nil {
		t.Fatal(err)
	}
	want := &providers.TokenCount{TotalTokens: 2095}
	want.Meta.Warnings = []providers.Warning{{Code: providers.WarnUnknown, Param: "hologram", Message: "left out: the platform does not know it"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const body = `{"model":"claude-sonnet-5","tools":[{"name":"f","input_schema":{"type":"object","properties":{}}},{"type":"mcp_toolset","mcp_server_name":"a"}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"},` +
		`"mcp_servers":[{"type":"url","url":"https://x","name":"a"}]}`
	if diff := cmp.Diff(body, string(rt.sent)); diff != "" {
		t.Errorf("body (-want +got)\n%s", diff)
	}
	if err := vertextest.CheckOwnMessagesCount(rt.sent); err != nil || rt.head.Get("Anthropic-Beta") != "mcp-client-2025-11-20" {
		t.Errorf("%v, header %v", err, rt.head)
	}
}

func TestCountTokensThatIsNoCount(t *testing.T) {
	for _, body := range []string{`{}`, `{"input_tokens":"1"}`, `[]`, ``, `{"input_tokens":1`, `{"input_tokens":1.5}`} {
		if got, err := newProvider(t, plays([]byte(body))).CountTokens(t.Context(), target("claude-sonnet-5"), hello(t, "m")); !errors.Is(err, providers.ErrBadResponse) {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

// TestTheCountIsThatOfTheAnswer compares it with the usage of the emulator.
func TestTheCountIsThatOfTheAnswer(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	for name, s := range scenarios(t) {
		if s.says("emulator") || s.archive.Get("error.txt") != nil || name == "thinking" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, srv.Transport())
			answer, err := p.ChatCompletion(t.Context(), target(s.request.Model), s.request)
			if err != nil {
				t.Fatal(err)
			}
			count, err := p.CountTokens(t.Context(), target(s.request.Model), s.request)
			if err != nil || count.TotalTokens != answer.Usage.PromptTokens {
				t.Errorf("%+v, %v, the answer had %d", count, err, answer.Usage.PromptTokens)
			}
		})
	}
}

// picky refuses a beta feature to the holders of other keys than one.
type picky struct {
	mu    sync.Mutex
	betas []string
}

func (s *picky) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	key, beta := r.Header.Get("X-Api-Key"), r.Header.Get("Anthropic-Beta")
	s.betas = append(s.betas, key+":"+beta)
	status, text := http.StatusOK, okMessage
	if beta != "" && key != "good" {
		status, text = http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"Unsupported beta header: `+beta+`"}}`
	}
	return &http.Response{StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func TestABetaRefusedToOneKeyIsSentForAnother(t *testing.T) {
	rt := &picky{}
	p := newProvider(t, rt)
	ask := func(slug, k string) []providers.Warning {
		g := target("claude-sonnet-5")
		g.Slug, g.Token, g.Header = slug, key(k), http.Header{"Anthropic-Beta": {"new-2027-01-01"}}
		answer, err := p.ChatCompletion(t.Context(), g, hello(t, "m"))
		if err != nil {
			t.Fatal(err)
		}
		return answer.Meta.Warnings
	}
	if first, second := ask("a", "bad"), ask("a", "bad"); len(first) != 2 || len(second) != 1 {
		t.Errorf("warnings %v, %v", first, second)
	}
	if w := ask("b", "good"); len(w) > 0 {
		t.Errorf("warnings %v", w)
	}
	want := []string{"bad:new-2027-01-01", "bad:", "bad:", "good:new-2027-01-01"}
	if diff := cmp.Diff(want, rt.betas); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBetaFeatures(t *testing.T) {
	for _, tt := range []struct{ name, given, want, warned string }{
		{"as they are", "files-api-2025-04-14,effort-2025-11-24, advanced-tool-use-2025-11-20", "files-api-2025-04-14,effort-2025-11-24,advanced-tool-use-2025-11-20", ""},
		{"but for another way to sign in", "oauth-2025-04-20,a-2027-01-01", "a-2027-01-01", `left out "oauth-2025-04-20": it belongs to another way to sign in`},
		{"by the settings", "old-2025-01-01,none", "new", `left out "none": left out by the gateway's settings`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(okMessage))
			p := anthropic.New(anthropic.Config{Transport: rt, BetaFeatures: map[string]string{"old": "new", "none": ""}})
			g := target("claude-sonnet-5")
			g.Header = http.Header{"Anthropic-Beta": {tt.given}}
			answer, err := p.ChatCompletion(t.Context(), g, hello(t, "m"))
			if err != nil {
				t.Fatal(err)
			}
			warned := ""
			for _, w := range answer.Meta.Warnings {
				warned += w.Message
			}
			if diff := cmp.Diff([]string{tt.want, tt.warned}, []string{rt.head.Get("Anthropic-Beta"), warned}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
