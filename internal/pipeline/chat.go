package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/b650d4bf/gateway/providers"
)

// Chat runs one chat completion: record(resolve(translate)), then strict.
func (e *Engine) Chat(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	rec := newRecorder(client, call, "chat", req.Model, false)
	ctx = rec.start(ctx)
	out, err := e.chat(ctx, rec, client, call, req)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.answer(out)
	out.Meta = rec.record.Meta
	rec.end()
	if strict(client, call) {
		projectCompletion(out)
	}
	return out, nil
}

func (e *Engine) chat(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	if err := e.prepare(ctx, rec, client, call, req); err != nil {
		return nil, err
	}
	return rec.route.provider.ChatCompletion(ctx, &rec.route.target, req)
}

// prepare finds what is wrong before anything is sent, and the target.
func (e *Engine) prepare(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) error {
	if e.closed.Load() {
		return errClosed()
	}
	if err := req.Validate(); err != nil {
		return err
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return err
	}
	rec.routed()
	return nil
}

// Stream is one streamed answer on its way to the caller.
type Stream struct {
	reader providers.ChunkReader
	rec    *recorder
	strict bool
	usage  bool // the caller asked for the usage chunk
	first  *providers.ChatCompletionChunk

	mu    sync.Mutex // guards rec and ended, since Close may come from elsewhere
	ended bool
}

// ChatStream opens a streamed chat completion. It waits for the first chunk, so
// that a failure before any output is an error of this call.
func (e *Engine) ChatStream(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*Stream, error) {
	rec := newRecorder(client, call, "chat", req.Model, true)
	ctx = rec.start(ctx)
	s, err := e.chatStream(ctx, rec, client, call, req)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	return s, nil
}

func (e *Engine) chatStream(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*Stream, error) {
	if err := e.prepare(ctx, rec, client, call, req); err != nil {
		return nil, err
	}
	r := &rec.route
	reader, err := r.provider.ChatCompletionStream(ctx, &r.target, req)
	if err != nil {
		return nil, err
	}
	first, err := reader.Recv()
	if err != nil {
		_ = reader.Close()
		if errors.Is(err, io.EOF) {
			err = &providers.Error{Code: providers.ErrEmptyResponse, Message: "the stream has no chunk", Provider: r.target.Provider, Sent: true}
		}
		return nil, err
	}
	rec.firstChunk(first)
	return &Stream{
		reader: reader, rec: rec, first: first, strict: strict(client, call),
		usage: req.StreamOptions != nil && req.StreamOptions.IncludeUsage,
	}, nil
}

// Recv returns the next chunk that the caller is shown.
func (s *Stream) Recv() (*providers.ChatCompletionChunk, error) {
	for {
		chunk, err := s.next()
		if err != nil {
			return nil, err
		}
		if !s.strict || projectChunk(chunk, s.usage) {
			return chunk, nil
		}
	}
}

// next returns the next chunk in its rich form.
func (s *Stream) next() (*providers.ChatCompletionChunk, error) {
	if c := s.first; c != nil {
		s.first = nil
		s.note(c)
		return c, nil
	}
	chunk, err := s.reader.Recv()
	if err != nil {
		return nil, s.end(err)
	}
	s.note(chunk)
	return chunk, nil
}

// note records a chunk, unless the stream was closed meanwhile.
func (s *Stream) note(c *providers.ChatCompletionChunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.rec.chunk(c)
	}
}

// Collect reads to the end and returns the whole answer.
func (s *Stream) Collect() (*providers.ChatCompletion, error) {
	var acc providers.Accumulator
	for {
		chunk, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = acc.Add(chunk)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	out := acc.Completion()
	out.Meta = s.Meta()
	if s.strict {
		projectCompletion(out)
	}
	return out, nil
}

// end records the end of the stream once.
func (s *Stream) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return err
	}
	s.ended = true
	if !errors.Is(err, io.EOF) {
		err = s.rec.fail(err)
	}
	s.rec.end()
	return err
}

// Meta says what the gateway did; it is complete once the stream has ended.
func (s *Stream) Meta() providers.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.record.Meta
}

// Close ends the stream. It is idempotent.
func (s *Stream) Close() error {
	err := s.reader.Close()
	_ = s.end(&providers.Error{Code: providers.ErrCanceled, Message: "the stream was closed before its end", Sent: true})
	return err
}
