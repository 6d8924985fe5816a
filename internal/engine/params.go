package engine

import "strings"

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
	// extension says that the member comes beyond the schema's own fields.
	extension bool
}

const (
	inferencePage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference"
	safetyPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/configure-safety-filters"
	cachePage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-overview"
	labelsPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/add-labels-to-api-calls"
	toolsPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling"
	thinkPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/thinking"
	jsonPage       = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output"
	armorPage      = "https://cloud.google.com/security-command-center/docs/model-armor-vertex-integration"
	imagePage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation"
	searchPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/grounding/grounding-with-google-search"
	throughputPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo"
	speechPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech"
)

// params is the parameter table. A member that is in no row is unknown to the
// platform and left out with a warning.
var params = []param{
	{"model", translate, "(path)", "slug and publisher prefix are taken off", inferencePage, false},
	{"messages", translate, "contents, systemInstruction", "system messages merge; same-role turns merge", inferencePage, false},
	{"max_tokens", translate, "generationConfig.maxOutputTokens", "thinking counts against it", inferencePage, false},
	{"max_completion_tokens", translate, "generationConfig.maxOutputTokens", "wins over max_tokens", inferencePage, false},
	{"temperature", translate, "generationConfig.temperature", "warned and left out where ignored", inferencePage, false},
	{"top_p", translate, "generationConfig.topP", "warned and left out where ignored", inferencePage, false},
	{"top_k", translate, "generationConfig.topK", "warned and left out where ignored", inferencePage, false},
	{"n", translate, "generationConfig.candidateCount", "shared among several requests where the model gives fewer in one", inferencePage, false},
	{"stop", translate, "generationConfig.stopSequences", "five at most", inferencePage, false},
	{"seed", translate, "generationConfig.seed", "reduced to 32 bits, with a warning", inferencePage, false},
	{"presence_penalty", translate, "generationConfig.presencePenalty", "warned and left out where refused; 2 is lowered to 1.999", inferencePage, false},
	{"frequency_penalty", translate, "generationConfig.frequencyPenalty", "warned and left out where refused; 2 is lowered to 1.999", inferencePage, false},
	{"logprobs", translate, "generationConfig.responseLogprobs", "", inferencePage, false},
	{"top_logprobs", translate, "generationConfig.logprobs", "20 at most", inferencePage, false},
	{"stream", local, "(verb)", "chooses the method", inferencePage, false},
	{"stream_options", local, "", "include_usage adds a last chunk", inferencePage, false},
	{"tools", translate, "tools", "functions and search", toolsPage, false},
	{"tool_choice", translate, "toolConfig.functionCallingConfig", "", toolsPage, false},
	{"parallel_tool_calls", warn, "", "the platform has no such switch", toolsPage, false},
	{"response_format", translate, "generationConfig.responseMimeType, responseJsonSchema, responseSchema", "", jsonPage, false},
	{"reasoning_effort", translate, "generationConfig.thinkingConfig", "by the model table", thinkPage, false},
	{"thinking", translate, "generationConfig.thinkingConfig", "wins over reasoning_effort", thinkPage, false},
	{"modalities", translate, "generationConfig.responseModalities", "in upper case", imagePage, false},
	{"labels", translate, "labels", "checked before sending", labelsPage, false},
	{"user", local, "", "metadata _user of the call, for observers, logs and labels", labelsPage, false},

	// Members the platform knows by that name, in either case style.
	{"safety_settings", forward, "safetySettings", "a list, or an object with a threshold for each category", safetyPage, false},
	{"model_armor_config", forward, "modelArmorConfig", "", armorPage, false},
	{"output_config", forward, "outputConfig", "its effort, which is Claude's, says how hard to think", inferencePage, false},
	{"image_config", forward, "generationConfig.imageConfig", "warned and left out where the model draws nothing", imagePage, false},
	{"speech_config", forward, "generationConfig.speechConfig", "", speechPage, false},
	{"audio_timestamp", forward, "generationConfig.audioTimestamp", "", inferencePage, false},
	{"routing_config", forward, "generationConfig.routingConfig", "", inferencePage, false},
	{"audio_transcription_config", forward, "generationConfig.audioTranscriptionConfig", "", inferencePage, false},
	{"translation_config", forward, "generationConfig.translationConfig", "", inferencePage, false},
	{"enable_affective_dialog", forward, "generationConfig.enableAffectiveDialog", "", inferencePage, false},
	{"continuation_token", forward, "continuationToken", "goes on with a long answer", inferencePage, false},

	// Members beyond the schema's own fields that take another form.
	{"cached_content", translate, "cachedContent", "the name of a cache, short or in full", cachePage, true},
	{"media_resolution", translate, "generationConfig.mediaResolution", "of the whole request; low, medium or high", resolutionPage, true},
	{"audio", translate, "generationConfig.speechConfig", "the voice; as wav or pcm16", speechPage, true},
	{"service_tier", translate, "(header)", "priority and flex, or dedicated and shared; auto and default say nothing", throughputPage, true},
	{"web_search_options", translate, "tools", "googleSearch, without options", searchPage, true},
	{"thinking_config", translate, "generationConfig.thinkingConfig", "as thinking; thinking and reasoning_effort win", thinkPage, true},
	{"stream_function_call_arguments", translate, "toolConfig.functionCallingConfig.streamFunctionCallArguments", "in streams, where the model can", toolsPage, true},
	{"google.tools", translate, "tools", "tools in the platform's own form", toolsPage, true},
	{"tool_config", translate, "toolConfig", "in the platform's own form, beside tools; tool_choice and the options of google_maps win", toolsPage, true},
	{"thought_tag_marker", warn, "", "thoughts come in content_blocks", thinkPage, true},

	// Members of the OpenAI schema that have no counterpart.
	{"metadata", local, "", "metadata of the call, for observers and logs", labelsPage, false},
	{"store", warn, "", "the platform keeps no completions", inferencePage, false},
	{"logit_bias", warn, "", "the platform has no such parameter", inferencePage, false},
	{"prediction", warn, "", "the platform has no such parameter", inferencePage, false},
	{"verbosity", warn, "", "the platform has no such parameter", inferencePage, false},
	{"system_instruction", reject, "", "give it as a system message", inferencePage, false},
	{"contents", warn, "", "give them as messages", inferencePage, false},
	{"functions", reject, "", "superseded by tools", toolsPage, false},
	{"function_call", reject, "", "superseded by tool_choice", toolsPage, false},
	{"prompt_cache_key", warn, "", "the platform caches prefixes by itself", cachePage, false},
	{"safety_identifier", warn, "", "the platform has no end-user id", inferencePage, false},
}

// paramRows finds a row by the name of its member, and wireRows by the path in
// the platform's request. Of several rows with the same path the first one
// counts.
var paramRows, wireRows = indexParams(params)

func indexParams(rows []param) (byName, byWire map[string]*param) {
	byName, byWire = make(map[string]*param, 2*len(rows)), make(map[string]*param, 2*len(rows))
	for i := range rows {
		p := &rows[i]
		byName[p.name] = p
		if p.gemini != translate || p.extension {
			byName[camel(p.name)] = p
		}
		parent := ""
		for wire := range strings.SplitSeq(p.wire, ", ") {
			if parent == "" {
				parent = wire[:len(wire)-len(lastSegment(wire))]
			} else {
				wire = parent + wire
			}
			if byWire[wire] == nil {
				byWire[wire] = p
			}
		}
	}
	return byName, byWire
}

// findParam returns the row of a member; one that is not a field of the schema
// is found in either case style.
func findParam(name string) *param { return paramRows[name] }

// findWire returns the row of a path in the platform's request.
func findWire(path string) *param { return wireRows[path] }

// lastSegment returns what follows the last dot.
func lastSegment(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			return path[i+1:]
		}
	}
	return path
}
