package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// claudeEvents has the members of each kind of event, a whole answer included.
var claudeEvents = map[string][]string{
	"message":             {"type", "id", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "stop_details", "container", "context_management"},
	"message_start":       {"type", "message"},
	"content_block_start": {"type", "index", "content_block"},
	"content_block_delta": {"type", "index", "delta"},
	"content_block_stop":  {"type", "index"},
	"message_delta":       {"type", "delta", "usage", "context_management"},
	"message_stop":        {"type"},
	"ping":                {"type"},
	"error":               {"type", "error", "request_id"},
}

// CheckClaudeAnswer reports what the platform would not write so.
func CheckClaudeAnswer(answer []byte) error {
	var o map[string]any
	if err := json.Unmarshal(answer, &o); err != nil {
		return err
	}
	kind, _ := o["type"].(string)
	members, ok := claudeEvents[kind]
	if !ok {
		return fmt.Errorf("no event %q", kind)
	}
	for name := range o {
		if !slices.Contains(members, name) {
			return fmt.Errorf("%s has no member %q", kind, name)
		}
	}
	if m := object(o["message"]); m != nil && (m["type"] != "message" || m["role"] != "assistant" || m["usage"] == nil) {
		return errors.New("message_start without a message")
	}
	if kind == "message" && (o["role"] != "assistant" || o["usage"] == nil || o["model"] == nil || o["id"] == nil) {
		return errors.New("not a whole message")
	}
	return nil
}
