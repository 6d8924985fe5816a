package catalog

import (
	"slices"
	"strings"
)

// EmbeddingModel is what is known of one family of models that embed. A row
// answers for every model whose name is Name or begins with Name and a
// separator; the longest such Name wins.
type EmbeddingModel struct {
	// Publisher is who published the model, such as "google".
	Publisher string
	// Name is the model name, or the beginning of it.
	Name string
	// Family says that the row is about a family only, for names that no other
	// row knows: there is no model of that very name.
	Family bool
	// Method is how the platform is asked.
	Method EmbeddingMethod
	// MaxInputs is the most inputs of one request. What the platform says in a
	// refusal is learnt on top of it.
	MaxInputs int
	// InputTokens is the most tokens of one input, and RequestTokens those of all
	// inputs of a request; 0 when not known.
	InputTokens, RequestTokens int
	// Dimensions is the length of the vectors when nothing is asked for; 0 when
	// not known, and then a wish is not checked.
	Dimensions int
	// MinDimensions is the least length that can be asked for, up to Dimensions.
	// Sizes lists the lengths where not all between are there.
	MinDimensions int
	Sizes         []int
	// Tasks says how the model is told what the vectors are for.
	Tasks EmbeddingTasks
	// Media are the kinds of media that the model embeds beside text: "image",
	// "video", "audio" and "file".
	Media []string
	// Own says that Google's own service has the model too, the Gemini API.
	Own bool
	// Source is the page the row was taken from.
	Source string
}

// EmbeddingMethod is a method of the platform that embeds.
type EmbeddingMethod string

// The methods, each with a body and an answer of its own.
const (
	// EmbedPredict takes texts as instances of a prediction.
	EmbedPredict EmbeddingMethod = "predict"
	// EmbedMultimodal takes instances of text, image and video, and gives each a
	// vector of its own.
	EmbedMultimodal EmbeddingMethod = "predict (multimodal)"
	// EmbedContent takes one content, and several of them as a batch.
	EmbedContent EmbeddingMethod = "embedContent"
	// EmbedOpenAI takes texts or tokens in the OpenAI schema.
	EmbedOpenAI EmbeddingMethod = "embeddings"
)

// EmbeddingTasks is how a model is told what its vectors are for.
type EmbeddingTasks string

// The ways to tell a task.
const (
	// TaskParameter is a parameter of the request.
	TaskParameter EmbeddingTasks = "parameter"
	// TaskPrefix is an instruction before the text.
	TaskPrefix EmbeddingTasks = "prefix"
	// TaskNone is no way at all.
	TaskNone EmbeddingTasks = "none"
)

// Takes reports whether vectors of n dimensions can be asked for.
func (m *EmbeddingModel) Takes(n int) bool {
	switch {
	case len(m.Sizes) > 0:
		return slices.Contains(m.Sizes, n)
	case m.Dimensions == 0:
		return n > 0
	}
	return n >= max(1, m.MinDimensions) && n <= m.Dimensions
}

// embeddingTable indexes the rows.
type embeddingTable struct {
	rows   []EmbeddingModel
	byName map[modelName]*EmbeddingModel
}

func newEmbeddingTable(rows []EmbeddingModel) embeddingTable {
	t := embeddingTable{rows: rows, byName: make(map[modelName]*EmbeddingModel, len(rows))}
	for i := range rows {
		key := modelName{rows[i].Publisher, rows[i].Name}
		if t.byName[key] == nil {
			t.byName[key] = &rows[i]
		}
	}
	return t
}

// WithEmbeddings returns a table in which the given rows come first: a row with
// the same publisher and name replaces the shipped one.
func (m *Models) WithEmbeddings(rows ...EmbeddingModel) *Models {
	kept := slices.DeleteFunc(slices.Clone(m.embedding.rows), func(old EmbeddingModel) bool {
		return slices.ContainsFunc(rows, func(r EmbeddingModel) bool {
			return r.Publisher == old.Publisher && r.Name == old.Name
		})
	})
	out := *m
	out.embedding = newEmbeddingTable(append(slices.Clone(rows), kept...))
	return &out
}

// Embeddings returns the rows of models that embed.
func (m *Models) Embeddings() []EmbeddingModel { return slices.Clone(m.embedding.rows) }

// LookupEmbedding returns the row for a model that embeds; an empty publisher is
// any of the platform's. When no row knows the name, known is false and the row is that of the
// family it seems to belong to, or nil when the table has none. The row must not
// be changed.
func (m *Models) LookupEmbedding(publisher, name string) (row *EmbeddingModel, known bool) {
	t := &m.embedding
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-@") {
		if row := t.find(publisher, name[:end]); row != nil {
			return row, !row.Family
		}
	}
	return t.find("", familyOf(name)), false
}

// find returns the row of a name, or nil.
func (t *embeddingTable) find(publisher, name string) *EmbeddingModel {
	if publisher != "" {
		return t.byName[modelName{publisher, name}]
	}
	for i := range t.rows {
		if t.rows[i].Name == name && t.rows[i].Method != EmbedOpenAI {
			return &t.rows[i]
		}
	}
	return nil
}

// The rows of families, for names that no row knows.
const (
	familyText   = "text-embedding"
	familyGemini = "gemini-embedding"
	familyOpen   = "maas"
)

// familyOf tells the family by the name, as the platform's own clients do.
//
// Source: https://github.com/googleapis/go-genai/blob/main/transformer.go
func familyOf(name string) string {
	switch {
	case strings.Contains(name, "maas"):
		return familyOpen
	case strings.Contains(name, "gemini"):
		return familyGemini
	}
	return familyText
}
