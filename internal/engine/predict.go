package engine

import (
	"bytes"
	"errors"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// predictFamily speaks predict, which answers as a whole, and streamRawPredict to
// servers whose events can be read. Else a stream has one piece.
type predictFamily struct{ own *providers.Predictor }

func (f predictFamily) verb(stream bool) (verb, query string) {
	if stream && f.own.Chunk != nil {
		return "streamRawPredict", ""
	}
	return "predict", ""
}

func (f predictFamily) encode(in *request, out *outgoing, buf []byte) ([]byte, error) {
	if f.own.Request == nil || f.own.Answer == nil {
		return buf, badPredictor("a predictor needs both functions, Request and Answer")
	}
	if len(in.chat.Labels)+len(in.target.Labels) > 0 {
		out.add(labelsWarning())
	}
	chat := in.chat
	if in.stream && f.own.Chunk != nil && !chat.Stream {
		own := *chat
		own.Stream, chat = true, &own
	}
	body, err := f.own.Request(chat)
	switch {
	case err != nil:
		return buf, asError(err, providers.ErrInvalidRequest, "the endpoint's predictor refuses the request")
	case !jsonx.Valid(body):
		return buf, badPredictor("what the predictor's Request wrote is not JSON")
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
	whole := &predictDecoder{own: f.own, model: in.model.Name, stream: in.stream}
	if in.stream && f.own.Chunk != nil {
		return &predictStream{whole: whole}
	}
	return whole
}

// predictDecoder gathers a predict answer, which may be cut into pieces where it
// is read as a stream.
type predictDecoder struct {
	own    *providers.Predictor
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
	if err := predictError(body); err != nil {
		return nil, err
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
		ID: "chatcmpl-" + randomID(), Created: time.Now().Unix(), Model: d.model,
		Choices: []providers.ChunkChoice{{Delta: delta, FinishReason: finish, NativeFinishReason: p.FinishReason}},
	}
	if p.Usage == nil {
		return []*providers.ChatCompletionChunk{c}, nil
	}
	last := &providers.ChatCompletionChunk{ID: c.ID, Created: c.Created, Model: c.Model, Usage: p.Usage}
	return []*providers.ChatCompletionChunk{c, last}, nil
}

func (*predictDecoder) release() {}

func badPredictor(message string) error { return badSetting("predictors", message) }

// badSetting refuses what the client was made with.
func badSetting(param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: param, Message: message}
}
