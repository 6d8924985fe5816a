package vertextest

import (
	"slices"
	"strings"
)

// claudeFacts is what one Claude is known for.
type claudeFacts struct {
	name      string
	where     placement
	maxOutput int
	context   int // tokens of prompt and answer
	minCache  int // tokens of a prefix that is worth caching

	manual    bool     // thinking.type enabled, with a budget
	adaptive  bool     // thinking.type adaptive
	between   bool     // thinking.type between_tools
	byDefault bool     // thinks when the request doesn't say
	always    bool     // thinks whatever the request says; disabled is refused
	capped    bool     // not thinking and efforts above high exclude each other
	omits     bool     // keeps thoughts to itself unless display says otherwise
	efforts   []string // of output_config.effort
	sampling  bool     // temperature or top_p, and top_k, are taken
	prefill   bool     // the last message may be the model's
	forced    bool     // tool_choice any and tool are taken
}

// claudeTable lists the models served, one row each.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude,
// https://docs.claude.com/en/docs/about-claude/models/overview,
// https://docs.claude.com/en/docs/build-with-claude/extended-thinking,
// https://docs.claude.com/en/docs/build-with-claude/adaptive-thinking,
// https://docs.claude.com/en/docs/build-with-claude/effort and
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching
func claudeTable() []claudeFacts {
	var (
		toHigh = []string{"low", "medium", "high"}
		noX    = []string{"low", "medium", "high", "max"}
		all    = []string{"low", "medium", "high", "xhigh", "max"}

		old   = claudeFacts{maxOutput: 64_000, context: 200_000, minCache: 1024, manual: true, sampling: true, prefill: true, forced: true}
		six   = claudeFacts{maxOutput: 128_000, context: 1_000_000, minCache: 4096, manual: true, adaptive: true, efforts: noX, sampling: true, forced: true}
		later = claudeFacts{where: multiRegion, maxOutput: 128_000, context: 1_000_000, minCache: 4096, adaptive: true, omits: true, efforts: all, forced: true}
		fives = later.with(func(m *claudeFacts) { m.byDefault = true })
		tale  = later.with(func(m *claudeFacts) { m.byDefault, m.always, m.forced = true, true, false })
	)
	return []claudeFacts{
		old.named("claude-opus-4-1@20250805", func(m *claudeFacts) { m.maxOutput = 32_000 }),
		old.named("claude-sonnet-4-5@20250929", nil),
		old.named("claude-haiku-4-5@20251001", func(m *claudeFacts) { m.minCache = 4096 }),
		old.named("claude-opus-4-5@20251101", func(m *claudeFacts) { m.minCache, m.efforts = 4096, toHigh }),
		six.named("claude-opus-4-6", nil),
		six.named("claude-sonnet-4-6", func(m *claudeFacts) { m.minCache = 2048 }),
		later.named("claude-opus-4-7", nil),
		later.named("claude-opus-4-8", nil),
		fives.named("claude-sonnet-5", nil),
		fives.named("claude-opus-5", func(m *claudeFacts) { m.capped = true }),
		fives.named("claude-haiku-5-5", func(m *claudeFacts) { m.context, m.between = 200_000, true }),
		fives.named("claude-sonnet-5-5", func(m *claudeFacts) { m.between = true }),
		fives.named("claude-opus-5-5", func(m *claudeFacts) { m.between = true }),
		tale.named("claude-fable-5", nil),
		tale.named("claude-mythos-5", nil),
		tale.named("claude-fable-5-1", func(m *claudeFacts) { m.between = true }),
		tale.named("claude-mythos-5-1", func(m *claudeFacts) { m.between = true }),
	}
}

// with returns a changed copy.
func (m claudeFacts) with(change func(*claudeFacts)) claudeFacts {
	if change != nil {
		change(&m)
	}
	return m
}

// named returns a copy for the model of that name.
func (m claudeFacts) named(name string, change func(*claudeFacts)) claudeFacts {
	m.name = name
	return m.with(change)
}

// lookUpClaude finds a model by its name, which may end in @default.
func lookUpClaude(table []claudeFacts, name string) (claudeFacts, bool) {
	name = strings.TrimSuffix(name, "@default")
	at := slices.IndexFunc(table, func(m claudeFacts) bool { return m.name == name })
	if at < 0 {
		return claudeFacts{}, false
	}
	return table[at], true
}

// withClaude adds a row called name with the facts of the row called like. The
// table is returned unchanged when like isn't in it.
func withClaude(table []claudeFacts, name, like string) []claudeFacts {
	facts, ok := lookUpClaude(table, like)
	if !ok {
		return table
	}
	return append(slices.Clone(table), facts.named(name, nil))
}

// claudeBetas are the values of the anthropic-beta header that Vertex takes.
//
// Sources: https://docs.claude.com/en/api/beta-headers and
// https://docs.claude.com/en/api/claude-on-vertex-ai
func claudeBetas() []string {
	return []string{
		"web-search-2025-03-05", "tool-search-tool-2025-10-19", computerBeta, "computer-use-2025-11-24", "context-1m-2025-08-07",
		"context-management-2025-06-27", "compact-2026-01-12", "compact-2026-09-04", "interleaved-thinking-2025-05-14",
		"thinking-binding-controls-2026-08-01", "thinking-display-updates-2026-08-18", "dangerous-tool-use-2026-09-03",
		"per-turn-control-2026-07-01",
	}
}

// uncountedBetas are those that a count refuses.
func uncountedBetas() []string {
	return []string{"web-search-2025-03-05", "tool-search-tool-2025-10-19"}
}

const computerBeta = "computer-use-2025-01-24"
