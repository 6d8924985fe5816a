package prompts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
)

// shape lists the members of an object of the schema, or of each element of a
// list, that a slip is held against. Other members are extensions, which go to the
// platform if it knows them.
type shape struct {
	members []string
	below   map[string]*shape
}

var (
	requestShape = &shape{
		members: []string{
			"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "n", "stop", "seed",
			"presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "stream_options", "tools", "tool_choice",
			"parallel_tool_calls", "response_format", "reasoning_effort", "thinking", "modalities", "labels", "user", "metadata",
			"safety_settings", "cached_content", "service_tier", "media_resolution", "image_config", "audio", "verbosity", "store",
			"anthropic_beta", "cache_control", "container", "context_management", "diagnostics", "function_call", "functions",
			"inference_geo", "logit_bias", "mcp_servers", "model_armor_config", "output_config", "parameters", "prediction",
			"prompt_cache_key", "prompt_mode", "random_seed", "routing_config", "safe_prompt", "safety_identifier", "speech_config",
			"speed", "thinking_config", "tool_config", "web_search_options",
		},
		below: map[string]*shape{
			"stream_options": {members: []string{"include_usage"}},
			"thinking":       {members: []string{"type", "budget_tokens", "display", "include_thoughts"}},
			"tools": {members: []string{"type", "function", "name", "description", "cache_control"}, below: map[string]*shape{
				"function": {members: []string{"name", "description", "parameters", "strict", "response"}},
			}},
			"response_format": {members: []string{"type", "json_schema"}, below: map[string]*shape{
				"json_schema": {members: []string{"name", "description", "schema", "strict"}},
			}},
		},
	}
	messageShape = &shape{
		members: []string{
			"role", "content", "name", "tool_calls", "tool_call_id", "content_blocks", "placeholder", "audio", "annotations",
			"refusal", "is_error", "cache_control",
		},
		below: map[string]*shape{
			"content": {
				members: []string{
					"type", "text", "image_url", "input_audio", "file", "thinking", "signature", "data", "cache_control", "source",
					"title", "name", "input", "content", "caller", "refusal",
				},
				below: map[string]*shape{
					"image_url":   {members: []string{"url", "detail", "mime_type"}},
					"input_audio": {members: []string{"data", "format"}},
					"file":        {members: []string{"file_data", "file_id", "file_url", "filename", "mime_type"}},
				},
			},
			"tool_calls": {members: []string{"id", "type", "function", "index"}, below: map[string]*shape{
				"function": {members: []string{"name", "arguments", "thought_signature"}},
			}},
		},
	}
)

// check reports the slips in a value, which may be a list. What has another form,
// such as a content that is a string, is not looked into.
func (d *decoder) check(path string, raw json.RawMessage, s *shape) {
	switch {
	case s == nil:
	case kindOf(raw) == '[':
		for i, e := range d.list(path, raw) {
			d.check(index(path, i), e, s)
		}
	case kindOf(raw) == '{':
		for _, m := range d.object(path, raw) {
			if !d.strange(path, m.name, s.members) {
				d.check(join(path, m.name), m.raw, s.below[m.name])
			}
		}
	}
}

// strange reports a member that is nearly one of the known ones, and says whether
// it did.
func (d *decoder) strange(path, name string, known []string) bool {
	if slices.Contains(known, name) {
		return false
	}
	meant := catalog.Near(name, known)
	if len(meant) == 0 || !isSlip(name, meant[0]) {
		return false
	}
	d.unknown(path, name, known...)
	return true
}

// isSlip reports whether name is a known one but for a letter or two. Another case
// style is none: the platform has both.
func isSlip(name, known string) bool {
	if fold := strings.NewReplacer("_", ""); strings.EqualFold(fold.Replace(name), fold.Replace(known)) {
		return false
	}
	longer, shorter := max(len(name), len(known)), min(len(name), len(known))
	return longer-shorter <= 2 && longer > 3
}
