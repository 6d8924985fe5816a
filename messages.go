package gateway

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/google"
)

// MessagesService speaks the Anthropic schema: bodies of POST /v1/messages and
// Messages, as JSON. Every model that the client reaches can be asked in it. It
// is safe for concurrent use.
//
// Answers always hold the thinking and its signatures; strict compliance is
// about the OpenAI schema and does not matter here. Send an assistant turn back
// as it came: a thinking block may carry the signature of the tool call behind
// it.
//
// Source: https://platform.claude.com/docs/en/api/messages
type MessagesService struct{ client *Client }

// MessageAnswer is a whole answer.
type MessageAnswer struct {
	// Body is the Message as JSON.
	Body []byte
	// Meta says what the gateway did. Its warnings name members of the body that
	// was sent; content[i] is a block of the Message.
	Meta Meta
}

// MessageEvent is one event of a stream.
type MessageEvent struct {
	// Type is the event's name, such as "content_block_delta".
	Type string
	// Data is the event as a JSON object, which has the type too. It is valid
	// until the next event is read.
	Data []byte
}

// Create sends the conversation and returns the whole answer. The caller keeps
// body. One with "stream": true is refused: use CreateStream.
func (s *MessagesService) Create(ctx context.Context, body []byte, opts ...RequestOption) (*MessageAnswer, error) {
	call, req, err := s.prepare(body, opts, messages.Decode)
	if err != nil {
		return nil, err
	}
	if req.Chat.Stream {
		return nil, providers.Invalid("stream", "Create returns the whole answer: use CreateStream for a stream")
	}
	return s.client.message(ctx, call, req)
}

// CreateStream sends the conversation and returns once the answer has begun, so
// that a refusal is an error here and not in the stream. The stream must be read
// to its end or closed. The caller keeps body, whose "stream" does not matter.
func (s *MessagesService) CreateStream(ctx context.Context, body []byte, opts ...RequestOption) (*MessageStream, error) {
	call, req, err := s.prepare(body, opts, messages.Decode)
	if err != nil {
		return nil, err
	}
	stream, err := s.client.messageStream(ctx, call, req)
	if err != nil {
		return nil, err
	}
	return &MessageStream{stream}, nil
}

// CountTokens counts the tokens of the prompt that the body of
// POST /v1/messages/count_tokens makes. The Meta's warnings name what was not
// counted. The caller keeps body.
func (s *MessagesService) CountTokens(ctx context.Context, body []byte, opts ...RequestOption) (*TokenCount, error) {
	call, req, err := s.prepare(body, opts, messages.DecodeCount)
	if err != nil {
		return nil, err
	}
	return s.client.messageTokens(ctx, call, req)
}

func (s *MessagesService) prepare(body []byte, opts []RequestOption, decode func([]byte) (*messages.Request, error)) (*pipeline.Settings, *messages.Request, error) {
	if s.client == nil {
		return nil, nil, errNoClient()
	}
	call, err := s.client.call(opts)
	if err != nil {
		return nil, nil, err
	}
	req, err := decode(body)
	return call, req, err
}

// rich returns the settings of a call with strict compliance off: the schema
// shows what the OpenAI schema does not have.
func rich(call *pipeline.Settings) *pipeline.Settings {
	own := *call
	own.Strict = new(false)
	return &own
}

func (c *Client) message(ctx context.Context, call *pipeline.Settings, req *messages.Request) (*MessageAnswer, error) {
	out, err := c.engine.Chat(ctx, c.settings, rich(call), &req.Chat)
	if err != nil {
		return nil, req.Restate(err)
	}
	body, warnings, err := messages.AppendMessage(nil, out, c.signsThinking(&out.Meta))
	if err != nil {
		return nil, err
	}
	out.Meta.Warnings = append(req.RestateWarnings(out.Meta.Warnings), warnings...)
	return &MessageAnswer{Body: body, Meta: out.Meta}, nil
}

func (c *Client) messageStream(ctx context.Context, call *pipeline.Settings, req *messages.Request) (*messages.Stream, error) {
	s, err := c.engine.ChatStream(ctx, c.settings, rich(call), &req.Chat)
	if err != nil {
		return nil, req.Restate(err)
	}
	meta := s.Meta()
	return messages.NewStream(s, req, c.signsThinking(&meta)), nil
}

func (c *Client) messageTokens(ctx context.Context, call *pipeline.Settings, req *messages.Request) (*TokenCount, error) {
	out, err := c.engine.CountTokens(ctx, c.settings, call, &req.Chat)
	if err != nil {
		return nil, req.Restate(err)
	}
	out.Meta.Warnings = req.RestateWarnings(out.Meta.Warnings)
	return out, nil
}

// signsThinking reports whether the signatures of an answer's thinking are of
// use to who sends it back. Gemini's are not: it is not sent its own thinking.
func (c *Client) signsThinking(m *Meta) bool {
	switch m.Provider {
	case google.Name:
		return false
	case c.platform.Name():
		return c.platform.Publisher(m.Model) != "google"
	}
	return true
}

// MessageStream is a streamed answer in events. Range over Events, or pull with
// Recv. It belongs to one goroutine at a time; only Close may be called from any.
type MessageStream struct{ stream *messages.Stream }

// Recv returns the next event, io.EOF after message_stop, or an *[Error]. After
// the first error each further call repeats it.
func (s *MessageStream) Recv() (MessageEvent, error) {
	e, err := s.stream.Recv()
	return MessageEvent(e), err
}

// Events returns the events for a range loop. It can be ranged over once. An
// error is the last element; leaving the loop closes the stream.
func (s *MessageStream) Events() iter.Seq2[MessageEvent, error] {
	return func(yield func(MessageEvent, error) bool) {
		defer func() { _ = s.Close() }()
		for {
			event, err := s.Recv()
			var e *Error // one that has io.EOF for a cause is not the end
			if errors.Is(err, io.EOF) && !errors.As(err, &e) {
				return
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Meta says what the gateway did for the answer, as far as it is known.
func (s *MessageStream) Meta() Meta { return s.stream.Meta() }

// Close ends the stream and releases its connection. It is idempotent, and
// needed only when the stream was not read to its end.
func (s *MessageStream) Close() error { return s.stream.Close() }
