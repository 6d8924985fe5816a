package vertextest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// references are requests of every kind that have to be served.
func references() []struct{ name, model, body string } {
	return []struct{ name, model, body string }{
		{"text", "gemini-2.5-flash", `{"systemInstruction":{"parts":[{"text":"Be terse."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],
		"generationConfig":{"temperature":0.2,"topP":0.9,"topK":40,"maxOutputTokens":256,"stopSequences":["END"],"seed":7,
		"responseLogprobs":true,"logprobs":3,"thinkingConfig":{"thinkingBudget":0}},
		"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],"labels":{"team":"a"}}`},
		{"parallel tools", "gemini-3.8-flash", `{"contents":[{"role":"user","parts":[{"text":"weather in Paris and Rome?"}]},
		{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"get_weather","args":{"city":"Paris"}},
			"thoughtSignature":"skip_thought_signature_validator"},
			{"functionCall":{"id":"call_2","name":"get_weather","args":{"city":"Rome"}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"get_weather","response":{"output":"18C"}}},
			{"functionResponse":{"id":"call_2","name":"get_weather","response":{"error":"timeout"}}}]}],
		"tools":[{"functionDeclarations":[{"name":"get_weather","description":"d","parametersJsonSchema":{"type":"object",
			"properties":{"city":{"type":["string","null"]}},"required":["city"],"additionalProperties":false}}]}],
		"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}}`},
		{"JSON output", "gemini-3.5-flash", `{"contents":[{"role":"user","parts":[{"text":"json please"}]}],"generationConfig":{
		"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"type":"integer"}}},
		"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true}}}`},
		{"media", "gemini-4-argon", `{"contents":[{"role":"user","parts":[{"fileData":{"fileUri":"gs://b/o.mp4","mimeType":"video/mp4"},
		"videoMetadata":{"startOffset":"1.5s","endOffset":"10s","fps":2},"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}},
		{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"text":"what?"}]}],
		"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`},
		{"Schema form and cache", "gemini-2.5-pro", `{"cachedContent":"projects/p/locations/us-central1/cachedContents/1",
		"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json",
		"responseSchema":{"type":"OBJECT","properties":{"s":{"type":"STRING","nullable":true,"enum":["A","B"],"format":"enum"},
		"l":{"type":"ARRAY","minItems":1,"items":{"anyOf":[{"type":"INTEGER"},{"type":"NULL"}]}}},"required":["s"],
		"propertyOrdering":["s","l"]}}}`},
	}
}

func TestReferenceBodiesAreServed(t *testing.T) {
	for _, r := range references() {
		t.Run(r.name, func(t *testing.T) {
			s := vertextest.New()
			got := unary(t, s, r.model, r.body)
			if got.status != http.StatusOK {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			whole := got.decode(t)
			var streamed strings.Builder
			for _, e := range stream(t, s, r.model, r.body).events(t) {
				streamed.WriteString(e.text())
			}
			if diff := cmp.Diff(whole.text(), streamed.String()); diff != "" {
				t.Errorf("stream differs from unary (-unary +stream):\n%s", diff)
			}
		})
	}
}

func TestCheckNamesTheOffence(t *testing.T) {
	for name, tc := range map[string]struct{ message, body, want string }{
		"unknown name at the root":   {"GenerateContentRequest", `{"contents":[],"x":1}`, `Unknown name "x": Cannot find field.`},
		"unknown name below":         {"GenerateContentRequest", `{"contents":[],"generationConfig":{"x":1}}`, `Unknown name "x" at 'generation_config': Cannot find field.`},
		"unknown name in an array":   {"GenerateContentRequest", `{"contents":[{"parts":[{"txt":"a"}]}]}`, `Unknown name "txt" at 'contents[0].parts[0]': Cannot find field.`},
		"wrong type":                 {"GenerateContentRequest", `{"contents":{}}`, `'contents' (TYPE_ARRAY)`},
		"null":                       {"GenerateContentRequest", `{"contents":null}`, `'contents' (TYPE_ARRAY)`},
		"required":                   {"GenerateContentRequest", `{}`, `'contents' is missing`},
		"enum":                       {"GenerateContentRequest", `{"contents":[],"safetySettings":[{"category":"X"}]}`, `'safety_settings[0].category' (TYPE_ENUM), "X"`},
		"fraction for an integer":    {"GenerateContentRequest", `{"contents":[],"generationConfig":{"seed":1.5}}`, `'generation_config.seed' (TYPE_INTEGER)`},
		"integer beyond 32 bits":     {"GenerateContentRequest", `{"contents":[],"generationConfig":{"seed":3000000000}}`, `out of range`},
		"two data members in a part": {"GenerateContentRequest", `{"contents":[{"parts":[{"text":"a","functionCall":{"name":"f"}}]}]}`, `oneof field 'data' is already set. Cannot set 'functionCall'`},
		"no base64":                  {"GenerateContentRequest", `{"contents":[{"parts":[{"inlineData":{"mimeType":"a/b","data":"*"}}]}]}`, `'contents[0].parts[0].inline_data.data'`},
		"none of several":            {"GenerateContentRequest", `{"contents":[],"generationConfig":{"responseSchema":{"minItems":"x"}}}`, `'generation_config.response_schema.min_items'`},
		"map value":                  {"GenerateContentRequest", `{"contents":[],"labels":{"teamName":1}}`, `'labels.teamName' (TYPE_STRING)`},
		"response member":            {"GenerateContentResponse", `{"choices":[]}`, `Unknown name "choices"`},
		"unknown message":            {"Nothing", `{}`, `no message "Nothing"`},
		"two values":                 {"GenerateContentRequest", `{} {}`, `Expected end of input`},
		"cut JSON":                   {"GenerateContentRequest", `{"contents":[`, `Unexpected end of string`},
		"no JSON":                    {"GenerateContentRequest", `{contents}`, `Unexpected token`},
	} {
		t.Run(name, func(t *testing.T) {
			err := vertextest.Check(tc.message, []byte(tc.body))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestCheckReportsEveryOffence(t *testing.T) {
	err := vertextest.Check("GenerateContentRequest", []byte(`{"contents":[],"a":1,"b":2}`))
	if err == nil || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("got %v, want both names", err)
	}
}
