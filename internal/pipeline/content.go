package pipeline

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/providers"
)

// content is what observers see of the prompt and the answer of a call. There is
// none unless one of them wants it.
type content struct {
	wanted []bool // by the place of the observer, those of the client first
	shown  providers.CallContent
	stream fold // what has come of a streamed answer
}

// shows asks the observers whether they want the content of the call, and reports
// whether one does. Operations whose content is of use call it behind start, and
// give the request at once: it is the caller's to change when the call has ended.
//
// Chats, their token counts, embeddings, images, speech and reranking have content;
// text completions and messages are chats. Of vectors, speech and counts there is
// the request alone, and images are left out of the answer that they are in.
func (r *recorder) shows() bool {
	if r.silent {
		return false
	}
	n := 0
	for _, list := range r.observers {
		for _, o := range list {
			if c, ok := o.(providers.ContentObserver); ok && c.WantsContent(r.ctx, r.record.Call) {
				if r.content == nil {
					r.content = &content{wanted: make([]bool, len(r.observers[0])+len(r.observers[1]))}
				}
				r.content.wanted[n] = true
			}
			n++
		}
	}
	return r.content != nil
}

// request keeps the request as JSON. One that can't be written is refused before it
// is sent, and shown to nobody.
func (r *recorder) request(data []byte, err error) {
	if err == nil {
		r.content.shown.Request = data
	}
}

// response keeps the answer as JSON.
func (r *recorder) response(data []byte, err error) {
	if err == nil {
		r.content.shown.Response = data
	}
}

// piece keeps a chunk, in its rich form and with nothing that the caller could
// change.
func (r *recorder) piece(c *providers.ChatCompletionChunk) {
	if r.content != nil {
		r.content.stream.add(answers.Clone(c))
	}
}

// partial keeps what had come of an answer that broke off.
func (r *recorder) partial(e *providers.Error) {
	if r.content != nil && e.Partial != nil {
		r.response(e.Partial.AppendJSON(nil))
	}
}

// tell shows the content to an observer that wants it, the one at place n.
func (r *recorder) tell(o providers.Observer, n int) {
	c := r.content
	if c == nil || !c.wanted[n] {
		return
	}
	if c.shown.Response == nil && c.stream.size > 0 {
		r.response(c.stream.answer.Completion().AppendJSON(nil))
		c.stream = fold{}
	}
	if o, ok := o.(providers.ContentObserver); ok {
		o.CallContent(r.ctx, r.record, c.shown)
	}
}

// showImages is an answer without the files in it.
func showImages(a *providers.ImageResponse) ([]byte, error) {
	own := *a
	own.Data = make([]providers.Image, len(a.Data))
	for i := range a.Data {
		own.Data[i] = a.Data[i]
		if own.Data[i].B64JSON = ""; strings.HasPrefix(own.Data[i].URL, "data:") {
			own.Data[i].URL = ""
		}
	}
	return own.AppendJSON(nil)
}

// showRanks is an answer as it is.
func showRanks(a *providers.RerankResponse) ([]byte, error) { return a.AppendJSON(nil) }
