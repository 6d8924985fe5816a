// Package faultproxy stands between a client and a real server on TCP and does to
// their connections what networks do: it delays, stops, cuts and garbles. It serves
// tests only.
package faultproxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy passes connections on to a server.
type Proxy struct {
	// Addr is where it listens.
	Addr string

	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	fault   Fault
	changed chan struct{} // closed when fault changes
	conns   map[net.Conn]struct{}
	closed  bool

	accepted atomic.Int64
}

// Fault is what happens to bytes on their way. The zero value passes them on.
type Fault struct {
	// Delay is before each piece that the server sends.
	Delay time.Duration
	// Frozen stops the bytes of both directions; connections are still accepted.
	Frozen bool
	// CutAfter ends a connection after that many bytes of the server's; 0 never.
	CutAfter int
	// GarbleAfter flips the bits of what the server sends after that many bytes.
	GarbleAfter int
	// Refused closes connections as soon as they are accepted.
	Refused bool
}

// New starts a proxy to the address, which ends with the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, listener: l, changed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Set changes what happens from now on, to connections that are there too.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Accepted counts the connections so far.
func (p *Proxy) Accepted() int { return int(p.accepted.Load()) }

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Set(Fault{Refused: true})
	p.Cut()
	p.running.Wait()
}

func (p *Proxy) now() (Fault, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault, p.changed
}

// keep notes an open connection, and reports whether the proxy still runs.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.accepted.Add(1)
		p.running.Go(func() { p.serve(c) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	if f, _ := p.now(); f.Refused || !p.keep(client) {
		_ = client.Close()
		return
	}
	defer p.drop(client)
	server, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", p.target)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	var up sync.WaitGroup
	up.Go(func() { p.copy(server, client, false) })
	p.copy(client, server, true)
	up.Wait()
}

// copy passes bytes from src to dst until one of them ends, then closes both.
func (p *Proxy) copy(dst, src net.Conn, fromServer bool) {
	defer func() { _ = errors.Join(dst.Close(), src.Close()) }()
	buf, sent := make([]byte, 32<<10), 0
	for {
		n, err := src.Read(buf)
		piece := buf[:n]
		f, changed := p.now()
		for f.Frozen {
			<-changed
			f, changed = p.now()
		}
		if fromServer {
			time.Sleep(f.Delay)
			piece = f.apply(piece, sent)
		}
		if _, werr := dst.Write(piece); err != nil || werr != nil || len(piece) < n || f.Refused {
			return
		}
		sent += n
	}
}

// apply cuts and garbles a piece, before which so many bytes were sent.
func (f *Fault) apply(piece []byte, sent int) []byte {
	if f.GarbleAfter > 0 {
		for i := max(0, f.GarbleAfter-sent); i < len(piece); i++ {
			piece[i] ^= 0x55
		}
	}
	if f.CutAfter > 0 && sent+len(piece) > f.CutAfter {
		return piece[:max(0, f.CutAfter-sent)]
	}
	return piece
}
