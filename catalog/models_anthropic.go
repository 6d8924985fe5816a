package catalog

// The pages that the rows of Claude were taken from.
const (
	claudePage         = "https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude"
	claudeModelsPage   = "https://platform.claude.com/docs/en/about-claude/models/overview"
	claudeThinkingPage = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking"
	claudeAdaptivePage = "https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking"
	claudeEffortPage   = "https://platform.claude.com/docs/en/build-with-claude/effort"
	claudeOpus55Page   = "https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5"
	claudeSonnet55Page = "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5"
)

const (
	claudeContext = 200_000
	claudeMillion = 1_000_000
	claudeOut     = 64_000
	claudeLongOut = 128_000
)

// The effort words that occur, lowest first.
var (
	effortsToHigh = []string{"low", "medium", "high"}
	effortsToMax  = []string{"low", "medium", "high", "max"}
	effortsAll    = []string{"low", "medium", "high", "xhigh", "max"}
)

// claudeModels lists the families of Claude, oldest first. Of the newest ones
// the first answers for a name that no row knows.
func claudeModels() []Model {
	return []Model{
		family(claude3("claude-3", 4096)),
		claude3("claude-3-opus", 4096),
		claude3("claude-3-sonnet", 4096),
		claude3("claude-3-haiku", 4096),
		claude3("claude-3-5-sonnet", 8192),
		claude3("claude-3-5-haiku", 8192),
		claudeBudget("claude-3-7-sonnet", 3.7, claudeOut),
		claudeBudget("claude-sonnet-4", 4.0, claudeOut),
		claudeBudget("claude-opus-4", 4.0, 32_000),
		structured(oneSampler(claudeBudget("claude-opus-4-1", 4.1, 32_000))),
		structured(oneSampler(claudeBudget("claude-sonnet-4-5", 4.5, claudeOut))),
		structured(oneSampler(claudeBudget("claude-haiku-4-5", 4.5, claudeOut))),
		effort(structured(oneSampler(claudeBudget("claude-opus-4-5", 4.5, claudeOut)))),
		claude46("claude-sonnet-4-6"),
		claude46("claude-opus-4-6"),
		claudeAdaptive("claude-opus-4-7", 4.7),
		claudeAdaptive("claude-opus-4-8", 4.8),
		claudeAdaptive("claude-sonnet-5", 5.0),
		claudeAdaptive("claude-opus-5", 5.0),
		claudeAlwaysThinks("claude-fable-5", 5.0, claudeAdaptivePage),
		claudeAlwaysThinks("claude-mythos-5", 5.0, claudeAdaptivePage),
		claudeAlwaysThinks("claude-fable-5-1", 5.1, claudeOpus55Page),
		claudeAlwaysThinks("claude-mythos-5-1", 5.1, claudeOpus55Page),
		claudeAlwaysThinks("claude-opus-5-5", 5.5, claudeOpus55Page),
		claudeBetweenTools("claude-sonnet-5-5", 5.5),
		claudeAdaptive("claude-haiku-5-5", 5.5),
	}
}

// claude3 is a row of the models before thinking.
func claude3(name string, out int) Model {
	return Model{
		Publisher: "anthropic", Name: name, Version: 3, MaxCandidates: 1, MixesTools: true, ToolMedia: true,
		ContextTokens: claudeContext, OutputTokens: out, Source: claudePage,
	}
}

// claudeBudget is a row of the models that think by budget, when asked to.
func claudeBudget(name string, version float64, out int) Model {
	m := claude3(name, out)
	m.Version, m.Source = version, claudeThinkingPage
	m.Thinking = Thinking{MinBudget: 1024, MaxBudget: out, CanDisable: true, Off: "disabled"}
	return m
}

// claude46 is a row of 4.6, which thinks by itself, and still by budget.
func claude46(name string) Model {
	m := structured(oneSampler(claudeBudget(name, 4.6, claudeLongOut)))
	m.Thinking.Adaptive, m.Thinking.Efforts = true, effortsToMax
	m.NoPrefill, m.ContextTokens, m.Source = true, claudeMillion, claudeAdaptivePage
	return m
}

// claudeAdaptive is a row of 4.7 and later, which take no budget and refuse
// sampling parameters.
func claudeAdaptive(name string, version float64) Model {
	m := structured(claude3(name, claudeLongOut))
	m.Version, m.ContextTokens, m.Source = version, claudeMillion, claudeModelsPage
	m.NoPrefill, m.RefusesSampling = true, true
	m.Thinking = Thinking{Adaptive: true, Efforts: effortsAll, Off: "disabled", Hidden: true}
	return m
}

// claudeAlwaysThinks is a row of the models whose thinking can't be turned off,
// and which refuse a forced tool choice.
func claudeAlwaysThinks(name string, version float64, source string) Model {
	m := claudeAdaptive(name, version)
	m.Thinking.Off, m.NoForcedTools, m.Source = "", true, source
	return m
}

// claudeBetweenTools is a row of the models whose least thinking is that
// between tool calls.
func claudeBetweenTools(name string, version float64) Model {
	m := claudeAdaptive(name, version)
	m.Thinking.Off, m.Source = "between_tools", claudeSonnet55Page
	return m
}

// oneSampler marks a row whose models take temperature or top_p.
func oneSampler(m Model) Model {
	m.OneSampler = true
	return m
}

// structured marks a row whose models can be held to a JSON Schema.
func structured(m Model) Model {
	m.Structured, m.JSONWithTools = true, true
	return m
}

// effort marks a row whose models take an effort beside a budget.
func effort(m Model) Model {
	m.Thinking.Efforts, m.Source = effortsToHigh, claudeEffortPage
	return m
}
