package vertextest

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mistralMembers are the members that Mistral takes: of a request, and of a
// message of each role.
//
// Source: https://docs.mistral.ai/api/#operation/chatCompletion
func mistralMembers(of string) []string {
	return map[string][]string{
		"": {
			"model", "messages", "temperature", "top_p", "max_tokens", "stream", "stop", "random_seed", "response_format", "tools",
			"tool_choice", "parallel_tool_calls", "presence_penalty", "frequency_penalty", "n", "prediction", "prompt_mode", "safe_prompt", "metadata",
		},
		"system":    {"role", "content"},
		"user":      {"role", "content"},
		"assistant": {"role", "content", "tool_calls", "prefix"},
		"tool":      {"role", "content", "tool_call_id", "name"},
	}[of]
}

var mistralID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// checkMistral applies what Mistral alone wants: no other members, the model of
// the path, the stream of the verb, and messages as it has them.
//
// Sources: https://docs.mistral.ai/api/ and
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/mistral
func checkMistral(x *exchange, root map[string]any) error {
	if x.route.wire != wireMistral {
		return nil
	}
	if err := x.checkMistralMembers(root); err != nil {
		return err
	}
	bare, _, _ := strings.Cut(x.target.model, "@")
	switch {
	case x.chat.Model != "" && x.chat.Model != x.target.model && x.chat.Model != bare:
		return x.badChat("Invalid model: " + x.chat.Model)
	case x.route.stream != x.chat.Stream:
		return x.badChat(fmt.Sprintf("stream has to be %t for this method", x.route.stream))
	}
	for _, rule := range []func(*exchange) error{checkMistralMessages, checkMistralOrder} {
		if err := rule(x); err != nil {
			return err
		}
	}
	return nil
}

// checkMistralMembers refuses what Mistral does not know, in the request and in
// its messages.
func (x *exchange) checkMistralMembers(root map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(root)) {
		if !slices.Contains(mistralMembers(""), name) {
			return x.unknownChat(name)
		}
	}
	list, _ := root["messages"].([]any)
	for i, v := range list {
		m, _ := v.(map[string]any)
		role, _ := m["role"].(string)
		known := mistralMembers(role)
		if known == nil {
			continue // which is refused for its role
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(known, name) {
				return x.unknownChat("messages", strconv.Itoa(i), role, name)
			}
		}
	}
	return nil
}

// checkMistralMessages wants ids of nine characters, and an assistant that says
// or calls something.
//
// Source: https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py
func checkMistralMessages(x *exchange) error {
	for _, m := range x.chat.Messages {
		said := slices.ContainsFunc(m.Content, func(p chatPart) bool { return p.Type != "text" || p.Text != "" })
		if m.Role == "assistant" && !said && len(m.ToolCalls) == 0 {
			return badMistral("invalid_request_assistant_message", "Assistant message must have either content or tool_calls, but not none.")
		}
		for _, c := range m.ToolCalls {
			if !mistralID.MatchString(c.ID) {
				return badMistral("invalid_function_call", "Tool call id was "+c.ID+" but must be a-z, A-Z, 0-9, with a length of 9.")
			}
		}
	}
	return nil
}

// checkMistralOrder wants each message to follow one that it may follow, and a
// last word that isn't the model's.
//
// Source: https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py
func checkMistralOrder(x *exchange) error {
	follow := map[string][]string{
		"system":    {"system", "user", "assistant"},
		"user":      {"system", "user", "assistant"},
		"assistant": {"user", "assistant", "tool"},
		"tool":      {"assistant", "tool"},
	}
	before := ""
	for _, m := range x.chat.Messages {
		if after, known := follow[before]; known && follow[m.Role] != nil && !slices.Contains(after, m.Role) {
			return badMistral("invalid_request_message_order", fmt.Sprintf("Unexpected role '%s' after role '%s'", m.Role, before))
		}
		before = m.Role
	}
	if n := len(x.chat.Messages); n > 0 && before == "assistant" && !x.chat.Messages[n-1].Prefix {
		return badMistral("invalid_request_message_order", "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")
	}
	return nil
}

// badMistral refuses a body with one of Mistral's own types.
func badMistral(kind, message string) error {
	return &statusError{Code: http.StatusBadRequest, Status: kind, Message: message, own: true}
}
