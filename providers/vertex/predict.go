package vertex

import (
	"bytes"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions. Both functions are required and must be safe for concurrent use.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/get-online-predictions
type Predictor struct {
	// Request writes the body, such as {"instances":[…],"parameters":{…}}. It
	// must not change or keep the request. What it leaves out of the request is
	// not reported.
	Request func(req *providers.ChatCompletionRequest) ([]byte, error)
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
	Usage *providers.Usage
}

// predictFamily speaks predict, which answers as a whole: a stream of it has one
// piece.
type predictFamily struct{ own Predictor }

func (predictFamily) verb(bool) (verb, query string) { return "predict", "" }

func (f predictFamily) encode(in *request, out *outgoing, buf []byte) ([]byte, error) {
	if f.own.Request == nil || f.own.Answer == nil {
		return buf, badPlace("predictors", "a predictor needs both functions, Request and Answer")
	}
	if len(in.chat.Labels)+len(in.target.Labels) > 0 {
		out.add(labelsWarning())
	}
	body, err := f.own.Request(in.chat)
	switch {
	case err != nil:
		return buf, asError(err, providers.ErrInvalidRequest, "the endpoint's predictor refuses the request")
	case !jsonx.Valid(body):
		return buf, badPlace("predictors", "what the predictor's Request wrote is not JSON")
	}
	return append(buf[:0], body...), nil
}

// asError wraps an error of a caller's function, unless it is one of ours.
func asError(err error, code providers.Code, message string) error {
	if _, ok := errors.AsType[*providers.Error](err); ok {
		return err
	}
	return &providers.Error{Code: code, Message: message, Err: err}
}

func (f predictFamily) newDecoder(in *request, _ *outgoing) decoder {
	return &predictDecoder{own: f.own, model: in.model.name, stream: in.stream}
}

// predictDecoder gathers a predict answer, which may be cut into pieces where it
// is read as a stream.
type predictDecoder struct {
	own    Predictor
	model  string
	stream bool
	body   []byte
}

func (d *predictDecoder) push(e sse.Event) ([]*providers.ChatCompletionChunk, error) {
	d.body = append(append(d.body, e.Data...), '\n')
	return nil, nil
}

func (d *predictDecoder) finish() ([]*providers.ChatCompletionChunk, error) {
	body := bytes.TrimSpace(d.body)
	switch valid := jsonx.Valid(body); {
	case !valid && d.stream && (len(body) == 0 || body[0] == '{'):
		return nil, cutError()
	case !valid:
		return nil, unreadable(0, body)
	}
	if raw, ok := jsonx.Lookup(body, "error"); ok {
		e := rawError(0, raw)
		e.Sent = true
		return nil, e
	}
	p, err := d.own.Answer(body)
	if err != nil {
		e := answerError(providers.ErrBadResponse, "the endpoint's predictor can't read the answer")
		e.Err = err
		return nil, e
	}
	finish := openFinish(p.FinishReason)
	delta := providers.Delta{Role: providers.RoleAssistant, Content: p.Text}
	if p.Text != "" {
		delta.ContentBlocks = []providers.ContentBlockDelta{{Delta: providers.TextPart(p.Text)}}
	}
	c := &providers.ChatCompletionChunk{
		ID: "chatcmpl-" + randomID(), Created: time.Now().Unix(), Model: d.model, Provider: providerName,
		Choices: []providers.ChunkChoice{{Delta: delta, FinishReason: finish, NativeFinishReason: p.FinishReason}},
	}
	if p.Usage == nil {
		return []*providers.ChatCompletionChunk{c}, nil
	}
	last := &providers.ChatCompletionChunk{ID: c.ID, Created: c.Created, Model: c.Model, Provider: providerName, Usage: p.Usage}
	return []*providers.ChatCompletionChunk{c, last}, nil
}

func (*predictDecoder) release() {}
