package messages_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// body is a request with the members, after a model, a limit and one message
// where they don't have them.
func body(members string) string {
	return `{"model":"m","max_tokens":9,` + members + `}`
}

// block is a request whose only message holds the block.
func block(role, b string) string {
	return body(`"messages":[{"role":"` + role + `","content":[` + b + `]}]`)
}

func TestDecodeRefuses(t *testing.T) {
	const hi = `,"messages":[{"role":"user","content":"a"}]`
	tests := []struct{ name, body, param, fragment string }{
		{"no JSON", `{"model":`, "model", "unexpected end"},
		{"more than an object", `{}{}`, "", "at byte 2: unexpected text"},
		{"a list", `[]`, "", "expected an object"},
		{"null", `null`, "", "expected an object"},
		{"no model", `{"max_tokens":9` + hi + `}`, "model", "a model is required"},
		{"no limit", `{"model":"m"` + hi + `}`, "max_tokens", "required"},
		{"a limit of 0", `{"model":"m","max_tokens":0` + hi + `}`, "max_tokens", "at least 1"},
		{"no messages", `{"model":"m","max_tokens":9}`, "messages", "at least one"},
		{"an empty list", body(`"messages":[]`), "messages", "at least one"},
		{"a message that is none", body(`"messages":["a"]`), "messages[0]", "expected an object"},
		{"no role", body(`"messages":[{"content":"a"}]`), "messages[0]", `"role" is required`},
		{"an unknown role", body(`"messages":[{"role":"tool","content":"a"}]`), "messages[0].role", "user or assistant"},
		{"no content", body(`"messages":[{"role":"user"}]`), "messages[0]", `"content" is required`},
		{"null as content", body(`"messages":[{"role":"user","content":null}]`), "messages[0].content", "expected a string or a list"},
		{"a block that is none", block("user", `"a"`), "messages[0].content[0]", "expected an object"},
		{"a block without a type", block("user", `{"text":"a"}`), "messages[0].content[0]", `"type" is required`},
		{"text without text", block("user", `{"type":"text"}`), "messages[0].content[0]", `"text" is required`},
		{"text that is none", block("user", `{"type":"text","text":1}`), "messages[0].content[0].text", "expected string"},
		{"an image without a source", block("user", `{"type":"image"}`), "messages[0].content[0]", `"source" is required`},
		{"an unknown source", block("user", `{"type":"image","source":{"type":"text","data":"a"}}`), "messages[0].content[0].source.type", "base64, url or file"},
		{"a source without a type", block("user", `{"type":"image","source":{"data":"a"}}`), "messages[0].content[0].source", `"type" is required`},
		{"a source without data", block("user", `{"type":"document","source":{"type":"base64"}}`), "messages[0].content[0].source", `"data" is required`},
		{"an image without its type", block("user", `{"type":"image","source":{"type":"base64","data":"a"}}`), "messages[0].content[0].source", `"media_type" is required`},
		{"a URL that is not there", block("user", `{"type":"image","source":{"type":"url"}}`), "messages[0].content[0].source", `"url" is required`},
		{"a file that is not there", block("user", `{"type":"document","source":{"type":"file"}}`), "messages[0].content[0].source", `"file_id" is required`},
		{"a call of the user", block("user", `{"type":"tool_use","id":"a","name":"f"}`), "messages[0].content[0]", "assistant message"},
		{"a result of the assistant", block("assistant", `{"type":"tool_result","tool_use_id":"a"}`), "messages[0].content[0]", "user message"},
		{"a call without an id", block("assistant", `{"type":"tool_use","name":"f"}`), "messages[0].content[0]", `"id" is required`},
		{"a call without a name", block("assistant", `{"type":"tool_use","id":"a"}`), "messages[0].content[0]", `"name" is required`},
		{"input that is text", block("assistant", `{"type":"tool_use","id":"a","name":"f","input":"{}"}`), "messages[0].content[0].input", "must be an object"},
		{"a result without an id", block("user", `{"type":"tool_result","content":"a"}`), "messages[0].content[0]", `"tool_use_id" is required`},
		{"a result that is a number", block("user", `{"type":"tool_result","tool_use_id":"a","content":7}`), "messages[0].content[0].content", "expected a string or a list"},
		{"a result's block without a type", block("user", `{"type":"tool_result","tool_use_id":"a","content":[{}]}`), "messages[0].content[0].content[0]", `"type"`},
		{"redacted thinking without data", block("assistant", `{"type":"redacted_thinking"}`), "messages[0].content[0]", `"data" is required`},
		{"a system prompt with an image", body(`"system":[{"type":"text","text":"a"},{"type":"image"}]` + hi), "system[1]", "must be a text block"},
		{"a system prompt that is a number", body(`"system":7` + hi), "system", "expected a string or a list"},
		{"a system message with an image", block("system", `{"type":"image"}`), "messages[0].content[0]", "must be a text block"},
		{"a tool without a name", body(`"tools":[{"input_schema":{}}]` + hi), "tools[0]", `"name" is required`},
		{"a tool with an empty name", body(`"tools":[{"name":"","input_schema":{}}]` + hi), "tools[0].name", "must not be empty"},
		{"a tool without a schema", body(`"tools":[{"name":"f"}]` + hi), "tools[0]", `"input_schema" is required`},
		{"a schema that is none", body(`"tools":[{"name":"f","input_schema":[]}]` + hi), "tools[0].input_schema", "JSON Schema"},
		{"a tool of the other schema", body(`"tools":[{"type":"function","function":{"name":"f"}}]` + hi), "tools[0]", "input_schema"},
		{"an unknown choice", body(`"tool_choice":{"type":"required"}` + hi), "tool_choice.type", "auto, any, tool or none"},
		{"a choice that is text", body(`"tool_choice":"auto"` + hi), "tool_choice", "expected object"},
		{"a choice without a type", body(`"tool_choice":{}` + hi), "tool_choice", `"type" is required`},
		{"a choice without a name", body(`"tool_choice":{"type":"tool"}` + hi), "tool_choice", `"name" is required`},
		{"thinking without a type", body(`"thinking":{"budget_tokens":1024}` + hi), "thinking", `"type" is required`},
		{"an unknown format", body(`"output_config":{"format":{"type":"json","schema":{}}}` + hi), "output_config.format.type", "json_schema"},
		{"a format without a schema", body(`"output_config":{"format":{"type":"json_schema"}}` + hi), "output_config.format", "required"},
		{"two formats", body(`"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema","schema":{}}}` + hi), "output_config.format", "given twice"},
		{"metadata of other types", body(`"metadata":{"user_id":7}` + hi), "metadata.user_id", "expected string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := messages.Decode([]byte(tt.body))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest {
				t.Fatalf("error %v", err)
			}
			if e.Param != tt.param || !strings.Contains(e.Message, tt.fragment) {
				t.Errorf("param %q, message %q", e.Param, e.Message)
			}
		})
	}
}

func TestDecodeCountNeedsNoLimit(t *testing.T) {
	req, err := messages.DecodeCount([]byte(`{"model":"m","messages":[{"role":"user","content":"a"}]}`))
	if err != nil || req.Chat.MaxTokens != nil {
		t.Errorf("%+v, error %v", req, err)
	}
}

func TestDecodeKeepsNothingOfTheBody(t *testing.T) {
	in := []byte(block("user", `{"type":"text","text":"hello","x":{"y":1}}`))
	req, err := messages.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	before := string(encode(t, req.Chat))
	clear(in)
	if diff := cmp.Diff(before, string(encode(t, req.Chat))); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// TestRestate names members of the chat request as the caller named them.
func TestRestate(t *testing.T) {
	req, err := messages.Decode([]byte(body(`"system":[{"type":"text","text":"a"}],"messages":[
		{"role":"user","content":"Go."},
		{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"gw1:c:AA"},{"type":"tool_use","id":"t1","name":"f","input":{}},
			{"type":"text","text":"b"},{"type":"tool_use","id":"t2","name":"g","input":{}}]},
		{"role":"user","content":[{"type":"text","text":"c"},{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"d"}]},
			{"type":"tool_result","tool_use_id":"t2"},{"type":"image","source":{"type":"url","url":"u"}}]}]`)))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"":                                     "",
		"model":                                "model",
		"max_completion_tokens":                "max_tokens",
		"stop":                                 "stop_sequences",
		"stop[1]":                              "stop_sequences[1]",
		"stopping":                             "stopping",
		"user":                                 "metadata.user_id",
		"response_format.json_schema.schema.a": "output_config.format.schema.a",
		"response_format.type":                 "output_config.format.type",
		"thinking.budget_tokens":               "thinking.budget_tokens",
		"tools[2].function.parameters":         "tools[2].input_schema",
		"tools[2].function.name":               "tools[2].name",
		"tools[2].type":                        "tools[2].type",
		"messages":                             "messages",
		"messages[0].content[0].cache_control": "system[0].cache_control",
		"messages[0].content":                  "system",
		"messages[1].content":                  "messages[0].content",
		"messages[2].content[0].text":          "messages[1].content[2].text",
		"messages[2].content_blocks[0]":        "messages[1].content[2]",
		"messages[2].tool_calls[1].function.arguments":         "messages[1].content[3].input",
		"messages[2].tool_calls[0].function.thought_signature": "messages[1].content[1]",
		"messages[2].role":                     "messages[1].role",
		"messages[3].tool_call_id":             "messages[2].content[1].tool_use_id",
		"messages[3].content[0].text":          "messages[2].content[1].content[0].text",
		"messages[4].content":                  "messages[2].content[2].content",
		"messages[5].content[1].image_url.url": "messages[2].content[3].source",
		"messages[5].content[0].type":          "messages[2].content[0].type",
		"messages[9].content":                  "messages[9].content",
		"messages[x].content":                  "messages[x].content",
		"messages[1":                           "messages[1",
	}
	for param, want := range tests {
		var e *providers.Error
		if err := req.Restate(providers.Invalid(param, "no")); !errors.As(err, &e) || e.Param != want {
			t.Errorf("%s is %s, want %s", param, e.Param, want)
		}
	}
	foreign := errors.New("foreign")
	if got := req.Restate(foreign); got != foreign {
		t.Errorf("%v, want the error as it was", got)
	}
	warnings := []providers.Warning{{Code: "c", Param: "stop"}, {Code: "d"}}
	got := req.RestateWarnings(warnings)
	if diff := cmp.Diff([]providers.Warning{{Code: "c", Param: "stop_sequences"}, {Code: "d"}}, got); diff != "" || warnings[0].Param != "stop" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// FuzzDecode checks that what is taken can be written and named, and that no
// signature of the gateway's own form is left where a model would see it.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"parameters", "tools", "turns", "media", "claude_replayed", "gemini_replayed", "carriers_astray"} {
		f.Add(testkit.ReadArchive(f, "testdata/"+name+".txtar").Get("request.json"))
	}
	f.Add([]byte(block("user", `{"source":{"type":"content"},"type":"document"}`)))
	f.Fuzz(func(t *testing.T, in []byte) {
		kept := bytes.Clone(in)
		req, err := messages.Decode(in)
		if !bytes.Equal(kept, in) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			var e *providers.Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("error %v", err)
			}
			return
		}
		chat := encode(t, req.Chat)
		var again providers.ChatCompletionRequest
		if err := again.UnmarshalJSON(chat); err != nil {
			t.Fatalf("%v in %s", err, chat)
		}
		for i := range req.Chat.Messages {
			m := &req.Chat.Messages[i]
			for j := range m.ContentBlocks {
				if p := &m.ContentBlocks[j]; p.Type == providers.PartThinking && strings.HasPrefix(p.Signature, "gw1:") {
					t.Fatalf("message %d holds the signature %s", i, p.Signature)
				}
			}
		}
		_ = req.Restate(req.Chat.Validate())
	})
}
