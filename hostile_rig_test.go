package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// What the rig has and nobody outside may see, and its key.
const (
	hostileToken  = "canary-platform-token"
	hostileHeader = "canary-platform-header"
	hostileKey    = "canary-gateway-key"
)

// rawConn is a connection whose client has sent its bytes and no more. Reads end with
// io.EOF behind them, but for those of one byte: with one the server waits for the
// client to go while it works, and this client stays.
type rawConn struct {
	mu     sync.Mutex
	woken  *sync.Cond
	in     []byte
	out    bytes.Buffer
	late   bool
	closed chan struct{}
	once   sync.Once
}

func newRawConn(in []byte) *rawConn {
	c := &rawConn{in: in, closed: make(chan struct{})}
	c.woken = sync.NewCond(&c.mu)
	return c
}

func (c *rawConn) ended() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

func (c *rawConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.ended():
			return 0, net.ErrClosed
		case c.late:
			return 0, os.ErrDeadlineExceeded
		case len(c.in) > 0:
			n := copy(p, c.in)
			c.in = c.in[n:]
			return n, nil
		case len(p) != 1:
			return 0, io.EOF
		}
		c.woken.Wait()
	}
}

func (c *rawConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func (c *rawConn) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.closed)
		c.woken.Broadcast()
	})
	return nil
}

func (c *rawConn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = !at.IsZero() && !at.After(time.Now())
	c.woken.Broadcast()
	return nil
}

func (c *rawConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *rawConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *rawConn) SetDeadline(at time.Time) error   { return c.SetReadDeadline(at) }
func (c *rawConn) SetWriteDeadline(time.Time) error { return nil }

// rawListener hands connections to a server.
type rawListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *rawListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *rawListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *rawListener) Addr() net.Addr { return &net.TCPAddr{} }

// rawAnswer is one answer of a connection; head is that of the request that the
// handler had, nil for an answer that net/http gave by itself.
type rawAnswer struct {
	head   *http.Request
	status int
	header http.Header
	body   []byte
}

// hostileRig is an http.Server before a client and the emulator. Nothing is dialled.
type hostileRig struct {
	client   *gateway.Client
	log      *logs.Log
	platform *vertextest.Server
	listener *rawListener
	served   sync.WaitGroup

	mu    sync.Mutex
	heads map[net.Conn][]*http.Request
	sent  []*http.Request // to the platform, without their bodies
	open  int             // bodies of the platform that are not closed yet
	panic []byte          // what the server complains of
}

type rawConnKey struct{}

// newHostileRig serves; stop ends it.
func newHostileRig(opts ...gateway.HandlerOption) (*hostileRig, error) {
	h := &hostileRig{
		platform: vertextest.New(), heads: map[net.Conn][]*http.Request{},
		listener: &rawListener{conns: make(chan net.Conn), done: make(chan struct{})},
	}
	var err error
	if h.log, err = logs.New(logs.Options{Store: logs.NewMemory(1 << 20)}); err != nil {
		return nil, err
	}
	h.client, err = gateway.New(
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken(hostileToken), gateway.WithHeader("X-Own", hostileHeader),
		gateway.WithHTTPClient(&http.Client{Transport: h}), gateway.WithBucket("gs://bucket/team"), gateway.WithLog(h.log),
		gateway.WithPrompts(&shelf{request: &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash"}}),
	)
	if err != nil {
		return nil, err
	}
	handler := h.client.Handler(append(opts, gateway.WithMaxBodyBytes(1<<16), gateway.WithMaxFileBytes(1<<16))...)
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, _ := r.Context().Value(rawConnKey{}).(net.Conn)
			h.mu.Lock()
			h.heads[c] = append(h.heads[c], r)
			h.mu.Unlock()
			handler.ServeHTTP(w, r)
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, rawConnKey{}, c) },
		ErrorLog:    log.New(h, "", 0), MaxHeaderBytes: 1 << 16, ReadHeaderTimeout: time.Minute,
	}
	h.served.Go(func() { _ = srv.Serve(h.listener) })
	return h, nil
}

func (h *hostileRig) stop() error {
	err := errors.Join(h.listener.Close(), h.client.Close(), h.log.Close(context.Background()))
	h.served.Wait()
	h.platform.Close()
	return err
}

// Write notes what the server complains of.
func (h *hostileRig) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.panic = append(h.panic, p...)
	return len(p), nil
}

// RoundTrip notes a request for the platform and counts the bodies of answers.
func (h *hostileRig) RoundTrip(q *http.Request) (*http.Response, error) {
	note := q.Clone(context.Background())
	note.Body = nil
	h.mu.Lock()
	h.sent = append(h.sent, note)
	h.mu.Unlock()
	res, err := h.platform.Transport().RoundTrip(q)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.open++
	h.mu.Unlock()
	res.Body = &countedBody{ReadCloser: res.Body, closed: sync.OnceFunc(func() {
		h.mu.Lock()
		h.open--
		h.mu.Unlock()
	})}
	return res, nil
}

type countedBody struct {
	io.ReadCloser
	closed func()
}

func (b *countedBody) Close() error {
	b.closed()
	return b.ReadCloser.Close()
}

// take returns what was noted since it was last asked.
func (h *hostileRig) take() (sent []*http.Request, open int, complaints string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sent, complaints, open = h.sent, string(h.panic), h.open
	h.sent, h.panic = nil, nil
	return sent, open, complaints
}

// ask sends the bytes and returns the answers, once the server has closed the
// connection.
func (h *hostileRig) ask(t *testing.T, raw []byte) []rawAnswer {
	t.Helper()
	c := newRawConn(raw)
	h.listener.conns <- c
	select {
	case <-c.closed:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection is still open")
	}
	h.mu.Lock()
	heads := h.heads[c]
	delete(h.heads, c)
	h.mu.Unlock()
	c.mu.Lock()
	in := bufio.NewReader(bytes.NewReader(c.out.Bytes()))
	c.mu.Unlock()
	var out []rawAnswer
	for i := 0; ; i++ {
		a := rawAnswer{}
		if i < len(heads) {
			a.head = heads[i]
		}
		if _, err := in.Peek(1); err != nil {
			return out
		}
		res, err := http.ReadResponse(in, a.head)
		for err == nil && res.StatusCode == http.StatusContinue {
			res, err = http.ReadResponse(in, a.head)
		}
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		a.status, a.header = res.StatusCode, res.Header
		if a.body, err = io.ReadAll(res.Body); err != nil {
			t.Fatalf("answer %d has no whole body: %v", i, err)
		}
		_ = res.Body.Close()
		out = append(out, a)
	}
}

// errorOf returns what an answer's error says, in whichever of the three schemas.
func (a *rawAnswer) errorOf(t *testing.T) (code, message string) {
	t.Helper()
	var e struct {
		Error struct {
			Type, Message, Status string
			Code                  any
		}
	}
	if err := json.Unmarshal(a.body, &e); err != nil || e.Error.Message == "" || e.Error.Type+e.Error.Status == "" {
		t.Errorf("status %d, body %q is no error: %v", a.status, a.body, err)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("status %d with the type %q", a.status, got)
	}
	code, _ = e.Error.Code.(string)
	return code, e.Error.Message
}

// rawRequest writes a request out: a line for each header.
func rawRequest(method, target, body string, headers ...string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + target + " HTTP/1.1\r\nHost: gateway.example\r\n")
	for _, line := range headers {
		b.WriteString(line + "\r\n")
	}
	if body != "" {
		b.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}
