package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// FuzzRequest encodes whatever passes Validate for models of each generation: the
// body is JSON and no more than a multiple of the request, and it fits the
// platform's schema as long as nothing in it is the caller's own.
func FuzzRequest(f *testing.F) {
	for _, members := range []string{
		`"messages":[{"role":"user","content":"x"}]`,
		`"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png","detail":"low"}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":["string","null"]}}}}}],"tool_choice":"required"`,
		results(`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`),
		`"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"const":1}}},"reasoning_effort":"low","n":2,"stop":["a"],"labels":{"a":"b"}`,
		`"messages":[{"role":"assistant","content":"x","content_blocks":[{"type":"text","text":"x","signature":"c2ln"},{"type":"executable_code","executableCode":{"code":"1"}}]},{"role":"user","content":"x"}],"extra_body":{"google":{"tools":[{"googleSearch":{}}],"thinking_config":{"thinking_budget":1}}},"generation_config":{"top_k":1}`,
		`"messages":[{"role":"user","content":"x"}],"tools":[{"type":"google_maps","retrieval_config":{"lat_lng":{"latitude":1}}},{"codeExecution":{}}],"audio":{"voice":"Kore"},"modalities":["audio"],"safety_settings":[{"category":"x"}],"media_resolution":"low","web_search_options":{}`,
		`"messages":[{"role":"assistant","content_blocks":[{"type":"tool_call","toolCall":{}}]},{"role":"user","content":[{"type":"file","file":{"file_id":"files/a"}}]}],"service_tier":"flex","store":true,"safety_settings":[{"method":"x"},1],"image_config":{"person_generation":1},"include_server_side_tool_invocations":true,"google":{"tools":[{"mcpServers":[]},{"file_search":{"top_k":1}}]}`,
	} {
		f.Add([]byte(`{"model":"m",` + members + `}`))
	}
	table := catalog.DefaultModels()
	var models []Model
	for _, name := range []string{"gemini-2.0-flash", "gemini-2.5-pro", "gemini-2.5-flash-tts", "gemini-3-pro-image", "gemini-3.5-flash", "gemini-4-neon"} {
		facts, _ := table.Lookup("google", name)
		models = append(models, Model{Publisher: "google", Name: name, facts: facts, userFirst: facts.CallIDs},
			Model{Publisher: "google", Name: name, facts: facts, Own: true})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q := new(providers.ChatCompletionRequest)
		if json.Unmarshal(data, q) != nil || q.Validate() != nil {
			return
		}
		for i := range models {
			body, warnings, err := encodeFor(&models[i], q)
			if err != nil {
				continue
			}
			if !jsonx.Valid(body) {
				t.Fatalf("%s: not JSON: %s", models[i].Name, body)
			}
			if most := 8*len(data) + 2048; !models[i].facts.SchemaForm && len(body) > most {
				t.Errorf("%s: %d bytes out of %d", models[i].Name, len(body), len(data))
			}
			if err := vertextest.Check("GenerateContentRequest", body); err != nil && isPlain(q) && !hasOwnFile(&models[i], body) {
				t.Errorf("%s: %v in %s", models[i].Name, err, body)
			}
			if len(warnings) > maxWarnings+1 {
				t.Errorf("%s: %d warnings", models[i].Name, len(warnings))
			}
		}
	})
}

// hasOwnFile reports whether the body may name a file whose type the vendor's own
// service knows: Vertex AI wants to be told.
func hasOwnFile(m *Model, body []byte) bool { return m.Own && bytes.Contains(body, []byte(`/files/`)) }

// isPlain reports whether a request has nothing that goes as it is, whatever the
// platform makes of it: members beyond the schema, tools and parts in the
// platform's form, signatures, and numbers beyond its range.
func isPlain(q *providers.ChatCompletionRequest) bool {
	for _, n := range []*int{q.MaxTokens, q.MaxCompletionTokens, q.TopK, q.TopLogprobs} {
		if n != nil && int64(*n) != int64(int32(*n)) {
			return false
		}
	}
	for _, m := range q.Modalities {
		if m != "text" && m != "image" && m != "audio" {
			return false
		}
	}
	for i := range q.Tools {
		if q.Tools[i].Type != "function" || findPlatformFunction(q.Tools[i].Function.Name) != nil {
			return false
		}
	}
	return len(q.Extra) == 0 && !slices.ContainsFunc(q.Messages, func(m providers.Message) bool {
		return len(m.Extra)+len(m.ContentBlocks) > 0 ||
			slices.ContainsFunc(m.Content.Parts(), func(p providers.ContentPart) bool { return p.Signature != "" }) ||
			slices.ContainsFunc(m.ToolCalls, func(c providers.ToolCall) bool { return len(c.Extra)+len(c.Function.ThoughtSignature) > 0 })
	})
}
