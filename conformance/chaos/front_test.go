package chaos_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/front"
)

// newFront serves the kit's client over a socket, with the limits that
// examples/sidecar sets but for the time, which a test does not have.
func newFront(t *testing.T, k *kit) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(k.client.Handler())
	srv.Config.ReadHeaderTimeout = 3 * time.Second
	srv.Config.IdleTimeout = 2 * time.Minute
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// dialFront connects, as a client that writes its bytes by hand.
func dialFront(t *testing.T, srv *httptest.Server) *net.TCPConn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

func frontRequest(mark string, stream bool) string {
	body := frontBody(geminiModel, mark, stream)
	return fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// readFront reads the answer of the front, a byte at a time if slow.
func readFront(c net.Conn, stream bool, pause time.Duration) outcome {
	o := outcome{front: true}
	res, err := http.ReadResponse(bufio.NewReaderSize(slowReader{c, pause}, 16), nil)
	if err != nil {
		o.err = err
		return o
	}
	defer func() { _ = res.Body.Close() }()
	if stream {
		o.events(res.Body)
		return o
	}
	data, err := io.ReadAll(res.Body)
	if o.err = err; err == nil {
		o = completionOf(data)
	}
	return o
}

type slowReader struct {
	io.Reader
	pause time.Duration
}

func (r slowReader) Read(p []byte) (int, error) {
	if r.pause > 0 {
		time.Sleep(r.pause)
		p = p[:1]
	}
	return r.Reader.Read(p)
}

// TestSlowClients send and read a byte at a time.
func TestSlowClients(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint(stream), func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			srv := newFront(t, k)
			s := surfaces[0]
			if stream {
				s = surfaces[1]
			}
			p.always(answer(s.answer))
			sends, reads := newMark(), newMark()
			c := dialFront(t, srv)
			text := frontRequest(sends, stream)
			body := strings.Index(text, "\r\n\r\n") + 4
			_, _ = io.WriteString(c, text[:body])
			for i := range text[body:] {
				_, _ = io.WriteString(c, text[body+i:body+i+1])
				time.Sleep(time.Millisecond)
			}
			k.note(of(t, "client/slow"), sends, readFront(c, stream, 0))
			c = dialFront(t, srv)
			_, _ = io.WriteString(c, frontRequest(reads, stream))
			k.note(of(t, "client/slow"), reads, readFront(c, stream, time.Millisecond))
			k.settle(p.count)
		})
	}
}

// TestClientsThatStop send a part of a request and no more.
func TestClientsThatStop(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, p.url)
	srv := newFront(t, k)
	p.always(answer(geminiUnary))
	text := frontRequest(newMark(), false)
	body := strings.Index(text, "\r\n\r\n") + 4
	each(len(text)/5, func(i int) {
		at := i * 5
		c := dialFront(t, srv)
		_, _ = io.WriteString(c, text[:at])
		if at >= body { // the client leaves; before that, the server ends the wait
			_ = ends[i%2].client(c)
			return
		}
		if _, err := io.Copy(io.Discard, c); isTimeout(err) {
			t.Errorf("after %d bytes of the header: %v", at, err)
		}
	})
	srv.Close() // waits for its handlers
	used.Store("client/stops", true)
	if n := p.total(); n != 0 {
		t.Errorf("%d requests of clients that sent none", n)
	}
	k.settle(p.count)
}

// TestClientsThatStay send a part of a body and no more.
func TestClientsThatStay(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, p.url)
	srv := httptest.NewServer(front.WithBodyIdle(k.client.Handler(), time.Second))
	t.Cleanup(srv.Close)
	p.always(answer(geminiUnary))
	text := frontRequest(newMark(), false)
	body := strings.Index(text, "\r\n\r\n") + 4
	each((len(text)-body+4)/5, func(i int) {
		at := body + i*5
		c := dialFront(t, srv)
		_, _ = io.WriteString(c, text[:at])
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Errorf("after %d bytes: %v", at, err)
			return
		}
		defer func() { _ = res.Body.Close() }()
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(data), `"code":"timeout"`) {
			t.Errorf("after %d bytes: status %d, %v, %s", at, res.StatusCode, err, data)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("after %d bytes: the connection is open, %v", at, err)
		}
	})
	used.Store("client/stays", true)
	if n := p.total(); n != 0 {
		t.Errorf("%d requests of clients that sent none", n)
	}
	k.settle(p.count)
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// client is the end of a client's connection.
func (e end) client(c *net.TCPConn) error {
	if e.name == "reset" {
		_ = c.SetLinger(0)
	}
	return c.Close()
}

// TestClientsThatVanish leave while the platform is at work. Its connection must
// be closed, which the platform waits for, and the log has one canceled call.
func TestClientsThatVanish(t *testing.T) {
	for _, e := range ends {
		for _, row := range []string{"client/gone before", "client/gone within", "client/never reads"} {
			t.Run(row+", "+e.name, func(t *testing.T) {
				t.Parallel()
				p := newPlatform(t)
				k := newKit(t, p.url)
				srv := newFront(t, k)
				mark := newMark()
				asked, gone := make(chan struct{}), make(chan struct{})
				p.on(mark, func(w *wire, _ int) {
					defer close(gone)
					if row != "client/gone before" {
						w.say([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + geminiStream.pieces[0]))
					}
					close(asked)
					if row == "client/never reads" {
						w.flood(geminiStream.pieces[0])
						return
					}
					w.hold()
				})
				c := dialFront(t, srv)
				_, _ = io.WriteString(c, frontRequest(mark, row != "client/gone before"))
				<-asked
				switch row {
				case "client/gone within":
					if _, err := c.Read(make([]byte, 1)); err != nil {
						t.Error(err)
					}
				case "client/never reads":
					time.Sleep(100 * time.Millisecond) // the buffers fill; that they are full is not needed
				}
				_ = e.client(c)
				select {
				case <-gone:
				case <-time.After(patience):
					t.Fatal("the platform's connection is still open")
				}
				srv.Close()
				k.note(of(t, row), mark, outcome{front: true, err: errGone()})
				k.settle(p.count)
				p.left(k)
			})
		}
	}
}

// flood writes until nobody takes it any more.
func (w *wire) flood(event string) {
	block := []byte(strings.Repeat(event, 100))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}
