package vertextest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
)

// Transport returns a round tripper that reaches the server in memory, whatever
// host and scheme a URL names. Response bodies arrive as the server writes them;
// each write waits for the reader. A request ends on the server when its context
// does, when its body is closed, and when it has been read to the end; no
// goroutine is left then. No socket is used, so it works in synctest bubbles.
func (s *Server) Transport() http.RoundTripper { return &memory{s} }

type memory struct{ server *Server }

// RoundTrip serves one request and returns as soon as the head is written.
func (m *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := errors.Join(req.Context().Err(), m.openErr()); err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, cancel := context.WithCancel(req.Context())
	pr, pw := io.Pipe()
	w := &pipeWriter{pipe: pw, header: http.Header{}, head: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() {
		_ = pw.CloseWithError(context.Cause(ctx))
		closeBody(req) // the handler may be reading it
	})
	go func() {
		defer cancel()
		defer closeBody(req)
		defer stop()
		w.serve(m.server, incoming(ctx, req))
	}()
	select {
	case <-w.head:
	case <-ctx.Done():
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	<-w.head // the handler has ended or is about to
	if w.fault != nil {
		return nil, w.fault
	}
	return w.response(req, &pipeBody{pr, cancel}), nil
}

func (m *memory) openErr() error {
	if m.server.isClosed() {
		return errClosed
	}
	return nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// incoming turns a client's request into a server's.
func incoming(ctx context.Context, req *http.Request) *http.Request {
	in := req.Clone(ctx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:1"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Header == nil {
		in.Header = http.Header{}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// pipeWriter is a ResponseWriter that sends its body through a pipe.
type pipeWriter struct {
	pipe   *io.PipeWriter
	header http.Header

	once   sync.Once
	head   chan struct{} // closed once the fields below are set
	status int
	sent   http.Header
	fault  error // why there is no head
}

// serve runs the handler and ends the pipe the way the handler ended.
func (w *pipeWriter) serve(h http.Handler, r *http.Request) {
	defer func() {
		switch fault := recover(); fault {
		case nil:
			w.WriteHeader(http.StatusOK)
			_ = w.pipe.Close()
		case http.ErrAbortHandler:
			w.fail(cmp.Or(context.Cause(r.Context()), io.ErrUnexpectedEOF))
		default:
			w.fail(fmt.Errorf("vertextest: handler: %v", fault))
		}
	}()
	h.ServeHTTP(w, r)
}

// fail ends the response with err, in the head's place when that isn't sent yet.
func (w *pipeWriter) fail(err error) {
	w.once.Do(func() {
		w.fault = err
		close(w.head)
	})
	_ = w.pipe.CloseWithError(err)
}

// Header returns the head to be sent.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader sends the head; only the first call counts.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, maps.Clone(w.header)
		close(w.head)
	})
}

// Write sends the head if need be, then waits until b has been read.
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(b)
}

// Flush sends the head; bodies are never held back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *pipeWriter) response(req *http.Request, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status:        strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.sent,
		Body:          body,
		ContentLength: -1,
		Request:       req,
	}
}

// pipeBody ends the request on the server when it is closed.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close abandons the rest of the body.
func (b *pipeBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	return err
}
