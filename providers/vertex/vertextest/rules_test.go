package vertextest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// functions is a tools member with n functions of distinct names.
func functions(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"f%d"}`, i)
	}
	return `"tools":[{"functionDeclarations":[` + strings.Join(list, ",") + `]}]`
}

func declare(function string) string { return `"tools":[{"functionDeclarations":[` + function + `]}]` }

// refusal is a body and what the answer to it says.
type refusal struct{ name, model, body, want string }

// refusals are bodies that each break one rule.
func refusals() []refusal {
	return []refusal{
		{"no JSON", "gemini-2.5-flash", `{"contents":[`, "Unexpected end of string"},
		{"file type left empty", "gemini-2.5-flash", `{"contents":[{"parts":[{"fileData":{"mimeType":"","fileUri":"gs://a/b"}}]}]}`, "mimeType"},
		{"media without data", "gemini-2.5-flash", `{"contents":[{"parts":[{"inlineData":{"mimeType":"a/b","data":""}}]}]}`, "empty inlineData"},
		{"system instruction without parts", "gemini-2.5-flash", say("a", `"systemInstruction":{"parts":[]}`), "system_instruction must include"},
		{"no contents", "gemini-2.5-flash", `{"contents":[]}`, "at least one contents field is required"},
		{"no parts", "gemini-2.5-flash", `{"contents":[{"role":"user","parts":[]}]}`, "at least one parts field"},
		{"part without data", "gemini-2.5-flash", `{"contents":[{"parts":[{"thought":true}]}]}`, "contents[0].parts[0]: required oneof field 'data'"},
		{"empty text", "gemini-2.5-flash", say(""), "empty text parameter"},
		{"unknown role", "gemini-2.5-flash", `{"contents":[{"role":"assistant","parts":[{"text":"a"}]}]}`, "Please use a valid role: user, model."},
		{"media in the system instruction", "gemini-2.5-flash", say("a", `"systemInstruction":{"parts":[{"fileData":{"mimeType":"a/b","fileUri":"gs://a/b"}}]}`), "only supports text"},
		{"media without type", "gemini-2.5-flash", `{"contents":[{"parts":[{"inlineData":{"mimeType":"","data":"AAAA"}}]}]}`, "mimeType"},
		{"broken base64", "gemini-2.5-flash", `{"contents":[{"parts":[{"inlineData":{"mimeType":"a/b","data":"AAAAA"}}]}]}`, "Base64 decoding failed"},
		{"file without type", "gemini-2.5-flash", `{"contents":[{"parts":[{"fileData":{"fileUri":"gs://a/b"}}]}]}`, "mime_type' is missing"},
		{"file behind a data URL", "gemini-2.5-flash", `{"contents":[{"parts":[{"fileData":{"mimeType":"a/b","fileUri":"data:a/b;base64,AA"}}]}]}`, "Invalid file URI"},
		{"resolution of a part on 2.5", "gemini-2.5-flash", `{"contents":[{"parts":[{"text":"a","mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}]}]}`, "media_resolution"},
		{"label key", "gemini-2.5-flash", say("a", `"labels":{"Team":"a"}`), "Invalid label key"},
		{"label value", "gemini-2.5-flash", say("a", `"labels":{"team":"A b"}`), `label "team"`},
		{"model armor and safety settings", "gemini-2.5-flash", say("a", `"modelArmorConfig":{},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`), "model_armor_config"},
		{"cache with tools", "gemini-2.5-flash", say("a", `"cachedContent":"projects/p/locations/l/cachedContents/1"`, functions(1)), "when using cached content"},
		{"cache by a short name", "gemini-2.5-flash", say("a", `"cachedContent":"1"`), "cached content name"},
		{"cache on 4", "gemini-4-neon", say("a", `"cachedContent":"projects/p/locations/l/cachedContents/1"`), "not supported by this model"},

		{"budget and level", "gemini-2.5-flash", say("a", config(`"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}`)), "only one of thinking budget and thinking level"},
		{"level on 2.5", "gemini-2.5-flash", say("a", config(`"thinkingConfig":{"thinkingLevel":"LOW"}`)), "thinking_level is not supported"},
		{"budget on 3", "gemini-3-flash-preview", say("a", config(`"thinkingConfig":{"thinkingBudget":1024}`)), "thinking_budget is not supported"},
		{"thinking on 2.0", "gemini-2.0-flash-001", say("a", config(`"thinkingConfig":{"includeThoughts":true}`)), "thinking is not supported"},
		{"MINIMAL on 3.7", "gemini-3.7-flash", say("a", config(`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`)), "MINIMAL is not supported"},
		{"XHIGH on 4 Argon", "gemini-4-argon", say("a", config(`"thinkingConfig":{"thinkingLevel":"XHIGH"}`)), "XHIGH is not supported"},
		{"MEDIUM on 3 Pro", "gemini-3-pro-preview", say("a", config(`"thinkingConfig":{"thinkingLevel":"MEDIUM"}`)), "MEDIUM is not supported"},
		{"no thinking on 2.5 Pro", "gemini-2.5-pro", say("a", config(`"thinkingConfig":{"thinkingBudget":0}`)), "integers from 128 to 32768"},
		{"large budget on 2.5 Flash", "gemini-2.5-flash", say("a", config(`"thinkingConfig":{"thinkingBudget":24577}`)), "integers from 1 to 24576"},
		{"small budget on 2.5 Flash Lite", "gemini-2.5-flash-lite", say("a", config(`"thinkingConfig":{"thinkingBudget":511}`)), "integers from 512 to 24576"},

		{"temperature", "gemini-2.5-flash", say("a", config(`"temperature":2.1`)), "temperature value of 2.1"},
		{"penalty out of range", "gemini-2.5-flash", say("a", config(`"presencePenalty":2`)), "presencePenalty value of 2"},
		{"penalty on 3.6", "gemini-3.6-flash", say("a", config(`"presencePenalty":0.5`)), "frequency_penalty are not supported"},
		{"penalty on 4", "gemini-4-hydrogen", say("a", config(`"frequencyPenalty":0`)), "frequency_penalty are not supported"},
		{"nine candidates on 2.5", "gemini-2.5-flash", say("a", config(`"candidateCount":9`)), "candidateCount value of 9"},
		{"no candidate on 2.5", "gemini-2.5-flash", say("a", config(`"candidateCount":0`)), "candidateCount value of 0"},
		{"two candidates on 3.5", "gemini-3.5-flash", say("a", config(`"candidateCount":2`)), "candidateCount value of 2"},
		{"one candidate on 3.7", "gemini-3.7-flash", say("a", config(`"candidateCount":1`)), "candidate_count is not supported"},
		{"one candidate on 3.8", "gemini-3.8-flash", say("a", config(`"candidateCount":1`)), "candidate_count is not supported"},
		{"two candidates on 4", "gemini-4-argon", say("a", config(`"candidateCount":2`)), "candidateCount value of 2"},
		{"logprobs alone", "gemini-2.5-flash", say("a", config(`"logprobs":1`)), "response_logprobs"},
		{"21 logprobs", "gemini-2.5-flash", say("a", config(`"responseLogprobs":true,"logprobs":21`)), "logprobs value of 21"},
		{"no output tokens", "gemini-2.5-flash", say("a", config(`"maxOutputTokens":0`)), "maxOutputTokens value of 0 but the supported range is from 1 (inclusive) to 65537 (exclusive)"},
		{"six stop sequences", "gemini-2.5-flash", say("a", config(`"stopSequences":["1","2","3","4","5","6"]`)), "maximum of 5"},
		{"image from a text model", "gemini-2.5-flash", say("a", config(`"responseModalities":["IMAGE"]`)), "response modalities"},
		{"unknown response type", "gemini-2.5-flash", say("a", config(`"responseMimeType":"text/html"`)), "response_mime_type"},
		{"both response schemas", "gemini-2.5-flash", say("a", config(`"responseMimeType":"application/json","responseSchema":{"type":"STRING"},"responseJsonSchema":{}`)), "can't be set together"},
		{"response schema without type", "gemini-2.5-flash", say("a", config(`"responseSchema":{"type":"STRING"}`)), "needs response_mime_type"},
		{"JSON schema without type", "gemini-2.5-flash", say("a", config(`"responseJsonSchema":{}`)), "needs response_mime_type application/json"},
		{"array without items", "gemini-2.5-flash", say("a", config(`"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"l":{"type":"ARRAY"}}}`)), "response_schema.properties[l].items: missing field"},
		{"required but not defined", "gemini-2.5-flash", say("a", config(`"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"l":{"type":"STRING"}},"required":["m"]}`)), "required[0]: property is not defined"},

		{"tool of no kind", "gemini-3.8-flash", say("a", `"tools":[{}]`), "tools[0].tool_type"},
		{"mixed tools on 2.5", "gemini-2.5-flash", say("a", `"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`), "Multiple tools are supported only when they are all search tools."},
		{"JSON next to functions on 2.5", "gemini-2.5-flash", say("a", config(`"responseMimeType":"application/json"`), functions(1)), "Function calling with a response mime type"},
		{"513 functions", "gemini-3.8-flash", say("a", functions(513)), "maximum of 512"},
		{"function name", "gemini-3.8-flash", say("a", declare(`{"name":"1st"}`)), "Invalid function name"},
		{"long function name", "gemini-3.8-flash", say("a", declare(`{"name":"`+strings.Repeat("a", 129)+`"}`)), "Invalid function name"},
		{"function twice", "gemini-3.8-flash", say("a", declare(`{"name":"f"},{"name":"f"}`)), "Duplicate function declaration found: f"},
		{"both parameter schemas", "gemini-3.8-flash", say("a", declare(`{"name":"f","parameters":{"type":"OBJECT"},"parametersJsonSchema":{"type":"object"}}`)), "parameters and parameters_json_schema"},
		{"both result schemas", "gemini-3.8-flash", say("a", declare(`{"name":"f","response":{"type":"OBJECT"},"responseJsonSchema":{"type":"object"}}`)), "response and response_json_schema"},
		{"parameters that aren't an object", "gemini-3.8-flash", say("a", declare(`{"name":"f","parameters":{"type":"STRING"}}`)), "type OBJECT"},
		{"allowed names in mode AUTO", "gemini-3.8-flash", say("a", functions(1), `"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["f0"]}}`), "only when function calling mode is ANY"},
		{"allowed name that isn't declared", "gemini-3.8-flash", say("a", functions(1), `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`), `"g", which is not declared`},
		{"mode ANY without functions", "gemini-3.8-flash", say("a", `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`), "without function_declarations"},
	}
}

// acceptances are bodies just inside a rule.
func acceptances() []refusal {
	return []refusal{
		{name: "signed empty text", model: "gemini-2.5-flash", body: `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"},{"text":"","thoughtSignature":"AAAA"}]},{"parts":[{"text":"c"}]}]}`},
		{name: "signature alone", model: "gemini-2.5-flash", body: `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"thoughtSignature":"AAAA"}]},{"parts":[{"text":"c"}]}]}`},
		{name: "role in upper case", model: "gemini-2.5-flash", body: `{"contents":[{"role":"USER","parts":[{"text":"a"}]}]}`},
		{name: "file with type", model: "gemini-2.5-flash", body: `{"contents":[{"parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://a/b"}}]}]}`},
		{name: "resolution of a part on 3", model: "gemini-3-flash-preview", body: `{"contents":[{"parts":[{"text":"a","mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}]}]}`},
		{name: "label", model: "gemini-2.5-flash", body: say("a", `"labels":{"team_1":"a-b"}`)},
		{name: "cache on 3.8", model: "gemini-3.8-flash", body: say("a", `"cachedContent":"projects/p/locations/l/cachedContents/1"`)},
		{name: "MINIMAL on 3.6", model: "gemini-3.6-flash", body: say("a", config(`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`))},
		{name: "XHIGH on 4 Neon", model: "gemini-4-neon", body: say("a", config(`"thinkingConfig":{"thinkingLevel":"XHIGH"}`))},
		{name: "dynamic budget on 2.5 Pro", model: "gemini-2.5-pro", body: say("a", config(`"thinkingConfig":{"thinkingBudget":-1}`))},
		{name: "no thinking on 2.5 Flash", model: "gemini-2.5-flash", body: say("a", config(`"thinkingConfig":{"thinkingBudget":0}`))},
		{name: "penalty on 3.5", model: "gemini-3.5-flash", body: say("a", config(`"presencePenalty":0.5`))},
		{name: "eight candidates on 2.5", model: "gemini-2.5-flash", body: say("a", config(`"candidateCount":8`))},
		{name: "one candidate on 4", model: "gemini-4-argon", body: say("a", config(`"candidateCount":1`))},
		{name: "sampling on 4", model: "gemini-4-argon", body: say("a", config(`"temperature":0,"topP":1,"topK":1`))},
		{name: "long output on 4", model: "gemini-4-argon", body: say("a", config(`"maxOutputTokens":100000`))},
		{name: "five stop sequences", model: "gemini-2.5-flash", body: say("a", config(`"stopSequences":["1","2","3","4","5"]`))},
		{name: "image from an image model", model: "gemini-3-pro-image", body: say("a", config(`"responseModalities":["TEXT","IMAGE"]`))},
		{name: "mixed tools on 3", model: "gemini-3-flash-preview", body: say("a", `"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`)},
		{name: "two search tools on 2.5", model: "gemini-2.5-flash", body: say("a", `"tools":[{"googleSearch":{}},{"retrieval":{}}]`)},
		{name: "JSON next to functions on 3", model: "gemini-3.8-flash", body: say("a", config(`"responseMimeType":"application/json"`), functions(1))},
		{name: "512 functions", model: "gemini-3.8-flash", body: say("a", functions(512))},
		{name: "parameters behind a reference", model: "gemini-3.8-flash", body: say("a", declare(`{"name":"f","parametersJsonSchema":{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}}`))},
		{name: "mode ANY with a search tool", model: "gemini-3.8-flash", body: say("a", `"tools":[{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`)},
		{name: "allowed names in mode ANY", model: "gemini-3.8-flash", body: say("a", functions(2), `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f1"]}}`)},
	}
}

func TestRefusals(t *testing.T) {
	s := vertextest.New()
	for _, r := range append(refusals(), furtherRefusals()...) {
		t.Run(r.name, func(t *testing.T) {
			got := unary(t, s, r.model, r.body)
			m := got.decode(t)
			type envelope struct {
				HTTP, Code int
				Status     string
			}
			want := envelope{http.StatusBadRequest, http.StatusBadRequest, "INVALID_ARGUMENT"}
			if diff := cmp.Diff(want, envelope{got.status, m.Error.Code, m.Error.Status}); diff != "" {
				t.Errorf("envelope (-want +got):\n%s", diff)
			}
			if !strings.Contains(m.Error.Message, r.want) {
				t.Errorf("message %q doesn't contain %q", m.Error.Message, r.want)
			}
		})
	}
}

func TestAcceptances(t *testing.T) {
	s := vertextest.New()
	for _, a := range append(acceptances(), furtherAcceptances()...) {
		t.Run(a.name, func(t *testing.T) {
			if got := unary(t, s, a.model, a.body); got.status != http.StatusOK {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
}

func TestRefusalsTakeTheFormOfTheVerb(t *testing.T) {
	s := vertextest.New()
	model := place + "publishers/google/models/gemini-2.5-flash"
	for name, tc := range map[string]struct {
		url   string
		array bool
	}{
		"unary":                  {model + ":generateContent", false},
		"event stream":           {model + ":streamGenerateContent?alt=sse", false},
		"stream without alt=sse": {model + ":streamGenerateContent", true},
	} {
		t.Run(name, func(t *testing.T) {
			got := post(t, s, tc.url, `{"contents":[],"generationConfig":{"x":1}}`)
			if want := "application/json; charset=UTF-8"; got.header.Get("Content-Type") != want {
				t.Errorf("content type %q, want %q", got.header.Get("Content-Type"), want)
			}
			body := got.body
			if tc.array {
				var list []json.RawMessage
				if err := json.Unmarshal(body, &list); err != nil || len(list) != 1 {
					t.Fatalf("want an array of one: %s", body)
				}
				body = list[0]
			}
			m := answered{status: got.status, body: body}.decode(t)
			want := []map[string]any{{
				"@type": "type.googleapis.com/google.rpc.BadRequest",
				"fieldViolations": []any{map[string]any{
					"field":       "generation_config",
					"description": `Invalid JSON payload received. Unknown name "x" at 'generation_config': Cannot find field.`,
				}},
			}}
			if diff := cmp.Diff(want, m.Error.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutChecksServesWhatWouldBeRefused(t *testing.T) {
	s := vertextest.New(vertextest.WithoutChecks())
	for _, r := range append(refusals(), furtherRefusals()...) {
		if r.name == "no JSON" {
			continue
		}
		if got := unary(t, s, r.model, r.body); got.status != http.StatusOK {
			t.Errorf("%s: status %d: %s", r.name, got.status, got.body)
		}
	}
}
