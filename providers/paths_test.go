package providers_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// A wrong type is an error that says where, and never what was there.
func TestDecodeErrorsNameTheMember(t *testing.T) {
	tests := []struct{ name, kind, doc, want string }{
		{"not an object", "ChatCompletionRequest", `[]`, `expected object, got array (offset 0)`},
		{"model", "ChatCompletionRequest", `{"model":1}`, `model: expected string, got number (offset 9)`},
		{"messages", "ChatCompletionRequest", `{"messages":{}}`, `messages: expected array, got object (offset 12)`},
		{"message", "ChatCompletionRequest", `{"messages":[{},"x"]}`, `messages[1]: expected object, got string (offset 16)`},
		{"role", "ChatCompletionRequest", `{"messages":[{"role":true}]}`, `messages[0].role: expected string, got boolean (offset 21)`},
		{"content", "ChatCompletionRequest", `{"messages":[{},{"content":5}]}`,
			`messages[1].content: expected a string or an array of content parts (offset 27)`},
		{"content object", "ChatCompletionRequest", `{"messages":[{"content":{}}]}`,
			`messages[0].content: expected a string or an array of content parts (offset 24)`},
		{"part", "ChatCompletionRequest", `{"messages":[{"content":["x"]}]}`,
			`messages[0].content[0]: expected object, got string (offset 25)`},
		{"text", "ChatCompletionRequest", `{"messages":[{"content":[{"type":"text","text":1}]}]}`,
			`messages[0].content[0].text: expected string, got number (offset 47)`},
		{"image", "ChatCompletionRequest", `{"messages":[{"content":[{"image_url":7}]}]}`,
			`messages[0].content[0].image_url: expected object, got number (offset 38)`},
		{"arguments", "ChatCompletionRequest", `{"messages":[{"tool_calls":[{"function":{"arguments":[]}}]}]}`,
			`messages[0].tool_calls[0].function.arguments: expected string, got array (offset 53)`},
		{"tools", "ChatCompletionRequest", `{"tools":[{"function":"f"}]}`, `tools[0].function: expected object, got string (offset 22)`},
		{"broken parameters", "ChatCompletionRequest", `{"tools":[{"function":{"parameters":{"a":}}}]}`,
			`tools[0].function.parameters.a: expected a value (offset 41)`},
		{"strict", "ChatCompletionRequest", `{"tools":[{"function":{"strict":"yes"}}]}`,
			`tools[0].function.strict: expected boolean, got string (offset 32)`},
		{"tool choice", "ChatCompletionRequest", `{"tool_choice":1}`, `tool_choice: expected a string or an object (offset 15)`},
		{"stop", "ChatCompletionRequest", `{"stop":3}`, `stop: expected a string or an array of strings (offset 8)`},
		{"stop element", "ChatCompletionRequest", `{"stop":["a",3]}`, `stop[1]: expected string, got number (offset 13)`},
		{"number as text", "ChatCompletionRequest", `{"n":"2"}`, `n: expected number, got string (offset 5)`},
		{"fraction", "ChatCompletionRequest", `{"max_tokens":1.5}`, `max_tokens: expected an integer of 64 bits (offset 14)`},
		{"big seed", "ChatCompletionRequest", `{"seed":9223372036854775808}`, `seed: expected an integer of 64 bits (offset 8)`},
		{"temperature", "ChatCompletionRequest", `{"temperature":1e999}`, `temperature: number out of range (offset 15)`},
		{"label", "ChatCompletionRequest", `{"labels":{"team":1}}`, `labels.team: expected string, got number (offset 18)`},
		{"budget", "ChatCompletionRequest", `{"thinking":{"budget_tokens":"9"}}`,
			`thinking.budget_tokens: expected number, got string (offset 29)`},
		{"schema name", "ChatCompletionRequest", `{"response_format":{"json_schema":{"name":{}}}}`,
			`response_format.json_schema.name: expected string, got object (offset 42)`},
		{"modality", "ChatCompletionRequest", `{"modalities":"text"}`, `modalities: expected array, got string (offset 14)`},
		{"cut", "ChatCompletionRequest", `{"model":"m`, `model: unexpected end of input (offset 11)`},
		{"trailing text", "ChatCompletionRequest", `{} {}`, `unexpected text after the value (offset 3)`},
		{"answer", "ChatCompletion", `{"choices":[{"message":{"content":1}}]}`,
			`choices[0].message.content: expected a string or an array of content parts (offset 34)`},
		{"usage", "ChatCompletion", `{"usage":{"prompt_tokens_details":{"cached_tokens":"x"}}}`,
			`usage.prompt_tokens_details.cached_tokens: expected number, got string (offset 51)`},
		{"delta", "ChatCompletionChunk", `{"choices":[{"delta":{"content_blocks":[{"index":0,"delta":{"text":1}}]}}]}`,
			`choices[0].delta.content_blocks[0].delta.text: expected string, got number (offset 67)`},
		{"logprob", "ChatCompletionChunk", `{"choices":[{"logprobs":{"content":[{"logprob":null,"top_logprobs":4}]}}]}`,
			`choices[0].logprobs.content[0].top_logprobs: expected array, got number (offset 67)`},
	}
	all := recoders()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := all[tt.kind]([]byte(tt.doc))
			if err == nil {
				t.Fatal("no error")
			}
			wantEqual(t, tt.want, err.Error())
		})
	}
}

func TestDecodeErrorsDoNotQuoteTheInput(t *testing.T) {
	const secret = "my-secret-prompt"
	for _, doc := range []string{
		`{"messages":"` + secret + `"}`,
		`{"messages":[{"content":[{"type":"text","text":["` + secret + `"]}]}]}`,
		`{"messages":[{"content":"` + secret,
		`{"messages":[{"role":"user","content":"` + secret + `"} x]}`,
	} {
		var req request
		err := json.Unmarshal([]byte(doc), &req)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", doc, err)
		}
		err = req.UnmarshalJSON([]byte(doc))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", doc, err)
		}
	}
}
