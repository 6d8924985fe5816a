package providers

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions. Request and Answer are required. All functions must be safe for
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
