package vertextest

import (
	"slices"
	"strings"
)

// chatFacts is what a model on OpenAI's wire is known for.
type chatFacts struct {
	name      string // publisher/name, or a Mistral's name alone
	reasons   bool   // shows its reasoning beside the answer
	sees      bool   // takes images
	developer bool   // takes the role developer
}

// chatTable lists the models served, one row each.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/maas/use-open-models and
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/mistral
func chatTable() []chatFacts {
	return []chatFacts{
		{name: "meta/llama-4-maverick-17b-128e-instruct-maas", sees: true},
		{name: "meta/llama-4-scout-17b-16e-instruct-maas", sees: true},
		{name: "meta/llama-3.3-70b-instruct-maas"},
		{name: "deepseek-ai/deepseek-v3.2-maas", reasons: true},
		{name: "deepseek-ai/deepseek-r1-0528-maas", reasons: true},
		{name: "qwen/qwen3-coder-480b-a35b-instruct-maas"},
		{name: "qwen/qwen3-235b-a22b-instruct-2507-maas"},
		{name: "qwen/qwen3-next-80b-a3b-thinking-maas", reasons: true},
		{name: "openai/gpt-oss-120b-maas", reasons: true, developer: true},
		{name: "openai/gpt-oss-20b-maas", reasons: true, developer: true},
		{name: "moonshotai/kimi-k2-thinking-maas", reasons: true},
		{name: "minimaxai/minimax-m2-maas", reasons: true},
		{name: "zai-org/glm-4.7-maas", reasons: true},
		{name: "google/gemma-4-26b-a4b-it-maas", sees: true},
		{name: "xai/grok-4.20-reasoning", reasons: true, sees: true},
		{name: "xai/grok-4.20-non-reasoning", sees: true},

		{name: "mistral-medium-3", sees: true},
		{name: "mistral-small-2503", sees: true},
		{name: "codestral-2"},
		{name: "codestral-2501"},
	}
}

// lookUpChat finds a model by its name. The version after an @ is free.
func lookUpChat(table []chatFacts, name string) (chatFacts, bool) {
	name, _, _ = strings.Cut(name, "@")
	at := slices.IndexFunc(table, func(m chatFacts) bool { return m.name == name })
	if at < 0 {
		return chatFacts{}, false
	}
	return table[at], true
}

// withChat adds a row called name with the facts of the row called like. The
// table is returned unchanged when like isn't in it.
func withChat(table []chatFacts, name, like string) []chatFacts {
	facts, ok := lookUpChat(table, like)
	if !ok {
		return table
	}
	facts.name = name
	return append(slices.Clone(table), facts)
}
