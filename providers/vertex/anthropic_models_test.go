package vertex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
)

// claudeWishes are the ways to ask for thinking, beside those of Gemini.
var claudeWishes = []string{
	`"thinking":{"type":"between_tools"}`, `"thinking":{"type":"adaptive","display":"omitted"}`,
	`"thinking":{"type":"enabled","budget_tokens":1024}`, `"thinking":{"type":"enabled","budget_tokens":63999}`,
	`"output_config":{"effort":"max"}`, `"output_config":{"effort":"xhigh"},"thinking":{"type":"disabled"}`,
	`"thinking_config":{"thinking_budget":0}`, `"thinking_config":{"thinking_level":"MINIMAL","include_thoughts":false}`,
}

// claudeContexts are requests that a wish is made in.
var claudeContexts = []string{
	``,
	`,"max_tokens":1`, `,"max_tokens":1500`, `,"max_tokens":4096`, `,"max_tokens":1000000`,
	`,"temperature":0.2,"top_p":0.5,"top_k":3`, `,"temperature":1,"top_p":0.96`, `,"temperature":2`,
	`,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"object"}}}}}],"tool_choice":"required"`,
	`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false`,
	`,"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none","parallel_tool_calls":false`,
	`,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":["object","null"],"properties":{"a":{"type":"integer","minimum":1}}}}}`,
}

// TestThePlatformTakesTheThinkingOfEveryClaude crosses the model table with what
// the documentation says of each model.
func TestThePlatformTakesTheThinkingOfEveryClaude(t *testing.T) {
	all := append(append([]string{`"user":"u"`}, wishes...), claudeWishes...)
	for _, row := range rowsOf("anthropic") {
		if row.Family {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			model := "anthropic." + row.Name
			for _, wish := range all {
				for _, context := range claudeContexts {
					rt, _, err := claudeSends(t, hello(t, model, wish+context))
					if err != nil {
						t.Errorf("%s%s: %v", wish, context, err)
						continue
					}
					if err := testkit.CheckClaudeBody(model, rt.sent); err != nil {
						t.Errorf("%s%s: %v in %s", wish, context, err, rt.sent)
					}
				}
			}
		})
	}
}

// TestAWishForThinkingIsTranslated says what becomes of thinking and effort by
// the model.
func TestAWishForThinkingIsTranslated(t *testing.T) {
	for _, tt := range []struct{ model, wish, want string }{
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":4000`, `4000 {"type":"enabled","budget_tokens":2000} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":100`, `2100 {"type":"enabled","budget_tokens":2000} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":2000`, `4000 {"type":"enabled","budget_tokens":2000} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":10}`, `64000 {"type":"enabled","budget_tokens":1024} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":64000}`, `64000 {"type":"enabled","budget_tokens":32000} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled","budget_tokens":63000},"max_tokens":8000`, `64000 {"type":"enabled","budget_tokens":63000} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"enabled"}`, `64000 {"type":"enabled","budget_tokens":8192} `},
		{"claude-sonnet-4-5", `"thinking":{"type":"disabled"}`, `64000 {"type":"disabled"} `},
		{"claude-sonnet-4-5", `"reasoning_effort":"medium"`, `64000 {"type":"enabled","budget_tokens":8192} `},
		{"claude-sonnet-4-5", `"reasoning_effort":"high","max_tokens":4096`, `4096 {"type":"enabled","budget_tokens":2048} `},
		{"claude-sonnet-4-5", `"reasoning_effort":"high","max_tokens":2000`, `2000  `},
		{"claude-opus-4-5", `"output_config":{"effort":"low"}`, `64000  {"effort":"low"}`},
		{"claude-opus-4-6", `"thinking":{"type":"enabled","budget_tokens":2000}`, `128000 {"type":"enabled","budget_tokens":2000} `},
		{"claude-opus-4-6", `"thinking":{"type":"adaptive"}`, `128000 {"type":"adaptive"} `},
		{"claude-opus-4-6", `"reasoning_effort":"xhigh"`, `128000 {"type":"adaptive"} {"effort":"max"}`},
		{"claude-opus-4-7", `"reasoning_effort":"minimal"`, `128000 {"type":"adaptive","display":"summarized"} {"effort":"low"}`},
		{"claude-opus-4-7", `"thinking":{"type":"enabled","budget_tokens":2000}`, `128000 {"type":"adaptive","display":"summarized"} {"effort":"low"}`},
		{"claude-opus-5", `"thinking":{"type":"adaptive","display":"omitted"}`, `128000 {"type":"adaptive","display":"omitted"} `},
		{"claude-opus-5", `"thinking":{"type":"disabled"},"output_config":{"effort":"max"}`, `128000 {"type":"disabled"} {"effort":"high"}`},
		{"claude-fable-5", `"thinking":{"type":"disabled"}`, `128000  {"effort":"low"}`},
		{"claude-fable-5", `"user":"u"`, `128000  `},
	} {
		t.Run(tt.model+" "+tt.wish, func(t *testing.T) {
			rt, _, err := claudeSends(t, hello(t, "anthropic."+tt.model, tt.wish))
			if err != nil {
				t.Fatal(err)
			}
			body := string(rt.sent)
			got := fmt.Sprintf("%s %s %s", member(body, "max_tokens"), member(body, "thinking"), member(body, "output_config"))
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// member returns the value of the first member with the name that holds no
// further object.
func member(body, name string) string {
	_, rest, ok := strings.Cut(body, `"`+name+`":`)
	if !ok {
		return ""
	}
	if rest[0] == '{' {
		return rest[:strings.IndexByte(rest, '}')+1]
	}
	return rest[:strings.IndexAny(rest, ",}")]
}

func TestAnUnknownClaudeIsLikeTheNewest(t *testing.T) {
	rt, warnings, err := claudeSends(t, hello(t, "anthropic.claude-saga-9", `"thinking":{"type":"disabled"},"temperature":0.5`))
	if err != nil || len(warnings) != 3 || strings.Contains(string(rt.sent), "temperature") {
		t.Errorf("%v, %v in %s", err, warnings, rt.sent)
	}
}
