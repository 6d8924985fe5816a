package vertextest

import (
	"bytes"
	"context"
	"html"
	"maps"
	"net/http"
	"time"
)

// response is a rendered answer. Each event is written and flushed at once; an
// answer that isn't a stream is one event.
type response struct {
	status int
	header http.Header
	events [][]byte
	asIs   bool // given byte for byte
}

// deliver writes a response the way the reply asks for. It returns early when
// ctx ends, and never returns when the reply cuts the connection.
func (s *Server) deliver(ctx context.Context, w http.ResponseWriter, reply Reply, res response) {
	if !pause(ctx, or(reply.delay, s.cfg.latency)) {
		abort()
	}
	maps.Copy(w.Header(), res.header)
	maps.Copy(w.Header(), reply.header)
	w.WriteHeader(res.status)
	d := delivery{ctx: ctx, w: w, flush: http.NewResponseController(w), piece: reply.piece, left: reply.cutBytes}
	for i, event := range res.events {
		if reply.cutEvents != nil && i == *reply.cutEvents {
			break
		}
		if i > 0 && !pause(ctx, or(reply.pace, s.cfg.chunkDelay)) {
			abort()
		}
		d.send(event)
	}
	if reply.cutEvents != nil && *reply.cutEvents <= len(res.events) || d.left != nil && *d.left == 0 {
		d.cut()
	}
}

// or returns what the reply sets, else the server's default.
func or(own *time.Duration, otherwise time.Duration) time.Duration {
	if own != nil {
		return *own
	}
	return otherwise
}

// delivery writes one body.
type delivery struct {
	ctx   context.Context
	w     http.ResponseWriter
	flush *http.ResponseController
	piece int  // bytes per write, 0 for whole events
	left  *int // bytes until the cut, nil for none
}

// send writes one event, in pieces if asked to, and cuts where it has to.
func (d *delivery) send(event []byte) {
	for len(event) > 0 {
		n := len(event)
		if d.piece > 0 {
			n = min(n, d.piece)
		}
		if d.left != nil {
			if n = min(n, *d.left); n == 0 {
				d.cut()
			}
			d.left = new(*d.left - n)
		}
		if _, err := d.w.Write(event[:n]); err != nil || d.ctx.Err() != nil {
			abort()
		}
		_ = d.flush.Flush() // a writer that can't flush just sends later
		event = event[n:]
	}
}

// cut breaks the connection after what has been written.
func (d *delivery) cut() {
	_ = d.flush.Flush()
	abort()
}

// abort ends the request without a proper end of the body. It uses the means
// that net/http provides for it, which its server and Transport understand.
func abort() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // the documented way to break a connection
}

// pageNotFound is the 404 of the front ends, for a path without a route.
func pageNotFound(path string) response {
	const page = "<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error 404 (Not Found)!!1</title>\n" +
		"  <p><b>404.</b> <ins>That’s an error.</ins>\n" +
		"  <p>The requested URL <code>%PATH%</code> was not found on this server.  <ins>That’s all we know.</ins>\n"
	return response{
		status: http.StatusNotFound,
		header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}, "Referrer-Policy": {"no-referrer"}},
		events: [][]byte{bytes.ReplaceAll([]byte(page), []byte("%PATH%"), []byte(html.EscapeString(path)))},
	}
}
