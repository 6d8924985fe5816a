package chaos_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// steadyToken is a token source whose token does not end.
type steadyToken struct{}

func (steadyToken) Token() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "t"}, nil }

// platform is a server on TCP that counts the requests it has read, by the marks
// in their prompts, and does to each connection what a test wants.
type platform struct {
	url string

	listener net.Listener
	tls      *tls.Config // nil for none
	running  sync.WaitGroup

	mu    sync.Mutex
	asked map[string]int
	acts  map[string]act
	other act // for marks without an act
	raw   func(*wire)
	conns map[net.Conn]struct{}
	ended bool
}

// act answers a request, the nth with its mark, counted from 1.
type act func(w *wire, n int)

// wire is the server's end of a connection.
type wire struct {
	net.Conn
	tcp    *net.TCPConn
	reader *bufio.Reader
	header http.Header // of the last request, and its path
	path   string
	closed chan struct{} // closed with the platform
}

// newPlatform starts a platform that ends with the test. Its end fails the test
// when a connection of the client's is still open that it no longer needs.
func newPlatform(t *testing.T) *platform {
	t.Helper()
	return startPlatform(t, nil)
}

func startPlatform(t *testing.T, secure *tls.Config) *platform {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{
		url: "http://" + l.Addr().String(), listener: l, tls: secure,
		asked: map[string]int{}, acts: map[string]act{}, conns: map[net.Conn]struct{}{},
	}
	if secure != nil {
		p.url = "https://" + l.Addr().String()
	}
	closed := make(chan struct{})
	p.running.Go(func() { p.accept(closed) })
	t.Cleanup(func() {
		_ = l.Close()
		close(closed)
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *platform) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *platform) accept(closed chan struct{}) {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns[c] = struct{}{}
		if p.ended {
			_ = c.Close()
		}
		raw := p.raw
		p.mu.Unlock()
		p.running.Go(func() {
			w := &wire{Conn: c, tcp: c.(*net.TCPConn), closed: closed}
			if p.tls != nil {
				w.Conn = tls.Server(c, p.tls)
			}
			w.reader = bufio.NewReader(w.Conn)
			if raw != nil {
				raw(w)
			} else {
				p.serve(w)
			}
			_ = w.Close()
			_ = c.Close()
			p.mu.Lock()
			delete(p.conns, c)
			p.mu.Unlock()
		})
	}
}

// open returns how many connections there are.
func (p *platform) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// left waits until a client that was closed has closed all of its connections.
func (p *platform) left(k *kit) {
	k.t.Helper()
	_ = k.client.Close()
	eventually(k.t, "the client closes its connections", func() bool {
		if k.closeIdle != nil {
			k.closeIdle() // again: one whose stream was just reset was not idle yet
		}
		return p.open() == 0
	})
}

// on sets what happens to requests with the mark.
func (p *platform) on(mark string, a act) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acts[mark] = a
}

// always sets what happens to requests without an act of their mark.
func (p *platform) always(a act) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.other = a
}

// onConn sets what happens to new connections, in place of reading requests.
func (p *platform) onConn(f func(*wire)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raw = f
}

// count returns how many requests with the mark were read.
func (p *platform) count(mark string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[mark]
}

// total returns how many requests were read.
func (p *platform) total() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, of := range p.asked {
		n += of
	}
	return n
}

var markPattern = regexp.MustCompile(`mark[0-9]{7}`)

// arrived counts a request and returns what to do with it.
func (p *platform) arrived(body []byte) (act, int) {
	mark := string(markPattern.Find(body))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[mark]++
	a := p.acts[mark]
	if a == nil {
		a = p.other
	}
	return a, p.asked[mark]
}

// serve reads requests and does to them what is set, until the connection ends.
func (p *platform) serve(w *wire) {
	for {
		req, err := http.ReadRequest(w.reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		w.header, w.path = req.Header, req.URL.Path
		a, n := p.arrived(body)
		if a == nil {
			return
		}
		a(w, n)
	}
}

// reset ends the connection with an RST.
func (w *wire) reset() {
	_ = w.tcp.SetLinger(0)
	_ = w.tcp.Close()
}

// hold waits until the client closes the connection, or the platform ends.
func (w *wire) hold() {
	_, _ = io.Copy(io.Discard, w.reader)
}

// idle keeps the connection, unread, until the test has ended.
func (w *wire) idle(until <-chan struct{}) {
	select {
	case <-until:
	case <-w.closed:
	}
}

// say writes, and ignores that the client has left.
func (w *wire) say(b []byte) { _, _ = w.Write(b) }

// drip sends a byte at a time.
func (w *wire) drip(b []byte, pause time.Duration) {
	for i := range b {
		if _, err := w.Write(b[i : i+1]); err != nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-w.closed:
			return
		}
	}
}

// answer is an act that gives a whole answer on a connection that stays.
func answer(a *recorded) act {
	return func(w *wire, _ int) { w.say(a.bytes("length")) }
}

// refusal is an act that answers with a status and headers, and Google's error.
func refusal(status int, header ...string) act {
	return func(w *wire, _ int) { w.say(refused(status, header...)) }
}

func refused(status int, header ...string) []byte {
	body := `{"error":{"code":` + strconv.Itoa(status) + `,"message":"scripted","status":"` + grpcWords[status] + `"}}`
	out := "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\nContent-Type: application/json\r\n"
	for _, h := range header {
		out += h + "\r\n"
	}
	return []byte(out + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

var grpcWords = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
