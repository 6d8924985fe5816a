package vertex_test

import (
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// features are members that a client of any model may send.
var features = map[string]string{
	"sampling":           `"temperature":1,"top_p":0.5,"top_k":3,"seed":99999999999`,
	"penalties":          `"presence_penalty":2,"frequency_penalty":-2`,
	"one choice":         `"n":1`,
	"two choices":        `"n":2`,
	"logprobs":           `"logprobs":true,"top_logprobs":5`,
	"stops":              `"stop":["","a"]`,
	"text":               `"response_format":{"type":"text"}`,
	"json":               `"response_format":{"type":"json_object"}`,
	"schema":             `"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"type":["string","null"]},"k":{"const":3}},"required":["x"],"additionalProperties":false}}}}}`,
	"schema of a word":   `"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"string","enum":["a","b"]}}}`,
	"no effort":          `"reasoning_effort":"none"`,
	"least effort":       `"reasoning_effort":"minimal"`,
	"some effort":        `"reasoning_effort":"medium"`,
	"most effort":        `"reasoning_effort":"xhigh"`,
	"no budget":          `"thinking":{"type":"enabled","budget_tokens":0}`,
	"a budget":           `"thinking":{"type":"enabled","budget_tokens":2000},"max_completion_tokens":1000`,
	"a large budget":     `"thinking":{"type":"enabled","budget_tokens":100000}`,
	"any budget":         `"thinking":{"type":"enabled","budget_tokens":-1}`,
	"thinking":           `"thinking":{"type":"adaptive"}`,
	"no thinking":        `"thinking":{"type":"disabled"}`,
	"native budget":      `"thinking_config":{"thinking_budget":0}`,
	"native level":       `"thinking_config":{"thinking_level":"minimal"}`,
	"native thoughts":    `"thinking_config":{"include_thoughts":true}`,
	"modality of text":   `"modalities":["text"]`,
	"a voice":            `"audio":{"voice":"Kore","format":"wav"}`,
	"functions":          functions,
	"a call":             functions + `,"tool_choice":"required"`,
	"no call":            functions + `,"tool_choice":"none"`,
	"the call":           functions + `,"tool_choice":{"type":"function","function":{"name":"f"}}`,
	"a valid call":       functions + `,"tool_choice":"validated"`,
	"functions and json": functions + `,"response_format":{"type":"json_object"}`,
	"streamed arguments": functions + `,"stream_function_call_arguments":true`,
	"no functions":       `"tools":[],"tool_choice":"auto"`,
	"bare functions":     `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g","parameters":{}}},{"type":"function","function":{"name":"h","parameters":{"type":"object","properties":{}}}}]`,
	"search":             `"tools":[{"type":"web_search"}]`,
	"older search":       `"tools":[{"type":"google_search_retrieval"}]`,
	"search by options":  `"web_search_options":{}`,
	"code":               `"tools":[{"type":"code_execution"}]`,
	"resolution":         `"media_resolution":"low"`,
	"service":            `"service_tier":"flex","labels":{"a":"b"},"safety_settings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]`,
	"nothing":            `"user":"u","metadata":{"a":"b"},"store":false,"parallel_tool_calls":false,"logit_bias":{}`,
	"native schema":      `"generation_config":{"response_mime_type":"application/json","response_schema":{"type":"OBJECT","properties":{"first_name":{"type":"STRING"}}}}`,
	"results":            `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[` + callOf + `,{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"x"}]},{"role":"tool","tool_call_id":"c1","content":""}],` + functions,
	"results and more":   `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"hm","tool_calls":[` + callOf + `]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"user","content":"and?"}]`,
	"a greeting":         `"messages":[{"role":"assistant","content":"Hi"},{"role":"user","content":"x"}]`,
	"a call first":       `"messages":[{"role":"assistant","tool_calls":[` + callOf + `]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"user","content":"x"}],` + functions,
	"media":              `"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://x.y/a.png"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}},{"type":"text","text":""}]}]`,
	"media of its own":   `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},{"role":"user","content":"more"}]`,
}

const (
	functions = `"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"$ref":"#/$defs/B"},"c":{"const":1}},"required":["a"],"additionalProperties":false,"$defs":{"B":{"type":"object","properties":{"x":{"type":"integer"}}}}}}}]`
	callOf    = `{"id":"c1","type":"function","function":{"name":"f","arguments":""}}`
)

// TestEveryModelTakesWhatAnyClientSends crosses the model table with the
// features: what a model does not take is left out, not refused.
func TestEveryModelTakesWhatAnyClientSends(t *testing.T) {
	names := []string{"gemini-1.5-pro", "gemini-2.0-flash"}
	for _, m := range geminiRows() {
		if !m.Family {
			names = append(names, m.Name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			for feature, members := range features {
				if !strings.Contains(members, `"messages"`) {
					members = `"messages":[{"role":"user","content":"hi"}],` + members
				}
				q := decodeRequest(t, []byte(`{"model":"`+name+`",`+members+`}`))
				if err := q.Validate(); err != nil {
					t.Fatalf("%s: %v", feature, err)
				}
				if _, err := newProvider(t, srv.Transport()).ChatCompletion(t.Context(), target(name), q); err != nil {
					t.Errorf("%s: %v", feature, err)
				}
			}
		})
	}
}
