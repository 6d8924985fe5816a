package vertextest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// applyChatRules applies what the models refuse on OpenAI's wire, in a fixed
// order; the first refusal counts. Members that they don't know are ignored but
// for Mistral, which refuses them.
func (x *exchange) applyChatRules(v any) error {
	root, ok := v.(map[string]any)
	if !ok {
		return x.badChat("The request body has to be an object.")
	}
	for _, rule := range []func(*exchange, map[string]any) error{
		checkMistral,
		checkChatRange,
		checkChatMessages,
		checkChatPairs,
		checkChatTools,
		checkChatFormat,
	} {
		if err := rule(x, root); err != nil {
			return err
		}
	}
	return nil
}

// chatRange bounds a number of the request.
type chatRange struct {
	name      string
	low, high float64
	open      bool // low itself is out
}

// chatRanges lists the bounds.
//
// Sources: https://platform.openai.com/docs/api-reference/chat/create and
// https://docs.mistral.ai/api/#operation/chatCompletion
func chatRanges(w wire) []chatRange {
	warmest := 2.0
	if w == wireMistral {
		warmest = 1.5
	}
	const far = 1 << 31
	return []chatRange{
		{"temperature", 0, warmest, false},
		{"top_p", 0, 1, true},
		{"presence_penalty", -2, 2, false},
		{"frequency_penalty", -2, 2, false},
		{"max_tokens", 1, far, false},
		{"max_completion_tokens", 1, far, false},
		{"n", 1, 128, false},
	}
}

// checkChatRange bounds the numbers.
func checkChatRange(x *exchange, root map[string]any) error {
	for _, r := range chatRanges(x.route.wire) {
		v, ok := root[r.name].(float64)
		if ok && (v < r.low || v > r.high || r.open && v == r.low) {
			return x.badChat(fmt.Sprintf("%s must be in the range from %v to %v, got %v.", r.name, r.low, r.high, v))
		}
	}
	return nil
}

// checkChatMessages wants messages of known roles that say something, and images
// for models that see.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/maas/call-open-model-apis and
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
func checkChatMessages(x *exchange, _ map[string]any) error {
	if len(x.chat.Messages) == 0 {
		return x.badChat("messages: at least one message is required")
	}
	for i, m := range x.chat.Messages {
		known := slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role)
		switch {
		case m.Role == "developer" && x.chat.facts.developer, m.Role == "function" && x.route.wire == wireMaaS:
		case !known:
			return x.badChat(fmt.Sprintf("messages[%d]: Unexpected message role %q.", i, m.Role))
		case m.Content == nil && m.Role != "assistant", m.Content == nil && len(m.ToolCalls) == 0:
			return x.badChat(fmt.Sprintf("messages[%d]: content is missing", i))
		case len(m.ToolCalls) > 0 && m.Role != "assistant":
			return x.badChat(fmt.Sprintf("messages[%d]: only an assistant may have tool_calls", i))
		}
		for j, p := range m.Content {
			if err := x.checkChatPart(fmt.Sprintf("messages[%d].content[%d]", i, j), p); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChatPart checks a part of a message.
func (x *exchange) checkChatPart(at string, p chatPart) error {
	switch {
	case p.Type == "text":
		return nil
	case p.Type != "image_url":
		return x.badChat(fmt.Sprintf("%s: Unknown part type: %s", at, p.Type))
	case !x.chat.facts.sees:
		return x.badChat(fmt.Sprintf("%s: %s is not a multimodal model", at, x.chat.served))
	}
	url := string(p.ImageURL)
	if data, ok := strings.CutPrefix(url, "data:"); ok {
		_, encoded, ok := strings.Cut(data, ";base64,")
		if _, err := base64.StdEncoding.DecodeString(encoded); !ok || err != nil || encoded == "" {
			return x.badChat(at + ".image_url: Invalid base64 data URL")
		}
		return nil
	}
	if !fileAddress.MatchString(url) {
		return x.badChat(at + ".image_url: The URL must be an HTTP or data URL")
	}
	return nil
}

// checkChatPairs wants results for the calls before them, each with the id of
// one, and all of them before anybody else speaks.
//
// Source: https://platform.openai.com/docs/guides/function-calling
func checkChatPairs(x *exchange, _ map[string]any) error {
	open := map[string]bool{}
	for i, m := range x.chat.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return x.badChat(fmt.Sprintf("messages[%d]: tool_call_id %q doesn't belong to a tool call of the message before.", i, m.ToolCallID))
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return x.badChat(fmt.Sprintf("messages[%d]: Not the same number of function calls and responses", i))
		}
		for _, c := range m.ToolCalls {
			var args map[string]any
			if json.Unmarshal([]byte(c.Function.Arguments), &args) != nil {
				return x.badChat(fmt.Sprintf("messages[%d]: the arguments of %s aren't a JSON object", i, c.Function.Name))
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return x.badChat("Not the same number of function calls and responses")
	}
	return nil
}

var chatName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkChatTools wants functions with names, and a choice among them.
//
// Source: https://platform.openai.com/docs/api-reference/chat/create
func checkChatTools(x *exchange, _ map[string]any) error {
	names := map[string]bool{}
	for i, t := range x.chat.Tools {
		switch {
		case t.Type != "function":
			return x.badChat(fmt.Sprintf("tools[%d]: Only tools of type function are supported.", i))
		case !chatName.MatchString(t.Function.Name):
			return x.badChat(fmt.Sprintf("tools[%d].function.name: String should match pattern '%s'", i, chatName))
		case isSet(t.Function.Parameters) && decodeObject(t.Function.Parameters) == nil:
			return x.badChat(fmt.Sprintf("tools[%d].function.parameters: Input should be an object", i))
		}
		names[t.Function.Name] = true
	}
	modes := []string{"", "none", "auto", "required", "function"}
	switch x.route.wire {
	case wireMistral:
		modes = append(modes, "any")
	case wireMaaS:
		modes = append(modes, "validated")
	}
	choice := x.chat.ToolChoice
	switch {
	case !slices.Contains(modes, choice.mode):
		return x.badChat(fmt.Sprintf("Invalid value for `tool_choice`: %s", choice.mode))
	case choice.mode == "function" && !names[choice.name]:
		return x.badChat(fmt.Sprintf("The tool %q of tool_choice doesn't exist.", choice.name))
	case choice.mode != "" && choice.mode != "none" && len(names) == 0:
		return x.badChat("When using `tool_choice`, `tools` must be set.")
	}
	return nil
}

// checkChatFormat wants a known form of answer.
//
// Source: https://platform.openai.com/docs/guides/structured-outputs
func checkChatFormat(x *exchange, _ map[string]any) error {
	f := x.chat.ResponseFormat
	switch {
	case f == nil, f.Type == "text", f.Type == "json_object":
	case f.Type != "json_schema":
		return x.badChat("Invalid value for `response_format.type`: " + f.Type)
	case f.JSONSchema == nil || f.JSONSchema.Name == "" || decodeObject(f.JSONSchema.Schema) == nil:
		return x.badChat("response_format.json_schema needs a name and a schema")
	}
	if o := x.chat.StreamOptions; o != nil && !x.chat.Stream {
		return x.badChat("Stream options can only be defined when `stream=True`.")
	}
	return nil
}
