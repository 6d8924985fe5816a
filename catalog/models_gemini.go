package catalog

// The pages that the rows below were taken from.
const (
	thinkingPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/thinking"
	gemini3Page  = "https://cloud.google.com/vertex-ai/generative-ai/docs/start/get-started-with-gemini-3"
	modelsPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/models"
	cotPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/thinking-mode"
	speechPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/speech/text-to-speech"
	imagePage    = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-generation"
	searchPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/grounding/grounding-with-google-search"
	gemini4Page  = "https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/4"
)

const (
	million = 1_048_576
	longOut = 65_536
)

// The level sets that occur, lowest first.
var (
	levelsHigh       = []string{"HIGH"}
	levelsLowHigh    = []string{"LOW", "HIGH"}
	levelsMinHigh    = []string{"MINIMAL", "HIGH"}
	levelsMinMedHigh = []string{"MINIMAL", "MEDIUM", "HIGH"}
	levelsAll        = []string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}
	levelsFromLow    = []string{"LOW", "MEDIUM", "HIGH"}
	levelsToXHigh    = []string{"LOW", "MEDIUM", "HIGH", "XHIGH"}
)

// The response modalities that occur besides text alone.
var (
	outputsImage = []string{"TEXT", "IMAGE"}
	outputsAudio = []string{"AUDIO"}
)

// geminiModels lists the families of Gemini, oldest first.
func geminiModels() []Model {
	return []Model{
		family(gemini15("gemini-1.5")),
		family(gemini1("gemini-2.0", 2.0)),
		chainOfThought("gemini-2.0-flash-thinking-exp"),
		family(gemini25("gemini-2.5", Thinking{MinBudget: 128, MaxBudget: 24576})),
		gemini25("gemini-2.5-pro", Thinking{MinBudget: 128, MaxBudget: 32768}),
		gemini25("gemini-2.5-flash", Thinking{MinBudget: 1, MaxBudget: 24576, CanDisable: true}),
		gemini25("gemini-2.5-flash-lite", Thinking{MinBudget: 512, MaxBudget: 24576, CanDisable: true}),
		image(gemini25("gemini-2.5-flash-image", Thinking{})),
		speech(gemini25("gemini-2.5-flash-tts", Thinking{})),
		speech(gemini25("gemini-2.5-pro-tts", Thinking{})),
		speech(gemini25("gemini-2.5-flash-preview-tts", Thinking{})),
		speech(gemini25("gemini-2.5-pro-preview-tts", Thinking{})),
		speech(gemini25("gemini-2.5-flash-lite-preview-tts", Thinking{})),
		family(gemini3("gemini-3", 3.0, levelsLowHigh)),
		gemini3("gemini-3-pro", 3.0, levelsLowHigh),
		gemini3("gemini-3-flash", 3.0, levelsAll),
		image(gemini3("gemini-3-pro-image", 3.0, levelsHigh)),
		family(gemini3("gemini-3.1", 3.1, levelsFromLow)),
		gemini3("gemini-3.1-pro", 3.1, levelsFromLow),
		gemini3("gemini-3.1-flash-lite", 3.1, levelsAll),
		image(gemini3("gemini-3.1-flash-image", 3.1, levelsMinHigh)),
		image(gemini3("gemini-3.1-flash-lite-image", 3.1, levelsMinHigh)),
		speech(gemini25("gemini-3.1-flash-tts", Thinking{})),
		image(gemini3("gemini-nano-banana-2.1", 3.1, levelsMinMedHigh)),
		family(gemini3("gemini-3.5", 3.5, levelsFromLow)),
		gemini3("gemini-3.5-flash", 3.5, levelsAll),
		gemini3("gemini-3.5-flash-lite", 3.5, levelsAll),
		family(gemini36("gemini-3.6", 3.6, levelsFromLow)),
		gemini36("gemini-3.6-flash", 3.6, levelsAll),
		gemini36("gemini-3.7-flash", 3.7, levelsFromLow),
		gemini36("gemini-3.8-flash", 3.8, levelsFromLow),
		gemini4("gemini-4-argon", 4.0, levelsFromLow),
		gemini4("gemini-4-carbon", 4.1, levelsToXHigh),
		gemini4("gemini-4-hydrogen", 4.2, levelsToXHigh),
		gemini4("gemini-4-neon", 4.3, levelsToXHigh),
		family(gemini4("gemini-4", 4.4, levelsFromLow)),
	}
}

// gemini15 is the row of 1.5, whose search grounding is the retrieval variant.
func gemini15(name string) Model {
	m := gemini1(name, 1.5)
	m.RetrievalOnly, m.Source = true, searchPage
	return m
}

// gemini1 is a row of the families before thinking.
func gemini1(name string, version float64) Model {
	return Model{
		Publisher: "google", Name: name, Version: version, MaxCandidates: 8,
		SchemaForm: true, ContextTokens: million, OutputTokens: 8192, Source: modelsPage,
	}
}

// chainOfThought is a row of the experimental models that answer with their
// chain of thought and then the answer.
func chainOfThought(name string) Model {
	m := gemini1(name, 2.0)
	m.ChainOfThought, m.OutputTokens, m.Source = true, longOut, cotPage
	return m
}

// gemini25 is a row of the 2.5 family, which thinks by budget.
func gemini25(name string, t Thinking) Model {
	return Model{
		Publisher: "google", Name: name, Version: 2.5, Thinking: t, MaxCandidates: 8,
		ContextTokens: million, OutputTokens: longOut, Source: thinkingPage,
	}
}

// gemini3 is a row of 3.0 to 3.5, which think by level and insist on
// signatures.
func gemini3(name string, version float64, levels []string) Model {
	return Model{
		Publisher: "google", Name: name, Version: version, Thinking: Thinking{Levels: levels},
		CallIDs: true, NeedsSignatures: true, MaxCandidates: 1,
		MixesTools: true, JSONWithTools: true, PartResolution: true, ToolMedia: true, StreamsArguments: true,
		ContextTokens: million, OutputTokens: longOut, Source: gemini3Page,
	}
}

// gemini36 is a row of 3.6 and later, which ignore sampling and refuse
// penalties and prefill.
func gemini36(name string, version float64, levels []string) Model {
	m := gemini3(name, version, levels)
	m.IgnoresSampling, m.NoPenalties, m.NoPrefill = true, true, true
	return m
}

// gemini4 is a row of 4, which reads office documents and caches by itself alone.
func gemini4(name string, version float64, levels []string) Model {
	m := gemini36(name, version, levels)
	m.OfficeFiles, m.NoExplicitCache, m.OutputTokens, m.Source = true, true, million, gemini4Page
	return m
}

// image marks a row whose models answer with images and do not insist on
// signatures.
func image(m Model) Model {
	m.Outputs, m.NeedsSignatures, m.Source = outputsImage, false, imagePage
	return m
}

// speech marks a row whose models speak a text, and do nothing else.
func speech(m Model) Model {
	m.Outputs, m.MaxCandidates, m.Source = outputsAudio, 1, speechPage
	m.ContextTokens, m.OutputTokens = 8192, 16384
	return m
}

// family marks a row that no model has the very name of.
func family(m Model) Model {
	m.Family = true
	return m
}
