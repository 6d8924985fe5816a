package catalog

// The pages that the rows of open and partner models were taken from.
const (
	maasThinkingPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/capabilities/thinking"
	qwenPage         = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/qwen"
	llamaPage        = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/llama"
	mistralPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/mistral"
	ai21Page         = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/ai21"
	gemmaPage        = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/google"
	partnerPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/use-partner-models"
)

// The marks of thoughts that stand in the content, and the arguments of chat
// templates that turn thinking on and off.
const (
	openTag        = "<think>"
	closeTag       = "</think>"
	switchThinking = "thinking"
	switchEnable   = "enable_thinking"
)

// openModels lists the families of open and partner models, oldest first within
// a publisher.
func openModels() []Model {
	return []Model{
		family(open("meta", "llama-3", 3, llamaPage)),
		family(open("meta", "llama-3.1", 3.1, llamaPage)),
		family(open("meta", "llama-3.2", 3.2, llamaPage)),
		family(open("meta", "llama-3.3", 3.3, llamaPage)),
		family(open("meta", "llama-4", 4, llamaPage)),
		family(open("qwen", "qwen3", 3, qwenPage)),
		family(open("qwen", "qwen3-coder", 3, qwenPage)),
		family(open("qwen", "qwen3-next", 3.1, maasThinkingPage)),
		family(thoughtful(open("deepseek-ai", "deepseek-r1", 1, maasThinkingPage), "", openTag)),
		family(thoughtful(open("deepseek-ai", "deepseek-v3.1", 3.1, maasThinkingPage), switchThinking, closeTag)),
		family(thoughtful(open("deepseek-ai", "deepseek-v3.2", 3.2, maasThinkingPage), switchThinking, "")),
		family(leveled(open("openai", "gpt-oss", 1, maasThinkingPage))),
		family(open("moonshotai", "kimi-k2", 2, maasThinkingPage)),
		family(thoughtful(open("zai-org", "glm-4.7", 4.7, maasThinkingPage), switchEnable, "")),
		family(thoughtful(open("zai-org", "glm-5", 5, maasThinkingPage), switchEnable, "")),
		family(thoughtful(open("minimaxai", "minimax-m2", 2, maasThinkingPage), "", openTag)),
		family(open("xai", "grok-4", 4, partnerPage)),
		family(open("xai", "grok-4.1", 4.1, partnerPage)),
		family(open("xai", "grok-4.20", 4.2, partnerPage)),
		family(open("nvidia", "nemotron", 1, partnerPage)),
		family(open("mistralai", "codestral", 1, mistralPage)),
		family(open("mistralai", "mistral-small", 2, mistralPage)),
		family(open("mistralai", "mistral-large", 2, mistralPage)),
		family(open("mistralai", "mistral-medium", 3, mistralPage)),
		family(open("ai21", "jamba", 1.5, ai21Page)),
		family(gemma("gemma-4")),
	}
}

// gemma is a row of google's open models, which are served beside those of other
// publishers. Its version is below Gemini's, whose newest row answers for the
// names of google that no row knows.
func gemma(name string) Model {
	m := thoughtful(open("google", name, 0.4, gemmaPage), switchEnable, "")
	m.Wire = "openai"
	return m
}

// open is a row of models that speak the OpenAI schema, or nearly so. They give
// one choice a request, and their limits are not documented.
func open(publisher, name string, version float64, source string) Model {
	return Model{
		Publisher: publisher, Name: name, Version: version, MaxCandidates: 1,
		MixesTools: true, JSONWithTools: true, Source: source,
	}
}

// thoughtful marks a row whose models think, with the chat template's switch and
// the marks of their thoughts.
func thoughtful(m Model, name, tags string) Model {
	m.Thinking = Thinking{Switch: name, Tags: tags}
	return m
}

// leveled marks a row whose models take reasoning_effort.
func leveled(m Model) Model {
	m.Thinking = Thinking{Levels: levelsFromLow}
	return m
}
