package engine

import "github.com/b650d4bf/gateway/providers"

// openParam is one row of the parameter table of these families: what happens to
// a member of a request for open models, for a self-deployed endpoint or another
// server, for Mistral's models and for OpenAI's own API. A member of no row is
// left out with a warning for Mistral's models and goes as it is to the others,
// whose servers differ in what they know.
type openParam struct {
	name                            string
	open, endpoint, mistral, openai action
	// wire is the member's name in the request, "" when it is not sent.
	wire string
	note string
	link string
	// extension says that the member has no field of its own.
	extension bool
}

const (
	openaiPage     = "https://platform.openai.com/docs/api-reference/chat/create"
	mistralAPIPage = "https://docs.mistral.ai/api/endpoint/chat"
	thinkMaasPage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/capabilities/thinking"
)

// openParams is the parameter table of these families.
var openParams = []openParam{
	{"model", translate, translate, translate, translate, "model", "publisher/name for open models, the name for Mistral's, empty for an endpoint", openaiPage, false},
	{"messages", translate, translate, translate, translate, "messages", "developer is system; thoughts and signatures stay here; Mistral's order of roles is kept", openaiPage, false},
	{"max_tokens", forward, forward, forward, translate, "max_tokens", "max_completion_tokens for OpenAI's API", openaiPage, false},
	{"max_completion_tokens", translate, translate, translate, forward, "max_tokens", "wins over max_tokens", openaiPage, false},
	{"temperature", forward, forward, forward, forward, "temperature", "", openaiPage, false},
	{"top_p", forward, forward, forward, forward, "top_p", "", openaiPage, false},
	{"top_k", forward, forward, warn, warn, "top_k", "the model's API has no such parameter", mistralAPIPage, false},
	{"n", translate, translate, translate, translate, "n", "shared among several requests where the model's row says one choice a request", openaiPage, false},
	{"stop", forward, forward, forward, forward, "stop", "", openaiPage, false},
	{"seed", forward, forward, translate, forward, "seed", "random_seed for Mistral's models", mistralAPIPage, false},
	{"presence_penalty", forward, forward, forward, forward, "presence_penalty", "", openaiPage, false},
	{"frequency_penalty", forward, forward, forward, forward, "frequency_penalty", "", openaiPage, false},
	{"logprobs", forward, forward, warn, forward, "logprobs", "the model's API has no such parameter", mistralAPIPage, false},
	{"top_logprobs", forward, forward, warn, forward, "top_logprobs", "the model's API has no such parameter", mistralAPIPage, false},
	{"stream", local, local, local, local, "stream", "chooses the form", openaiPage, false},
	{"stream_options", local, local, local, local, "stream_options", "usage is always asked for; Mistral's models give it unasked", openaiPage, false},
	{"tools", forward, forward, forward, forward, "tools", "", openaiPage, false},
	{"tool_choice", forward, forward, translate, forward, "tool_choice", "required is any for Mistral's models; allowed_tools leaves the other tools out; validated is auto, with a warning", mistralAPIPage, false},
	{"parallel_tool_calls", forward, forward, forward, forward, "parallel_tool_calls", "", openaiPage, false},
	{"response_format", forward, forward, forward, forward, "response_format", "", openaiPage, false},
	{"reasoning_effort", translate, forward, warn, forward, "reasoning_effort", "by the model table: an effort, a switch of the chat template, or a warning", thinkMaasPage, false},
	{"thinking", translate, warn, warn, warn, "reasoning_effort", "by the model table, as reasoning_effort; wins over it", thinkMaasPage, false},
	{"modalities", forward, forward, warn, forward, "modalities", "these models answer in text", openaiPage, false},
	{"system_instruction", warn, warn, warn, warn, "", "give it as a system message", openaiPage, false},
	{"contents", warn, warn, warn, warn, "", "give them as messages", openaiPage, false},
	{"tool_config", warn, warn, warn, warn, "", "use tool_choice", openaiPage, false},
	{"labels", warn, warn, warn, warn, "", "the platform takes labels for Gemini alone", labelsPage, false},
	{"user", forward, forward, local, forward, "user", "not sent to Mistral's models, whose API has no such parameter", openaiPage, false},
	{"metadata", local, local, local, local, "", "metadata of the call, for observers and logs", labelsPage, false},

	{"functions", reject, reject, reject, reject, "", "superseded by tools", openaiPage, true},
	{"function_call", reject, reject, reject, reject, "", "superseded by tool_choice", openaiPage, true},
	{"google", warn, warn, warn, warn, "", "these are options of Gemini", openaiPage, true},
	{"cache_control", warn, warn, warn, warn, "", "Claude models alone have it", claudeCachePage, true},
	{"context_management", warn, warn, warn, warn, "", "Claude models alone have it", "https://platform.claude.com/docs/en/build-with-claude/context-editing", true},
	{"output_config", warn, warn, warn, warn, "", "Claude models alone have it: use reasoning_effort or thinking", "https://platform.claude.com/docs/en/build-with-claude/effort", true},
	{"service_tier", warn, forward, warn, forward, "service_tier", "the platform has it for Gemini alone", throughputPage, true},
	{"web_search_options", forward, forward, warn, forward, "web_search_options", "the model's API has no such parameter", mistralAPIPage, true},
	{"audio", forward, forward, warn, forward, "audio", "these models answer in text", openaiPage, true},
	{"store", forward, forward, warn, forward, "store", "the model's API has no such parameter", mistralAPIPage, true},
	{"logit_bias", forward, forward, warn, forward, "logit_bias", "the model's API has no such parameter", mistralAPIPage, true},
	{"prediction", forward, forward, forward, forward, "prediction", "", mistralAPIPage, true},
	{"verbosity", forward, forward, warn, forward, "verbosity", "the model's API has no such parameter", mistralAPIPage, true},
	{"prompt_cache_key", forward, forward, warn, forward, "prompt_cache_key", "the model's API has no such parameter", mistralAPIPage, true},
	{"safety_identifier", forward, forward, warn, forward, "safety_identifier", "the model's API has no such parameter", mistralAPIPage, true},
	{"safe_prompt", forward, forward, forward, warn, "safe_prompt", "a parameter of Mistral; never added to a request", mistralAPIPage, true},
	{"prompt_mode", forward, forward, forward, warn, "prompt_mode", "a parameter of Mistral", mistralAPIPage, true},
	{"random_seed", forward, forward, forward, warn, "random_seed", "a parameter of Mistral: use seed", mistralAPIPage, true},
}

// of returns what happens to the member for models of the family.
func (p *openParam) of(f Family) action {
	switch f {
	case FamilyMistral:
		return p.mistral
	case FamilyEndpoint:
		return p.endpoint
	case FamilyOpenAI:
		return p.openai
	}
	return p.open
}

func findOpenParam(name string) *openParam {
	for i := range openParams {
		if openParams[i].name == name {
			return &openParams[i]
		}
	}
	return nil
}

// isGeminiParam reports whether the member is one of Gemini alone.
func isGeminiParam(name string) bool {
	p := findParam(name)
	return p != nil && (p.gemini == forward || p.extension)
}

// clearable are the fields that some family leaves out.
var clearable = []struct {
	name  string
	given func(q *providers.ChatCompletionRequest) bool
	clear func(q *providers.ChatCompletionRequest)
}{
	{
		"top_k", func(q *providers.ChatCompletionRequest) bool { return q.TopK != nil },
		func(q *providers.ChatCompletionRequest) { q.TopK = nil },
	},
	{
		"logprobs", func(q *providers.ChatCompletionRequest) bool { return q.Logprobs != nil },
		func(q *providers.ChatCompletionRequest) { q.Logprobs = nil },
	},
	{
		"top_logprobs", func(q *providers.ChatCompletionRequest) bool { return q.TopLogprobs != nil },
		func(q *providers.ChatCompletionRequest) { q.TopLogprobs = nil },
	},
	{
		"modalities", func(q *providers.ChatCompletionRequest) bool { return len(q.Modalities) > 0 },
		func(q *providers.ChatCompletionRequest) { q.Modalities = nil },
	},
	{
		"user", func(q *providers.ChatCompletionRequest) bool { return q.User != "" },
		func(q *providers.ChatCompletionRequest) { q.User = "" },
	},
	{
		"metadata", func(q *providers.ChatCompletionRequest) bool { return q.Metadata != nil },
		func(q *providers.ChatCompletionRequest) { q.Metadata = nil },
	},
}

func labelsWarning() providers.Warning {
	return providers.Warning{
		Code: providers.WarnUnsupported, Param: "labels",
		Message: "left out: " + findOpenParam("labels").note,
	}
}
