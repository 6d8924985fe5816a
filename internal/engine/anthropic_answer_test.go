package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

func TestAnAnswerOfClaudeThatIsNone(t *testing.T) {
	const start = `{"type":"message_start","message":{"id":"m"}}`
	const block = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`
	var many []string
	for i := range maxOpenBlocks + 1 {
		many = append(many, strings.Replace(block, `"index":0`, fmt.Sprintf(`"index":%d`, i), 1))
	}
	for _, tt := range []struct {
		name   string
		whole  bool
		events []string
		want   error
	}{
		{"another object", true, []string{`{}`}, providers.ErrBadResponse},
		{"an event", true, []string{`{"type":"ping"}`}, providers.ErrBadResponse},
		{"the beginning of a stream", true, []string{start}, providers.ErrBadResponse},
		{"no object", true, []string{`"a"`}, providers.ErrBadResponse},
		{"nothing", true, []string{``}, providers.ErrBadResponse},
		{"JSON that is cut", true, []string{`{"type":"message","content":[`}, providers.ErrBadResponse},
		{"content that is no list", true, []string{`{"type":"message","content":"a"}`}, providers.ErrBadResponse},
		{"a block without a type", true, []string{`{"type":"message","content":[{"text":"a"}]}`}, providers.ErrBadResponse},
		{"counts that are none", true, []string{`{"type":"message","content":[],"usage":{"input_tokens":"1"}}`}, providers.ErrBadResponse},
		{"an error in its place", true, []string{`{"type":"error","error":{"type":"rate_limit_error","message":"m"}}`}, providers.ErrRateLimited},
		{"an error of a kind nobody knows", true, []string{`{"type":"error","error":{"type":"new_error"}}`}, providers.ErrServer},
		{"an error without itself", true, []string{`{"type":"error"}`}, providers.ErrServer},
		{"the platform's error in its place", true, []string{`{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}`}, providers.ErrUnavailable},

		{"no event", false, nil, providers.ErrStreamCut},
		{"an empty event", false, []string{"", " \n"}, providers.ErrStreamCut},
		{"no end", false, []string{start, block}, providers.ErrStreamCut},
		{"the end of nothing", false, []string{`{"type":"message_stop"}`}, providers.ErrEmptyResponse},
		{"text that is no JSON", false, []string{start, `oops`}, providers.ErrBadResponse},
		{"a block that begins twice", false, []string{block, block}, providers.ErrBadResponse},
		{"too many blocks at once", false, many, providers.ErrBadResponse},
		{"arguments of no call", false, []string{`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}`}, providers.ErrBadResponse},
		{"counts of a stream that are none", false, []string{start, `{"type":"message_delta","usage":1}`}, providers.ErrBadResponse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := claudeFamily{}.newDecoder(&request{stream: !tt.whole}, &outgoing{})
			var err error
			for _, e := range tt.events {
				if _, err = d.push(sse.Event{Data: []byte(e)}); err != nil {
					break
				}
			}
			if err == nil {
				_, err = d.finish()
			}
			var e *providers.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || !e.Sent {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

func TestAStreamOfClaudeEndsWhereItSaysSo(t *testing.T) {
	events := []any{
		map[string]any{"type": "message_start", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "early"}}}},
		map[string]any{"type": "content_block_start", "index": 1, "content_block": map[string]any{"type": "tool_use", "name": "f", "input": map[string]any{"a": 1}}},
		map[string]any{"type": "content_block_start", "index": 2, "content_block": map[string]any{"type": "tool_use", "name": "g"}},
		map[string]any{"type": "content_block_stop", "index": 7},
		map[string]any{"type": "message_stop"},
		map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": "late"}},
	}
	answer := foldEvents(t, true, events...)
	c := &answer.Choices[0]
	if c.Message.Content.Text() != "early" || c.FinishReason != "tool_calls" || answer.Usage != nil || !strings.HasPrefix(answer.ID, "chatcmpl-") || answer.Model != "m" {
		t.Errorf("%s", inText(t, answer))
	}
	var calls []string
	for _, call := range c.Message.ToolCalls {
		if len(call.ID) != len("call_")+24 {
			t.Errorf("id %q", call.ID)
		}
		calls = append(calls, call.Function.Name+call.Function.Arguments)
	}
	if diff := cmp.Diff([]string{`f{"a":1}`, `g{}`}, calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
}

func TestToolsOfClaude(t *testing.T) {
	const f, g = `{"type":"function","function":{"name":"f"}}`, `{"type":"function","function":{"name":"g"}}`
	for _, tt := range []struct{ name, model, members, want, choice, warned string }{
		{
			"a schema without a type", "claude-sonnet-5", `"tools":[{"type":"function","function":{"name":"f","parameters":{"required":["b"], "properties":{"b":{},"a":{}}}}}]`,
			`[{"name":"f","input_schema":{"type":"object","required":["b"],"properties":{"b":{},"a":{}}}}]`, "", "",
		},
		{
			"a strict tool of an old model", "claude-sonnet-4", `"tools":[{"type":"function","function":{"name":"f","strict":true}}]`,
			`[{"name":"f","input_schema":{"type":"object","properties":{}}}]`, "", "tools[0].function.strict",
		},
		{
			"members that the platform knows", "claude-sonnet-5", `"tools":[{"type":"function","defer_loading":true,"function":{"name":"f","input_examples":[{"a":1}],"x":1},"y":2}]`,
			`[{"name":"f","input_schema":{"type":"object","properties":{}},"defer_loading":true,"input_examples":[{"a":1}]}]`, "", "tools[0].y tools[0].function.x",
		},
		{
			"some that are allowed", "claude-sonnet-5", `"tools":[` + f + `,` + g + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			`[{"name":"g","input_schema":{"type":"object","properties":{}}}]`, `{"type":"any"}`, "",
		},
		{
			"a tool of the platform by name", "claude-opus-4-6", `"tools":[{"type":"bash_20250124"},{"type":"text_editor_20250728","max_characters":9},{"type":"new_tool_20270101","name":"new"}],"tool_choice":{"type":"function","function":{"name":"bash"}}`,
			`[{"type":"bash_20250124","name":"bash"},{"type":"text_editor_20250728","name":"str_replace_based_edit_tool","max_characters":9},{"type":"new_tool_20270101","name":"new"}]`,
			`{"type":"tool","name":"bash"}`, "",
		},
		{
			"one call at a time", "claude-sonnet-5", `"tools":[` + f + `],"parallel_tool_calls":false`,
			`[{"name":"f","input_schema":{"type":"object","properties":{}}}]`, `{"type":"auto","disable_parallel_tool_use":true}`, "",
		},
		{
			"a mode of Gemini", "claude-sonnet-5", `"tools":[` + f + `],"tool_choice":"validated"`,
			`[{"name":"f","input_schema":{"type":"object","properties":{}}}]`, `{"type":"auto"}`, "tool_choice",
		},
		{"nothing is left", "claude-sonnet-5", `"tools":[{"type":"code_execution"},{"type":"mcp_toolset"}],"tool_choice":"required"`, "", "", "tools[0] tools[1] tool_choice"},
		{
			"a search with its options inside", "claude-sonnet-5", `"tools":[{"type":"function","function":{"name":"google_search","parameters":{"type":"object","googleSearch":{"max_uses":2},"exclude":1}}}],"web_search_options":{}`,
			`[{"type":"web_search_20250305","name":"web_search","max_uses":2}]`, "", "tools[0].function.parameters.exclude web_search_options",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, out, err := encodeClaude(t, tt.model, tt.members)
			if err != nil {
				t.Fatal(err)
			}
			var warned []string
			for _, w := range out.warnings {
				warned = append(warned, w.Param)
			}
			got := []string{rawMember(body, "tools"), rawMember(body, "tool_choice"), strings.Join(warned, " ")}
			want := []string{compact(tt.want), tt.choice, tt.warned}
			if diff := cmp.Diff(want, []string{compact(got[0]), got[1], got[2]}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestThinkingGoesBackOnce(t *testing.T) {
	const thought = `{"type":"thinking","thinking":"t","signature":"s"}`
	body, out, err := encodeClaude(t, "claude-sonnet-5", `"messages":[{"role":"user","content":"a"},`+
		`{"role":"assistant","content":[{"type":"text","text":"edited"},`+thought+`],"content_blocks":[`+thought+`,{"type":"text","text":"b"}]},`+
		`{"role":"user","content":"c"}]`)
	if err != nil || len(out.warnings) > 0 || strings.Count(body, `"thinking"`) != 2 || strings.Contains(body, `"b"`) {
		t.Errorf("%v %v in %s", err, out.warnings, body)
	}
}

// hasTwice reports whether an object has two members of a name.
func hasTwice(body []byte) bool {
	seen := map[string]bool{}
	for name := range jsonx.Members(body) {
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func FuzzClaudeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"image_url","image_url":"data:;base64,iVBORw0KGgo"}],"cache_control":{}}],"cache_control":{"ttl":"1h"}}`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a:b","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a:b","content":[{"type":"file","file":{"file_data":"JVBERi0"}}],"is_error":true}]}`,
		`{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"oneOf":[{"minimum":1}],"properties":{"a":[1]}}}},{"type":"computer","computer":{"name":"x_20250101"}},{"type":"web_search","a":1}],"tool_choice":"required"}`,
		`{"messages":[{"role":"assistant","content":"x","content_blocks":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"server_tool_use","id":1}]},{"role":"user","content":"b"}],"thinking":{"type":"enabled","budget_tokens":5},"extra_body":{"output_config":{"effort":"max","format":{}},"anthropic_beta":"a"},"web_search_options":{"user_location":{"approximate":{"a":1}}}}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://x/a"},{"type":"file","file":{"file_id":"f","filename":"a.png"}},{"type":"container_upload","file_id":"f"},{"type":"document","source":{"type":"url"}}]}],` +
			`"tools":[{"type":"mcp_toolset","mcp_server_name":"a"},{"type":"code_execution"},{"type":"advisor_20260301","model":"m"}],"container":"c","extra_body":{"container":{}},"mcp_servers":[{"tool_configuration":{}}],"fallbacks":"default","service_tier":"auto","output_config":{"task_budget":{}}}`,
	} {
		f.Add([]byte(seed), 0)
	}
	var rows []catalog.Model
	for _, row := range catalog.DefaultModels().All() {
		if row.Publisher == "anthropic" {
			rows = append(rows, row)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which int) {
		q := new(providers.ChatCompletionRequest)
		if q.UnmarshalJSON(data) != nil {
			return
		}
		if q.Model = "m"; q.Validate() != nil {
			return
		}
		row := &rows[uint(which)%uint(len(rows))]
		for _, own := range []bool{false, true} {
			in := request{site: testSite{}, chat: q, target: new(providers.Target), model: Model{Family: FamilyClaude, Name: row.Name, Own: own, facts: row}}
			body, err := claudeFamily{}.encode(&in, new(outgoing), nil)
			if err == nil && !jsonx.Valid(body) {
				t.Errorf("%s is no JSON", body)
			}
			if err == nil && own && hasTwice(body) {
				t.Errorf("a member is there twice: %s", body)
			}
		}
	})
}

func TestAURLIsFetchedWhereThatIsAllowed(t *testing.T) {
	facts, _ := catalog.DefaultModels().Lookup("anthropic", "claude-sonnet-5")
	q := &providers.ChatCompletionRequest{Messages: []providers.Message{providers.UserMessage([]providers.ContentPart{
		providers.ImagePart("https://example.com/a"), {Type: providers.PartFile, File: &providers.File{FileURL: "gs://b/o.pdf", Filename: "o.pdf"}},
	})}}
	var asked []string
	in := request{site: testSite{},
		chat: q, target: new(providers.Target), model: Model{Family: FamilyClaude, facts: facts},
		fetch: func(ref, _ string) (media, string) {
			asked = append(asked, ref)
			if strings.HasSuffix(ref, ".pdf") {
				return media{mime: "application/pdf", base64: "JVBERi0="}, ""
			}
			return media{mime: "image/png", base64: "iVBORw0KGgo="}, ""
		},
	}
	body, err := claudeFamily{}.encode(&in, new(outgoing), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := testkit.CheckClaudeBody("claude-sonnet-5", body); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"https://example.com/a", "gs://b/o.pdf"}, asked); diff != "" {
		t.Errorf("fetched (-want +got)\n%s", diff)
	}
}
