package catalog

import (
	"slices"
	"strings"
)

// Model is what is known of one model family: what it takes, what it refuses
// and what it ignores. A row answers for every model whose name is Name or
// begins with Name and a separator; the longest such Name wins.
type Model struct {
	// Publisher is who published the model, such as "google".
	Publisher string
	// Name is the model name, or the beginning of it.
	Name string
	// Family says that the row is about a family only: there is no model of
	// that very name.
	Family bool
	// Version orders the rows of a family, such as 2.5; the highest one answers
	// for a name that no row knows.
	Version float64
	// Wire is how the model is spoken to where that is not how its publisher's
	// models are: openai, mistral or gemini; empty for the publisher's own.
	Wire string
	// Thinking says how the model's reasoning is steered.
	Thinking Thinking
	// CallIDs says that function calls and results may carry an id.
	CallIDs bool
	// NeedsSignatures says that a function call of the current turn without its
	// thought signature is refused.
	NeedsSignatures bool
	// IgnoresSampling says that temperature, top_p and top_k have no effect.
	IgnoresSampling bool
	// RefusesSampling says that temperature, top_p and top_k are refused.
	RefusesSampling bool
	// OneSampler says that temperature and top_p are refused together.
	OneSampler bool
	// NoPenalties says that presence and frequency penalty are refused.
	NoPenalties bool
	// MaxCandidates is the most choices of one request; 1 means that the
	// count must not even be sent.
	MaxCandidates int
	// NoPrefill says that a conversation must not end with an assistant turn.
	NoPrefill bool
	// MixesTools says that functions and search tools go together.
	MixesTools bool
	// JSONWithTools says that a JSON answer and tools go together.
	JSONWithTools bool
	// Structured says that the answer, and the arguments of a strict tool, can be
	// held to a JSON Schema. It is about Claude: all of Gemini can.
	Structured bool
	// NoForcedTools says that a tool choice that demands a call is refused.
	NoForcedTools bool
	// SchemaForm says that JSON Schema must be rewritten to the platform's own
	// schema message.
	SchemaForm bool
	// ChainOfThought says that thoughts come as a text before the answer.
	ChainOfThought bool
	// Outputs are the response modalities the model can give, such as "TEXT" and
	// "IMAGE"; nil means text alone.
	Outputs []string
	// PartResolution says that each part may have a media resolution of its own.
	PartResolution bool
	// ToolMedia says that a tool's result may hold media beside its text.
	ToolMedia bool
	// OfficeFiles says that the model reads office documents.
	OfficeFiles bool
	// StreamsArguments says that the arguments of a call can be streamed in
	// pieces.
	StreamsArguments bool
	// NoExplicitCache says that cached_content is refused.
	NoExplicitCache bool
	// RetrievalOnly says that search grounding is the retrieval variant alone.
	RetrievalOnly bool
	// ContextTokens and OutputTokens are the limits, 0 when not known.
	ContextTokens, OutputTokens int
	// Source is the page the row was taken from.
	Source string
}

// Thinking says how a model's reasoning is steered: by a token budget, by a
// level, or not at all when both are empty.
type Thinking struct {
	// MinBudget and MaxBudget bound the token budget; MaxBudget 0 means that
	// the model takes no budget.
	MinBudget, MaxBudget int
	// CanDisable says that a budget of 0 turns thinking off.
	CanDisable bool
	// Levels are the level words the model takes, lowest first.
	Levels []string
	// Adaptive says that the model takes the type adaptive: it decides itself how
	// much to think, under an effort.
	Adaptive bool
	// Efforts are the words of the effort the model takes, lowest first.
	Efforts []string
	// Off is the type that turns adaptive thinking off, or down as far as it
	// goes, such as "disabled"; empty when nothing does.
	Off string
	// Hidden says that the thoughts are not shown unless asked for.
	Hidden bool
	// Switch is the chat template's argument that turns thinking on and off, for
	// open models; "" when there is none.
	Switch string
	// Tags says that thoughts stand in the content, at its beginning: "<think>"
	// when both ends are marked, "</think>" when only the end is, and then only
	// if thinking was asked for; "" when they have a member of their own.
	Tags string
}

// Gives reports whether the model can answer in a modality, such as "IMAGE".
func (m *Model) Gives(modality string) bool {
	if m.Outputs == nil {
		return modality == "TEXT"
	}
	return slices.Contains(m.Outputs, modality)
}

// SpeaksOnly reports whether the model does nothing but speak a text.
func (m *Model) SpeaksOnly() bool { return m.Gives("AUDIO") && !m.Gives("TEXT") }

// ByBudget reports whether the model takes a token budget.
func (t Thinking) ByBudget() bool { return t.MaxBudget > 0 }

// ByLevel reports whether the model takes a level.
func (t Thinking) ByLevel() bool { return len(t.Levels) > 0 }

// Models is an immutable table of model facts, safe for concurrent use.
type Models struct {
	rows   []Model
	byName map[modelName]*Model
	newest map[string]*Model // by publisher

	embedding embeddingTable
	drawing   []ImageModel
	ranking   []RankModel
}

// modelName is what a row is found by.
type modelName struct{ publisher, name string }

// DefaultModels returns the table this package ships.
func DefaultModels() *Models {
	m := newModels(slices.Concat(geminiModels(), claudeModels(), openModels()))
	m.embedding = newEmbeddingTable(embeddingModels())
	m.drawing, m.ranking = imageModels(), rankModels()
	return m
}

// newModels indexes rows. Of two rows of the same name the first one counts.
func newModels(rows []Model) *Models {
	m := &Models{rows: rows, byName: make(map[modelName]*Model, len(rows)), newest: map[string]*Model{}}
	for i := range rows {
		r := &rows[i]
		key := modelName{r.Publisher, r.Name}
		if m.byName[key] == nil {
			m.byName[key] = r
		}
		if n := m.newest[r.Publisher]; n == nil || r.Version > n.Version {
			m.newest[r.Publisher] = r
		}
	}
	return m
}

// With returns a table in which the given rows come first: a row with the same
// publisher and name replaces the shipped one.
func (m *Models) With(rows ...Model) *Models {
	kept := slices.DeleteFunc(slices.Clone(m.rows), func(old Model) bool {
		return slices.ContainsFunc(rows, func(r Model) bool {
			return r.Publisher == old.Publisher && r.Name == old.Name
		})
	})
	out := newModels(append(slices.Clone(rows), kept...))
	out.embedding, out.drawing, out.ranking = m.embedding, m.drawing, m.ranking
	return out
}

// All returns the rows.
func (m *Models) All() []Model { return slices.Clone(m.rows) }

// Lookup returns the row for a model of a publisher. When no row knows the
// name, known is false and the row is the publisher's newest, or nil when the
// publisher has none. The row must not be changed.
func (m *Models) Lookup(publisher, name string) (row *Model, known bool) {
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-@") {
		if row := m.byName[modelName{publisher, name[:end]}]; row != nil {
			return row, true
		}
	}
	return m.newest[publisher], false
}
