package chaos_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/b650d4bf/gateway"
)

// peer is the platform's end of an HTTP/2 connection.
type peer struct {
	*wire
	frames  *http2.Framer
	streams map[uint32]*bytes.Buffer
	ask     func(x *exchange)
}

// exchange is a request that a peer has read whole, the nth with its mark.
type exchange struct {
	*peer
	stream uint32
	mark   string
	n      int
}

// newPeers starts a platform that speaks HTTP/2 by frames, and a kit for it.
func newPeers(t *testing.T, settings []http2.Setting, ask func(*exchange)) (*platform, *kit) {
	t.Helper()
	ca := newAuthority(t)
	p := startPlatform(t, &tls.Config{Certificates: []tls.Certificate{ca.leaf(t, leafOptions{})}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	p.onConn(func(w *wire) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(w.reader, preface); err != nil {
			return
		}
		x := &peer{wire: w, frames: http2.NewFramer(w.Conn, w.reader), streams: map[uint32]*bytes.Buffer{}, ask: ask}
		_ = x.frames.WriteSettings(settings...)
		err := x.next(p)
		for err == nil {
			err = x.next(p)
		}
	})
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: ca.pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 2 * time.Second, PingTimeout: 2 * time.Second},
	}
	k := newKit(t, p.url, gateway.WithHTTPClient(&http.Client{Transport: transport}))
	k.closeIdle = transport.CloseIdleConnections
	t.Cleanup(k.closeIdle)
	return p, k
}

// next reads a frame, and answers where it ends a request.
func (x *peer) next(p *platform) error {
	f, err := x.frames.ReadFrame()
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return x.frames.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return x.frames.WritePing(true, f.Data)
		}
	case *http2.HeadersFrame:
		x.streams[f.StreamID] = new(bytes.Buffer)
	case *http2.DataFrame:
		body := x.streams[f.StreamID]
		body.Write(f.Data())
		if f.StreamEnded() {
			_, n := p.arrived(body.Bytes())
			x.ask(&exchange{x, f.StreamID, string(markPattern.Find(body.Bytes())), n})
		}
	}
	return nil
}

// head begins an answer, and data goes on with it.
func (x *exchange) head(kind string) {
	var b bytes.Buffer
	h := hpack.NewEncoder(&b)
	_ = h.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = h.WriteField(hpack.HeaderField{Name: "content-type", Value: kind})
	_ = x.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: x.stream, BlockFragment: b.Bytes(), EndHeaders: true})
}

func (x *exchange) data(text string, last bool) { _ = x.frames.WriteData(x.stream, last, []byte(text)) }

func (x *exchange) answer(a *recorded) {
	x.head(a.kind)
	x.data(a.body(), true)
}

// begin sends the first half of an answer.
func (x *exchange) begin(a *recorded) {
	x.head(a.kind)
	x.data(a.pieces[0], false)
}

func (x *exchange) rst(code http2.ErrCode) { _ = x.frames.WriteRSTStream(x.stream, code) }

// drop ends the connection at once.
func (x *exchange) drop() { _ = x.tcp.Close() }

// http2Rows say what a peer does; the row of the table says what must come of it.
// Those of a stream begun have another one for streams, in its name.
var http2Rows = []struct {
	id  string
	ask func(x *exchange, a *recorded)
}{
	{"h2/whole", func(x *exchange, a *recorded) { x.answer(a) }},
	{"h2/goaway below", func(x *exchange, a *recorded) {
		if x.n > 1 {
			x.answer(a)
			return
		}
		_ = x.frames.WriteGoAway(x.stream-1, http2.ErrCodeNo, nil)
		x.drop()
	}},
	{"h2/goaway at", func(x *exchange, a *recorded) {
		_ = x.frames.WriteGoAway(x.stream, http2.ErrCodeNo, nil)
		x.answer(a)
	}},
	{"h2/goaway cut", func(x *exchange, _ *recorded) {
		_ = x.frames.WriteGoAway(x.stream, http2.ErrCodeNo, nil)
		x.drop()
	}},
	{"h2/refused", func(x *exchange, a *recorded) {
		if x.n > 1 {
			x.answer(a)
			return
		}
		x.rst(http2.ErrCodeRefusedStream)
	}},
	{"h2/internal", func(x *exchange, _ *recorded) { x.rst(http2.ErrCodeInternal) }},
	{"h2/cancel", func(x *exchange, _ *recorded) { x.rst(http2.ErrCodeCancel) }},
	{"h2/garbage", func(x *exchange, _ *recorded) {
		junk := make([]byte, 1<<10)
		_, _ = rand.Read(junk)
		junk[0] = 0xff // a frame that is too large, whatever follows
		x.say(junk)
		x.drop()
	}},
	{"h2/internal within", func(x *exchange, a *recorded) { x.begin(a); x.rst(http2.ErrCodeInternal) }},
	{"h2/refused within", func(x *exchange, a *recorded) { x.begin(a); x.rst(http2.ErrCodeRefusedStream) }},
	{"h2/dropped within", func(x *exchange, a *recorded) { x.begin(a); x.drop() }},
	{"h2/ping", func(x *exchange, _ *recorded) { x.hold2() }},
}

// hold2 reads and answers nothing any more, pings included.
func (x *exchange) hold2() { _, _ = io.Copy(io.Discard, x.reader) }

// TestHTTP2 is about what a peer does by frames.
func TestHTTP2(t *testing.T) {
	for _, row := range http2Rows {
		for _, s := range surfaces {
			t.Run(row.id+", "+s.name, func(t *testing.T) {
				t.Parallel()
				p, k := newPeers(t, nil, func(x *exchange) { row.ask(x, s.answer) })
				id := row.id
				if len(id) > 7 && id[len(id)-6:] == "within" && s.stream {
					id += " a stream"
				}
				k.call(of(t, id), s, newMark())
				k.settle(p.count)
				p.left(k)
			})
		}
	}
}

// TestHTTP2RefusedForEver ends with the caller's time, which the transport's own
// pauses do not outlast.
func TestHTTP2RefusedForEver(t *testing.T) {
	t.Parallel()
	late := newLate()
	p, k := newPeers(t, nil, func(x *exchange) {
		x.rst(http2.ErrCodeRefusedStream)
		if x.n == 3 {
			late.expire()
		}
	})
	k.callUnder(late, patience, of(t, "h2/refused for ever"), surfaces[0], newMark())
	k.settle(p.count)
	p.left(k)
}

// TestHTTP2MaxStreams lets calls wait for their turn, or for ever.
func TestHTTP2MaxStreams(t *testing.T) {
	t.Parallel()
	most := func(n uint32) []http2.Setting {
		return []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: n}}
	}
	p, k := newPeers(t, most(1), func(x *exchange) { x.answer(geminiUnary) })
	each(12, func(int) { k.call(of(t, "h2/one stream"), surfaces[0], newMark()) })
	k.settle(p.count)
	p.left(k)
	p, k = newPeers(t, most(0), func(*exchange) {})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	k.callUnder(ctx, patience, of(t, "h2/no stream"), surfaces[0], newMark())
	k.settle(p.count)
	p.left(k)
}
