package vertextest

import (
	"regexp"
	"slices"
	"strings"
)

// placement says in which locations a model is served.
type placement int

const (
	anywhere placement = iota
	multiRegion
	globalOnly
)

// serves reports whether a model so placed exists in location.
func (p placement) serves(location string) bool {
	switch p {
	case globalOnly:
		return location == "global"
	case multiRegion:
		return location == "global" || location == "us" || location == "eu"
	default:
		return true
	}
}

// budgetRange is the thinkingBudget a model takes; -1 (dynamic) is always taken.
type budgetRange struct {
	min, max   int
	canDisable bool
	defaultOff bool
}

// modelFacts is what one model is known for. A model has either a budget range,
// a set of levels, or neither when it doesn't think.
type modelFacts struct {
	name     string
	version  int // in tenths: 25 is Gemini 2.5
	where    placement
	budget   *budgetRange
	levels   []string
	imageOut bool // draws, and says something beside it
	audioOut bool // speaks, and does nothing else
	chain    bool // always puts its chain of thought before the answer
	computer bool // wants the computer use tool
}

// thinks reports whether the model has a thinking mode at all.
func (m modelFacts) thinks() bool { return m.budget != nil || len(m.levels) > 0 }

// modelTable lists the models served, one row each.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/models,
// https://cloud.google.com/vertex-ai/generative-ai/docs/thinking,
// https://cloud.google.com/vertex-ai/generative-ai/docs/computer-use and
// https://cloud.google.com/text-to-speech/docs/gemini-tts
func modelTable() []modelFacts {
	var (
		lowToXHigh = []string{"LOW", "MEDIUM", "HIGH", "XHIGH"}
		lowToHigh  = []string{"LOW", "MEDIUM", "HIGH"}
		minToHigh  = []string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}
	)
	return []modelFacts{
		{name: "gemini-1.5-pro", version: 15},
		{name: "gemini-1.5-flash", version: 15},
		{name: "gemini-2.0-flash", version: 20},
		{name: "gemini-2.0-flash-lite", version: 20},
		{name: "gemini-2.0-flash-thinking", version: 20, chain: true},
		{name: "gemini-2.5-pro", version: 25, budget: &budgetRange{min: 128, max: 32768}},
		{name: "gemini-2.5-flash", version: 25, budget: &budgetRange{min: 1, max: 24576, canDisable: true}},
		{name: "gemini-2.5-flash-lite", version: 25, budget: &budgetRange{min: 512, max: 24576, canDisable: true, defaultOff: true}},
		{name: "gemini-2.5-flash-image", version: 25, imageOut: true},
		{name: "gemini-2.5-computer-use", version: 25, budget: &budgetRange{min: 128, max: 32768}, computer: true},
		{name: "gemini-2.5-flash-tts", version: 25, audioOut: true},
		{name: "gemini-2.5-pro-tts", version: 25, audioOut: true},
		{name: "gemini-2.5-flash-preview-tts", version: 25, audioOut: true},
		{name: "gemini-2.5-pro-preview-tts", version: 25, audioOut: true},
		{name: "gemini-2.5-flash-lite-preview-tts", version: 25, audioOut: true},
		{name: "gemini-3.1-flash-tts", version: 25, audioOut: true},
		{name: "gemini-3-pro", version: 30, levels: []string{"LOW", "HIGH"}},
		{name: "gemini-3-flash", version: 30, levels: minToHigh},
		{name: "gemini-3-pro-image", version: 30, levels: []string{"HIGH"}, imageOut: true},
		{name: "gemini-3.1-pro", version: 31, where: globalOnly, levels: lowToHigh},
		{name: "gemini-3.1-flash-lite", version: 31, levels: minToHigh},
		{name: "gemini-3.1-flash-image", version: 31, levels: []string{"MINIMAL", "HIGH"}, imageOut: true},
		{name: "gemini-3.1-flash-lite-image", version: 31, levels: []string{"MINIMAL", "HIGH"}, imageOut: true},
		{name: "gemini-nano-banana-2.1", version: 31, levels: []string{"MINIMAL", "MEDIUM", "HIGH"}, imageOut: true},
		{name: "gemini-3.5-flash", version: 35, levels: minToHigh},
		{name: "gemini-3.5-flash-lite", version: 35, levels: minToHigh},
		{name: "gemini-3.6-flash", version: 36, where: multiRegion, levels: minToHigh},
		{name: "gemini-3.7-flash", version: 37, where: multiRegion, levels: lowToHigh},
		{name: "gemini-3.8-flash", version: 38, where: multiRegion, levels: lowToHigh},
		{name: "gemini-3.8-flash-cyber", version: 38, where: multiRegion, levels: lowToHigh},
		{name: "gemini-4-argon", version: 40, where: multiRegion, levels: lowToHigh},
		{name: "gemini-4-carbon", version: 40, where: multiRegion, levels: lowToXHigh},
		{name: "gemini-4-hydrogen", version: 40, where: multiRegion, levels: lowToXHigh},
		{name: "gemini-4-neon", version: 40, where: multiRegion, levels: lowToXHigh},
	}
}

// pairing is what happens when function responses don't match their calls.
type pairing int

const (
	pairingIgnored pairing = iota
	pairingSilent          // an empty answer with finishReason STOP
	pairingRefused
)

// generation holds the rules that changed between generations of the family.
type generation struct {
	from           int // first version, in tenths
	pairing        pairing
	maxCandidates  int  // 0: the field is refused, whatever its value
	maxOutput      int  // largest maxOutputTokens
	penalties      bool // presencePenalty and frequencyPenalty are taken
	prefill        bool // the last content may be the model's
	callIDs        bool // functionCall.id and functionResponse.id exist
	signatures     bool // calls are signed and a missing signature is refused
	checksForgery  bool // a wrong signature is refused
	mixesTools     bool // functions next to search tools, JSON next to functions
	explicitCache  bool // cachedContent is taken
	partResolution bool // Part.mediaResolution is taken
	runningUsage   bool // counts on every chunk, not on the last alone
	logprobs       bool // avgLogprobs is reported
	maxLogprobs    int
	jsonSchemas    bool // parametersJsonSchema and responseJsonSchema are known
	emptyObjects   bool // a Schema of type OBJECT may have no properties
	streamsArgs    bool // streamFunctionCallArguments is taken
	responseMedia  bool // functionResponse.parts is taken
	maxRequest     int  // bytes of a body
	cacheMinimum   int  // tokens of an explicit cache
}

// generationTable lists the generations, oldest first.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures,
// https://cloud.google.com/vertex-ai/generative-ai/docs/start/get-started-with-gemini-3,
// https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling,
// https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/control-generated-output and
// https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-overview
func generationTable() []generation {
	return []generation{
		{from: 15, maxCandidates: 8, maxOutput: 8192, penalties: true, prefill: true, explicitCache: true, logprobs: true,
			maxLogprobs: 5, maxRequest: 20 << 20, cacheMinimum: 4096},
		{from: 20, maxCandidates: 8, maxOutput: 8192, penalties: true, prefill: true, explicitCache: true, logprobs: true,
			maxLogprobs: 5, emptyObjects: true, maxRequest: 20 << 20, cacheMinimum: 2048},
		{from: 25, maxCandidates: 8, maxOutput: 65536, penalties: true, prefill: true, explicitCache: true, logprobs: true,
			maxLogprobs: 20, jsonSchemas: true, emptyObjects: true, maxRequest: 500 << 20, cacheMinimum: 2048},
		{from: 30, pairing: pairingSilent, maxCandidates: 1, maxOutput: 65536, penalties: true, prefill: true, callIDs: true,
			signatures: true, mixesTools: true, explicitCache: true, partResolution: true, runningUsage: true,
			maxLogprobs: 20, jsonSchemas: true, emptyObjects: true, streamsArgs: true, responseMedia: true,
			maxRequest: 500 << 20, cacheMinimum: 4096},
		{from: 36, pairing: pairingRefused, maxCandidates: 1, maxOutput: 65536, callIDs: true,
			signatures: true, checksForgery: true, mixesTools: true, explicitCache: true, partResolution: true, runningUsage: true,
			maxLogprobs: 20, jsonSchemas: true, emptyObjects: true, streamsArgs: true, responseMedia: true,
			maxRequest: 500 << 20, cacheMinimum: 4096},
		{from: 37, pairing: pairingRefused, maxOutput: 65536, callIDs: true,
			signatures: true, checksForgery: true, mixesTools: true, explicitCache: true, partResolution: true, runningUsage: true,
			maxLogprobs: 20, jsonSchemas: true, emptyObjects: true, streamsArgs: true, responseMedia: true,
			maxRequest: 500 << 20, cacheMinimum: 4096},
		{from: 40, pairing: pairingRefused, maxCandidates: 1, maxOutput: 1 << 20, callIDs: true,
			signatures: true, checksForgery: true, mixesTools: true, partResolution: true, runningUsage: true,
			maxLogprobs: 20, jsonSchemas: true, emptyObjects: true, streamsArgs: true, responseMedia: true,
			maxRequest: 500 << 20},
	}
}

// generationOf returns the newest row that isn't newer than version.
func generationOf(version int) generation {
	table := generationTable()
	found := table[0]
	for _, g := range table {
		if g.from <= version {
			found = g
		}
	}
	return found
}

// versionSuffix is what may follow a table name: -preview, -001, -preview-05-20.
var versionSuffix = regexp.MustCompile(`^(-(preview|exp|latest|[0-9]+))+$`)

// lookUp finds name in table: the longest row name that equals it or that it
// extends by a version suffix.
func lookUp(table []modelFacts, name string) (modelFacts, bool) {
	var found modelFacts
	for _, m := range table {
		rest, ok := strings.CutPrefix(name, m.name)
		if ok && len(m.name) > len(found.name) && (rest == "" || versionSuffix.MatchString(rest)) {
			found = m
		}
	}
	return found, found.name != ""
}

// withModel adds a row called name with the facts of the row called like. The
// table is returned unchanged when like isn't in it.
func withModel(table []modelFacts, name, like string) []modelFacts {
	facts, ok := lookUp(table, like)
	if !ok {
		return table
	}
	facts.name = name
	return append(slices.Clone(table), facts)
}
