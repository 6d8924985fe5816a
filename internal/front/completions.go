package front

import (
	"context"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// CompletionBackend completes texts, and counts the tokens of prompts.
type CompletionBackend interface {
	// Complete returns a whole answer.
	Complete(ctx context.Context, req *providers.CompletionRequest, o *Overrides) (*providers.Completion, error)
	// CompleteStream is that for a stream, which begins as ChatStream's does.
	CompleteStream(ctx context.Context, req *providers.CompletionRequest, o *Overrides) (CompletionStream, error)
	// ChatTokens counts the tokens of the prompt that the request makes.
	ChatTokens(ctx context.Context, req *providers.ChatCompletionRequest, o *Overrides) (*providers.TokenCount, error)
}

// CompletionStream is a streamed text completion. It belongs to the goroutine
// that serves the request.
type CompletionStream interface {
	// Recv returns the next piece, or io.EOF after the last one of a whole
	// answer. It fails when the context that the stream was made with ends.
	Recv() (*providers.Completion, error)
	// Meta says what the gateway did, as far as it is known.
	Meta() providers.Meta
	// Close releases the stream. It is called once, whether or not the stream
	// has ended.
	Close() error
}

// complete serves POST /v1/completions, in the form the body asks for.
func (c *call) complete() error {
	req := new(providers.CompletionRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	if req.Stream {
		return c.completeStream(req)
	}
	out, err := c.backend.Complete(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if buf.B, err = out.AppendJSON(buf.B); err != nil {
		return err
	}
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}

func (c *call) completeStream(req *providers.CompletionRequest) error {
	s, err := c.backend.CompleteStream(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	meta := s.Meta()
	setMeta(c.w.Header(), &meta)
	c.sendEvents(newPieces(s))
	return nil
}

// countChat serves POST /v1/chat/completions/count_tokens, whose body is that of
// a chat completion. The answer has the form that OpenAI's count of a response's
// input has:
//
//	{"object":"chat.completion.input_tokens","input_tokens":11,"by_modality":{"text":11}}
//
// by_modality is left out when the platform does not say.
//
// Source: https://platform.openai.com/docs/api-reference/responses/input-tokens
func (c *call) countChat() error {
	req := new(providers.ChatCompletionRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	out, err := c.backend.ChatTokens(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("object")
	w.String("chat.completion.input_tokens")
	w.Key("input_tokens")
	w.Int(out.TotalTokens)
	if out.BillableCharacters > 0 {
		w.Key("billable_characters")
		w.Int(out.BillableCharacters)
	}
	if len(out.ByModality) > 0 {
		w.Key("by_modality")
		w.BeginObject()
		for _, name := range sortedKeys(out.ByModality) {
			w.AnyKey(name)
			w.Int(out.ByModality[name])
		}
		w.EndObject()
	}
	w.EndObject()
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, w.Bytes())
	return nil
}
