package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Payload is a request body in a pooled buffer. It goes back to the pool when
// the call has ended and the transport has closed every reader of it: a
// transport may still read after it has returned an answer. The zero Payload is
// no body.
type Payload struct {
	buf  *jsonx.Buffer
	refs atomic.Int32
}

// Hold takes over the buffer, with one share for the caller. Release gives it
// up, and so does handing the payload to Do.
func (p *Payload) Hold(buf *jsonx.Buffer) {
	p.buf = buf
	p.refs.Store(1)
}

// Bytes returns the body.
func (p *Payload) Bytes() []byte {
	if p == nil || p.buf == nil {
		return nil
	}
	return p.buf.B
}

// Retain adds a user, so that a payload can be sent again.
func (p *Payload) Retain() {
	if p != nil && p.buf != nil {
		p.refs.Add(1)
	}
}

// Release gives one share of the payload up.
func (p *Payload) Release() {
	if p != nil && p.buf != nil && p.refs.Add(-1) == 0 {
		p.buf.Free()
	}
}

// bodyReader reads a payload once and notes that the request is under way.
type bodyReader struct {
	r       bytes.Reader
	sent    *atomic.Bool
	payload *Payload
	mu      sync.Mutex // guards closed
	closed  bool
}

// open readies the reader.
func (b *bodyReader) open() io.ReadCloser {
	b.payload.Retain()
	b.r.Reset(b.payload.Bytes())
	return b
}

// begin keeps the payload for the time of a read, since a transport may close
// the body while it still reads it. It reports whether there is anything to
// read.
func (b *bodyReader) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.payload.Retain()
	b.sent.Store(true)
	return true
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if !b.begin() {
		return 0, http.ErrBodyReadAfterClose
	}
	defer b.payload.Release()
	return b.r.Read(p)
}

// WriteTo lets the transport write the payload without a buffer between.
func (b *bodyReader) WriteTo(w io.Writer) (int64, error) {
	if !b.begin() {
		return 0, http.ErrBodyReadAfterClose
	}
	defer b.payload.Release()
	return b.r.WriteTo(w)
}

// Close gives the transport's share of the payload up.
func (b *bodyReader) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.payload.Release()
	}
	return nil
}

// reopen is the request's GetBody: a transport asks for it when it has to send
// on another connection.
func (c *call) reopen() (io.ReadCloser, error) {
	fresh := &bodyReader{sent: &c.sent, payload: c.reader.payload}
	return fresh.open(), nil
}

// traced is the context of a request without a body, which has no reader that could
// tell when it is under way: it is from the moment its header is written.
func (c *call) traced() context.Context {
	return httptrace.WithClientTrace(c.ctx, &httptrace.ClientTrace{WroteHeaders: c.begun})
}

// followed is the context of a request with a plain body.
func (c *call) followed() context.Context {
	return httptrace.WithClientTrace(c.ctx, &httptrace.ClientTrace{WroteHeaders: c.begun, WroteRequest: c.written})
}

func (c *call) begun() { c.sent.Store(true) }

// written gives up the share of the one who wrote the body. Whoever fails to may
// still hold it, so that its share is never given up and the buffer not used again.
func (c *call) written(info httptrace.WroteRequestInfo) {
	if info.Err == nil {
		c.reader.payload.Release()
	}
}

// plain is the body as the one kind of reader that net/http knows to be in memory. It
// then writes the header and the body at once; before a reader of another type it
// sends the header in a packet of its own. A plain body cannot tell when it is read,
// so this is for transports of which the trace does.
func (c *call) plain() io.ReadCloser {
	c.reader.payload.Retain()
	c.reader.r.Reset(c.reader.payload.Bytes())
	return io.NopCloser(&c.reader.r)
}

// plainAgain is the GetBody of a request with a plain body. The first may still be
// read.
func (c *call) plainAgain() (io.ReadCloser, error) {
	c.reader.payload.Retain()
	return io.NopCloser(bytes.NewReader(c.reader.payload.Bytes())), nil
}
