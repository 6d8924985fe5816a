package catalog

// The pages that the rows below were taken from.
const (
	textEmbedPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings"
	embedContPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/embedding-2"
	multiEmbedPage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings"
	openEmbedPage   = "https://cloud.google.com/vertex-ai/generative-ai/docs/maas/use-open-models"
	openaiEmbedPage = "https://platform.openai.com/docs/api-reference/embeddings/create"
	embedMethodPage = "https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.publishers.models/embedContent"
)

// The limits of the text models: inputs of a request, and tokens of one.
const (
	textInputs  = 250
	textTokens  = 2048
	textRequest = 20_000
)

// embeddingModels lists the models that embed.
//
// For gemini-embedding-001 one page says both 250 inputs and 1; the most is tried,
// and a refusal is learnt.
func embeddingModels() []EmbeddingModel {
	return []EmbeddingModel{
		textEmbedding("text-embedding-004", 768),
		textEmbedding("text-embedding-005", 768),
		textEmbedding("text-multilingual-embedding-002", 768),
		ownToo(textEmbedding("gemini-embedding-001", 3072)),
		{
			Publisher: "google", Name: "gemini-embedding-2", Method: EmbedContent, MaxInputs: 100, InputTokens: 8192,
			Dimensions: 3072, MinDimensions: 128, Tasks: TaskPrefix, Own: true,
			Media: []string{"image", "video", "audio", "file"}, Source: embedContPage,
		},
		{
			Publisher: "google", Name: "multimodalembedding", Method: EmbedMultimodal, MaxInputs: 1, InputTokens: 32,
			Dimensions: 1408, Sizes: []int{128, 256, 512, 1408}, Tasks: TaskNone,
			Media: []string{"image", "video"}, Source: multiEmbedPage,
		},
		openEmbedding("intfloat", "multilingual-e5-small-maas", 384),
		openEmbedding("intfloat", "multilingual-e5-large-instruct-maas", 1024),
		openaiEmbedding("text-embedding-3-small", 1536, 1),
		openaiEmbedding("text-embedding-3-large", 3072, 1),
		openaiEmbedding("text-embedding-ada-002", 1536, 1536),
		{
			Publisher: "google", Name: familyText, Family: true, Method: EmbedPredict, MaxInputs: textInputs,
			RequestTokens: textRequest, Tasks: TaskParameter, Source: textEmbedPage,
		},
		{
			Publisher: "google", Name: familyGemini, Family: true, Method: EmbedContent, MaxInputs: 100, Tasks: TaskPrefix,
			Media: []string{"image", "video", "audio", "file"}, Source: embedContPage,
		},
		{
			Publisher: "google", Name: familyOpen, Family: true, Method: EmbedContent, MaxInputs: 1, Tasks: TaskParameter,
			Source: embedMethodPage,
		},
	}
}

// textEmbedding is a row of a model for texts, spoken to by predict.
func textEmbedding(name string, dimensions int) EmbeddingModel {
	return EmbeddingModel{
		Publisher: "google", Name: name, Method: EmbedPredict, MaxInputs: textInputs, InputTokens: textTokens,
		RequestTokens: textRequest, Dimensions: dimensions, MinDimensions: 1, Tasks: TaskParameter, Source: textEmbedPage,
	}
}

// ownToo is the row of a model that Google's own service has too.
func ownToo(m EmbeddingModel) EmbeddingModel {
	m.Own = true
	return m
}

// The limits of OpenAI's API: inputs of a request, tokens of one, and of all.
const (
	openaiInputs  = 2048
	openaiTokens  = 8192
	openaiRequest = 300_000
)

// openaiEmbedding is a row of a model of OpenAI's own API.
func openaiEmbedding(name string, dimensions, least int) EmbeddingModel {
	return EmbeddingModel{
		Publisher: "openai-api", Name: name, Method: EmbedOpenAI, MaxInputs: openaiInputs, InputTokens: openaiTokens,
		RequestTokens: openaiRequest, Dimensions: dimensions, MinDimensions: least, Tasks: TaskNone, Source: openaiEmbedPage,
	}
}

// openEmbedding is a row of an open model that the platform serves.
func openEmbedding(publisher, name string, dimensions int) EmbeddingModel {
	return EmbeddingModel{
		Publisher: publisher, Name: name, Method: EmbedContent, MaxInputs: 1, InputTokens: 512,
		Dimensions: dimensions, MinDimensions: 1, Tasks: TaskParameter, Source: openEmbedPage,
	}
}
