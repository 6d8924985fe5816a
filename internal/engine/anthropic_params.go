package engine

// claudeParam is one row of the parameter table of Claude models: what happens
// to a member of a chat completion request, and where it goes.
type claudeParam struct {
	name string
	// vertex and own are what happens on Vertex AI, and at the vendor's own
	// service.
	vertex, own action
	// wire is the member's path in the platform's request.
	wire string
	// note goes with a warning or a refusal, which tells it.
	note string
	link string
}

// at is what happens where the model is.
func (p *claudeParam) at(own bool) action {
	if own {
		return p.own
	}
	return p.vertex
}

const (
	messagesPage   = "https://platform.claude.com/docs/en/api/messages"
	claudeToolPage = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"
	claudeThinks   = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
	claudeEffort   = "https://platform.claude.com/docs/en/build-with-claude/effort"
	claudeOutputs  = "https://platform.claude.com/docs/en/build-with-claude/structured-outputs"
	claudeCaching  = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
	claudeSearch   = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool"
	claudeOnVertex = "https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai"
	claudeCode     = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool"
	claudeFetch    = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool"
	claudeAdvisor  = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool"
	claudeMCP      = "https://platform.claude.com/docs/en/agents-and-tools/mcp-connector"
	claudeFast     = "https://platform.claude.com/docs/en/build-with-claude/fast-mode"
	claudeGeo      = "https://platform.claude.com/docs/en/manage-claude/data-residency"
	claudeFallback = "https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback"
	claudeCompact  = "https://platform.claude.com/docs/en/build-with-claude/compaction"
)

// claudePlaces are the paths of members that have another one with the vendor's
// own service.
//
// Source: https://platform.claude.com/docs/en/api/messages
var claudePlaces = map[string]string{"model": "model", "service_tier": "service_tier"}

// place is the member's path where the model is.
func (p *claudeParam) place(own bool) string {
	if place, ok := claudePlaces[p.name]; ok && own {
		return place
	}
	return p.wire
}

// claudeParams is the parameter table of Claude models: the rows of params, and
// the members that only these models know. A member that is in no row is unknown
// to the platform and left out with a warning.
var claudeParams = []claudeParam{
	{"model", translate, translate, "(path)", "slug and publisher prefix are taken off", claudeOnVertex},
	{"messages", translate, translate, "messages, system", "system messages merge; same-role turns merge", messagesPage},
	{"max_tokens", translate, translate, "max_tokens", "the model's own maximum when not given; thinking counts against it", messagesPage},
	{"max_completion_tokens", translate, translate, "max_tokens", "wins over max_tokens", messagesPage},
	{"temperature", translate, translate, "temperature", "1 at most; warned and left out where refused", messagesPage},
	{"top_p", translate, translate, "top_p", "warned and left out where refused", messagesPage},
	{"top_k", translate, translate, "top_k", "warned and left out where refused", messagesPage},
	{"n", translate, translate, "(requests)", "one request for each choice", messagesPage},
	{"stop", translate, translate, "stop_sequences", "blank ones are left out, with a warning", messagesPage},
	{"seed", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"presence_penalty", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"frequency_penalty", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"logprobs", warn, warn, "", "the platform gives no log probabilities", messagesPage},
	{"top_logprobs", warn, warn, "", "the platform gives no log probabilities", messagesPage},
	{"stream", translate, translate, "stream", "chooses the method too, on Vertex AI", claudeOnVertex},
	{"stream_options", local, local, "", "include_usage adds a last chunk", messagesPage},
	{"tools", translate, translate, "tools", "functions, and tools in the platform's own form", claudeToolPage},
	{"tool_choice", translate, translate, "tool_choice", "", claudeToolPage},
	{"parallel_tool_calls", translate, translate, "tool_choice.disable_parallel_tool_use", "turned round", claudeToolPage},
	{"response_format", translate, translate, "output_config.format", "json_schema, where the model can", claudeOutputs},
	{"reasoning_effort", translate, translate, "output_config.effort, thinking", "by the model table", claudeEffort},
	{"thinking", translate, translate, "thinking, output_config.effort", "wins over reasoning_effort", claudeThinks},
	{"modalities", warn, warn, "", "the model answers with text alone", messagesPage},
	{"labels", warn, warn, "", "the platform takes labels for Gemini alone", labelsPage},
	{"user", translate, translate, "metadata.user_id", "", messagesPage},

	// Members of Gemini's own.
	{"safety_settings", warn, warn, "", "a parameter of Gemini", safetyPage},
	{"model_armor_config", warn, warn, "", "a parameter of Gemini", armorPage},
	{"image_config", warn, warn, "", "a parameter of Gemini", imagePage},
	{"media_resolution", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"speech_config", warn, warn, "", "a parameter of Gemini", speechPage},
	{"audio_timestamp", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"routing_config", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"audio_transcription_config", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"translation_config", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"enable_affective_dialog", warn, warn, "", "a parameter of Gemini", inferencePage},
	{"stream_function_call_arguments", warn, warn, "", "arguments always come in pieces", claudeToolPage},
	{"google.tools", warn, warn, "", "tools in the form of Gemini", toolsPage},
	{"thought_tag_marker", warn, warn, "", "thoughts come in content_blocks", thinkPage},
	{"continuation_token", reject, reject, "", "a parameter of Gemini, without which the answer would be another", inferencePage},
	{"cached_content", reject, reject, "", "Claude models take no cache by name: send the content itself, and mark its end with cache_control", claudeCaching},

	// Members beyond the schema's own fields that take another form.
	{"audio", warn, warn, "", "the model answers with text alone", messagesPage},
	{"service_tier", translate, translate, "(header)", "dedicated and shared, on Vertex AI; auto and standard_only at the vendor's own service", throughputPage},
	{"web_search_options", translate, translate, "tools", "the search of the platform, with its user_location", claudeSearch},
	{"thinking_config", translate, translate, "thinking, output_config.effort", "as thinking; thinking and reasoning_effort win", claudeThinks},
	{"output_config", translate, translate, "output_config", "effort and format in the platform's own form", claudeEffort},
	{"anthropic_beta", translate, translate, "(header)", "like the header anthropic-beta", claudeOnVertex},

	// Members the platform knows by that name.
	{"cache_control", forward, forward, "cache_control", "caches as far as the last block", claudeCaching},
	{"context_management", forward, forward, "context_management", "with the beta feature it needs", "https://platform.claude.com/docs/en/build-with-claude/context-editing"},

	// Members of the Messages method that Vertex AI does not take.
	{"container", warn, forward, "container", "the platform runs no code for these models", claudeCode},
	{"mcp_servers", warn, forward, "mcp_servers", "the platform connects to no MCP servers", claudeMCP},
	{"speed", warn, forward, "speed", "the platform has no such parameter", claudeFast},
	{"inference_geo", warn, forward, "inference_geo", "the region says where", claudeGeo},
	{"diagnostics", warn, forward, "diagnostics", "the platform has no such parameter", messagesPage},
	{"fallbacks", warn, forward, "fallbacks", "the platform asks no other model", claudeFallback},
	{"fallback_credit_token", warn, forward, "fallback_credit_token", "the platform asks no other model", claudeFallback},
	{"compaction", warn, forward, "compaction", "ask for it with context_management", claudeCompact},

	// Members of Gemini's own requests.
	{"system_instruction", reject, reject, "", "give it as a system message", messagesPage},
	{"contents", warn, warn, "", "give them as messages", messagesPage},
	{"tool_config", warn, warn, "", "use tool_choice", claudeToolPage},

	// Members of the OpenAI schema that have no counterpart.
	{"metadata", local, local, "", "metadata of the call, for observers and logs", messagesPage},
	{"store", warn, warn, "", "the platform keeps no completions", messagesPage},
	{"logit_bias", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"prediction", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"verbosity", warn, warn, "", "the platform has no such parameter", messagesPage},
	{"functions", reject, reject, "", "superseded by tools", claudeToolPage},
	{"function_call", reject, reject, "", "superseded by tool_choice", claudeToolPage},
	{"prompt_cache_key", warn, warn, "", "the platform caches where cache_control says so", claudeCaching},
	{"safety_identifier", translate, translate, "metadata.user_id", "user wins", messagesPage},
}

// findClaudeParam returns the row of a member.
func findClaudeParam(name string) *claudeParam {
	for i := range claudeParams {
		if claudeParams[i].name == name {
			return &claudeParams[i]
		}
	}
	return nil
}
