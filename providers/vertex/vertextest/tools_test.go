package vertextest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// compact removes the spaces between JSON tokens.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

const twoTools = `"tools":[{"functionDeclarations":[` +
	`{"name":"get_weather","description":"Forecasts","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"},"unit":{"type":"STRING","enum":["C","F"]}},"required":["city","unit"]}},` +
	`{"name":"addNumbers","description":"Computes a sum","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}]}]`

func mode(members string) string { return `"toolConfig":{"functionCallingConfig":{` + members + `}}` }

func TestCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want []string // none means a text
	}{
		"by name":                   {say("What's the weather in Paris?", twoTools), []string{`get_weather {"city":"Paris","unit":"C"}`}},
		"by a word in the plural":   {say("Compare weathers in Oslo", twoTools), []string{`get_weather {"city":"Oslo","unit":"C"}`}},
		"by camel case":             {say("Please add 2 and 3", twoTools), []string{`addNumbers {"a":2,"b":3}`}},
		"by description":            {say("What is the sum of 4 and 5.5?", twoTools), []string{`addNumbers {"a":4,"b":5.5}`}},
		"both":                      {say("add 2 and 3, then the weather in Rome", twoTools), []string{`get_weather {"city":"Rome","unit":"C"}`, `addNumbers {"a":2,"b":3}`}},
		"one per place":             {say("weather in Paris and New York", twoTools), []string{`get_weather {"city":"Paris","unit":"C"}`, `get_weather {"city":"New York","unit":"C"}`}},
		"three places":              {say("weather in Paris, Rome and Oslo", weatherTool), []string{`get_weather {"city":"Paris"}`, `get_weather {"city":"Rome"}`, `get_weather {"city":"Oslo"}`}},
		"a place with its country":  {say("weather in Florence, Italy?", weatherTool), []string{`get_weather {"city":"Florence, Italy"}`}},
		"none fits":                 {say("Tell me a joke", twoTools), nil},
		"none fits in mode ANY":     {say("Tell me a joke", twoTools, mode(`"mode":"ANY"`)), []string{`get_weather {"city":"city","unit":"C"}`}},
		"allowed only":              {say("weather in Paris", twoTools, mode(`"mode":"ANY","allowedFunctionNames":["addNumbers"]`)), []string{`addNumbers {"a":1,"b":1}`}},
		"mode NONE":                 {say("weather in Paris", twoTools, mode(`"mode":"NONE"`)), nil},
		"mode VALIDATED":            {say("weather in Paris", weatherTool, mode(`"mode":"VALIDATED"`)), []string{`get_weather {"city":"Paris"}`}},
		"a function without a type": {say("ping", declare(`{"name":"ping"}`)), []string{`ping {}`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			m := unary(t, vertextest.New(), flash, tc.body).decode(t)
			for i, p := range m.parts() {
				if p.FunctionCall == nil {
					continue
				}
				args, err := json.Marshal(p.FunctionCall.Args)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%s %s", p.FunctionCall.Name, args))
				if (p.ThoughtSignature != "") != (i == 0) {
					t.Errorf("signature of call %d: %q", i, p.ThoughtSignature)
				}
				if len(p.FunctionCall.ID) != 8 {
					t.Errorf("id of call %d: %q", i, p.FunctionCall.ID)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if reason := m.Candidates[0].FinishReason; reason != "STOP" {
				t.Errorf("finish reason %s", reason)
			}
		})
	}
}

// TestToolLoop sends back what each model said, as a client does.
func TestToolLoop(t *testing.T) {
	for _, name := range []string{"gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.6-flash", "gemini-4-neon"} {
		t.Run(name, func(t *testing.T) {
			s := vertextest.New()
			body := map[string]any{
				"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "weather in Paris and Rome"}}}},
			}
			var tools map[string]any
			declared := weatherTool
			if name == "gemini-2.0-flash" {
				declared = schemaForm(weatherTool)
			}
			if err := json.Unmarshal([]byte("{"+declared+"}"), &tools); err != nil {
				t.Fatal(err)
			}
			body["tools"] = tools["tools"]
			first := generate(t, s, name, body)
			said := first["candidates"].([]any)[0].(map[string]any)["content"].(map[string]any)
			var results []any
			for _, p := range said["parts"].([]any) {
				c := p.(map[string]any)["functionCall"].(map[string]any)
				r := map[string]any{"name": c["name"], "response": map[string]any{"output": "18C"}}
				if id, ok := c["id"]; ok {
					r["id"] = id
				}
				results = append(results, map[string]any{"functionResponse": r})
			}
			body["contents"] = append(body["contents"].([]any), said, map[string]any{"role": "user", "parts": results})
			encoded, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			want := "get_weather answered: {\"output\":\"18C\"}\nget_weather answered: {\"output\":\"18C\"}"
			if diff := cmp.Diff(want, unary(t, s, name, string(encoded)).decode(t).text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// generate posts a body made of maps and returns the answer as maps.
func generate(t *testing.T, s *vertextest.Server, model string, body map[string]any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got := unary(t, s, model, string(encoded))
	if got.status != 200 {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	var m map[string]any
	if err := json.Unmarshal(got.body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
