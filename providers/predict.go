package providers

// Predictor speaks to a self-deployed endpoint that has predict and does not
// speak the OpenAI schema. Request and Answer are required for chat completions,
// EmbedRequest and Vectors for embeddings. All functions must be safe for
// concurrent use.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/get-online-predictions
type Predictor struct {
	// Request writes the body, such as {"instances":[…],"parameters":{…}}. It
	// must not change or keep the request. What it leaves out of the request is
	// not reported.
	Request func(req *ChatCompletionRequest) ([]byte, error)
	// Answer reads the body that came, such as {"predictions":[…]}. It must not
	// keep the body.
	Answer func(body []byte) (Prediction, error)
	// Chunk reads the data of one event of an event stream: what the server behind
	// the endpoint adds to the text, and FinishReason when it was the last. It must
	// not keep the data. With it, streams are asked for by streamRawPredict, with
	// what Request writes for a request whose Stream is true. Without it, or from a
	// server that answers as a whole, a stream has one piece.
	//
	// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/projects.locations.endpoints/streamRawPredict
	Chunk func(data []byte) (Prediction, error)
	// EmbedRequest writes the body of a request for vectors, such as
	// {"instances":[{"inputs":"…"},…]}: one instance for each element of the
	// input, of which a request has 32 at most unless the endpoint's row of the
	// table of models says otherwise. It must not change or keep the request. What
	// it leaves out of the request is not reported.
	EmbedRequest func(req *EmbeddingRequest) ([]byte, error)
	// Vectors reads the body that came to that, such as {"predictions":[[0.1,…],…]}.
	// It must not keep the body.
	Vectors func(body []byte) (VectorPrediction, error)
}

// VectorPrediction is an answer of a [Predictor] with vectors.
type VectorPrediction struct {
	// Vectors has one element for each of the input, in order. The gateway keeps
	// them.
	Vectors [][]float64
	// Tokens counts those of the input; 0 when nobody did.
	Tokens int64
}

// Prediction is an answer of a [Predictor].
type Prediction struct {
	// Text is the assistant's text.
	Text string
	// FinishReason is stop, length or content_filter; default stop. Of a chunk it
	// says that it was the last: a stream that ends without one, and without the
	// event [DONE], was cut.
	FinishReason string
	// Usage counts the tokens, nil when nobody did.
	Usage *Usage
}
