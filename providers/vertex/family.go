package vertex

import (
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// family is one wire that models are spoken to on.
type family interface {
	// verb is the method of the model, with the query it needs.
	verb(stream bool) (verb, query string)
	// encode writes the request body into buf, from its beginning, and returns
	// it with what could not be said.
	encode(m *model, q *providers.ChatCompletionRequest, buf []byte) ([]byte, []providers.Warning, error)
	// newDecoder returns a decoder for the model's answer. whole says that it
	// comes in one piece.
	newDecoder(m *model, whole bool) decoder
}

// decoder turns the events of one answer into chunks. The same decoder reads a
// whole answer, as a single event.
type decoder interface {
	// push decodes one event. The slice is valid until the next call, the
	// chunks for good.
	push(e sse.Event) ([]*providers.ChatCompletionChunk, error)
	// finish ends the answer: it returns the last chunks, or an error when the
	// answer was cut off.
	finish() ([]*providers.ChatCompletionChunk, error)
	// release gives the decoder's memory up for the next whole answer. Neither
	// the decoder nor its chunks may be used any more.
	release()
}
