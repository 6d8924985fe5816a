package prices

import (
	"slices"
	"time"
)

// The sources of the rows.
const (
	vertexPage    = "https://cloud.google.com/vertex-ai/generative-ai/pricing"
	partnerPage   = "https://cloud.google.com/vertex-ai/generative-ai/pricing#partner-models"
	rankPage      = "https://cloud.google.com/generative-ai-app-builder/pricing"
	geminiPage    = "https://ai.google.dev/gemini-api/docs/pricing"
	claudePage    = "https://platform.claude.com/docs/en/about-claude/pricing"
	openaiPage    = "https://developers.openai.com/api/docs/pricing"
	listPage      = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"
	partnerReads  = "https://github.com/Portkey-AI/models/pull/704"
	argonPage     = "https://github.com/BerriAI/litellm/discussions/46238"
	hydrogenPage  = "https://github.com/BerriAI/litellm/discussions/51436"
	neonPage      = "https://apidog.com/blog/gemini-4-neon-api/"
	carbonPage    = "https://docs.laozhang.ai/en/announcements/gemini-4-carbon-2026-11"
	flash37Page   = "https://docs.litellm.ai/blog/gemini_3_7_flash"
	flash38Page   = "https://github.com/BerriAI/litellm/discussions/39357"
	flash36Page   = "https://github.com/anomalyco/models.dev/blob/3f2765a58f8466f6d96dade1b4843189eeb6360b/providers/google/models/gemini-3.6-flash.toml"
	whatsNew36    = "https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.6"
	bananaPage    = "https://github.com/BerriAI/litellm/discussions/44983"
	speech38Page  = "https://github.com/BerriAI/litellm/discussions/42776"
	embedding2Doc = "https://ai.google.dev/gemini-api/docs/pricing#gemini-embedding-2"
)

// The providers that rows are for.
const (
	vertex    = "vertex-ai"
	google    = "google"
	anthropic = "anthropic"
	openai    = "openai"
)

// read is the day on which the sources were read.
func read() time.Time { return Day(2026, time.November, 22) }

// defaultRows are the prices that this package ships.
func defaultRows() []Row {
	return slices.Concat(geminiRows(), flashRows(), gemini4Rows(), drawingRows(), embeddingRows(), claudeRows(), openRows(), openaiRows())
}

// tokens are rates for tokens, in dollars for a million. A price of 0 for cached ones
// is not known.
func tokens(input, cached, output float64) Rates {
	out := Rates{Input: Per(Input, input), Output: Per(Output, output)}
	if cached > 0 {
		out[CachedInput] = Per(CachedInput, cached)
	}
	return out
}

// with returns rates with another one, in dollars for what [Kind.Per] says.
func (r Rates) with(k Kind, dollars float64) Rates {
	out := Rates{k: Per(k, dollars)}
	for kind, rate := range r {
		if kind != k {
			out[kind] = rate
		}
	}
	return out
}

// share makes a variant of a class whose prices are so many percent of the others.
func share(class Class, percent int, only ...Kind) Variant {
	return Variant{Class: class, Percent: percent, Only: only}
}

// variants returns the row with more variants.
func (r Row) variants(more ...Variant) Row {
	r.Variants = slices.Concat(r.Variants, more)
	return r
}

// between returns the row for some days alone.
func (r Row) between(from, until time.Time) Row {
	r.From, r.Until = from, until
	return r
}

// noted returns the row with a note.
func (r Row) noted(note string) Row {
	r.Note = note
	return r
}
