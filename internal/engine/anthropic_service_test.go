package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cloud.google.com/go/auth"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// TestWhatTheVendorsOwnServiceTakes has members as clients send them, what comes
// of them there, the features that are asked for, and what is warned of.
func TestWhatTheVendorsOwnServiceTakes(t *testing.T) {
	for name, tt := range map[string]struct{ model, members, path, want, betas, warnings string }{
		"a class of service of OpenAI's": {"", `"service_tier":"priority"`, "service_tier", `"auto"`, "", ""},
		"a class nobody knows":           {"", `"service_tier":"scale"`, "service_tier", "", "", "unsupported_parameter service_tier"},
		"speed":                          {"", `"speed":"standard"`, "speed", `"standard"`, "fast-mode-2026-02-01", ""},
		"other models by default":        {"", `"fallbacks":"default"`, "fallbacks", `"default"`, "server-side-fallback-2026-07-01", ""},
		"a member given twice":           {"", `"container":"a","extra_body":{"container":"b"}`, "container", `"a"`, "", "conflicting_parameter extra_body.container"},
		"an edit of the context":         {"", `"context_management":{"edits":[]}`, "context_management", `{"edits":[]}`, "context-management-2025-06-27", ""},
		"a compaction": {"", `"context_management":{"edits":[{"type":"compact_20260112"}]}`, "context_management", `{"edits":[{"type":"compact_20260112"}]}`,
			"context-management-2025-06-27,compact-2026-01-12", ""},
		"a budget for a task": {"", `"output_config":{"task_budget":{"type":"tokens","total":1}}`, "output_config", `{"task_budget":{"type":"tokens","total":1}}`, "task-budgets-2026-03-13", ""},
		"a search":            {"", `"web_search_options":{}`, "tools", `[{"type":"web_search_20250305","name":"web_search"}]`, "", ""},
		"code to run":         {"", `"tools":[{"type":"code_execution"}]`, "tools", `[{"type":"code_execution_20250825","name":"code_execution"}]`, "", ""},
		"a choice of its own tool": {"", `"tools":[{"type":"code_execution_20260120"}],"tool_choice":{"type":"function","function":{"name":"code_execution"}}`,
			"tool_choice", `{"type":"tool","name":"code_execution"}`, "", ""},
		"an advisor": {"", `"tools":[{"type":"advisor_20260301","model":"claude-opus-5-5"}]`, "tools",
			`[{"type":"advisor_20260301","name":"advisor","model":"claude-opus-5-5"}]`, "advisor-tool-2026-03-01", ""},
		"a tool that is not in the table": {"", `"tools":[{"type":"browser_toolset_20260801"}]`, "tools", `[{"type":"browser_toolset_20260801"}]`, "", ""},
		"the caller's date of a feature": {"", `"mcp_servers":[],"anthropic_beta":["mcp-client-2026-09-15","context-1m-2025-08-07"]`,
			"mcp_servers", `[]`, "mcp-client-2026-09-15,context-1m-2025-08-07", ""},
		"a search among tools": {"", `"tools":[{"type":"tool_search_tool_regex_20251119"}]`, "anthropic_version", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			body, out, err := encodeClaudeAt(t, true, "claude-opus-4-6", tt.members)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, w := range out.warnings {
				said = append(said, w.Code+" "+w.Param)
			}
			got := []string{valueAt(body, tt.path), out.header.Get(betaHeader), strings.Join(said, ", ")}
			if diff := cmp.Diff([]string{tt.want, tt.betas, tt.warnings}, got); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, body)
			}
		})
	}
}

func TestTheVendorsOwnServiceRefusesAsWell(t *testing.T) {
	part := func(p string) string { return `"messages":[{"role":"user","content":[` + p + `]}]` }
	for _, tt := range []struct{ member, param string }{
		{`"container":1`, "container"},
		{`"mcp_servers":{}`, "mcp_servers"},
		{`"fallbacks":true`, "fallbacks"},
		{`"speed":1`, "speed"},
		{`"service_tier":1`, "service_tier"},
		{part(`{"type":"image_url","image_url":{"url":"gs://b/a.png"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"https://"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"https://x/a b%"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"https://x/a","mime_type":"png"}}`), "messages[0].content[0].image_url.url"},
		{part(`{"type":"image_url","image_url":{"url":"https://youtu.be/a"}}`), "messages[0].content[0].image_url"},
		{part(`{"type":"tool_reference","tool_name":"f"}`), "messages[0].content[0].type"},
	} {
		t.Run(tt.member, func(t *testing.T) {
			_, _, err := encodeClaudeAt(t, true, "claude-opus-4-6", tt.member)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param {
				t.Errorf("%v, want a refusal of %s", err, tt.param)
			}
		})
	}
	if _, _, err := encodeClaude(t, "claude-opus-4-6", part(`{"type":"container_upload","file_id":"f"}`)); err == nil {
		t.Error("Vertex AI takes an upload")
	}
}

// TestAssistantMessagesInARowAreOneTurn has their calls answered together, with
// references to tools among the results.
func TestAssistantMessagesInARowAreOneTurn(t *testing.T) {
	const call = `{"role":"assistant","tool_calls":[{"id":"%","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	said := func(id string) string { return strings.Replace(call, "%", id, 1) }
	const first = `{"role":"user","content":"q"},`
	for _, tt := range []struct{ name, turns, want string }{
		{"two", said("a") + "," + said("b"), `[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]`},
		{"with a word of the system's", said("a") + `,{"role":"system","content":"s"},` + said("b"),
			`[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, _, err := encodeClaude(t, "claude-opus-4-6", `"messages":[`+first+tt.turns+`,{"role":"tool","tool_call_id":"b","content":"2"},`+
				`{"role":"tool","tool_call_id":"a","content":[{"type":"tool_reference","tool_name":"g"}]}]`)
			if err != nil {
				t.Fatal(err)
			}
			const results = `[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"g"}]},{"type":"tool_result","tool_use_id":"b","content":"2"}]`
			if !strings.Contains(body, tt.want) || !strings.Contains(body, results) {
				t.Errorf("no %s and %s in %s", tt.want, results, body)
			}
		})
	}
	t.Run("apart", func(t *testing.T) {
		_, _, err := encodeClaude(t, "claude-opus-4-6", `"messages":[`+first+said("a")+`,{"role":"user","content":"r"},`+said("b")+`,{"role":"tool","tool_call_id":"a","content":"1"}]`)
		if !errors.Is(err, providers.ErrInvalidRequest) {
			t.Errorf("%v, want a refusal", err)
		}
	})
}

// keySource gives a key, or what stands for none.
type keySource struct{ token *auth.Token }

func (s keySource) Token(context.Context) (*auth.Token, error) { return s.token, nil }

func TestAnAPIKeyIsOneWord(t *testing.T) {
	for value, good := range map[string]bool{"sk-ant-1_~.": true, "": false, "a b": false, "a\n": false, "\x00": false, "ä": false, "a\x7f": false} {
		got, err := Key(t.Context(), &providers.Target{Token: keySource{&auth.Token{Value: value}}})
		if good != (err == nil) || good && got != value || err != nil && value != "" && strings.Contains(err.Error(), value) {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
	if got, err := Key(t.Context(), &providers.Target{BaseURL: "https://proxy"}); got != "" || err != nil {
		t.Errorf("for a proxy: %q, %v", got, err)
	}
}
