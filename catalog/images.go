package catalog

import (
	"slices"
	"strings"
)

// ImageModel is what is known of one family of models that draw. A row answers
// for every model whose name is Name or begins with Name and a separator; the
// longest such Name wins.
type ImageModel struct {
	// Publisher is who published the model, such as "google".
	Publisher string
	// Name is the model name, or the beginning of it.
	Name string
	// Family says that the row is about a family only, for names that no other
	// row knows: there is no model of that very name.
	Family bool
	// Method is how the platform is asked.
	Method ImageMethod
	// MaxImages is the most images of one request.
	MaxImages int
	// Draws says that the model takes a prompt alone, and Edits how many images
	// can be changed in one request; 0 is none.
	Draws bool
	Edits int
	// Masks says that a mask can say which part of an image may change.
	Masks bool
	// Ratios are the aspect ratios, such as "16:9".
	Ratios []string
	// Sizes are the platform's words for the length of the edges beside 1K, which
	// is that of all models; nil when there is no choice.
	Sizes []string
	// Formats are the media types of files.
	Formats []string
	// Without lists members of a request that the model does not take although
	// its method has them.
	Without []string
	// Source is the page the row was taken from.
	Source string
}

// ImageMethod is a method of the platform that draws.
type ImageMethod string

// The methods.
const (
	// ImagePredict takes a prompt as the instance of a prediction.
	ImagePredict ImageMethod = "predict"
	// ImageContent is a conversation whose answer has images.
	ImageContent ImageMethod = "generateContent"
)

// Takes reports whether the model takes a member that its method has.
func (m *ImageModel) Takes(member string) bool { return !slices.Contains(m.Without, member) }

// RankModel is what is known of one model that orders documents.
type RankModel struct {
	// Name is the model name, without its @version.
	Name string
	// RecordTokens is the most tokens of a record that are read, title and text
	// together.
	RecordTokens int
	// MaxRecords is the most records of one request.
	MaxRecords int
	// Source is the page the row was taken from.
	Source string
}

// The pages that the rows below were taken from.
const (
	imagenPage     = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api"
	imagenEditPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit"
	rankPage       = "https://cloud.google.com/generative-ai-app-builder/docs/ranking"
)

// What rows have in common. Imagen gives four images a request, in five shapes;
// Gemini gives one.
var (
	imagenRatios   = []string{"1:1", "3:4", "4:3", "9:16", "16:9"}
	geminiRatios   = []string{"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}
	geminiRatios31 = slices.Concat(geminiRatios, []string{"1:4", "4:1", "1:8", "8:1"})
	imageFormats   = []string{"image/png", "image/jpeg"}
)

// imageModels lists the models that draw.
func imageModels() []ImageModel {
	return []ImageModel{
		imagen("imagen-4.0-generate", []string{"2K"}, "negative_prompt"),
		imagen("imagen-4.0-ultra-generate", []string{"2K"}, "negative_prompt"),
		imagen("imagen-4.0-fast-generate", nil, "negative_prompt"),
		imagen("imagen-3.0-generate", nil, "negative_prompt"),
		imagen("imagen-3.0-generate-001", nil),
		imagen("imagen-3.0-fast-generate", nil),
		{
			Publisher: "google", Name: "imagen-3.0-capability", Method: ImagePredict, MaxImages: 4, Edits: 1, Masks: true,
			Formats: imageFormats, Without: []string{"aspect_ratio", "enhance_prompt"}, Source: imagenEditPage,
		},
		geminiImage("gemini-2.5-flash-image", geminiRatios, nil, 3),
		geminiImage("gemini-3-pro-image", geminiRatios, []string{"2K", "4K"}, 14),
		geminiImage("gemini-3.1-flash-image", geminiRatios31, []string{"512", "2K", "4K"}, 14),
		geminiImage("gemini-3.1-flash-lite-image", geminiRatios31, nil, 14),
		geminiImage("gemini-nano-banana-2.1", geminiRatios31, []string{"512", "2K", "4K"}, 14),
		{
			Publisher: "google", Name: familyImagen, Family: true, Method: ImagePredict, MaxImages: 4, Draws: true, Edits: 1, Masks: true,
			Ratios: imagenRatios, Sizes: []string{"2K"}, Formats: imageFormats, Source: imagenPage,
		},
		{
			Publisher: "google", Name: familyDrawn, Family: true, Method: ImageContent, MaxImages: 1, Draws: true, Edits: 14,
			Ratios: geminiRatios, Sizes: []string{"2K", "4K"}, Formats: imageFormats, Source: imagePage,
		},
	}
}

// imagen is a row of a model that draws by predict.
func imagen(name string, sizes []string, without ...string) ImageModel {
	return ImageModel{
		Publisher: "google", Name: name, Method: ImagePredict, MaxImages: 4, Draws: true, Ratios: imagenRatios, Sizes: sizes,
		Formats: imageFormats, Without: without, Source: imagenPage,
	}
}

// geminiImage is a row of a model whose answers have images.
func geminiImage(name string, ratios, sizes []string, edits int) ImageModel {
	return ImageModel{
		Publisher: "google", Name: name, Method: ImageContent, MaxImages: 1, Draws: true, Edits: edits, Ratios: ratios, Sizes: sizes,
		Formats: imageFormats, Source: imagePage,
	}
}

// rankModels lists the models that order documents.
func rankModels() []RankModel {
	const records, short, long = 200, 512, 1024
	return []RankModel{
		{"semantic-ranker-default", long, records, rankPage},
		{"semantic-ranker-fast", long, records, rankPage},
		{"semantic-ranker-default-004", long, records, rankPage},
		{"semantic-ranker-fast-004", long, records, rankPage},
		{"semantic-ranker-default-003", short, records, rankPage},
		{"semantic-ranker-default-002", short, records, rankPage},
		{"semantic-ranker-512", short, records, rankPage},
	}
}

// The rows of families, for names that no row knows.
const (
	familyImagen = "imagen"
	familyDrawn  = "gemini"
)

// WithImages returns a table in which the given rows of models that draw come
// first: a row with the same publisher and name replaces the shipped one.
func (m *Models) WithImages(rows ...ImageModel) *Models {
	kept := slices.DeleteFunc(slices.Clone(m.drawing), func(old ImageModel) bool {
		return slices.ContainsFunc(rows, func(r ImageModel) bool { return r.Publisher == old.Publisher && r.Name == old.Name })
	})
	out := *m
	out.drawing = append(slices.Clone(rows), kept...)
	return &out
}

// WithRankers returns a table in which the given rows of models that order
// documents come first: a row with the same name replaces the shipped one.
func (m *Models) WithRankers(rows ...RankModel) *Models {
	kept := slices.DeleteFunc(slices.Clone(m.ranking), func(old RankModel) bool {
		return slices.ContainsFunc(rows, func(r RankModel) bool { return r.Name == old.Name })
	})
	out := *m
	out.ranking = append(slices.Clone(rows), kept...)
	return &out
}

// Images returns the rows of models that draw.
func (m *Models) Images() []ImageModel { return slices.Clone(m.drawing) }

// Rankers returns the rows of models that order documents.
func (m *Models) Rankers() []RankModel { return slices.Clone(m.ranking) }

// LookupImage returns the row for a model that draws. When no row knows the name,
// known is false and the row is that of the family it belongs to, or nil when it
// belongs to none. The row must not be changed.
func (m *Models) LookupImage(publisher, name string) (row *ImageModel, known bool) {
	for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], "-@") {
		for i := range m.drawing {
			if r := &m.drawing[i]; r.Publisher == publisher && r.Name == name[:end] {
				return r, !r.Family
			}
		}
	}
	return nil, false
}

// LookupRanker returns the row for a model that orders documents, nil for an
// unknown one. The row must not be changed.
func (m *Models) LookupRanker(name string) *RankModel {
	name, _, _ = strings.Cut(name, "@")
	for i := range m.ranking {
		if m.ranking[i].Name == name {
			return &m.ranking[i]
		}
	}
	return nil
}
