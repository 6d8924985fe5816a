package front

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// The limits on how slowly a body may come. Without them a client that sends a
// part of one and stays holds a connection and a goroutine for ever: a server's
// ReadHeaderTimeout ends with the headers.
const (
	// bodyIdle is how long a body may pause. A body may be waited for twice as
	// long in all, whatever its size.
	bodyIdle = 30 * time.Second
	// bodyRate is what a body must bring, in bytes, for each second beyond that.
	bodyRate = 1 << 10
)

// timedBody is a request's body with those limits, by the read deadline of the
// connection, or of the stream in HTTP/2. Time in which nobody reads counts for
// nothing. A server with a ReadTimeout has a limit of its own, and writers that
// take no deadline have none.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController // nil where there is no limit
	idle time.Duration
	// paused says that the reader may take its time between two reads, in which
	// no deadline may stand.
	paused bool

	// mu guards what follows: who keeps a file may read on in a goroutine of its own
	// while the request ends.
	mu    sync.Mutex
	left  time.Duration // that may still be waited, if nothing comes
	armed time.Time     // when the deadline was set; zero where there is none
	over  bool          // nothing more will come
	late  bool          // the deadline has passed
	ended bool          // the answer is due
}

// body returns the request's body.
func (c *call) body() *timedBody {
	b := &c.in
	if b.ReadCloser != nil {
		return b
	}
	if b.ReadCloser = c.r.Body; b.ReadCloser == nil {
		b.ReadCloser = http.NoBody
	}
	server, _ := c.r.Context().Value(http.ServerContextKey).(*http.Server)
	if c.inside || c.bodyIdle <= 0 || c.r.ContentLength == 0 || b.ReadCloser == http.NoBody || server != nil && server.ReadTimeout > 0 {
		return b
	}
	b.conn, b.idle, b.left = http.NewResponseController(c.w), c.bodyIdle, 2*c.bodyIdle
	return b
}

// Read reads on, and fails where nothing comes for too long.
func (b *timedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	begin := time.Now()
	if !b.ended {
		b.arm(begin)
	}
	b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += time.Duration(n)*time.Second/bodyRate - time.Since(begin)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.over, b.late = true, true // the deadline stays: the server must not wait for the rest
	case errors.Is(err, io.EOF):
		b.over = true
		b.lift()
	case b.paused:
		b.lift()
	}
	return n, err
}

// arm sets the deadline, unless that was just done: in HTTP/2 it is a message to
// another goroutine.
func (b *timedBody) arm(now time.Time) {
	if b.conn == nil || b.over || now.Sub(b.armed) < b.idle/32 {
		return
	}
	if err := b.conn.SetReadDeadline(now.Add(min(b.idle, b.left))); err != nil {
		b.conn = nil
		return
	}
	b.armed = now
}

// lift takes the deadline back: what the server reads behind the body, to see
// whether the client is there, has no limit.
func (b *timedBody) lift() {
	if b.conn == nil || b.ended || b.armed.IsZero() {
		return
	}
	_ = b.conn.SetReadDeadline(time.Time{}) // as it could be set
	b.armed = time.Time{}
}

// end sets the deadline for the last time, where there is more of the body: the
// server reads some of that before it sends an answer.
func (b *timedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed = (time.Time{}); !b.ended {
		b.left = max(b.left, b.idle)
		b.arm(time.Now())
	}
	b.ended = true
}

func (b *timedBody) isLate() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.late
}

// skipBody reads a body that means nothing to its end, as readBody does.
func (c *call) skipBody() error {
	b := c.body()
	if b.conn == nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(c.w, b, c.maxBody)); err != nil {
		return c.readFailed(err, false)
	}
	return nil
}

func errLate() error {
	return &providers.Error{
		Code: providers.ErrTimeout, StatusCode: http.StatusRequestTimeout,
		Message: "the body did not come in time: send it without long pauses",
	}
}

// Timed bounds how slowly bodies may come for another handler, as those of [New] do. With
// GET and HEAD, where they mean nothing, they are read before it has its turn.
func Timed(next http.Handler) http.Handler {
	return &timed{newHandler(Config{}, nil), next}
}

// timed is immutable.
type timed struct {
	own  *handler
	next http.Handler
}

// ServeHTTP serves one request.
func (h *timed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{handler: h.own, w: w, r: r}
	in := c.body()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if err := c.skipBody(); err != nil {
			in.end()
			c.fail(err)
			return
		}
	}
	read := *r
	read.Body = in
	h.next.ServeHTTP(w, &read)
	in.end()
}

// WithBodyIdle returns a handler of [New] or [Timed] whose bodies may pause for so long,
// for tests that can't wait.
func WithBodyIdle(h http.Handler, idle time.Duration) http.Handler {
	switch old := h.(type) {
	case *handler:
		other := *old
		other.bodyIdle = idle
		return &other
	case *timed:
		other := *old.own
		other.bodyIdle = idle
		return &timed{&other, old.next}
	}
	return h
}
