package chaos_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// end is a way to end a connection.
type end struct {
	name string
	run  func(*wire)
}

var ends = []end{
	{"closed", func(w *wire) { _ = w.Close() }},
	{"reset", (*wire).reset},
}

// TestAnswersCutAtEveryByte ends the connection after each byte of each answer.
func TestAnswersCutAtEveryByte(t *testing.T) {
	for _, s := range surfaces {
		for _, framing := range []string{"length", "chunked", "close"} {
			for _, e := range ends {
				t.Run(fmt.Sprintf("%s, %s, %s", s.name, framing, e.name), func(t *testing.T) {
					t.Parallel()
					p := newPlatform(t)
					k := newKit(t, p.url)
					cutEverywhere(k, p, s, framing, e, 1)
				})
			}
		}
	}
}

// TestAnswersCutBehindTheFront does the same to the platform's answers to calls
// that came over HTTP.
func TestAnswersCutBehindTheFront(t *testing.T) {
	for i := range overFront("") {
		t.Run(overFront("")[i].name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			srv := httptest.NewServer(k.client.Handler())
			defer srv.Close()
			cutEverywhere(k, p, overFront(srv.URL)[i], "chunked", ends[i%2], 3)
		})
	}
}

// cutEverywhere makes a call for every step-th byte at which its answer ends.
func cutEverywhere(k *kit, p *platform, s surface, framing string, e end, step int) {
	t := k.t
	data := s.answer.bytes(framing, "Connection: close")
	head := strings.Index(string(data), "\r\n\r\n") + 4
	each((len(data)+step)/step, func(i int) {
		cut := len(data) - i*step
		mark := newMark()
		p.on(mark, func(w *wire, _ int) {
			w.say(data[:cut])
			e.run(w)
		})
		k.call(of(t, rowOfCut(s, framing, e, cut, head, len(data))), s, mark)
	})
	k.settle(p.count)
	p.left(k)
}

// rowOfCut says which row a cut belongs to.
func rowOfCut(s surface, framing string, e end, cut, head, total int) string {
	switch {
	case cut < head:
		return "answer/header"
	case cut == total && (framing != "close" || e.name == "closed"):
		return "answer/whole"
	case s.stream:
		return "answer/stream"
	case framing == "close" && e.name == "closed":
		return "answer/unframed"
	}
	return "answer/body"
}

// TestRefusalsCutAtEveryByte ends the connection within a refusal: its status
// counts as soon as its header is there.
func TestRefusalsCutAtEveryByte(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			data := refused(429)
			head := strings.Index(string(data), "\r\n\r\n") + 4
			each(len(data)+1, func(cut int) {
				mark, id := newMark(), "answer/refusal"
				if cut < head {
					id = "answer/header"
				}
				p.on(mark, func(w *wire, _ int) { w.say(data[:cut]); e.run(w) })
				k.call(of(t, id), surfaces[cut%2], mark)
			})
			k.settle(p.count)
		})
	}
}

// TestRequestsCutAtEveryByte ends the connection after each byte of a request
// that the platform reads.
func TestRequestsCutAtEveryByte(t *testing.T) {
	size := requestSize(t)
	for _, s := range surfaces[:2] {
		for _, e := range ends {
			t.Run(s.name+", "+e.name, func(t *testing.T) {
				t.Parallel()
				each(8, func(worker int) {
					p := newPlatform(t)
					k := newKit(t, p.url)
					for cut := worker; cut < size; cut += 8 {
						p.onConn(func(w *wire) { w.take(cut); e.run(w) })
						k.call(of(t, "request/cut"), s, newMark())
					}
					k.settle(p.count)
				})
			})
		}
	}
}

// take reads so many bytes.
func (w *wire) take(n int) {
	buf := make([]byte, 1)
	for range n {
		if _, err := w.Read(buf); err != nil {
			return
		}
	}
}

// requestSize is the length of a request, that of its header included.
func requestSize(t *testing.T) int {
	p := newPlatform(t)
	k := newKit(t, p.url)
	sizes := make(chan int, 1)
	p.onConn(func(w *wire) {
		n := 0
		buf := make([]byte, 4<<10)
		for {
			m, err := w.Read(buf)
			n += m
			if err != nil || contains(buf[:m], "}]}]") || contains(buf[:m], "}") && m < len(buf) && n > 300 {
				break
			}
		}
		sizes <- n
		w.say(geminiUnary.bytes("length"))
	})
	k.call(of(t, "answer/whole"), surfaces[0], newMark())
	k.settle(nil)
	return <-sizes
}

// TestHalfClosed shuts one direction of the connection alone.
func TestHalfClosed(t *testing.T) {
	for _, s := range surfaces {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			half, whole := newMark(), newMark()
			p.on(half, func(w *wire, _ int) { _ = w.tcp.CloseWrite(); w.hold() })
			p.on(whole, func(w *wire, _ int) { w.say(s.answer.bytes("close")); _ = w.tcp.CloseWrite(); w.hold() })
			k.call(of(t, "half/early"), s, half)
			k.call(of(t, "half/late"), s, whole)
			k.settle(p.count)
			p.left(k)
		})
	}
}

// TestStaleConnections closes a connection that the client keeps for its next
// call. Whether it notices in time is a matter of luck, and either is right, but
// nothing may arrive twice.
func TestStaleConnections(t *testing.T) {
	p := newPlatform(t)
	k := newKit(t, p.url)
	each(100, func(i int) {
		s := surfaces[i%len(surfaces)]
		mark := newMark()
		p.on(mark, func(w *wire, _ int) {
			w.say(s.answer.bytes("length"))
			time.Sleep(time.Duration(i%3) * time.Millisecond)
			ends[i%2].run(w)
		})
		k.call(of(t, "answer/stale"), s, mark)
	})
	k.settle(p.count)
}
