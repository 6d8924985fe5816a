package vertex

// action is what happens to a request member on its way to a family.
type action uint8

const (
	forward   action = iota + 1 // sent as it is, under the wire name
	translate                   // sent in another form
	warn                        // left out, with a warning
	reject                      // an error before anything is sent
	local                       // used by the gateway, not sent
)

// param is one row of the parameter table: what happens to a member of a chat
// completion request, and where it goes.
type param struct {
	name   string
	gemini action
	// wire is the member's path in the platform's request.
	wire string
	note string
	link string
}

const (
	inferencePage = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference"
	safetyPage    = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/configure-safety-filters"
	cachePage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-overview"
	labelsPage    = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls"
	toolsPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
	thinkPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/thinking"
	jsonPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output"
	armorPage     = "https://cloud.google.com/security-command-center/docs/model-armor-vertex-integration"
	imagePage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation"
	speechPage    = "https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech"
)

// params is the parameter table. A member that is in no row is unknown to the
// platform and left out with a warning.
var params = []param{
	{"model", translate, "(path)", "slug and publisher prefix are taken off", inferencePage},
	{"messages", translate, "contents, systemInstruction", "system messages merge; same-role turns merge", inferencePage},
	{"max_tokens", translate, "generationConfig.maxOutputTokens", "thinking counts against it", inferencePage},
	{"max_completion_tokens", translate, "generationConfig.maxOutputTokens", "wins over max_tokens", inferencePage},
	{"temperature", translate, "generationConfig.temperature", "warned and left out where ignored", inferencePage},
	{"top_p", translate, "generationConfig.topP", "warned and left out where ignored", inferencePage},
	{"top_k", translate, "generationConfig.topK", "warned and left out where ignored", inferencePage},
	{"n", translate, "generationConfig.candidateCount", "shared among several requests where the model gives fewer in one", inferencePage},
	{"stop", translate, "generationConfig.stopSequences", "five at most", inferencePage},
	{"seed", translate, "generationConfig.seed", "reduced to 32 bits, with a warning", inferencePage},
	{"presence_penalty", translate, "generationConfig.presencePenalty", "warned and left out where refused", inferencePage},
	{"frequency_penalty", translate, "generationConfig.frequencyPenalty", "warned and left out where refused", inferencePage},
	{"logprobs", translate, "generationConfig.responseLogprobs", "", inferencePage},
	{"top_logprobs", translate, "generationConfig.logprobs", "20 at most", inferencePage},
	{"stream", local, "(verb)", "chooses the method", inferencePage},
	{"stream_options", local, "", "include_usage adds a last chunk", inferencePage},
	{"tools", translate, "tools", "functions and search", toolsPage},
	{"tool_choice", translate, "toolConfig.functionCallingConfig", "", toolsPage},
	{"parallel_tool_calls", warn, "", "the platform has no such switch", toolsPage},
	{"response_format", translate, "generationConfig.responseMimeType, responseJsonSchema", "", jsonPage},
	{"reasoning_effort", translate, "generationConfig.thinkingConfig", "by the model table", thinkPage},
	{"thinking", translate, "generationConfig.thinkingConfig", "wins over reasoning_effort", thinkPage},
	{"modalities", translate, "generationConfig.responseModalities", "in upper case", imagePage},
	{"labels", translate, "labels", "checked before sending", labelsPage},
	{"user", warn, "", "the platform has no end-user id", inferencePage},

	// Members the platform knows by that name, in either case style.
	{"safety_settings", forward, "safetySettings", "", safetyPage},
	{"cached_content", forward, "cachedContent", "", cachePage},
	{"model_armor_config", forward, "modelArmorConfig", "", armorPage},
	{"output_config", forward, "outputConfig", "", inferencePage},
	{"image_config", forward, "generationConfig.imageConfig", "", imagePage},
	{"media_resolution", forward, "generationConfig.mediaResolution", "", inferencePage},
	{"speech_config", forward, "generationConfig.speechConfig", "", speechPage},
	{"audio_timestamp", forward, "generationConfig.audioTimestamp", "", inferencePage},
	{"routing_config", forward, "generationConfig.routingConfig", "", inferencePage},
	{"audio_transcription_config", forward, "generationConfig.audioTranscriptionConfig", "", inferencePage},
	{"translation_config", forward, "generationConfig.translationConfig", "", inferencePage},
	{"enable_affective_dialog", forward, "generationConfig.enableAffectiveDialog", "", inferencePage},
	{"continuation_token", forward, "continuationToken", "goes on with a long answer", inferencePage},

	// Members of the OpenAI schema that have no counterpart yet.
	{"audio", warn, "", "give speech_config instead", speechPage},
	{"service_tier", warn, "", "give the request-type header instead", inferencePage},
	{"metadata", local, "", "metadata of the call, for observers and logs", labelsPage},
	{"store", warn, "", "the platform keeps no completions", inferencePage},
	{"logit_bias", warn, "", "the platform has no such parameter", inferencePage},
	{"prediction", warn, "", "the platform has no such parameter", inferencePage},
	{"verbosity", warn, "", "the platform has no such parameter", inferencePage},
	{"web_search_options", warn, "", "give a web_search tool instead", toolsPage},
	{"functions", reject, "", "superseded by tools", toolsPage},
	{"function_call", reject, "", "superseded by tool_choice", toolsPage},
	{"prompt_cache_key", warn, "", "the platform caches prefixes by itself", cachePage},
	{"safety_identifier", warn, "", "the platform has no end-user id", inferencePage},
}

// findParam returns the row of a member, by its snake_case name or by the
// camelCase name the platform gives it.
func findParam(name string) *param {
	for i := range params {
		p := &params[i]
		if p.name == name || p.gemini == forward && lastSegment(p.wire) == name {
			return p
		}
	}
	return nil
}

// lastSegment returns what follows the last dot.
func lastSegment(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			return path[i+1:]
		}
	}
	return path
}
