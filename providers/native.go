package providers

import (
	"context"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// The methods of models in Google's own schema that go through the gateway as they
// are.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/projects.locations.publishers.models
// and https://ai.google.dev/api/generate-content
const (
	NativeGenerate   = "generateContent"
	NativeStream     = "streamGenerateContent"
	NativeCount      = "countTokens"
	NativeCompute    = "computeTokens"
	NativeEmbed      = "embedContent"
	NativeBatchEmbed = "batchEmbedContents"
	NativePredict    = "predict"
)

// NativeRequest is a request in Google's own schema.
type NativeRequest struct {
	// Model is the model reference, as everywhere.
	Model string
	// Method is one of the methods that the package names.
	Method string
	// Beta asks for the beta version of the platform's API.
	Beta bool
	// Body is the JSON object that goes to the platform. It must not change while
	// the call is under way.
	Body []byte
}

// Validate finds what is wrong before anything is sent. The body itself is the
// platform's to judge.
func (q *NativeRequest) Validate() error {
	if q.Model == "" {
		return Invalid("model", "is required")
	}
	switch q.Method {
	case NativeGenerate, NativeStream, NativeCount, NativeCompute, NativeEmbed, NativeBatchEmbed, NativePredict:
	default:
		return Invalid("method", "is none that goes through the gateway")
	}
	if r := jsonx.NewReader(q.Body); r.Kind() != jsonx.Object {
		return Invalid("", "the body must be a JSON object, as Google's schema has it")
	}
	return nil
}

// AppendJSON appends the body with the model reference as its member model, which is
// how conditions of a config see the request.
func (q *NativeRequest) AppendJSON(dst []byte) ([]byte, error) {
	if !jsonx.Valid(q.Body) {
		return dst, Invalid("", "the body is not valid JSON")
	}
	w := writer(nil)
	w.String(q.Model)
	body := slices.Clip(jsonx.DeleteMember(q.Body, "model")) // or the caller's would be written to
	return append(dst, jsonx.AppendMember(body, "model", w.Bytes())...), nil
}

// NativeFacts are what the gateway reads of an answer in Google's own schema.
type NativeFacts struct {
	// ID and Model are the platform's.
	ID, Model string
	// FinishReason is the first candidate's, in the words of the OpenAI schema:
	// content_filter for a prompt that was blocked, "" where none has come, or where
	// answers have none.
	FinishReason string
	// NativeFinishReason is the platform's own word: the first candidate's, or that
	// of another one which did not just stop, where the first one did.
	NativeFinishReason string
	// Sources says that the answer rests on sources that were looked up.
	Sources bool
	// Searches and Maps are as in [Billed].
	Searches int
	Maps     bool
	// Warnings are those of a stream; a whole answer has them in its Meta.
	Warnings []Warning
	// Usage counts as the OpenAI schema does; nil where the answer does not tell.
	Usage *Usage
}

// NativeAnswer is a whole answer in Google's own schema.
type NativeAnswer struct {
	// Body is what came, byte for byte.
	Body  []byte
	Facts NativeFacts
	// Meta says what the gateway did.
	Meta Meta
}

// NativeEvents yields the events of one streamed answer in order.
type NativeEvents interface {
	// Recv returns the data of the next event, valid until the next call. It returns
	// io.EOF only behind a whole answer; one that was cut off ends in an [Error].
	// After the first error each further call repeats it.
	Recv() ([]byte, error)
	// Facts are what was read so far.
	Facts() NativeFacts
	// Close ends the stream and releases its connection. It is idempotent and may be
	// called at any time.
	Close() error
}

// NativeGenerator is a provider whose models can be asked in Google's own schema.
// What the gateway changes of a body is told where the provider implements it: names
// of models, and labels that were made from metadata.
type NativeGenerator interface {
	Provider
	// Native sends a request whose method answers whole.
	Native(ctx context.Context, t *Target, req *NativeRequest) (*NativeAnswer, error)
	// NativeStream sends a request whose method is [NativeStream], and returns once
	// the platform has begun to answer.
	NativeStream(ctx context.Context, t *Target, req *NativeRequest) (NativeEvents, error)
}
