package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// protocols starts a server for each version of HTTP, and a client of its own.
func protocols(t *testing.T, h http.HandlerFunc, run func(t *testing.T, c *Client, u *url.URL)) {
	t.Helper()
	for version := 1; version <= 2; version++ {
		t.Run("HTTP/"+strconv.Itoa(version), func(t *testing.T) {
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != version {
					t.Errorf("it is asked over %s", r.Proto)
				}
				h(w, r)
			}))
			srv.EnableHTTP2 = version == 2
			srv.StartTLS()
			defer srv.Close()
			c := New(nil, 5*time.Second)
			defer c.CloseIdle()
			c.owned.TLSClientConfig = &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
			u, err := url.Parse(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			run(t, c, u)
		})
	}
}

func held(text string) *Payload {
	buf := jsonx.GetBuffer()
	buf.B = append(buf.B, text...)
	p := new(Payload)
	p.Hold(buf)
	return p
}

// TestASentBodyGoesBackToThePool is what keeps a client from taking memory for each
// body.
func TestASentBodyGoesBackToThePool(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	protocols(t, func(_ http.ResponseWriter, r *http.Request) {
		if data, err := io.ReadAll(r.Body); string(data) != text || err != nil {
			t.Errorf("%d bytes arrived: %v", len(data), err)
		}
	}, func(t *testing.T, c *Client, u *url.URL) {
		for range 20 {
			p := held(text)
			res, err := c.Do(t.Context(), &Request{URL: u, Header: http.Header{}, Body: p})
			if err != nil {
				t.Fatal(err)
			}
			res.Drain()
			// An answer may be there before the one who wrote says that it is done.
			for deadline := time.Now().Add(10 * time.Second); p.refs.Load() != 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d shares of the payload are left", p.refs.Load())
				}
			}
		}
	})
}

// TestAnEmptyBodyIsGivenUpOnce sends one twice, as after a token that was refused.
func TestAnEmptyBodyIsGivenUpOnce(t *testing.T) {
	protocols(t, func(http.ResponseWriter, *http.Request) {}, func(t *testing.T, c *Client, u *url.URL) {
		p := held("")
		for range 2 {
			p.Retain()
			res, err := c.Do(t.Context(), &Request{URL: u, Header: http.Header{}, Body: p})
			if err != nil {
				t.Fatal(err)
			}
			res.Drain()
		}
		if n := p.refs.Load(); n != 1 {
			t.Errorf("%d shares are left, want the caller's", n)
		}
	})
}

// TestABodyIsKeptForOneWhoStillSendsIt answers before the request was read, and reads
// it when the call has ended. What is sent then must not be what another call wrote.
func TestABodyIsKeptForOneWhoStillSendsIt(t *testing.T) {
	text := strings.Repeat("0123456789", 400_000)
	ended := make(chan struct{})
	protocols(t, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-ended
		piece := make([]byte, 1<<16)
		for {
			n, err := r.Body.Read(piece)
			if bytes.IndexByte(piece[:n], '#') >= 0 {
				t.Error("what another call wrote is sent")
			}
			if err != nil {
				break
			}
		}
		ended <- struct{}{}
	}, func(t *testing.T, c *Client, u *url.URL) {
		for range 5 {
			res, err := c.Do(t.Context(), &Request{URL: u, Header: http.Header{}, Body: held(text)})
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Close()
			for range 64 {
				defer spoilt().Free()
			}
			ended <- struct{}{}
			<-ended
		}
	})
}

// spoilt takes a buffer from the pool and writes over all of it.
func spoilt() *jsonx.Buffer {
	b := jsonx.GetBuffer()
	b.B = b.B[:cap(b.B)]
	for i := range b.B {
		b.B[i] = '#'
	}
	b.B = b.B[:0]
	return b
}

// written is a connection that keeps what is written, piece by piece.
type written struct {
	net.Conn
	pieces []string
}

func (w *written) Write(p []byte) (int, error) {
	w.pieces = append(w.pieces, string(p))
	return w.Conn.Write(p)
}

func TestHeaderAndBodyAreOnePacket(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer srv.Close()
	c := New(nil, 5*time.Second)
	defer c.CloseIdle()
	var conn written
	dial := c.owned.DialContext
	c.owned.DialContext = func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		conn.Conn, err = dial(ctx, network, address)
		return &conn, err
	}
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(t.Context(), &Request{URL: u, Header: http.Header{}, Body: held("the whole body")})
	if err != nil {
		t.Fatal(err)
	}
	res.Drain()
	if len(conn.pieces) != 1 || !strings.HasSuffix(conn.pieces[0], "\r\n\r\nthe whole body") {
		t.Errorf("it was written as %q", conn.pieces)
	}
}

// TestWhetherAPlainBodyWasSent cuts the connection before the request is on its way,
// and after.
func TestWhetherAPlainBodyWasSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_ = conn.Close()
		}
	}()
	c := New(nil, 5*time.Second)
	defer c.CloseIdle()
	for _, sent := range []bool{true, false} {
		if !sent {
			_ = listener.Close()
		}
		_, err = c.Do(t.Context(), &Request{URL: &url.URL{Scheme: "http", Host: listener.Addr().String()}, Header: http.Header{}, Body: held("body")})
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Sent != sent || e.Code != providers.ErrConnection {
			t.Errorf("sent %t: %v", sent, err)
		}
	}
}
