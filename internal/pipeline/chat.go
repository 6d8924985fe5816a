package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// Chat runs one chat completion: record(resolve(translate)), then strict.
func (e *Engine) Chat(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	rec := e.recorder(client, call, opChat, req.Model, metadataOf(req))
	given := false
	defer func() {
		if !given { // else the recorder may be another call's by now
			rec.drop()
		}
	}()
	rec.asksChat(call, req)
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(req.AppendJSON(nil))
	}
	out, err := e.guardedChat(ctx, rec, client, call, req)
	if err != nil {
		rec.drop()
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.settled()
	rec.answer(out)
	rec.verdicts()
	out.Meta = rec.record.Meta
	if rec.content != nil {
		rec.response(out.AppendJSON(nil))
	}
	rec.end()
	if rec.strict {
		projectCompletion(out)
	}
	given = true
	e.free(rec)
	return out, nil
}

func (e *Engine) chat(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	plan, err := e.plan(client, call)
	if err != nil {
		return nil, err
	}
	if plan != nil {
		if err := e.check(req); err != nil {
			return nil, err
		}
		return planned(ctx, e, rec, client, call, plan, e.chatRequest(rec, plan, req))
	}
	if err := e.prepare(ctx, rec, client, call, req); err != nil {
		return nil, err
	}
	if p := e.placeOf(&rec.spot, rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict); p != nil {
		p.until(&rec.route)
		return p.completion(ctx, req)
	}
	target := rec.route.target // of its own, since the recorder is used again
	out, err := rec.route.provider.ChatCompletion(ctx, &target, req)
	rec.alone = err == nil
	return out, err
}

// prepare finds what is wrong before anything is sent, and the target.
func (e *Engine) prepare(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) error {
	if err := e.check(req); err != nil {
		return err
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return err
	}
	rec.route.target.Labels = labels(client, call, rec.record.Metadata)
	rec.routed()
	return nil
}

// check finds what is wrong before a target is looked for.
func (e *Engine) check(req *providers.ChatCompletionRequest) error {
	if e.closed.Load() {
		return errClosed()
	}
	return req.Validate()
}

// Stream is one streamed answer on its way to the caller.
type Stream struct {
	reader providers.ChunkReader
	rec    *recorder
	strict bool
	usage  bool // the caller asked for the usage chunk
	first  *providers.ChatCompletionChunk
	lease  *routing.Lease // within a target's limits; nil for none
	taken  bool           // a chunk was given out

	mu  sync.Mutex // guards rec and err, since Close may come from elsewhere
	err error      // how the stream ended, nil while it has not

	over atomic.Bool // err is set: the calls before the end need not wait for mu

	releasing  sync.Once
	releaseErr error
}

// ChatStream opens a streamed chat completion. It waits for the first chunk, so
// that a failure before any output is an error of this call.
func (e *Engine) ChatStream(ctx context.Context, client, call *Settings, req *providers.ChatCompletionRequest) (*Stream, error) {
	rec := newRecorder(client, call, opChat, req.Model, metadataOf(req))
	rec.record.Stream = true
	rec.asksChat(call, req)
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(req.AppendJSON(nil))
	}
	s, err := e.chatStream(ctx, rec, client, call, req)
	if err != nil {
		rec.drop()
		rec.ended()
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	return s, nil
}

func (e *Engine) chatStream(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (*Stream, error) {
	o, err := e.guardedStream(ctx, rec, client, call, req)
	if err != nil {
		return nil, err
	}
	rec.firstChunk(o.first)
	return &Stream{
		reader: o.reader, rec: rec, first: o.first, lease: o.lease, strict: rec.strict,
		usage: req.StreamOptions != nil && req.StreamOptions.IncludeUsage,
	}, nil
}

func (e *Engine) openStream(ctx context.Context, rec *recorder, client, call *Settings, req *providers.ChatCompletionRequest) (opened, error) {
	plan, err := e.plan(client, call)
	if err != nil {
		return opened{}, err
	}
	if plan != nil {
		if err := e.check(req); err != nil {
			return opened{}, err
		}
		return planned(ctx, e, rec, client, call, plan, e.streamRequest(rec, plan, req))
	}
	if err := e.prepare(ctx, rec, client, call, req); err != nil {
		return opened{}, err
	}
	if p := e.placeOf(&rec.spot, rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict); p != nil {
		p.until(&rec.route)
		return p.begin(ctx, req)
	}
	return begin(ctx, &rec.route, req, false)
}

// opened is a stream whose first chunk is there.
type opened struct {
	reader providers.ChunkReader
	first  *providers.ChatCompletionChunk
	lease  *routing.Lease
}

// begin opens a stream on a route. One that is held back is read up to its first
// output, so that what goes wrong before it can be mended elsewhere.
func begin(ctx context.Context, at *route, req *providers.ChatCompletionRequest, held bool) (opened, error) {
	reader, err := at.provider.ChatCompletionStream(ctx, &at.target, req)
	if err == nil && held {
		reader, err = routing.Commit(reader, routing.CommitOptions{})
	}
	if err != nil {
		return opened{}, err
	}
	first, err := reader.Recv()
	if err != nil {
		_ = reader.Close()
		if isEnd(err) {
			err = &providers.Error{Code: providers.ErrEmptyResponse, Message: "the stream has no chunk", Provider: at.target.Provider, Sent: true}
		}
		return opened{}, err
	}
	return opened{reader: reader, first: first}, nil
}

// chatRequest is a chat completion that a plan sends.
func chatRequest[T any](req *providers.ChatCompletionRequest, ask func(context.Context, *route, *providers.ChatCompletionRequest, *routing.Try) (T, error)) request[*providers.ChatCompletionRequest, T] {
	return request[*providers.ChatCompletionRequest, T]{
		req: req, model: req.Model, encode: encodeChat, decode: decodeChat, rename: renameChat, ask: ask,
	}
}

func encodeChat(req *providers.ChatCompletionRequest) ([]byte, error) { return req.AppendJSON(nil) }

func decodeChat(data []byte) (*providers.ChatCompletionRequest, string, error) {
	req := new(providers.ChatCompletionRequest)
	if err := req.UnmarshalJSON(data); err != nil {
		return nil, "", err
	}
	return req, req.Model, req.Validate()
}

func renameChat(req *providers.ChatCompletionRequest, model string) *providers.ChatCompletionRequest {
	own := *req
	own.Model = model
	return &own
}

// completed asks a route for a whole answer.
func completed(ctx context.Context, at *route, req *providers.ChatCompletionRequest, t *routing.Try) (*providers.ChatCompletion, error) {
	out, err := at.provider.ChatCompletion(ctx, &at.target, req)
	if err == nil && out.Usage != nil {
		t.Used(out.Usage.TotalTokens)
	}
	return out, err
}

// heldBack asks a route for a stream that another target may still give, and
// atOnce for one that none else can.
func heldBack(ctx context.Context, at *route, req *providers.ChatCompletionRequest, t *routing.Try) (opened, error) {
	return kept(ctx, at, req, t, true)
}

func atOnce(ctx context.Context, at *route, req *providers.ChatCompletionRequest, t *routing.Try) (opened, error) {
	return kept(ctx, at, req, t, false)
}

// kept opens a stream, and keeps its place within the target's limits until the
// stream has ended.
func kept(ctx context.Context, at *route, req *providers.ChatCompletionRequest, t *routing.Try, held bool) (opened, error) {
	o, err := begin(ctx, at, req, held)
	if err == nil {
		o.lease = t.Keep()
	}
	return o, err
}

// Recv returns the next chunk that the caller is shown. After the first error,
// io.EOF included, each further call repeats it.
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
	if err := s.ended(); err != nil {
		return nil, err
	}
	s.taken = true
	chunk := s.first
	if s.first = nil; chunk == nil {
		var err error
		if chunk, err = s.reader.Recv(); err != nil {
			if isEnd(err) {
				s.keep()
			}
			err = s.end(err)
			_ = s.release() // the caller need not, once the stream has ended
			return nil, err
		}
	}
	return chunk, s.note(chunk)
}

// keep keeps the answer of a stream that has ended as a whole.
func (s *Stream) keep() {
	if s.rec.waiting == nil {
		return
	}
	reason, fault := s.rec.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rec.kept(reason, fault)
	}
}

// ended returns how the stream ended, or nil.
func (s *Stream) ended() error {
	if !s.over.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// note records a chunk, unless the stream was closed meanwhile.
func (s *Stream) note(c *providers.ChatCompletionChunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rec.chunk(c)
	}
	return s.err
}

// Collect reads to the end and returns the whole answer. It is refused once a
// chunk was taken, since the answer would lack it.
func (s *Stream) Collect() (*providers.ChatCompletion, error) {
	if err := s.ended(); err != nil && !isEnd(err) {
		return nil, err
	}
	if s.taken {
		return nil, providers.Invalid("stream", "chunks were taken already: call Collect before Recv, or fold the chunks with an Accumulator")
	}
	var acc providers.Accumulator
	for {
		chunk, err := s.next()
		if isEnd(err) {
			break
		}
		if err == nil {
			if err = acc.Add(chunk); err != nil {
				err = s.end(err)
			}
		}
		if err != nil {
			_ = s.Close()
			return nil, s.withPartial(err, &acc)
		}
	}
	out := acc.Completion()
	out.Meta = s.Meta()
	if s.strict {
		projectCompletion(out)
	}
	return out, nil
}

// withPartial returns the error with what had come of the answer.
func (s *Stream) withPartial(err error, acc *providers.Accumulator) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Partial != nil {
		return err
	}
	part := acc.Completion()
	if len(part.Choices) == 0 {
		return err
	}
	if s.strict {
		projectCompletion(part)
	}
	own := *e // observers have the other one
	own.Partial = part
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = &own
	return s.err
}

// end records the end of the stream once, and returns how it ended.
func (s *Stream) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.rec.ended()
	if s.err = io.EOF; !isEnd(err) {
		s.err = s.rec.fail(err)
	}
	s.over.Store(true)
	s.settle()
	s.rec.end()
	return s.err
}

// settle tells the limits and the health of the target how the stream ended.
func (s *Stream) settle() {
	tokens := int64(0)
	if u := s.rec.record.Usage; u != nil {
		tokens = u.TotalTokens
	}
	err := s.err
	if isEnd(err) {
		err = nil
	}
	s.lease.Done(tokens, err)
}

// isEnd reports whether err is the end of a whole stream. An Error is not, even
// when a connection that ended is its cause.
func isEnd(err error) bool {
	var e *providers.Error
	return errors.Is(err, io.EOF) && !errors.As(err, &e)
}

// Meta says what the gateway did; it is complete once the stream has ended.
func (s *Stream) Meta() providers.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.record.Meta
}

// Strict reports whether what the OpenAI schema does not have is left out.
func (s *Stream) Strict() bool { return s.strict }

// Close ends the stream. It is idempotent.
func (s *Stream) Close() error {
	// The end comes first: the reader may fail by being closed.
	_ = s.end(&providers.Error{Code: providers.ErrCanceled, Message: "the stream was closed before its end", Sent: true})
	return s.release()
}

// release closes the reader, once.
func (s *Stream) release() error {
	s.releasing.Do(func() { s.releaseErr = s.reader.Close() })
	return s.releaseErr
}
