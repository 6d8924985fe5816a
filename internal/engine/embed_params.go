package engine

import "github.com/b650d4bf/gateway/catalog"

// embedParam is one row of the table of embedding requests: what happens to a
// member on its way to each method, and where it goes.
type embedParam struct {
	name string
	// predict, multimodal and content are the three methods, own is the last of
	// them at the vendor's own service.
	// open is the schema of OpenAI, of its API and of servers like it.
	predict, multimodal, content, own, open embedPlace
	note                                    string
	link                                    string
	// extension says that the member comes beyond the schema's own fields.
	extension bool
}

// embedPlace is what one method does with a member.
type embedPlace struct {
	action action
	wire   string // the member's path in the platform's request
}

const (
	embedPage      = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api"
	multimodalPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api"
	contentPage    = "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.publishers.models/embedContent"
	ownEmbedPage   = "https://ai.google.dev/api/embeddings"
	taskPage       = "https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/task-types"
)

// The places that occur more than once.
var (
	nowhere = embedPlace{warn, ""}
	here    = embedPlace{local, ""}
	inPath  = embedPlace{translate, "(path)"}
)

// embedParams is the table of embedding requests. A member that is in no row is
// unknown to the platform and left out with a warning.
var embedParams = []embedParam{
	{"model", inPath, inPath, inPath, inPath, embedPlace{translate, "model"}, "slug and publisher are taken off; the table of models says which method", embedPage, false},
	{"input", embedPlace{translate, "instances.content"}, embedPlace{translate, "instances.text, image, video"},
		embedPlace{translate, "content.parts"}, embedPlace{translate, "content.parts"}, embedPlace{translate, "input"}, "shared among several requests where one takes fewer", embedPage, false},
	{"dimensions", embedPlace{translate, "parameters.outputDimensionality"}, embedPlace{translate, "parameters.dimension"},
		embedPlace{translate, "embedContentConfig.outputDimensionality"}, embedPlace{translate, "outputDimensionality"}, embedPlace{translate, "dimensions"}, "checked by the table of models; reduced vectors are made unit vectors", embedPage, false},
	{"task_type", embedPlace{translate, "instances.task_type"}, nowhere, embedPlace{translate, "embedContentConfig.taskType"}, embedPlace{translate, "taskType"}, nowhere,
		"an instruction before the text where the model wants that", taskPage, false},
	{"title", embedPlace{translate, "instances.title"}, nowhere, embedPlace{translate, "embedContentConfig.title"}, embedPlace{translate, "title"}, nowhere,
		"with RETRIEVAL_DOCUMENT only; before the text where the model wants that", taskPage, false},
	{"auto_truncate", embedPlace{translate, "parameters.autoTruncate"}, nowhere, embedPlace{translate, "embedContentConfig.autoTruncate"}, nowhere, nowhere,
		"the platform's default is true; what was cut is told in a warning", embedPage, false},
	{"encoding_format", here, here, here, here, embedPlace{forward, "encoding_format"}, "float or base64, of the answer's JSON", embedPage, false},
	{"labels", nowhere, nowhere, nowhere, nowhere, nowhere, "the platform bills embeddings without labels; also those made from metadata", labelsPage, false},
	{"user", here, here, here, here, embedPlace{forward, "user"}, "metadata _user of the call, for observers and logs", labelsPage, false},

	{"parameters", embedPlace{forward, "parameters"}, embedPlace{forward, "parameters"}, nowhere, nowhere, embedPlace{forward, "parameters"},
		"members that have a name of their own here are read as such, for all models", embedPage, true},
	{"output_dimensionality", embedPlace{translate, "parameters.outputDimensionality"}, embedPlace{translate, "parameters.dimension"},
		embedPlace{translate, "embedContentConfig.outputDimensionality"}, embedPlace{translate, "outputDimensionality"}, embedPlace{translate, "dimensions"}, "as dimensions, which wins", embedPage, true},
	{"input_type", embedPlace{translate, "instances.task_type"}, nowhere, embedPlace{translate, "embedContentConfig.taskType"}, embedPlace{translate, "taskType"}, embedPlace{forward, "input_type"},
		"as task_type, which wins; also search_query and search_document", taskPage, true},
	{"document_ocr", nowhere, nowhere, embedPlace{forward, "embedContentConfig.documentOcr"}, nowhere, nowhere, "reads the text of documents", contentPage, true},
	{"audio_track_extraction", nowhere, nowhere, embedPlace{forward, "embedContentConfig.audioTrackExtraction"}, nowhere, nowhere,
		"hears the sound of videos", contentPage, true},
}

// at is what a method does with the member, at the vendor's own service or else
// on Vertex AI.
func (p *embedParam) at(m catalog.EmbeddingMethod, own bool) embedPlace {
	switch {
	case m == catalog.EmbedOpenAI:
		return p.open
	case own:
		return p.own
	case m == catalog.EmbedMultimodal:
		return p.multimodal
	case m == catalog.EmbedContent:
		return p.content
	}
	return p.predict
}

// at is what becomes of the member in the call.
func (e *embedding) at(p *embedParam) embedPlace { return p.at(e.row.Method, e.model.Own) }

// findEmbedParam returns the row of a member, in either case style.
func findEmbedParam(name string) *embedParam {
	for i := range embedParams {
		if p := &embedParams[i]; p.name == name || camel(p.name) == name {
			return p
		}
	}
	return nil
}
