package front

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Transport answers requests in the process, as the handler of [New] does, without
// a connection or a goroutine: a stream is read from the backend as its body is
// read. Keys and tokens that a request brings are not looked at.
//
// Only the path of a request's URL counts. It is safe for concurrent use.
type Transport struct{ handler *handler }

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns the transport of the backend. The config's keys have no
// meaning here.
func NewTransport(cfg Config, b Backend) *Transport {
	cfg.Keys, cfg.AdminKeys = nil, nil
	h := newHandler(cfg, b)
	h.inside = true
	return &Transport{h}
}

// RoundTrip serves one request. It fails only when the request's context has
// ended before there was an answer; whatever else goes wrong is an answer with
// an error in it, as from a server.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res := &response{head: http.Response{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, 8), Request: r, ContentLength: -1,
	}}
	served := r
	if r.Body == nil {
		served = new(*r)
		served.Body = http.NoBody
	}
	t.handler.ServeHTTP(res, served)
	_ = served.Body.Close()
	if err := r.Context().Err(); err != nil {
		_ = res.body().Close()
		return nil, err
	}
	head := &res.head
	head.Body = res.body()
	if r.Method == http.MethodHead {
		_ = head.Body.Close()
		head.Body = http.NoBody
	}
	head.Status = strconv.Itoa(head.StatusCode) + " " + http.StatusText(head.StatusCode)
	return head, nil
}

// response collects an answer, or what it will be read from.
type response struct {
	head   http.Response
	whole  bytes.Buffer
	source io.ReadCloser
}

var (
	_ http.ResponseWriter = (*response)(nil)
	_ puller              = (*response)(nil)
)

// Header returns the header that is to be sent.
func (r *response) Header() http.Header { return r.head.Header }

// WriteHeader sets the status.
func (r *response) WriteHeader(status int) {
	if r.head.StatusCode == 0 {
		r.head.StatusCode = status
	}
}

// Write adds to the body.
func (r *response) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.whole.Write(p)
}

func (r *response) pull(body io.ReadCloser) { r.source = body }

// body returns what there is to read.
func (r *response) body() io.ReadCloser {
	r.WriteHeader(http.StatusOK)
	if r.source != nil {
		return r.source
	}
	r.head.ContentLength = int64(r.whole.Len())
	return io.NopCloser(&r.whole)
}

// eventBody is a body whose events are made as they are read. Reads belong to one
// goroutine at a time; Close may be called from any, and ends a read that waits.
type eventBody struct {
	ctx    context.Context // of the request
	events events
	ending sync.Once
	closed atomic.Bool

	mu    sync.Mutex    // held by reads
	event *jsonx.Buffer // nil once it was given back
	rest  []byte        // of the event, not read yet
	more  bool
}

func newEventBody(ctx context.Context, ev events) *eventBody {
	return &eventBody{ctx: ctx, events: ev, event: jsonx.GetBuffer(), more: true}
}

// Read reads what is left of an event, or of the next one.
func (b *eventBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.rest) == 0 {
		switch {
		case b.closed.Load():
			return 0, http.ErrBodyReadAfterClose
		case !b.more:
			return 0, bodyEnd(b.events)
		}
		b.event.B, b.more = b.events.next(b.event.B[:0])
		if err := b.ctx.Err(); err != nil { // as of a connection, which would be cut
			b.more = false
			return 0, err
		}
		b.rest = b.event.B
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close ends the stream.
func (b *eventBody) Close() error {
	b.ending.Do(func() {
		b.closed.Store(true)
		b.events.close()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rest = nil
		b.event.Free()
		b.events.free()
	})
	return nil
}
