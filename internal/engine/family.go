package engine

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// request is one request on its way to the wire, or one of several that share
// the choices asked for.
type request struct {
	chat   *providers.ChatCompletionRequest
	target *providers.Target
	// site is where the model is.
	site   Site
	model  Model
	stream bool
	// choices is how many of them this request asks for, at least 1.
	choices int
	// distrust says that the platform refused a thought signature: none that
	// the caller gave is sent again.
	distrust bool
	// noBetas are beta features that the platform has refused.
	noBetas []string
	// fetch returns what a URL leads to, for a wire that takes none, by the URL and
	// the media type given for it, or what is wrong; nil fetches nothing.
	fetch func(ref, mime string) (media, string)
	// oneTool says that tools which the model does not take together are refused
	// before anything is sent.
	oneTool bool
	// signatures remembers those of tool calls; nil for nothing.
	signatures *signatures
	issuedBy   string // issuer, once it is known
}

// outgoing is what a family makes of a request besides its body.
type outgoing struct {
	// header goes on top of the target's; nil for none.
	header http.Header
	// remarks say what could not be said.
	remarks
	// audio is the container that audio is wanted in, "" as it comes.
	audio string
	// thinks says that thinking was switched on, for models that do not by
	// themselves.
	thinks bool
}

// translator is the two halves of a wire that models are spoken to on.
type translator interface {
	// verb is the method of the model, with the query it needs.
	verb(stream bool) (verb, query string)
	// encode writes the request body into buf, from its beginning, and returns
	// it.
	encode(in *request, out *outgoing, buf []byte) ([]byte, error)
	// newDecoder returns a decoder for the model's answer.
	newDecoder(in *request, out *outgoing) decoder
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
