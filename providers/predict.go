package providers

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions. Both functions are required and must be safe for concurrent use.
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
}

// Prediction is an answer of a [Predictor].
type Prediction struct {
	// Text is the assistant's text.
	Text string
	// FinishReason is stop, length or content_filter; default stop.
	FinishReason string
	// Usage counts the tokens, nil when nobody did.
	Usage *Usage
}
