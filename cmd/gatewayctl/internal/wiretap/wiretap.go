// Package wiretap shows the requests that leave a client and what comes back, for
// people to read: secrets are redacted, long base64 is shortened.
package wiretap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxKept bounds what is kept of one answer, in bytes.
const maxKept = 4 << 20

// ErrDryRun is what a request that is only shown fails with.
var ErrDryRun = errors.New("dry run: the request was shown, not sent")

// Tap is a round tripper that shows each request before it is sent.
type Tap struct {
	// Next sends the requests; nil sends none of them.
	Next http.RoundTripper
	// Show takes each text, with its line feeds. It is called by one goroutine at a
	// time.
	Show func(text string)
	// Answers says that answers are shown whole, and not their status alone.
	Answers bool
	// Stop is called when a request was not sent.
	Stop context.CancelCauseFunc

	mu        sync.Mutex
	exchanges []*exchange
	secrets   []string
}

// exchange is one request and what came of it.
type exchange struct {
	number   int
	start    time.Time
	took     time.Duration
	status   string
	header   http.Header
	body     bytes.Buffer
	dropped  int
	err      error
	finished bool
}

// RoundTrip shows the request, and sends it.
func (t *Tap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := take(req)
	if err != nil {
		return nil, err
	}
	x := t.begin(req, body)
	if t.Next == nil {
		if t.Stop != nil {
			t.Stop(ErrDryRun)
		}
		return nil, ErrDryRun
	}
	sent := req.Clone(req.Context())
	if body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
		sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	res, err := t.Next.RoundTrip(sent)
	t.mu.Lock()
	defer t.mu.Unlock()
	x.took = time.Since(x.start)
	if err != nil {
		x.err = err
		return nil, err
	}
	x.status, x.header = res.Status, res.Header.Clone()
	res.Body = &watched{ReadCloser: res.Body, tap: t, exchange: x}
	return res, nil
}

// take reads the body of a request, which has none of its own afterwards.
func take(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	return body, errors.Join(err, req.Body.Close())
}

// begin numbers the request and shows it.
func (t *Tap) begin(req *http.Request, body []byte) *exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := &exchange{number: len(t.exchanges) + 1, start: time.Now()}
	t.exchanges = append(t.exchanges, x)
	t.secrets = append(t.secrets, secretsOf(req.Header)...)
	var b strings.Builder
	fmt.Fprintf(&b, "→ request %d: %s %s\n", x.number, req.Method, redactURL(req.URL))
	writeHeader(&b, req.Header)
	writeBody(&b, req.Header.Get("Content-Type"), body)
	t.show(b.String())
	return x
}

// Sent is how many requests there were.
func (t *Tap) Sent() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.exchanges)
}

// Flush shows what came back since it was called last. Answers that are still read
// are shown as far as they have come.
func (t *Tap) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.exchanges {
		if x.finished || t.Next == nil {
			continue
		}
		x.finished = true
		t.show(t.outcome(x))
	}
}

// outcome is the text of an answer.
func (t *Tap) outcome(x *exchange) string {
	var b strings.Builder
	took := x.took.Round(100 * time.Microsecond)
	switch {
	case x.err != nil:
		fmt.Fprintf(&b, "← request %d failed after %s: %s\n", x.number, took, x.err)
	case x.status == "":
		fmt.Fprintf(&b, "← request %d: no answer yet\n", x.number)
	default:
		fmt.Fprintf(&b, "← answer %d: %s after %s\n", x.number, x.status, took)
		if t.Answers {
			writeHeader(&b, x.header)
			writeBody(&b, x.header.Get("Content-Type"), x.body.Bytes())
			if x.dropped > 0 {
				fmt.Fprintf(&b, "  [%d further bytes]\n", x.dropped)
			}
		}
	}
	return b.String()
}

func (t *Tap) show(text string) {
	pairs := make([]string, 0, 2*len(t.secrets))
	for _, s := range t.secrets {
		pairs = append(pairs, s, redacted)
	}
	t.Show(strings.NewReplacer(pairs...).Replace(text))
}

// watched is the body of an answer, of which a copy is kept.
type watched struct {
	io.ReadCloser
	tap      *Tap
	exchange *exchange
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.tap.Answers && n > 0 {
		w.tap.mu.Lock()
		room := min(n, maxKept-w.exchange.body.Len())
		w.exchange.body.Write(p[:room])
		w.exchange.dropped += n - room
		w.tap.mu.Unlock()
	}
	return n, err
}
