package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// TestWhatClientsSend has members as clients send them, and what comes of them:
// the value at a path of the body, "" for none, and the codes and members that
// are warned of.
func TestWhatClientsSend(t *testing.T) {
	const drawn = `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":%s,"content_blocks":[{"type":"text","text":"a"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},{"role":"user","content":"r"}]`
	for name, tt := range map[string]struct {
		model, members, path, want, warnings string
	}{
		"a penalty of 2 is lowered":   {"gemini-2.5-flash", `"presence_penalty":2`, "generationConfig.presencePenalty", "1.999", "adjusted_parameter presence_penalty"},
		"other penalties stay":        {"gemini-2.5-flash", `"frequency_penalty":-2`, "generationConfig.frequencyPenalty", "-2", ""},
		"empty stops stop nothing":    {"gemini-2.5-flash", `"stop":["","a",""]`, "generationConfig.stopSequences", `["a"]`, ""},
		"nothing but empty stops":     {"gemini-2.5-flash", `"stop":["",""]`, "generationConfig", "", ""},
		"an empty bias says nothing":  {"gemini-2.5-flash", `"logit_bias":{},"store":false,"functions":[]`, "generationConfig", "", ""},
		"images where none are drawn": {"gemini-2.5-flash", `"image_config":{"aspect_ratio":"1:1"}`, "generationConfig", "", "unsupported_parameter image_config"},
		"names of the caller's in a native schema": {"gemini-2.5-flash",
			`"generation_config":{"response_mime_type":"application/json","response_schema":{"type":"OBJECT","properties":{"first_name":{"type":"STRING"}}}}`,
			"generationConfig.responseSchema", `{"type":"OBJECT","properties":{"first_name":{"type":"STRING"}}}`, ""},
		"names of the caller's in a tool's options": {"gemini-2.5-flash",
			`"tools":[{"type":"parallel_ai_search","custom_configs":{"source_policy":{"max_age":1}}}]`,
			"tools", `[{"parallelAiSearch":{"customConfigs":{"source_policy":{"max_age":1}}}}]`, ""},
		"names that are no words":  {"gemini-2.5-flash", `"output_config":{"output_uri_prefix":"gs://b/"}`, "outputConfig", `{"outputUriPrefix":"gs://b/"}`, ""},
		"no search beside none":    {"gemini-2.5-flash", `"web_search_options":{},"tool_choice":"none"`, "tools", "", ""},
		"no search for who speaks": {"gemini-2.5-flash-tts", `"web_search_options":{}`, "tools", "", "unsupported_parameter tools"},
		"a choice among declarations of the platform's form": {"gemini-2.5-flash",
			`"google":{"tools":[{"functionDeclarations":[{"name":"f"}]}]},"tool_choice":{"type":"function","function":{"name":"f"}}`,
			"toolConfig.functionCallingConfig", `{"mode":"ANY","allowedFunctionNames":["f"]}`, ""},
		"JSON beside declarations of the platform's form": {"gemini-2.5-flash",
			`"google":{"tools":[{"functionDeclarations":[{"name":"f"}]}]},"response_format":{"type":"json_object"}`,
			"generationConfig", "", "conflicting_parameter response_format"},
		"JSON beside tools that are left out": {"gemini-2.5-flash", `"tools":[{"type":"custom"}],"response_format":{"type":"json_object"}`,
			"generationConfig.responseMimeType", `"application/json"`, "unsupported_parameter tools[0].type"},
		"a function without a type": {"gemini-2.5-flash", `"tools":[{"function":{"name":"f"}}]`, "tools", `[{"functionDeclarations":[{"name":"f"}]}]`, ""},
		"thresholds by category": {"gemini-2.5-flash", `"safety_settings":{"HARM_CATEGORY_HARASSMENT":"OFF"}`,
			"safetySettings", `[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`, ""},
		"a choice among tools by type": {"gemini-3.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search"},{"type":"code_execution"}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"web_search"}]}}`,
			"tools", `[{"googleSearch":{}}]`, ""},
		"an empty choice": {"gemini-2.5-flash", `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":""`, "toolConfig", "", ""},
		"a choice by name alone": {"gemini-2.5-flash", `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"function":{"name":"f"}}`,
			"toolConfig.functionCallingConfig.allowedFunctionNames", `["f"]`, ""},
		"a choice of a tool": {"gemini-2.5-flash", `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"tool","name":"f"}`,
			"toolConfig.functionCallingConfig.allowedFunctionNames", `["f"]`, ""},
		"options far within": {"gemini-2.5-flash", `"tools":[{"type":"google_maps","parameters":{"parameters":{"parameters":{"enableWidget":true}}}}]`,
			"tools", `[{"googleMaps":{}}]`, "unknown_parameter tools[0].parameters.parameters.parameters"},
		"a bare schema": {"gemini-2.5-flash", `"response_format":{"type":"json_schema","json_schema":{"type":"string","enum":["a"]}}`,
			"generationConfig.responseJsonSchema", `{"type":"string","enum":["a"]}`, ""},
		"a schema without a type of format": {"gemini-2.5-flash", `"response_format":{"json_schema":{"schema":{"type":"string"}}}`,
			"generationConfig.responseJsonSchema", `{"type":"string"}`, ""},
		"what a schema says beside": {"gemini-2.5-flash",
			`"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","surprise":1,"schema":{"type":"string"}}},"stream_options":{"more":1}`,
			"generationConfig.responseMimeType", `"application/json"`,
			"unknown_parameter stream_options.more, unknown_parameter response_format.json_schema.description, unknown_parameter response_format.json_schema.surprise"},
		"the platform's tool_config without tools": {"gemini-2.5-flash", `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`, "toolConfig", "", "unsupported_parameter toolConfig"},
		"a tool_config that says nothing":          {"gemini-2.5-flash", `"tool_config":{"function_calling_config":{}}`, "toolConfig", "", ""},
		"the platform's tool_config": {"gemini-2.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}}],"tool_config":{"function_calling_config":{"mode":"VALIDATED","allowed_function_names":["f"]}}`,
			"toolConfig", `{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]}}`, ""},
		"a place beside a choice": {"gemini-2.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required","google":{"tool_config":{"retrieval_config":{"lat_lng":{"latitude":1.50}}}}`,
			"toolConfig", `{"functionCallingConfig":{"mode":"ANY"},"retrievalConfig":{"latLng":{"latitude":1.50}}}`, ""},
		"a choice wins over tool_config": {"gemini-2.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto","toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`,
			"toolConfig", `{"functionCallingConfig":{"mode":"AUTO"}}`,
			"conflicting_parameter toolConfig.functionCallingConfig.mode, conflicting_parameter toolConfig.functionCallingConfig.allowedFunctionNames"},
		"a place wins over that of tool_config": {"gemini-2.5-flash",
			`"tools":[{"type":"google_maps","retrieval_config":{"language_code":"de"}}],"tool_config":{"retrieval_config":{"language_code":"fr"}}`,
			"toolConfig", `{"retrievalConfig":{"languageCode":"de"}}`, "conflicting_parameter tool_config.retrieval_config"},
		"no calls beside a search": {"gemini-3.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search"}],"tool_config":{"functionCallingConfig":{"mode":"NONE"}}`,
			"toolConfig", `{"functionCallingConfig":{"mode":"NONE"}}`, ""},
		"the search stays": {"gemini-3.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}},{"type":"web_search"}],"tool_config":{"functionCallingConfig":{"mode":"NONE"}}`,
			"tools", `[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`, ""},
		"a tool_config about functions, without any": {"gemini-2.5-flash",
			`"tools":[{"type":"web_search"}],"tool_config":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}`,
			"toolConfig", "", "unsupported_parameter tool_config.functionCallingConfig"},
		"arguments in pieces, whole": {"gemini-3.5-flash",
			`"tools":[{"type":"function","function":{"name":"f"}}],"tool_config":{"functionCallingConfig":{"streamFunctionCallArguments":true}}`,
			"toolConfig", "", "unsupported_parameter tool_config.functionCallingConfig.streamFunctionCallArguments"},
		"blocks that the content contradicts": {"gemini-3.5-flash", fmt.Sprintf(drawn, `"edited"`), "generationConfig", "", "dropped_content messages[1].content_blocks"},
		"blocks that the content repeats":     {"gemini-3.5-flash", fmt.Sprintf(drawn, `"a"`), "generationConfig", "", ""},
		"an extra_content of others": {"gemini-3.5-flash", `"messages":[{"role":"user","content":"q","extra_content":{"google":{"thought":true}}}]`,
			"thought", "", "unknown_parameter messages[0].extra_content"},
	} {
		t.Run(name, func(t *testing.T) {
			body, warnings, err := encodeMembersFor(t, tt.model, tt.members)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, w := range warnings {
				said = append(said, w.Code+" "+w.Param)
			}
			if diff := cmp.Diff(tt.warnings, strings.Join(said, ", ")); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
			if got := valueAt(body, tt.path); got != tt.want {
				t.Errorf("%s is %s, want %s, in %s", tt.path, got, tt.want, body)
			}
		})
	}
}

// TestNewMembersOfToolConfigGoAlong has some that the platform may get.
func TestNewMembersOfToolConfigGoAlong(t *testing.T) {
	facts, _ := catalog.DefaultModels().Lookup("google", "gemini-3.5-flash")
	m := Model{Publisher: "google", Name: "gemini-3.5-flash", facts: facts}
	body, warnings, err := encodeFor(&m, requestOf(t, []string{
		`"tools":[{"type":"function","function":{"name":"f"}}]`, `"tool_config":{"function_calling_config":{"new_member":{"a_b":1}},"new_part":[1]}`,
	}))
	const want = `{"functionCallingConfig":{"newMember":{"aB":1}},"newPart":[1]}`
	if got := valueAt(string(body), "toolConfig"); got != want || err != nil || len(warnings) != 0 {
		t.Errorf("%s %v %v, want %s", got, warnings, err, want)
	}
}

// valueAt returns the JSON at a path, "" for none.
func valueAt(body, path string) string {
	raw := []byte(body)
	for name := range strings.SplitSeq(path, ".") {
		raw, _ = jsonx.Lookup(raw, name)
	}
	return string(raw)
}

func TestWhatClientsSendThatIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ model, members, param string }{
		"a tool_config that is none":              {"gemini-2.5-flash", `"tool_config":[]`, "tool_config"},
		"a calling config that is none":           {"gemini-2.5-flash", `"tool_config":{"function_calling_config":1}`, "tool_config.function_calling_config"},
		"a mode that is none":                     {"gemini-2.5-flash", `"toolConfig":{"functionCallingConfig":{"mode":1}}`, "toolConfig.functionCallingConfig.mode"},
		"a system message in the platform's form": {"gemini-2.5-flash", `"systemInstruction":{"parts":[{"text":"x"}]}`, "systemInstruction"},
		"a search beside a cache":                 {"gemini-2.5-flash", `"cached_content":"cachedContents/1","web_search_options":{}`, "cached_content"},
		"a schema that is none":                   {"gemini-2.5-flash", `"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`, "response_format.json_schema.schema"},
		"six stops":                               {"gemini-2.5-flash", `"stop":["a","b","c","","d","e","f"]`, "stop"},
		"parts that are no parts":                 {"gemini-3.5-flash", results(`{"text":"x"}`), "messages[2].extra_content.google.parts[0]"},
		"parts that are no list":                  {"gemini-3.5-flash", strings.NewReplacer(`"parts":[`, `"parts":{`, `]}}}]`, `}}}}]`).Replace(results(`"a":1`)), "messages[2].extra_content.google.parts"},
		"data that is no base64":                  {"gemini-3.5-flash", results(`{"inlineData":{"mimeType":"image/png","data":"§"}}`), "messages[2].extra_content.google.parts[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := encodeMembersFor(t, tt.model, tt.members)
			e, ok := err.(*providers.Error)
			if !ok || e.Code != providers.ErrInvalidRequest || e.Param != tt.param {
				t.Errorf("%v, want a refusal of %s", err, tt.param)
			}
		})
	}
}

// results is a conversation whose tool result has parts of the platform's own.
func results(parts string) string {
	return `"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"r","extra_content":{"google":{"parts":[` + parts + `]}}}]`
}

// A conversation may begin with a call of the assistant's, which needs its
// signature as any other.
func TestACallThatComesFirstHasASignature(t *testing.T) {
	body, warnings, err := encodeMembersFor(t, "gemini-3.5-flash",
		`"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"}]`)
	if err != nil || !strings.Contains(body, sentinelSignature) || len(warnings) != 1 {
		t.Errorf("%v, %v in %s", err, warnings, body)
	}
}

func TestResultsGoInTheOrderOfTheCalls(t *testing.T) {
	for _, tt := range []struct{ calls, run, want string }{
		{"a b c", "a b c", "0 1 2"},
		{"a b c", "c b a", "2 1 0"},
		{"a b c", "b c a", "2 0 1"},
		{"a a b", "a b a", "0 2 1"},
		{"a b", "b -", "1 0"},
		{"a b", "a -", "0 1"},
		{"- -", "- -", "0 1"},
		{"a", "b", "-1"},
	} {
		var run []providers.Message
		for id := range strings.FieldsSeq(tt.run) {
			run = append(run, providers.ToolMessage(strings.Trim(id, "-"), "x"))
		}
		q := resultQueue{run: run}
		var got []string
		for id := range strings.FieldsSeq(tt.calls) {
			got = append(got, fmt.Sprint(q.next(strings.Trim(id, "-"))))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s answered by %s (-want +got)\n%s", tt.calls, tt.run, diff)
		}
	}
}

func TestCamel(t *testing.T) {
	for in, want := range map[string]string{
		"top_k": "topK", "topK": "topK", "HARM_CATEGORY": "HARM_CATEGORY", "a_é": "a_é", "_x": "_x", "x_": "x_", "a_1": "a1", "a__b": "a_B",
	} {
		if got := camel(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestLabelsOfTheSameNameAreCounted(t *testing.T) {
	labels, left := hintedLabels(map[string]string{"app_a.b": "1", "app_a_b": "2", "app_c": "3", "app_d": ""}, map[string]string{"app_c": "own"})
	if diff := cmp.Diff(map[string]string{"app_a_b": "1"}, labels); diff != "" || left != 1 {
		t.Errorf("%d left out (-want +got)\n%s", left, diff)
	}
}

// What a caller is told stays small, whatever the request.
func TestWarningsAreBounded(t *testing.T) {
	var members strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&members, `"%s%d":1,`, strings.Repeat("m", 300), i)
	}
	request := members.String() + `"messages":[{"role":"user","content":"x",` + strings.TrimSuffix(members.String(), ",") + `}]`
	for family, encode := range map[string]func() (string, []providers.Warning, error){
		"Gemini": func() (string, []providers.Warning, error) { return encodeMembers(t, request) },
		"Claude": func() (string, []providers.Warning, error) {
			body, out, err := encodeClaude(t, "claude-sonnet-4-5", request)
			return body, out.warnings, err
		},
		"Mistral": func() (string, []providers.Warning, error) {
			return encodeOpen(t, openFamilies["Mistral"], catalog.DefaultModels(), request)
		},
	} {
		t.Run(family, func(t *testing.T) { checkBounded(t, encode) })
	}
}

// checkBounded encodes a request of which more is left out than there is room to
// tell.
func checkBounded(t *testing.T, encode func() (string, []providers.Warning, error)) {
	t.Helper()
	_, warnings, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, w := range warnings {
		size += len(w.Param)
	}
	last := warnings[len(warnings)-1].Message
	if len(warnings) != maxWarnings+1 || size > (maxWarned+4)*maxWarnings || last != "9872 more warnings are not listed" {
		t.Errorf("%d warnings of %d bytes, the last %q", len(warnings), size, last)
	}
}
