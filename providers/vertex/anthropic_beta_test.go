package vertex_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
)

func TestBetaFeaturesAreFiltered(t *testing.T) {
	for _, tt := range []struct {
		name, model, given, members string
		table                       map[string]string
		want, warned                string
	}{
		{name: "none", model: "anthropic.claude-sonnet-5"},
		{name: "a known one", model: "anthropic.claude-sonnet-5", given: "context-1m-2025-08-07", want: "context-1m-2025-08-07"},
		{
			name: "one nobody knows passes", model: "anthropic.claude-sonnet-5", given: " new-thing-2027-01-01 ,,context-1m-2025-08-07",
			want: "new-thing-2027-01-01,context-1m-2025-08-07",
		},
		{
			name: "bad ones are dropped", model: "anthropic.claude-sonnet-5", given: "files-api-2025-04-14,effort-2025-11-24,oauth-2025-04-20",
			warned: `left out "files-api-2025-04-14": the platform takes no file ids
left out "effort-2025-11-24": it is no beta any more, and needs no header
left out "oauth-2025-04-20": it belongs to another way to sign in`,
		},
		{
			name: "one has another name", model: "anthropic.claude-sonnet-5", given: "advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19",
			want: "tool-search-tool-2025-10-19",
		},
		{
			name: "the settings go first", model: "anthropic.claude-sonnet-5", given: "files-api-2025-04-14,context-1m-2025-08-07,a-2025-01-01",
			table: map[string]string{"files-api": "files-api-2026-01-01", "context-1m-2025-08-07": "", "a": "b"},
			want:  "files-api-2026-01-01,b", warned: `left out "context-1m-2025-08-07": left out by the gateway's settings`,
		},
		{
			name: "from the body", model: "anthropic.claude-sonnet-5", members: `"extra_body":{"anthropic_beta":["context-1m-2025-08-07"]}`,
			want: "context-1m-2025-08-07",
		},
		{
			name: "what the tools need", model: "anthropic.claude-opus-4-6", given: "computer-use-2025-11-24",
			members: `"tools":[{"type":"computer_20251124","display_width_px":1,"display_height_px":1},{"type":"function","function":{"name":"web_search"}},{"type":"bash_20250124"}]`,
			want:    "computer-use-2025-11-24,web-search-2025-03-05",
		},
		{
			name: "of a model of another family", model: "gemini-2.5-flash", given: "context-1m-2025-08-07",
			warned: "left out: the header is for Claude models",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := okMessage
			if !strings.HasPrefix(tt.model, "anthropic.") {
				answer = okAnswer
			}
			rt := plays([]byte(answer))
			p := vertex.New(vertex.Config{Transport: rt, BetaFeatures: tt.table})
			var members []string
			if tt.members != "" {
				members = []string{tt.members}
			}
			g := target(tt.model)
			g.Header = http.Header{"X-Api-Key": {"secret"}, "Anthropic-Version": {"2023-06-01"}, "X-Other": {"o"}}
			if tt.given != "" {
				g.Header["Anthropic-Beta"] = []string{tt.given}
			}
			got, err := p.ChatCompletion(t.Context(), g, hello(t, tt.model, members...))
			if err != nil {
				t.Fatal(err)
			}
			var warned []string
			for _, w := range got.Meta.Warnings {
				warned = append(warned, w.Message)
			}
			if diff := cmp.Diff([]string{tt.want, tt.warned}, []string{rt.head.Get("Anthropic-Beta"), strings.Join(warned, "\n")}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if strings.HasPrefix(tt.model, "anthropic.") {
				if len(rt.head.Values("X-Api-Key"))+len(rt.head.Values("Anthropic-Version")) > 0 || rt.head.Get("X-Other") != "o" {
					t.Errorf("header %v", rt.head)
				}
			}
			if len(rt.head.Values("Anthropic-Beta")) > 1 || strings.Contains(string(rt.sent), "anthropic_beta") {
				t.Errorf("header %v, body %s", rt.head, rt.sent)
			}
		})
	}
}

// refusals answers with refusals, one after the other, and then with okMessage.
type refusals struct {
	messages []string

	mu     sync.Mutex
	betas  []string
	bodies []string
}

func (s *refusals) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.betas)
	s.betas = append(s.betas, r.Header.Get("Anthropic-Beta"))
	s.bodies = append(s.bodies, string(body))
	status, text := http.StatusOK, okMessage
	if n < len(s.messages) {
		status, text = http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"`+s.messages[n]+`"}}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: -1, Request: r, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func TestARefusedBetaFeatureIsLearnt(t *testing.T) {
	rt := &refusals{messages: []string{"Unexpected value(s) `a-2026-01-01`, `c` for the `anthropic-beta` header. Please consult our documentation."}}
	p := newProvider(t, rt)
	const model = "anthropic.claude-sonnet-5"
	g := target(model)
	g.Header = http.Header{"Anthropic-Beta": {"a-2026-01-01,b,c"}}
	var warned []string
	for range 2 {
		answer, err := p.ChatCompletion(t.Context(), g, hello(t, model))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range answer.Meta.Warnings {
			warned = append(warned, w.Message)
		}
	}
	if diff := cmp.Diff([]string{"a-2026-01-01,b,c", "b", "b"}, rt.betas); diff != "" {
		t.Errorf("features (-want +got)\n%s", diff)
	}
	refused := []string{`left out "a-2026-01-01": the platform has refused it`, `left out "c": the platform has refused it`}
	want := append(append([]string{`the platform refused "a-2026-01-01, c" and was asked again without it`}, refused...), refused...)
	if diff := cmp.Diff(want, warned); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}

func TestABetaFeatureIsLeftOutOnce(t *testing.T) {
	refusal := "Unexpected value(s) `a` for the `anthropic-beta` header"
	rt := &refusals{messages: []string{refusal, refusal}}
	g := target("anthropic.claude-sonnet-5")
	g.Header = http.Header{"Anthropic-Beta": {"a"}}
	_, err := newProvider(t, rt).ChatCompletion(t.Context(), g, hello(t, "anthropic.claude-sonnet-5"))
	if code(err) != providers.ErrInvalidRequest || len(rt.betas) != 2 {
		t.Errorf("%v after %d requests, want the second refusal", err, len(rt.betas))
	}
}

func TestRefusedThinkingIsLeftOut(t *testing.T) {
	rt := &refusals{messages: []string{"messages.1.content.0: Invalid `signature` in `thinking` block"}}
	const model = "anthropic.claude-sonnet-4"
	q := decodeRequest(t, []byte(`{"model":"`+model+`","thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"},`+
		`{"role":"assistant","content":null,"content_blocks":[{"type":"thinking","thinking":"of another","signature":"c2ln"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":"c1","content":"ok"}]}`))
	answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target(model), q)
	if err != nil || len(rt.bodies) != 2 {
		t.Fatalf("%v after %d requests", err, len(rt.bodies))
	}
	if !strings.Contains(rt.bodies[0], "of another") || strings.Contains(rt.bodies[1], "of another") ||
		member(rt.bodies[1], "thinking") != `{"type":"disabled"}` {
		t.Errorf("%s", strings.Join(rt.bodies, "\n"))
	}
	if err := testkit.CheckClaudeBody(model, []byte(rt.bodies[1])); err != nil {
		t.Error(err)
	}
	var codes []string
	for _, w := range answer.Meta.Warnings {
		codes = append(codes, w.Code)
	}
	if diff := cmp.Diff([]string{providers.WarnSignature, providers.WarnSignature}, codes); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}

func TestTheURLOfAClaude(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic.claude-sonnet-4-5-20250929":                                                "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929",
		"projects/42/locations/us-east5/publishers/anthropic/models/claude-sonnet-4@20250514": "https://us-east5-aiplatform.googleapis.com/v1/projects/42/locations/us-east5/publishers/anthropic/models/claude-sonnet-4@20250514",
	} {
		rt := plays([]byte(okMessage))
		p := newProvider(t, rt)
		if _, err := p.ChatCompletion(t.Context(), target(name), hello(t, name)); err != nil {
			t.Fatal(err)
		}
		if want := want + ":rawPredict"; rt.url != want || rt.method != http.MethodPost || strings.Contains(string(rt.sent), `"model"`) {
			t.Errorf("%s %s with %s, want %s", rt.method, rt.url, rt.sent, want)
		}
		r, err := p.ChatCompletionStream(t.Context(), target(name), hello(t, name))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if want := want + ":streamRawPredict"; rt.url != want || member(string(rt.sent), "stream") != "true" {
			t.Errorf("%s with %s, want %s", rt.url, rt.sent, want)
		}
	}
}

func TestChoicesOfAClaudeAreSharedAmongRequests(t *testing.T) {
	rt := &refusals{}
	answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target("anthropic.claude-sonnet-5"), hello(t, "anthropic.claude-sonnet-5", `"n":3`))
	if err != nil || len(answer.Choices) != 3 || len(rt.betas) != 3 {
		t.Errorf("%v, %d requests", err, len(rt.betas))
	}
}

func TestErrorsOfClaude(t *testing.T) {
	for _, tt := range []struct {
		status        int
		kind, message string
		code          providers.Code
		param         string
	}{
		{400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum", providers.ErrContextLength, ""},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", providers.ErrContextLength, ""},
		{400, "invalid_request_error", "temperature: range: 0..1", providers.ErrInvalidRequest, "temperature"},
		{400, "invalid_request_error", "messages.1.content: Field required", providers.ErrInvalidRequest, "messages"},
		{400, "invalid_request_error", "thinking.budget_tokens: too low", providers.ErrInvalidRequest, "thinking"},
		{400, "invalid_request_error", "output_config.effort: bad", providers.ErrInvalidRequest, "reasoning_effort"},
		{413, "request_too_large", "Request exceeds the maximum size", providers.ErrTooLarge, ""},
		{429, "rate_limit_error", "slow down", providers.ErrRateLimited, ""},
		{500, "api_error", "Internal server error", providers.ErrServer, ""},
		{529, "overloaded_error", "Overloaded", providers.ErrUnavailable, ""},
	} {
		t.Run(tt.message, func(t *testing.T) {
			rt := plays([]byte(`{"type":"error","error":{"type":"` + tt.kind + `","message":"` + tt.message + `"},"request_id":"req_vrtx_1"}`))
			rt.status = tt.status
			_, err := newProvider(t, rt).ChatCompletion(t.Context(), target("anthropic.claude-sonnet-5"), hello(t, "anthropic.claude-sonnet-5"))
			want := &providers.Error{
				Code: tt.code, Message: tt.message, Param: tt.param, Provider: "vertex-ai", StatusCode: tt.status,
				NativeStatus: tt.kind, Details: []byte(`{"request_id":"req_vrtx_1"}`), Sent: tt.status >= 500,
			}
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
