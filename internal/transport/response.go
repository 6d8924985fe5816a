package transport

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Response is an answer whose body is open: it is the body's reader. Read
// errors are *providers.Error. Close must be called; it is idempotent.
type Response struct {
	Status int
	Header http.Header
	// Length is the body's length, -1 when not known.
	Length int64

	body  io.ReadCloser
	call  *call
	ended bool
}

// Read reads, and watches for silence as long as it waits: what the caller does
// between two reads does not count.
func (r *Response) Read(p []byte) (int, error) {
	w := &r.call.watch
	w.wait(r.call.limits.Idle)
	n, err := r.body.Read(p)
	w.rest()
	r.ended = err != nil
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.call.failure(err)
	}
	return n, err
}

// Ended reports whether the last Read found the end of the body, or an error.
func (r *Response) Ended() bool { return r.ended }

// Close ends the call and releases its connection.
func (r *Response) Close() error {
	err := r.body.Close()
	r.call.stop()
	return err
}

// ReadInto reads the whole body, at most limit bytes, into the buffer.
func (r *Response) ReadInto(buf *jsonx.Buffer, limit int) error {
	if want := int(r.Length) + 1; r.Length > 0 && r.Length <= int64(limit) && cap(buf.B) < want {
		buf.B = make([]byte, 0, want)
	}
	buf.B = buf.B[:0]
	for {
		if len(buf.B) == cap(buf.B) {
			buf.B = append(buf.B, 0)[:len(buf.B)]
		}
		n, err := r.Read(buf.B[len(buf.B):cap(buf.B)])
		buf.B = buf.B[:len(buf.B)+n]
		switch {
		case len(buf.B) > limit:
			return tooLarge(limit)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// Drain reads a little of what is left, so that the connection can be used
// again, and closes the body.
func (r *Response) Drain() {
	_, _ = io.CopyN(io.Discard, r, 64<<10)
	_ = r.Close()
}

// plain takes the URL out of a network error: it may carry a query.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func tooLarge(limit int) error {
	size := strconv.Itoa(limit) + " bytes"
	if limit >= 1<<20 {
		size = strconv.Itoa(limit>>20) + " MiB"
	}
	return &providers.Error{
		Code: providers.ErrBadResponse, Sent: true,
		Message: "the platform's answer is larger than the limit of " + size,
	}
}
