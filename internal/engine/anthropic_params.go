package engine

// claudeParam is one row of the parameter table of Claude models: what happens
// to a member of a chat completion request, and where it goes.
type claudeParam struct {
	name   string
	action action
	// wire is the member's path in the platform's request.
	wire string
	note string
	link string
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
)

// claudeParams is the parameter table of Claude models: the rows of params, and
// the members that only these models know. A member that is in no row is unknown
// to the platform and left out with a warning.
var claudeParams = []claudeParam{
	{"model", translate, "(path)", "slug and publisher prefix are taken off", claudeOnVertex},
	{"messages", translate, "messages, system", "system messages merge; same-role turns merge", messagesPage},
	{"max_tokens", translate, "max_tokens", "the model's own maximum when not given; thinking counts against it", messagesPage},
	{"max_completion_tokens", translate, "max_tokens", "wins over max_tokens", messagesPage},
	{"temperature", translate, "temperature", "1 at most; warned and left out where refused", messagesPage},
	{"top_p", translate, "top_p", "warned and left out where refused", messagesPage},
	{"top_k", translate, "top_k", "warned and left out where refused", messagesPage},
	{"n", translate, "(requests)", "one request for each choice", messagesPage},
	{"stop", translate, "stop_sequences", "blank ones are left out, with a warning", messagesPage},
	{"seed", warn, "", "the platform has no such parameter", messagesPage},
	{"presence_penalty", warn, "", "the platform has no such parameter", messagesPage},
	{"frequency_penalty", warn, "", "the platform has no such parameter", messagesPage},
	{"logprobs", warn, "", "the platform gives no log probabilities", messagesPage},
	{"top_logprobs", warn, "", "the platform gives no log probabilities", messagesPage},
	{"stream", translate, "stream", "chooses the method too", claudeOnVertex},
	{"stream_options", local, "", "include_usage adds a last chunk", messagesPage},
	{"tools", translate, "tools", "functions, and tools in the platform's own form", claudeToolPage},
	{"tool_choice", translate, "tool_choice", "", claudeToolPage},
	{"parallel_tool_calls", translate, "tool_choice.disable_parallel_tool_use", "turned round", claudeToolPage},
	{"response_format", translate, "output_config.format", "json_schema, where the model can", claudeOutputs},
	{"reasoning_effort", translate, "output_config.effort, thinking", "by the model table", claudeEffort},
	{"thinking", translate, "thinking, output_config.effort", "wins over reasoning_effort", claudeThinks},
	{"modalities", warn, "", "the model answers with text alone", messagesPage},
	{"labels", warn, "", "the platform takes labels for Gemini alone", labelsPage},
	{"user", translate, "metadata.user_id", "", messagesPage},

	// Members of Gemini's own.
	{"safety_settings", warn, "", "a parameter of Gemini", safetyPage},
	{"model_armor_config", warn, "", "a parameter of Gemini", armorPage},
	{"image_config", warn, "", "a parameter of Gemini", imagePage},
	{"media_resolution", warn, "", "a parameter of Gemini", inferencePage},
	{"speech_config", warn, "", "a parameter of Gemini", speechPage},
	{"audio_timestamp", warn, "", "a parameter of Gemini", inferencePage},
	{"routing_config", warn, "", "a parameter of Gemini", inferencePage},
	{"audio_transcription_config", warn, "", "a parameter of Gemini", inferencePage},
	{"translation_config", warn, "", "a parameter of Gemini", inferencePage},
	{"enable_affective_dialog", warn, "", "a parameter of Gemini", inferencePage},
	{"stream_function_call_arguments", warn, "", "arguments always come in pieces", claudeToolPage},
	{"google.tools", warn, "", "tools in the form of Gemini", toolsPage},
	{"thought_tag_marker", warn, "", "thoughts come in content_blocks", thinkPage},
	{"continuation_token", reject, "", "a parameter of Gemini, without which the answer would be another", inferencePage},
	{"cached_content", reject, "", "Claude models take no cache by name: send the content itself, and mark its end with cache_control", claudeCaching},

	// Members beyond the schema's own fields that take another form.
	{"audio", warn, "", "the model answers with text alone", messagesPage},
	{"service_tier", translate, "(header)", "dedicated and shared; auto and default say nothing", throughputPage},
	{"web_search_options", translate, "tools", "the search of the platform, with its user_location", claudeSearch},
	{"thinking_config", translate, "thinking, output_config.effort", "as thinking; thinking and reasoning_effort win", claudeThinks},
	{"output_config", translate, "output_config", "effort and format in the platform's own form", claudeEffort},
	{"anthropic_beta", translate, "(header)", "like the header anthropic-beta", claudeOnVertex},

	// Members the platform knows by that name.
	{"cache_control", forward, "cache_control", "caches as far as the last block", claudeCaching},
	{"context_management", forward, "context_management", "with the beta feature it needs", "https://platform.claude.com/docs/en/build-with-claude/context-editing"},

	// Members of the Messages method that this platform does not take.
	{"container", warn, "", "the platform runs no code for these models", claudeOnVertex},
	{"mcp_servers", warn, "", "the platform connects to no MCP servers", claudeOnVertex},
	{"speed", warn, "", "the platform has no such parameter", claudeOnVertex},
	{"inference_geo", warn, "", "the region says where", claudeOnVertex},
	{"diagnostics", warn, "", "the platform has no such parameter", claudeOnVertex},

	// Members of Gemini's own requests.
	{"system_instruction", reject, "", "give it as a system message", messagesPage},
	{"contents", warn, "", "give them as messages", messagesPage},
	{"tool_config", warn, "", "use tool_choice", claudeToolPage},

	// Members of the OpenAI schema that have no counterpart.
	{"metadata", local, "", "metadata of the call, for observers and logs", messagesPage},
	{"store", warn, "", "the platform keeps no completions", messagesPage},
	{"logit_bias", warn, "", "the platform has no such parameter", messagesPage},
	{"prediction", warn, "", "the platform has no such parameter", messagesPage},
	{"verbosity", warn, "", "the platform has no such parameter", messagesPage},
	{"functions", reject, "", "superseded by tools", claudeToolPage},
	{"function_call", reject, "", "superseded by tool_choice", claudeToolPage},
	{"prompt_cache_key", warn, "", "the platform caches where cache_control says so", claudeCaching},
	{"safety_identifier", translate, "metadata.user_id", "user wins", messagesPage},
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
