package vertex_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/internal/testkit/outcome"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// countedClaude is the platform's answer to a count for a Claude model.
const countedClaude = `{"input_tokens":14}`

const countedModel = "anthropic.claude-sonnet-4-5@20250929"

// TestCountScenarios plays the archives of testdata/count: what goes out, and
// what is said of it.
func TestCountScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/count/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := testkit.ReadArchive(t, path)
			q := decodeRequest(t, a.Get("request.json"))
			rt := plays([]byte(countedClaude))
			got := map[string][]byte{}
			count, err := newProvider(t, rt).CountTokens(t.Context(), target(q.Model), q)
			if err != nil {
				got["error.txt"] = []byte(outcome.Describe(err))
			} else {
				got["warnings.txt"] = []byte(outcome.WarningLines(count.Meta.Warnings))
			}
			if rt.calls > 0 {
				got["url.txt"], got["body.json"] = []byte(rt.url+"\n"), outcome.Indent(t, rt.sent)
				if err := vertextest.CheckMessagesCount(rt.sent); err != nil {
					t.Errorf("the body does not fit the platform: %v", err)
				}
			}
			testkit.Golden(t, path, a, []string{"url.txt", "body.json", "warnings.txt", "error.txt"}, got)
		})
	}
}

func TestCountTokensOfClaude(t *testing.T) {
	const place = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models/"
	for _, tt := range []struct{ name, ref, url, model string }{
		{"a model", countedModel, place + "count-tokens:rawPredict", "claude-sonnet-4-5@20250929"},
		{"in the vendor's spelling", "anthropic.claude-sonnet-4-5-20250929", place + "count-tokens:rawPredict", "claude-sonnet-4-5@20250929"},
		{"by its full name", "projects/x/locations/us-east5/publishers/anthropic/models/claude-opus-4-6",
			"https://us-east5-aiplatform.googleapis.com/v1/projects/x/locations/us-east5/publishers/anthropic/models/count-tokens:rawPredict", "claude-opus-4-6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(countedClaude))
			got, err := newProvider(t, rt).CountTokens(t.Context(), target(tt.ref), hello(t, tt.ref))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&providers.TokenCount{TotalTokens: 14}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var body struct{ Model string }
			if err := json.Unmarshal(rt.sent, &body); err != nil || body.Model != tt.model {
				t.Errorf("model %q, %v, want %s", body.Model, err, tt.model)
			}
			if rt.url != tt.url || rt.head.Get("Authorization") != "Bearer token" {
				t.Errorf("%s with %v, want %s", rt.url, rt.head, tt.url)
			}
		})
	}
}

func TestCountsOfClaudeAskForNoFeatures(t *testing.T) {
	g := target(countedModel)
	g.Header = map[string][]string{"Anthropic-Beta": {"context-1m-2025-08-07"}, "Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}}
	q := hello(t, countedModel, `"anthropic_beta":["interleaved-thinking-2025-05-14"]`,
		`"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"memory_20250818","name":"memory"}]`)
	rt := plays([]byte(countedClaude))
	got, err := newProvider(t, rt).CountTokens(t.Context(), g, q)
	if err != nil || len(got.Meta.Warnings) != 0 {
		t.Errorf("%+v %v", got, err)
	}
	for _, name := range []string{"Anthropic-Beta", "Anthropic-Version", "X-Api-Key"} {
		if v := rt.head.Values(name); len(v) > 0 {
			t.Errorf("%s: %q was sent", name, v)
		}
	}
}

// TestCountedPromptsAreThoseOfChat holds, for each scenario of Claude, what is
// counted against what is sent for an answer.
func TestCountedPromptsAreThoseOfChat(t *testing.T) {
	compared := 0
	for name, s := range scenarios(t) {
		if !s.isClaude() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			chat, _, chatErr := claudeSends(t, s.request)
			rt := plays([]byte(countedClaude))
			_, err := newProvider(t, rt).CountTokens(t.Context(), target(s.request.Model), s.request)
			if rt.calls == 0 {
				if diff := cmp.Diff(outcome.Describe(chatErr), outcome.Describe(err)); diff != "" {
					t.Errorf("not counted (-chat +count)\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if chat.calls == 0 {
				if name != "claude_prefill" {
					t.Errorf("counted what is refused: %v", chatErr)
				}
				return
			}
			if err := vertextest.CheckMessagesCount(rt.sent); err != nil && vertextest.CheckMessages(chat.sent) == nil {
				t.Errorf("the body does not fit the platform: %v", err)
			}
			compared++
			if name != "claude_cache" { // the breakpoint of the whole request leaves its place to another
				wantMembers(t, chat.sent, rt.sent, "anthropic_version", "messages", "system", "tools", "tool_choice", "thinking")
			}
		})
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

func TestCountsOfClaudeFail(t *testing.T) {
	const own = `{"type":"error","error":{"type":"invalid_request_error","message":"thinking: nope"},"request_id":"req_vrtx_1"}`
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   providers.Code
		says   string
	}{
		{"in the vendor's envelope", 400, own, providers.ErrInvalidRequest, "thinking: nope"},
		{"in the platform's", 403, rpcError(403, "PERMISSION_DENIED", "no"), providers.ErrPermission, "aiplatform.endpoints.predict"},
		{"a region without counts", 404, rpcError(404, "NOT_FOUND", "Publisher Model was not found"), providers.ErrModelNotFound, "try global or us-east5"},
		{"too many", 429, rpcError(429, "RESOURCE_EXHAUSTED", "slow down"), providers.ErrRateLimited, "slow down"},
		{"an error in a good answer", 0, rpcError(503, "UNAVAILABLE", "overloaded"), providers.ErrUnavailable, "overloaded"},
		{"no number", 0, `{"tokens":1}`, providers.ErrBadResponse, "no token count"},
		{"an answer of another kind", 0, `{"input_tokens":{}}`, providers.ErrBadResponse, "understood"},
		{"a cut answer", 0, `{"input_tokens":1`, providers.ErrBadResponse, ""},
		{"HTML", 0, `<html>`, providers.ErrBadResponse, "HTML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := plays([]byte(tt.body))
			rt.status = tt.status
			_, err := newProvider(t, rt).CountTokens(t.Context(), target(countedModel), hello(t, countedModel))
			if code(err) != tt.want || !strings.Contains(err.Error(), tt.says) || rt.calls != 1 {
				t.Errorf("%v after %d calls, want %s that says %q", err, rt.calls, tt.want, tt.says)
			}
		})
	}
}

func TestTheEmulatorCountsWhatAnAnswerUses(t *testing.T) {
	srv := vertextest.New()
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	q := hello(t, countedModel, `"max_tokens":100`)
	count, err := p.CountTokens(t.Context(), target(countedModel), q)
	answer, answerErr := p.ChatCompletion(t.Context(), target(countedModel), q)
	if err != nil || answerErr != nil {
		t.Fatal(err, answerErr)
	}
	if used := answer.Usage.PromptTokens; count.TotalTokens != used || used == 0 {
		t.Errorf("counted %d, used %d", count.TotalTokens, used)
	}
}

// TestWhatIsCountedIsInTheTable holds the members of a count against the table of
// parameters.
func TestWhatIsCountedIsInTheTable(t *testing.T) {
	rt := plays([]byte(countedClaude))
	q := hello(t, countedModel, `"max_tokens":9000`, `"temperature":1.5`, `"top_p":0.5`, `"top_k":3`, `"stop":["x"]`, `"user":"u"`, `"seed":1`, `"n":2`,
		`"labels":{"a":"b"}`, `"service_tier":"dedicated"`, `"cache_control":{"type":"ephemeral"}`, `"metadata":{"a":"b"}`, `"store":true`, `"logit_bias":{"1":1}`)
	got, err := newProvider(t, rt).CountTokens(t.Context(), target(countedModel), q)
	if err != nil || len(got.Meta.Warnings) != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(rt.sent, &body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"anthropic_version", "messages", "model"}, slices.Sorted(maps.Keys(body))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if h := rt.head.Get("X-Vertex-Ai-Llm-Request-Type"); h != "" {
		t.Errorf("a class of service was asked for: %s", h)
	}
}
