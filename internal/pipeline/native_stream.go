package pipeline

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// NativeStream is a streamed answer in Google's own schema, on its way to the
// caller.
type NativeStream struct {
	events providers.NativeEvents
	rec    *recorder
	lease  *routing.Lease // within a target's limits; nil for none
	first  []byte

	mu    sync.Mutex // guards rec and err, since Close may come from elsewhere
	err   error      // how the stream ended, nil while it has not
	shown []byte     // events with commas before them, for observers

	releasing  sync.Once
	releaseErr error
}

// maxShown bounds what observers see of a stream, in bytes.
const maxShown = 8 << 20

// nativeOpened is a stream whose first event is there.
type nativeOpened struct {
	events providers.NativeEvents
	first  []byte
	lease  *routing.Lease
	warned []providers.Warning
}

// NativeStream opens a stream in Google's own schema. It waits for the first event,
// so that a failure before it is an error of this call, and so that another target
// may still be asked.
func (e *Engine) NativeStream(ctx context.Context, client, call *Settings, req *providers.NativeRequest) (*NativeStream, error) {
	rec := newRecorder(client, call, nativeOperation(req.Method), req.Model, nil)
	rec.record.Stream = true
	ctx = rec.startNative(ctx, req)
	o, err := e.openNative(ctx, rec, client, call, req)
	if err != nil {
		rec.drop()
		err = rec.fail(err)
		rec.end()
		return nil, err
	}
	rec.begun, rec.record.FirstChunk = true, time.Since(rec.record.Start)
	facts := o.events.Facts()
	rec.warnings(slices.Concat(facts.Warnings, o.warned))
	rec.native(&facts)
	rec.attempt(nil)
	return &NativeStream{events: o.events, rec: rec, first: o.first, lease: o.lease}, nil
}

func (e *Engine) openNative(ctx context.Context, rec *recorder, client, call *Settings, req *providers.NativeRequest) (nativeOpened, error) {
	if err := e.allowed(rec); err != nil {
		return nativeOpened{}, err
	}
	if err := checkNative(client, call, req); err != nil {
		return nativeOpened{}, err
	}
	plan, err := e.plan(client, call)
	if err != nil {
		return nativeOpened{}, err
	}
	if plan != nil {
		return planned(ctx, e, rec, client, call, plan, request[*providers.NativeRequest, nativeOpened]{
			req: req, model: req.Model, stream: true, encode: encodeNative, decode: decodeNative, rename: renameNative,
			before: judgeless, share: shareNative,
			ask: func(ctx context.Context, at *route, req *providers.NativeRequest, t *routing.Try) (nativeOpened, error) {
				o, err := startNative(ctx, at, req)
				if err == nil {
					o.lease, o.warned = t.Keep(), unguarded(t, "answer")
				}
				return o, err
			},
		})
	}
	if err := e.resolve(ctx, client, call, req.Model, &rec.route); err != nil {
		return nativeOpened{}, err
	}
	rec.route.target.Labels = labels(client, call, rec.record.Metadata)
	rec.routed()
	if p := e.placeOf(&rec.spot, rec, client, call, cacheOf(client, call, nil), &rec.route, rec.strict); p != nil {
		out, _, err := shareNative(ctx, p, req, func(ctx context.Context, p *place, req *providers.NativeRequest) (nativeOpened, error) {
			return startNative(ctx, p.at, req)
		})
		return out, err
	}
	return startNative(ctx, &rec.route, req)
}

// startNative opens a stream on a route and waits for the first event.
func startNative(ctx context.Context, at *route, req *providers.NativeRequest) (nativeOpened, error) {
	p, err := nativeOf(at)
	if err != nil {
		return nativeOpened{}, err
	}
	events, err := p.NativeStream(ctx, &at.target, req)
	if err != nil {
		return nativeOpened{}, err
	}
	data, err := firstOf(at, events, "the stream has no event")
	if err != nil {
		return nativeOpened{}, err
	}
	return nativeOpened{events: events, first: data}, nil
}

// firstOf waits for the first piece of a stream. One that has none is closed, and the
// message says that it is empty.
func firstOf[T any](at *route, stream interface {
	Recv() (T, error)
	Close() error
}, empty string,
) (T, error) {
	first, err := stream.Recv()
	if err != nil {
		_ = stream.Close()
		if isEnd(err) {
			err = &providers.Error{Code: providers.ErrEmptyResponse, Message: empty, Provider: at.target.Provider, Sent: true}
		}
	}
	return first, err
}

// Recv returns the data of the next event, valid until the next call. After the
// first error, io.EOF included, each further call repeats it.
func (s *NativeStream) Recv() ([]byte, error) {
	if err := s.ended(); err != nil {
		return nil, err
	}
	if data := s.first; data != nil {
		s.first = nil
		s.show(data)
		return data, nil
	}
	data, err := s.events.Recv()
	if err != nil {
		facts := s.events.Facts()
		err = s.end(err, &facts)
		_ = s.release()
		return nil, err
	}
	facts := s.events.Facts()
	s.note(&facts)
	s.show(data)
	return data, nil
}

// note keeps what was read so far, which counts if the stream is closed before its
// end.
func (s *NativeStream) note(facts *providers.NativeFacts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.rec.native(facts)
	}
}

// show keeps an event for observers that want content, as an element of a list.
func (s *NativeStream) show(event []byte) {
	if s.rec.content == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shown)+len(event) > maxShown {
		return
	}
	s.shown = append(append(s.shown, ','), event...)
}

func (s *NativeStream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// end records the end of the stream once, and returns how it ended. The facts are
// nil for a stream that is closed, perhaps while it is read elsewhere.
func (s *NativeStream) end(err error, facts *providers.NativeFacts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if facts != nil {
		s.rec.native(facts)
	}
	var cause error
	if s.err = io.EOF; isEnd(err) {
		if g, ok := s.events.(*nativeGather); ok {
			g.keep()
		}
	} else {
		s.err = s.rec.fail(err)
		cause = s.err
	}
	if len(s.shown) > 0 {
		s.shown[0] = '['
		s.rec.response(append(s.shown, ']'), nil)
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
func (s *NativeStream) Meta() providers.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.record.Meta
}

// Close ends the stream. It is idempotent and may be called at any time.
func (s *NativeStream) Close() error {
	_ = s.end(&providers.Error{Code: providers.ErrCanceled, Message: "the stream was closed before its end", Sent: true}, nil)
	return s.release()
}

// release closes the events, once.
func (s *NativeStream) release() error {
	s.releasing.Do(func() { s.releaseErr = s.events.Close() })
	return s.releaseErr
}

// nativeStreamKind keeps streams, event by event.
var nativeStreamKind = kind[*providers.NativeRequest, *answers.Native]{
	write: answers.WriteNative,
	clone: answers.CloneNative,
	encode: func(k *answers.Kept, a *answers.Native) ([]byte, error) {
		return answers.EncodeNative(k, a), nil
	},
	decode:  answers.DecodeNative,
	meta:    func(a *answers.Native) *providers.Meta { return &a.Meta },
	request: (*answers.Rules).Native,
	answer: func(r *answers.Rules, a *answers.Native) string {
		return r.NativeAnswer(providers.NativeStream, &a.Facts)
	},
}

// shareNative answers a request with a stream that is kept, or opens one that is
// kept at its clean end. Streams under way are shared with nobody.
func shareNative(ctx context.Context, p *place, req *providers.NativeRequest, ask asker[*providers.NativeRequest, nativeOpened]) (nativeOpened, bool, error) {
	if p.excluded(p.rules.Native(req)) {
		out, err := ask(ctx, p, req)
		return out, true, err
	}
	p.stream = true
	p.key = answers.Key(&p.scope, req, nativeStreamKind.write)
	p.begun = p.cache.marks.at(&p.key)
	if !p.refresh {
		if kept, ok := exact(ctx, p, &nativeStreamKind); ok {
			return nativeOpened{first: kept.Events[0], events: &nativeReplay{kept: kept, next: 1}, warned: kept.Meta.Warnings}, false, nil
		}
	}
	p.status(p.missed(), &providers.CacheInfo{})
	own := outlive(p, &nativeStreamKind, req)
	begin := time.Now()
	out, err := ask(ctx, p, own)
	if err != nil {
		return out, true, err
	}
	if p.refresh {
		p.cache.count.Refreshes.Add(1)
	} else {
		p.cache.count.Misses.Add(1)
	}
	g := &nativeGather{NativeEvents: out.events, place: p, begin: begin}
	g.add(out.first)
	out.events = g
	return out, true, nil
}

// nativeReplay is a kept stream.
type nativeReplay struct {
	mu   sync.Mutex
	kept *answers.Native
	next int
}

// Recv returns the data of the next event.
func (r *nativeReplay) Recv() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == len(r.kept.Events) {
		return nil, io.EOF
	}
	r.next++
	return r.kept.Events[r.next-1], nil
}

// Facts are those of the whole answer.
func (r *nativeReplay) Facts() providers.NativeFacts { return r.kept.Facts }

// Close does nothing: there is nothing to release.
func (*nativeReplay) Close() error { return nil }

// nativeGather gathers the events of a stream that is to be kept, up to the size
// that may be.
type nativeGather struct {
	providers.NativeEvents

	place  *place
	begin  time.Time
	events [][]byte
	size   int
}

// Recv returns the data of the next event.
func (g *nativeGather) Recv() ([]byte, error) {
	data, err := g.NativeEvents.Recv()
	if err == nil {
		g.add(data)
	}
	return data, err
}

func (g *nativeGather) add(data []byte) {
	if g.size += len(data); g.size > maxHeld {
		g.events = nil
		return
	}
	g.events = append(g.events, slices.Clone(data))
}

// keep keeps the answer of a stream that has ended as a whole.
func (g *nativeGather) keep() {
	p, rec := g.place, g.place.rec
	if g.size > maxHeld {
		rec.kept("the answer is larger than is kept", nil)
		return
	}
	res, whole := &result{status: p.missed()}, &answers.Native{Facts: g.Facts(), Events: g.events}
	whole.Meta.Warnings = whole.Facts.Warnings
	if err := ready(p, &nativeStreamKind, res, whole, time.Since(g.begin)); err != nil {
		rec.kept("", err)
		return
	}
	rec.waiting = &pending{place: p, result: res}
	rec.settled()
}
