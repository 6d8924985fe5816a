package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// paramsOf lists what warnings are about.
func paramsOf(warnings []providers.Warning) string {
	var list []string
	for _, w := range warnings {
		list = append(list, w.Param)
	}
	return strings.Join(list, " ")
}

// membersOf returns the members of what is sent that the test is about.
func membersOf(t *testing.T, body string, names ...string) string {
	t.Helper()
	var list []string
	for _, name := range names {
		if raw, ok := providers.Extra(body).Get(name); ok {
			list = append(list, string(raw))
		}
	}
	return strings.Join(list, " ")
}

func TestMembersOfAnthropicsSchemaAreLeftOut(t *testing.T) {
	const (
		mark = `"cache_control":{"type":"ephemeral"}`
		call = `{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}`
	)
	for _, tt := range []struct {
		name, messages, want, warned string
		mistral                      bool // takes the same
	}{
		{
			"marks of the cache", `{"role":"system","content":[{"type":"text","text":"s",` + mark + `}],` + mark + `},{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}`,
			`[{"role":"system","content":[{"type":"text","text":"s"}]},{"role":"user","content":[{"type":"text","text":"a"}]}]`, "messages[0].content[0].cache_control", true,
		},
		{
			"marks of calls", `{"role":"assistant","content":null,"tool_calls":[` + call + `,` + mark + `,"x":1}]}`,
			`[{"role":"assistant","content":null,"tool_calls":[` + call + `,"x":1}]}]`, "messages[0].tool_calls[0].cache_control", false,
		},
		{
			"what stands beside a file", `{"role":"user","content":[{"type":"file","file":{"file_id":"i"},"title":"t","context":"c","citations":{"enabled":true},"x":1},{"type":"text","text":"a","title":"t","citations":[]}]}`,
			`[{"role":"user","content":[{"type":"file","file":{"file_id":"i"},"x":1},{"type":"text","text":"a","title":"t"}]}]`,
			"messages[0].content[0].citations messages[0].content[0].title messages[0].content[0].context", false,
		},
		{
			"a result that is none", `{"role":"assistant","content":null,"tool_calls":[` + call + `}]},{"role":"tool","content":"no \"x\"","tool_call_id":"abcdefghi","is_error":true}`,
			`[{"role":"assistant","content":null,"tool_calls":[` + call + `}]},{"role":"tool","content":"{\"error\":\"no \\\"x\\\"\"}","tool_call_id":"abcdefghi"}]`, "", true,
		},
		{
			"a result in parts that is none", `{"role":"tool","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"gs://b/o"}},{"type":"text","text":"b"}],"tool_call_id":"abcdefghi","is_error":true}`,
			`[{"role":"tool","content":[{"type":"text","text":"{\"error\":\"ab\"}"},{"type":"image_url","image_url":{"url":"gs://b/o"}}],"tool_call_id":"abcdefghi"}]`, "", true,
		},
		{
			"a result that is one", `{"role":"tool","content":"a","tool_call_id":"abcdefghi","is_error":false,"x":1}`,
			`[{"role":"tool","content":"a","tool_call_id":"abcdefghi","x":1}]`, "", false,
		},
	} {
		for family, ref := range openFamilies {
			if family == "Mistral" && !tt.mistral {
				continue
			}
			t.Run(tt.name+"/"+family, func(t *testing.T) {
				body, warnings, err := encodeOpen(t, ref, catalog.DefaultModels(), `"messages":[`+tt.messages+`]`)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, membersOf(t, body, "messages")); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(tt.warned, paramsOf(warnings)); diff != "" {
					t.Errorf("warnings (-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestToolsOfAnotherPlatformAreLeftOut(t *testing.T) {
	const (
		own    = `{"type":"function","function":{"name":"web_search","parameters":{"type":"object"}}}`
		auto   = `"tool_choice":"required","parallel_tool_calls":false`
		choice = `"required" false`
	)
	for _, tt := range []struct {
		name, tools, want, warned string
		endpoint                  bool // gets the same
	}{
		{"by type", `{"type":"google_search"},` + own + `,{"type":"googleSearch","x":1}`, `[` + own + `] ` + choice, "tools[0].type tools[2].type", false},
		{"by a dated type", own + `,{"type":"web_search_20250305","name":"web_search"}`, `[` + own + `] ` + choice, "tools[1].type", false},
		{"in the platform's own form", `{"type":"","googleSearchRetrieval":{}},` + own, `[` + own + `] ` + choice, "tools[0].googleSearchRetrieval", false},
		{"all of them", `{"type":"web_search_retrieval"}`, ``, "tools[0].type tool_choice", false},
		{"an unknown type", `{"type":"mine","x":1}`, `[{"type":"mine","x":1}] ` + choice, "", true},
		{"a mark of the cache", strings.TrimSuffix(own, "}") + `,"cache_control":{"type":"ephemeral"}}`, `[` + own + `] ` + choice, "tools[0].cache_control", true},
	} {
		for family, ref := range openFamilies {
			t.Run(tt.name+"/"+family, func(t *testing.T) {
				want, warned := tt.want, tt.warned
				if family == "an endpoint" && !tt.endpoint {
					want, warned = `[`+tt.tools+`] `+choice, ""
				}
				if family == "Mistral" {
					want = strings.Replace(want, `"required"`, `"any"`, 1)
				}
				body, warnings, err := encodeOpen(t, ref, catalog.DefaultModels(), `"tools":[`+tt.tools+`]`, auto)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, membersOf(t, body, "tools", "tool_choice", "parallel_tool_calls")); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(warned, paramsOf(warnings)); diff != "" {
					t.Errorf("warnings (-want +got)\n%s", diff)
				}
			})
		}
	}
}
