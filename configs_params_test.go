package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// sent shows members of a request's body, by their paths.
func sent(paths ...string) func(*vertextest.Request) string {
	return func(r *vertextest.Request) string {
		var out []string
		for _, path := range paths {
			var at any
			if err := json.Unmarshal(r.Body, &at); err != nil {
				return err.Error()
			}
			for name := range strings.SplitSeq(path, ".") {
				m, _ := at.(map[string]any)
				at = m[name]
			}
			if at == nil {
				continue
			}
			text, _ := json.Marshal(at)
			out = append(out, path[strings.LastIndex(path, ".")+1:]+"="+string(text))
		}
		return strings.Join(out, " ")
	}
}

func asking(edit func(*gateway.ChatCompletionRequest), opts ...gateway.RequestOption) []call {
	return []call{{edit: edit, opts: opts}}
}

// TestConfigParams has what becomes of a request's members on the way to a target.
func TestConfigParams(t *testing.T) {
	const gen = "generationConfig."
	temperature, most := gen+"temperature", gen+"maxOutputTokens"
	warm := asking(func(r *gateway.ChatCompletionRequest) { r.Temperature = new(0.9) })
	runScenarios(t, []scenario{
		{name: "override", config: `{"override_params":{"temperature":0.1}}`, calls: warm, more: sent(temperature),
			asked: "first@0s[temperature=0.1]", saw: "hello@0s; - ok"},
		{name: "default for what is missing", config: `{"default_params":{"temperature":0.1}}`, more: sent(temperature),
			asked: "first@0s[temperature=0.1]", saw: "hello@0s; - ok"},
		{name: "default is no override", config: `{"default_params":{"temperature":0.1}}`, calls: warm, more: sent(temperature),
			asked: "first@0s[temperature=0.9]", saw: "hello@0s; - ok"},
		{name: "drop", config: `{"drop_params":["temperature"]}`, calls: warm, more: sent(temperature),
			asked: "first@0s[]", saw: "hello@0s; - ok"},
		{name: "drop takes a default too", config: `{"default_params":{"temperature":0.1},"drop_params":["temperature"]}`, more: sent(temperature),
			asked: "first@0s[]", saw: "hello@0s; - ok"},
		{name: "override comes after drop", config: `{"drop_params":["temperature"],"override_params":{"temperature":0.1}}`, calls: warm, more: sent(temperature),
			asked: "first@0s[temperature=0.1]", saw: "hello@0s; - ok"},
		{name: "override beats default", config: `{"default_params":{"temperature":0.5},"override_params":{"temperature":0.1}}`, more: sent(temperature),
			asked: "first@0s[temperature=0.1]", saw: "hello@0s; - ok"},
		{name: "model and more", config: `{"override_params":{"model":"` + second + `","max_tokens":7}}`, more: sent(most),
			asked: "second@0s[maxOutputTokens=7]", saw: "@0s; - ok"},
		{name: "a model written with escapes", config: `{"override_params":{"model":"gemini-3\u002dflash"}}`,
			asked: "second@0s", saw: "hello@0s; - ok"},
		{name: "a slug in the model", config: to("@us/" + first), catalog: vendorsWith(""),
			asked: "first@0s(p-us/us-east5)", saw: "hello@0s; - ok"},
		{name: "the messages", config: `{"override_params":{"messages":[{"role":"user","content":"Instead"}]}}`, more: sent("contents"),
			asked: `first@0s[contents=[{"parts":[{"text":"Instead"}],"role":"user"}]]`, saw: `You said: "Instead".@0s; - ok`},
		{name: "a member of the platform's own", config: `{"override_params":{"safety_settings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]}}`, more: sent("safetySettings"),
			asked: `first@0s[safetySettings=[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]]`, saw: "hello@0s; - ok"},
		{name: "thinking", config: `{"override_params":{"reasoning_effort":"low"}}`, more: sent(gen + "thinkingConfig"),
			asked: `first@0s[thinkingConfig={"includeThoughts":true,"thinkingBudget":1024}]`, saw: "hello@0s; - ok"},
		{name: "a cap by its other name", config: `{"override_params":{"max_tokens":100}}`, more: sent(most),
			calls: asking(func(r *gateway.ChatCompletionRequest) { r.MaxCompletionTokens = new(5000) }),
			asked: "first@0s[maxOutputTokens=100]", saw: "hello@0s; - ok"},
		{name: "a cap is a default by either name", config: `{"default_params":{"max_completion_tokens":100}}`, more: sent(most),
			calls: asking(func(r *gateway.ChatCompletionRequest) { r.MaxTokens = new(5000) }),
			asked: "first@0s[maxOutputTokens=5000]", saw: "hello@0s; - ok"},
		{name: "no thinking, whatever name it was asked by", config: `{"override_params":{"reasoning_effort":"none"}}`, more: sent(gen + "thinkingConfig"),
			calls: asking(func(r *gateway.ChatCompletionRequest) {
				r.Thinking = &gateway.Thinking{Type: "enabled", BudgetTokens: new(8000)}
			}), asked: `first@0s[thinkingConfig={"thinkingBudget":0}]`, saw: "hello@0s; - ok"},
		{name: "thinking is no default for who wants none", config: `{"default_params":{"thinking":{"type":"enabled","budget_tokens":8000}}}`, more: sent(gen + "thinkingConfig"),
			calls: asking(func(r *gateway.ChatCompletionRequest) { r.ReasoningEffort = "none" }),
			asked: `first@0s[thinkingConfig={"thinkingBudget":0}]`, saw: "hello@0s; - ok"},
		{name: "a response format", config: `{"override_params":{"response_format":{"type":"json_object"}}}`, script: script(first, text("{}")), more: sent(gen + "responseMimeType"),
			asked: `first@0s[responseMimeType="application/json"]`, saw: "{}@0s; - ok"},
		{name: "drop within an object", config: `{"drop_params":["response_format.json_schema.strict"]}`, script: script(first, text("{}")),
			calls: asking(func(r *gateway.ChatCompletionRequest) {
				r.ResponseFormat = new(gateway.ResponseFormat)
				_ = r.ResponseFormat.UnmarshalJSON([]byte(`{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object"}}}`))
			}), more: sent(gen + "responseMimeType"),
			asked: `first@0s[responseMimeType="application/json"]`, saw: "{}@0s; - ok"},
		{name: "stop", config: `{"default_params":{"stop":["END"]}}`, more: sent(gen + "stopSequences"),
			asked: `first@0s[stopSequences=["END"]]`, saw: "hello@0s; - ok"},
		{name: "inherited", config: `{"override_params":{"temperature":0.1},"strategy":{"mode":"fallback"},"targets":[{},` + to(second) + `]}`,
			script: script(first, fails(500)), more: sent(temperature),
			asked: "first@0s[temperature=0.1] second@0s[temperature=0.1]", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "merged by member", config: `{"override_params":{"temperature":0.1,"max_tokens":7},"strategy":{"mode":"fallback"},"targets":[{"override_params":{"temperature":0.2}},` + to(second) + `]}`,
			script: script(first, fails(500)), more: sent(temperature, most),
			asked: "first@0s[temperature=0.2 maxOutputTokens=7] second@0s[temperature=0.1 maxOutputTokens=7]", saw: "@0s; [0] 500; [1] ok"},
		{name: "merged by setting", config: `{"override_params":{"max_completion_tokens":9},"strategy":{"mode":"fallback"},"targets":[{"override_params":{"max_tokens":7}},` + to(second) + `]}`,
			script: script(first, fails(500)), more: sent(most),
			asked: "first@0s[maxOutputTokens=7] second@0s[maxOutputTokens=9]", saw: "@0s; [0] 500; [1] ok"},
		{name: "drops add up", config: `{"drop_params":["temperature"],"strategy":{"mode":"fallback"},"targets":[{"drop_params":["max_tokens"]},` + to(second) + `]}`,
			script: script(first, fails(500)), more: sent(temperature, most), calls: asking(func(r *gateway.ChatCompletionRequest) { r.Temperature, r.MaxTokens = new(0.9), new(9) }),
			asked: "first@0s[] second@0s[maxOutputTokens=9]", saw: "@0s; [0] 500; [1] ok"},
		{name: "one target's params are not the next one's", config: fallback(`{"override_params":{"temperature":0.1}}`, to(second)), calls: warm,
			script: script(first, fails(500)), more: sent(temperature),
			asked: "first@0s[temperature=0.1] second@0s[temperature=0.9]", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "labels", config: fallback(`{"override_params":{"labels":{"tier":"main"}}}`, to(second, `"default_params":{"labels":{"tier":"spare"}}`)),
			script: script(first, fails(500)), more: sent("labels"),
			asked: `first@0s[labels={"tier":"main"}] second@0s[labels={"tier":"spare"}]`, saw: "hello@0s; [0] 500; [1] ok"},
		{name: "labels of metadata join them", config: `{"override_params":{"labels":{"tier":"main"}}}`,
			calls: asking(nil, gateway.WithMetadataLabels("m-"), gateway.WithMetadata(map[string]string{"team": "x"})), more: sent("labels"),
			asked: `first@0s[labels={"m-team":"x","tier":"main"}]`, saw: "hello@0s; - ok"},
	})
}

// TestConfigTranslations has what each target makes of the same request.
func TestConfigTranslations(t *testing.T) {
	signature, err := vertextest.Signature(second, vertextest.FunctionCall{Name: "now"})
	if err != nil {
		t.Fatal(err)
	}
	spoken := asking(func(r *gateway.ChatCompletionRequest) {
		r.Tools = []gateway.Tool{gateway.FunctionTool("now", "tells the time", []byte(`{"type":"object"}`))}
		r.Messages = append(r.Messages,
			gateway.Message{Role: gateway.RoleAssistant, ToolCalls: []gateway.ToolCall{{
				ID: "call_1", Type: "function", Function: gateway.FunctionCall{Name: "now", Arguments: "{}", ThoughtSignature: signature},
			}}}, gateway.ToolMessage("call_1", "noon"))
	})
	hot := asking(func(r *gateway.ChatCompletionRequest) { r.Temperature = new(1.5) })
	warnings := func(a *gateway.ChatCompletion) string {
		var out []string
		for _, w := range a.Meta.Warnings {
			out = append(out, w.Param)
		}
		return strings.Join(out, " ")
	}
	hot[0].more = warnings
	signed := func(r *vertextest.Request) string {
		return fmt.Sprint("signed=", strings.Contains(string(r.Body), signature))
	}
	cached := call{more: warnings}
	runScenarios(t, []scenario{
		{name: "signatures go to the family that gave them", config: fallback(to(second), to(third)), calls: spoken, more: signed,
			script: scripts(script(second, fails(500)), script(third, text("three"))),
			asked:  "second@0s[signed=true] third@0s[signed=false]", saw: "three@0s; [0] 500; [1] ok"},
		{name: "and not to another service", config: fallback(to(second), at("@oai", `"override_params":{"model":"`+fourth+`"}`)), calls: spoken, more: signed, catalog: vendorsWith(""),
			script: scripts(script(second, fails(500)), script(fourth, text("four"))),
			asked:  "second@0s[signed=true] fourth@0s(api.openai.com)[signed=false]", saw: "four@0s; [0] 500; [1] ok"},
		{name: "warnings are those of the target that answered", config: fallback(to(third), to(first)), calls: hot, script: scripts(script(third, fails(500)), script(first, text("one"))),
			asked: "third@0s first@0s", saw: "one@0s; [0] 500; [1] ok"},
		{name: "the second target warns", config: fallback(to(first), to(third)), calls: hot, script: scripts(script(first, fails(500)), script(third, text("three"))),
			asked: "first@0s third@0s", saw: "three [temperature]@0s; [0] 500; [1] ok"},
		{name: "a cache", config: `{"cache":{"mode":"simple"}}`, calls: []call{cached, later(cached, 1)},
			asked: "first@0s", saw: "hello@0s; - ok\nhello@1s"},
		{name: "a cache of another target", config: fallback(to(first, `"cache":{"mode":"simple"}`), to(second)), calls: []call{cached}, script: script(first, fails(500)),
			asked: "first@0s second@0s", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "what a later target gets of the thinking", config: fallback(to(first), to(second), to(third)), script: scripts(script(first, fails(500)), script(second, fails(500))),
			calls: asking(func(r *gateway.ChatCompletionRequest) {
				r.Thinking = &gateway.Thinking{Type: "enabled", BudgetTokens: new(2048)}
			}), more: sent("generationConfig.thinkingConfig", "thinking"),
			asked: `first@0s[thinkingConfig={"includeThoughts":true,"thinkingBudget":2048}] second@0s[thinkingConfig={"includeThoughts":true,"thinkingLevel":"LOW"}] third@0s[thinking={"budget_tokens":2048,"type":"enabled"}]`, saw: "hello@0s; [0] 500; [1] 500; [2] ok"},
	})
}

// TestConfigStrictness has whose word on compliance counts: the call's, then the
// target's, then the client's.
func TestConfigStrictness(t *testing.T) {
	blocks := func(a *gateway.ChatCompletion) string { return fmt.Sprint(len(a.Choices[0].Message.ContentBlocks)) }
	names := map[bool]string{true: "strict", false: "rich"}
	var list []scenario
	for _, client := range []bool{true, false} {
		for _, target := range []string{"", "strict", "rich"} {
			for _, one := range []string{"", "strict", "rich"} {
				s := scenario{
					name: fmt.Sprintf("client %s, target %q, call %q", names[client], target, one), config: to(first),
					client: []gateway.ClientOption{gateway.WithStrictCompliance(client)}, script: script(first, vertextest.Thought("hm", "one")),
					calls: []call{{more: blocks}}, asked: "first@0s", saw: "one [2]@0s; - ok",
				}
				if target != "" {
					s.config = to(first, fmt.Sprintf(`"strict_compliance":%v`, target == "strict"))
				}
				if one != "" {
					s.calls[0].opts = []gateway.RequestOption{gateway.WithStrictCompliance(one == "strict")}
				}
				word := names[client]
				for _, w := range []string{target, one} {
					if w != "" {
						word = w
					}
				}
				if word == "strict" {
					s.saw = "one [0]@0s; - ok"
				}
				list = append(list, s)
			}
		}
	}
	list = append(list, scenario{
		name: "the target that answered decides", config: fallback(to(first, `"strict_compliance":false`), to(second, `"strict_compliance":true`)),
		script: scripts(script(first, fails(500)), script(second, vertextest.Thought("hm", "two"))), calls: []call{{more: blocks}},
		asked: "first@0s second@0s", saw: "two [0]@0s; [0] 500; [1] ok",
	})
	runScenarios(t, list)
}

// TestConfigPlaces has who says where a request goes: the model's slug, then the
// call, then the config, then the client.
func TestConfigPlaces(t *testing.T) {
	model := func(name string) func(*gateway.ChatCompletionRequest) {
		return func(r *gateway.ChatCompletionRequest) { r.Model = name }
	}
	by := func(opts ...gateway.RequestOption) []call { return []call{{opts: opts}} }
	all := vendorsWith("")
	list := []scenario{
		{name: "the config's provider over the client's", config: at("@eu"), client: []gateway.ClientOption{gateway.WithProvider("@us")},
			asked: "first@0s(p-eu/europe-west4)", saw: "hello@0s; - ok"},
		{name: "the call's provider over the config's", config: at("@eu"), calls: by(gateway.WithProvider("@us")),
			asked: "first@0s(p-us/us-east5)", saw: "hello@0s; - ok"},
		{name: "the call's provider for all targets", config: fallback(to(first), to(second)), calls: by(gateway.WithProvider("@us")), script: script(first, fails(500)),
			asked: "first@0s(p-us/us-east5) second@0s(p-us/us-east5)", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "the model's slug over all", config: at("@eu"), calls: asking(model("@us/"+first), gateway.WithProvider("@eu")),
			asked: "first@0s(p-us/us-east5)", saw: "hello@0s; - ok"},
		{name: "the slug of an overriding model over the call's", config: to("@us/" + first), calls: by(gateway.WithProvider("@eu")),
			asked: "first@0s(p-us/us-east5)", saw: "hello@0s; - ok"},
		{name: "the client's provider when the config has none", config: to(second), client: []gateway.ClientOption{gateway.WithProvider("@us")},
			asked: "second@0s(p-us/us-east5)", saw: "hello@0s; - ok"},
		{name: "the config's region over the entry's", config: at("@eu", `"vertex_region":"us-central1"`),
			asked: "first@0s(p-eu/us-central1)", saw: "hello@0s; - ok"},
		{name: "the call's region over the config's", config: `{"vertex_region":"europe-west4"}`, calls: by(gateway.WithRegion("us-central1")),
			asked: "first@0s(p/us-central1)", saw: "hello@0s; - ok"},
		{name: "the call's project over the config's", config: `{"vertex_project_id":"p-1"}`, calls: by(gateway.WithProjectID("p-2")),
			asked: "first@0s(p-2/global)", saw: "hello@0s; - ok"},
		{name: "a provider by its id", config: at("vertex-ai"),
			asked: "first@0s", saw: "hello@0s; - ok"},
		{name: "inherited, and a target's own", config: `{"provider":"@eu","strategy":{"mode":"fallback"},"targets":[{},` + at("@us") + `]}`, script: script(first, fails(500)),
			asked: "first@0s(p-eu/europe-west4) first@0s(p-us/us-east5)", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "a host of its own", config: fallback(`{"custom_host":"https://llm.example"}`, to(second)), script: script(first, fails(500)),
			asked: "first@0s(llm.example) second@0s", saw: "hello@0s; [0] 500; [1] ok"},
		{name: "a host of its own for another service", config: at("@oai", `"custom_host":"https://llm.example/v1"`, `"override_params":{"model":"`+fourth+`"}`),
			asked: "fourth@0s(llm.example)", saw: "hello@0s; - ok"},
		{name: "the call's host over the config's", config: `{"custom_host":"https://llm.example"}`, calls: by(gateway.WithBaseURL("https://other.example")),
			asked: "first@0s(other.example)", saw: "hello@0s; - ok"},
		{name: "the config's host over the client's", config: `{"custom_host":"https://llm.example"}`, client: []gateway.ClientOption{gateway.WithBaseURL("https://other.example")},
			asked: "first@0s(llm.example)", saw: "hello@0s; - ok"},
	}
	for i := range list {
		list[i].catalog = all
	}
	runScenarios(t, list)
}

// TestConfigMetadataIsKept sees to it that a plan loses none of the labels.
func TestConfigMetadataIsKept(t *testing.T) {
	entries := map[string]string{"team": "x", "env": "y"}
	s := scenario{
		name: "all of them", config: fallback(to(first), to(second)), script: script(first, fails(500)),
		calls: asking(nil, gateway.WithMetadataLabels("m-"), gateway.WithMetadata(entries)), more: sent("labels"),
	}
	var labels []string
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		labels = append(labels, fmt.Sprintf(`"m-%s":%q`, k, entries[k]))
	}
	all := "[labels={" + strings.Join(labels, ",") + "}]"
	s.asked, s.saw = "first@0s"+all+" second@0s"+all, "hello@0s; [0] 500; [1] ok"
	runScenarios(t, []scenario{s})
}
