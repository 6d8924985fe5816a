package chaos_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
)

// TestStalls stops within answers, until a caller has had enough or a limit of the
// library's is over.
func TestStalls(t *testing.T) {
	for _, s := range surfaces {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			data := s.answer.bytes("chunked")
			head := strings.Index(string(data), "\r\n\r\n") + 4
			last := len(data) - 16 // before the frame's end, where the answer is not whole
			each(last/7, func(i int) {
				at := i * 7
				phase := "body"
				if at < head {
					phase = "header"
				}
				if at%3 == 0 { // a limit of the library's, which takes time
					k.stallLimit(p, s, data[:at], phase)
					return
				}
				k.stallCaller(p, s, data[:at], phase, at%2 == 0)
			})
			k.settle(p.count)
			p.left(k)
		})
	}
}

// stallCaller lets the caller end the wait once the platform has come to a halt.
func (k *kit) stallCaller(p *platform, s surface, data []byte, phase string, cancels bool) {
	mark, late := newMark(), newLate()
	ctx, cancel := context.WithCancel(late)
	defer cancel()
	stop, id := late.expire, "stall/deadline"
	if cancels {
		stop, id = cancel, "stall/cancel"
	}
	p.on(mark, func(w *wire, _ int) {
		w.say(data)
		stop()
		w.hold()
		_ = w.Close()
	})
	k.callUnder(ctx, patience, of(k.t, id+" "+phase), s, mark)
}

// stallLimit waits for the library to end the wait. A machine that is so slow that
// the limit is over before the platform was asked gets another try.
func (k *kit) stallLimit(p *platform, s surface, data []byte, phase string) {
	mark := newMark()
	p.on(mark, func(w *wire, _ int) { w.say(data); w.hold(); _ = w.Close() })
	limits := gateway.Timeouts{Idle: time.Second}
	if phase == "header" {
		limits = gateway.Timeouts{FirstByte: 10 * time.Second}
	}
	k.call(of(k.t, "stall/limit "+phase), s, mark, gateway.WithTimeouts(limits))
}

// TestSlowAnswers sends a byte at a time: no silence is long, and the answer comes.
func TestSlowAnswers(t *testing.T) {
	for _, s := range surfaces {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			fine, late := newMark(), newMark()
			p.on(fine, func(w *wire, _ int) { w.drip(s.answer.bytes("length"), 5*time.Millisecond) })
			p.on(late, func(w *wire, _ int) { w.drip(s.answer.bytes("length"), 50*time.Millisecond) })
			each(2, func(i int) {
				if i == 0 {
					k.call(of(t, "stall/slow"), s, fine, gateway.WithTimeouts(gateway.Timeouts{Idle: patience}))
				} else {
					k.call(of(t, "stall/total"), s, late, gateway.WithTimeouts(gateway.Timeouts{Total: 5 * time.Second}))
				}
			})
			k.settle(p.count)
			p.left(k)
		})
	}
}

// TestPlatformsThatDoNotRead accept the connection and nothing more. A small
// request fits into the buffers of the machine; a large one does not.
func TestPlatformsThatDoNotRead(t *testing.T) {
	for _, size := range []int{1, 24 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			over := make(chan struct{})
			p.onConn(func(w *wire) { w.idle(over) })
			s := surfaces[0]
			s.ask = func(ctx context.Context, k *kit, mark string, opts []gateway.RequestOption) outcome {
				req := request(geminiModel, mark)
				req.Messages = append(req.Messages, gateway.UserMessage(strings.Repeat("x", size)))
				out, err := k.client.Chat.Completions.Create(ctx, req, opts...)
				if err != nil {
					return outcome{err: err}
				}
				return ofCompletion(out)
			}
			each(2, func(i int) {
				if i == 0 {
					k.callWithin(10*time.Second, of(t, "stall/unread"), s, newMark())
				} else {
					k.call(of(t, "stall/unread"), s, newMark(), gateway.WithTimeouts(gateway.Timeouts{FirstByte: 10 * time.Second}))
				}
			})
			close(over)
			k.settle(p.count)
			p.left(k)
		})
	}
}
