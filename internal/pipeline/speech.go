package pipeline

import (
	"context"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

const opSpeech = "speech"

// Speech returns the spoken input as a whole.
func (e *Engine) Speech(ctx context.Context, client, call *Settings, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	out, _, err := serve(ctx, e, client, call, &service[*providers.SpeechRequest, *providers.SpeechResponse]{
		operation: opSpeech, what: "speech", req: req, model: req.Model, user: req.User, check: req.Validate,
		encode: (*providers.SpeechRequest).MarshalJSON, decode: decodeSpeech, rename: renameSpeech, ask: speak,
		meta:  func(a *providers.SpeechResponse) *providers.Meta { return &a.Meta },
		usage: func(a *providers.SpeechResponse) *providers.Usage { return a.Usage },
		bill: func(b *providers.Billed, req *providers.SpeechRequest, _ *providers.SpeechResponse) {
			b.Characters = spokenCharacters(req)
		},
		asks: speechParameters,
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// spokenCharacters counts what is spoken.
func spokenCharacters(req *providers.SpeechRequest) int { return utf8.RuneCountInString(req.Input) }

func decodeSpeech(data []byte) (*providers.SpeechRequest, string, error) {
	req := new(providers.SpeechRequest)
	if err := req.UnmarshalJSON(data); err != nil {
		return nil, "", err
	}
	return req, req.Model, req.Validate()
}

func renameSpeech(req *providers.SpeechRequest, model string) *providers.SpeechRequest {
	own := *req
	own.Model = model
	return &own
}

// speak asks the provider of a route for all of it.
func speak(ctx context.Context, at *route, req *providers.SpeechRequest) (*providers.SpeechResponse, error) {
	p, err := abilityOf[providers.SpeechSynthesizer](at)
	if err != nil {
		return nil, err
	}
	return p.Speech(ctx, &at.target, req)
}

// SpeechStream is speech on its way to the caller, as bytes.
type SpeechStream struct {
	reader providers.SpeechReader
	rec    *recorder
	lease  *routing.Lease // within a target's limits; nil for none
	kind   string
	rest   []byte // of the last piece

	mu  sync.Mutex // guards rec and err, since Close may come from elsewhere
	err error      // how the stream ended, nil while it has not

	releasing  sync.Once
	releaseErr error
}

// spoken is speech whose first piece is there.
type spoken struct {
	reader providers.SpeechReader
	first  *providers.SpeechChunk
	lease  *routing.Lease
	warned []providers.Warning
}

// SpeechStream opens streamed speech. It waits for the first sound, so that a
// failure before it is an error of this call, and so that another target may
// still be asked.
func (e *Engine) SpeechStream(ctx context.Context, client, call *Settings, req *providers.SpeechRequest) (*SpeechStream, error) {
	rec := newRecorder(client, call, opSpeech, req.Model, userMetadata(req.User))
	rec.record.Stream = true
	if rec.observed() {
		rec.record.Parameters = speechParameters(req)
	}
	if ctx = rec.start(ctx); rec.shows() {
		rec.request(req.MarshalJSON())
	}
	o, err := e.openSpeech(ctx, rec, client, call, req)
	if err != nil {
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.begun, rec.record.FirstChunk = true, time.Since(rec.record.Start)
	rec.record.ResponseModel = rec.route.target.Model
	rec.warnings(append(o.warned, o.first.Warnings...))
	rec.usage(o.first.Usage)
	rec.record.Billed.Characters = spokenCharacters(req)
	rec.attempt(nil)
	return &SpeechStream{reader: o.reader, rec: rec, lease: o.lease, kind: o.first.ContentType, rest: o.first.Data}, nil
}

func (e *Engine) openSpeech(ctx context.Context, rec *recorder, client, call *Settings, req *providers.SpeechRequest) (spoken, error) {
	if err := e.allowed(rec); err != nil {
		return spoken{}, err
	}
	if err := req.Validate(); err != nil {
		return spoken{}, err
	}
	plan, err := e.plan(client, call)
	if err != nil {
		return spoken{}, err
	}
	if plan != nil {
		return planned(ctx, e, rec, client, call, plan, request[*providers.SpeechRequest, spoken]{
			req: req, model: req.Model, stream: true, encode: (*providers.SpeechRequest).MarshalJSON, decode: decodeSpeech, rename: renameSpeech,
			ask: func(ctx context.Context, at *route, req *providers.SpeechRequest, t *routing.Try) (spoken, error) {
				o, err := startSpeech(ctx, at, req)
				if err == nil {
					o.lease, o.warned = t.Keep(), unguarded(t, "speech")
				}
				return o, err
			},
		})
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return spoken{}, err
	}
	rec.route.target.Labels = labels(client, call, rec.record.Metadata)
	rec.routed()
	return startSpeech(ctx, &rec.route, req)
}

// startSpeech opens speech on a route and waits for the first piece.
func startSpeech(ctx context.Context, at *route, req *providers.SpeechRequest) (spoken, error) {
	p, err := abilityOf[providers.SpeechSynthesizer](at)
	if err != nil {
		return spoken{}, err
	}
	reader, err := p.SpeechStream(ctx, &at.target, req)
	if err != nil {
		return spoken{}, err
	}
	first, err := firstOf(at, reader, "the answer has no audio")
	if err != nil {
		return spoken{}, err
	}
	return spoken{reader: reader, first: first}, nil
}

// ContentType is the media type of the bytes.
func (s *SpeechStream) ContentType() string { return s.kind }

// Read reads the next bytes. It returns io.EOF only after the whole answer. After
// the first error each further call repeats it.
func (s *SpeechStream) Read(p []byte) (int, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	for len(s.rest) == 0 {
		chunk, err := s.reader.Recv()
		if err != nil {
			err = s.end(err)
			_ = s.release()
			return 0, err
		}
		s.rest = chunk.Data
		s.note(chunk)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *SpeechStream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *SpeechStream) note(c *providers.SpeechChunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rec.usage(c.Usage)
	}
}

// end records the end of the stream once, and returns how it ended.
func (s *SpeechStream) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	var cause error
	if s.err = io.EOF; !isEnd(err) {
		s.err = s.rec.fail(err)
		cause = s.err
	}
	tokens := int64(0)
	if u := s.rec.record.Usage; u != nil {
		tokens = u.TotalTokens
	}
	s.lease.Done(tokens, cause)
	s.rec.end()
	return s.err
}

// Meta says what the gateway did; it is complete once the stream has ended.
func (s *SpeechStream) Meta() providers.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.record.Meta
}

// Usage counts tokens, once they are known; else it is nil.
func (s *SpeechStream) Usage() *providers.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.record.Usage
}

// Close ends the stream. It is idempotent and may be called at any time.
func (s *SpeechStream) Close() error {
	_ = s.end(&providers.Error{Code: providers.ErrCanceled, Message: "the stream was closed before its end", Sent: true})
	return s.release()
}

// release closes the reader, once.
func (s *SpeechStream) release() error {
	s.releasing.Do(func() { s.releaseErr = s.reader.Close() })
	return s.releaseErr
}
