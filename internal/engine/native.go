package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// betaVersion is the version of the platform's API with what is not in v1 yet.
//
// Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/projects.locations.publishers.models
const betaVersion = "v1beta1"

// Native sends a request in Google's own schema as it is, but for what
// [nativeBody] says, and returns the answer as it came.
func (p *Engine) Native(ctx context.Context, t *providers.Target, req *providers.NativeRequest) (*providers.NativeAnswer, error) {
	c := new(call)
	if err := p.openNative(ctx, t, req, c); err != nil {
		return nil, err
	}
	defer func() { _ = c.res.Close() }()
	var buf jsonx.Buffer // the answer's own: it goes to the caller
	if err := c.res.ReadInto(&buf, p.limit); err != nil {
		return nil, c.named(err)
	}
	look := nativeLook{method: req.Method}
	if err := look.whole(buf.B); err != nil {
		return nil, c.named(err)
	}
	return &providers.NativeAnswer{Body: buf.B, Facts: look.facts(), Meta: providers.Meta{Warnings: c.warnings()}}, nil
}

// NativeStream sends a request for a stream in Google's own schema, and returns
// once the platform has begun to answer.
func (p *Engine) NativeStream(ctx context.Context, t *providers.Target, req *providers.NativeRequest) (providers.NativeEvents, error) {
	s := &nativeStream{look: nativeLook{method: req.Method, stream: true}}
	s.call.in.stream = true
	if err := p.openNative(ctx, t, req, &s.call); err != nil {
		return nil, err
	}
	s.events = sse.NewDecoder(s.call.res, p.limit)
	return s, nil
}

// openNative sends the request.
func (p *Engine) openNative(ctx context.Context, t *providers.Target, req *providers.NativeRequest, c *call) error {
	if err := req.Validate(); err != nil {
		return err
	}
	c.in.target, c.in.site, c.native = t, p.site, true
	m := &c.in.model
	var err error
	if *m, err = p.site.Model(t.Model); err != nil {
		return err
	}
	switch {
	case m.Family != FamilyGemini:
		return badModel("the model is not one that speaks Google's own schema: only models of Gemini, Imagen and Google's embeddings, and what is tuned from them, " +
			"can be asked this way; ask others by POST /v1/chat/completions")
	case m.Own && req.Method == providers.NativeCompute:
		return providers.Invalid("method", "computeTokens is a method of Vertex AI, and the Gemini API has none such")
	}
	if req.Beta && m.Version == "" && !m.Own {
		m.Version = betaVersion
	}
	query := ""
	if c.in.stream {
		query = "alt=sse"
	}
	u, err := p.site.URL(t, m, req.Method, query)
	if err != nil {
		return err
	}
	buf := jsonx.GetBuffer()
	buf.B, err = p.nativeBody(c, req, buf.B)
	c.hold(buf)
	if err != nil {
		c.payload.Release()
		return err
	}
	c.res, err = p.send(ctx, c, u)
	return err
}

// nativeStream reads the events of a streamed answer as the caller pulls them: no
// goroutine, nothing buffered beyond one event.
type nativeStream struct {
	call   call
	events *sse.Decoder // nil after the end, with its buffer
	look   nativeLook
	err    error // how it ended, nil while it has not

	closing  sync.Once
	closeErr error
	mu       sync.Mutex // guards shut, since Close may come from elsewhere
	shut     bool
}

// Recv returns the data of the next event.
func (s *nativeStream) Recv() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	for {
		data, err := s.next()
		if err != nil {
			if s.err = err; !errors.Is(err, io.EOF) || isError(err) {
				s.err = s.call.named(err)
			}
			_ = s.Close()
			s.events = nil
			return nil, s.err
		}
		if data != nil {
			return data, nil
		}
	}
}

// isError reports whether err is an Error, whose cause may be io.EOF.
func isError(err error) bool {
	_, ok := errors.AsType[*providers.Error](err)
	return ok
}

// next reads an event; one that says nothing has no data.
func (s *nativeStream) next() ([]byte, error) {
	e, err := s.events.Next()
	switch {
	case err == nil:
		return s.event(&e)
	case s.isShut():
		return nil, closedError()
	case errors.Is(err, io.EOF) && !isError(err):
		if !s.look.ended() {
			return nil, cutError()
		}
		return nil, io.EOF
	case errors.Is(err, sse.ErrTooLong):
		e := answerError(providers.ErrBadResponse, "an event of the answer is larger than the limit")
		e.Err = err
		return nil, e
	}
	return nil, cutBy(err)
}

func (s *nativeStream) event(e *sse.Event) ([]byte, error) {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || string(data) == sse.Done {
		return nil, nil
	}
	if err := s.look.event(data); err != nil {
		if errors.Is(err, providers.ErrBadResponse) && s.call.res.Ended() && (data[0] == '{' || e.Stray) && !jsonx.Valid(data) {
			return nil, cutError() // within an event
		}
		return nil, err
	}
	if bytes.IndexByte(data, '\n') >= 0 { // between members: a string of JSON has none
		return jsonx.Compact(nil, data), nil
	}
	return data, nil
}

func (s *nativeStream) isShut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shut
}

// Facts are what was read so far.
func (s *nativeStream) Facts() providers.NativeFacts {
	f := s.look.facts()
	f.Warnings = s.call.warnings()
	return f
}

// Close releases the connection. It may be called from another goroutine.
func (s *nativeStream) Close() error {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	s.closing.Do(func() { s.closeErr = s.call.res.Close() })
	return s.closeErr
}

// asItCame puts the platform's own words in the place of what was made of them: who
// speaks its schema reads its errors too.
func asItCame(e *providers.Error, body []byte) {
	r := jsonx.NewReader(body)
	if r.Kind() == jsonx.Array {
		if r.Array(); !r.NextElem() {
			return
		}
	}
	if r.Kind() != jsonx.Object {
		return
	}
	raw, ok := jsonx.Lookup(r.Raw(), "error")
	if !ok {
		return
	}
	var s rpcStatus
	in := jsonx.NewReader(raw)
	if in.Kind() != jsonx.Object {
		return
	}
	if s.decode(&in); in.Err() == nil && s.message != "" {
		e.Message, e.Param = s.message, s.field
	}
}

// nativeRefusal reads the platform's error, in its own words.
func nativeRefusal(status int, header http.Header, body []byte) *providers.Error {
	e := responseError(status, header, body)
	asItCame(e, body)
	return e
}

// labelled reports whether labels made from metadata go into a body.
func labelled(method string) bool {
	return slices.Contains([]string{providers.NativeGenerate, providers.NativeStream}, method)
}
