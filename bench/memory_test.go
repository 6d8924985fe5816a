package bench_test

import (
	"context"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// open makes the call of a library that is answered from memory, after it was
// checked that it says what the service said.
func open(tb testing.TB, lib string, w *work) call {
	tb.Helper()
	l := peer(tb, lib)
	ask := l.open(tb, w, place{transport: &fixed{ctype: w.ctype(), body: l.schema(w)}})
	verify(tb, l, w, ask)
	return ask
}

// verify makes one call and compares its answer.
func verify(tb testing.TB, l *library, w *work, ask call) {
	tb.Helper()
	a := &got{keep: true}
	size := 0
	if l.bytes {
		size = len(l.schema(w))
	}
	if err := ask(tb.Context(), a); err != nil {
		tb.Fatal(err)
	} else if err := w.check(a, size); err != nil {
		tb.Fatal(err)
	}
}

// TestEveryCallIsAnswered makes each call of the plan that needs no server.
func TestEveryCallIsAnswered(t *testing.T) {
	group := plan.Find("memory")
	for _, row := range group.Rows {
		for _, lib := range row.Libs {
			t.Run(row.Name+"/"+lib, func(t *testing.T) { open(t, lib, find(row.Name)) })
		}
	}
}

// TestRequestsHaveTheirContent sees to it that a library sends what it is asked to:
// all messages, all tools, the image.
func TestRequestsHaveTheirContent(t *testing.T) {
	group := plan.Find("memory")
	for _, row := range group.Rows {
		w := find(row.Name)
		least := len(w.image)*4/3 + len(strings.Join(w.texts, ""))
		for _, lib := range row.Libs {
			l := peer(t, lib)
			rt := &fixed{ctype: w.ctype(), body: l.schema(w), keep: true}
			if err := l.open(t, w, place{transport: rt})(t.Context(), &got{}); err != nil {
				t.Fatal(err)
			}
			sent := string(rt.sent)
			if last := w.texts[len(w.texts)-1]; len(sent) < least || !strings.Contains(sent, last) {
				t.Errorf("%s/%s sent %d bytes, at least %d and the last text are asked: %.300s", row.Name, lib, len(sent), least, sent)
			}
			for i := range w.tools {
				if !strings.Contains(sent, tool(i)) {
					t.Errorf("%s/%s does not send %s", row.Name, lib, tool(i))
				}
			}
		}
	}
}

// TestCheckFindsWrongAnswers is about the check itself.
func TestCheckFindsWrongAnswers(t *testing.T) {
	for _, w := range works() {
		for _, a := range []got{{}, {size: 1}, {keep: true, size: len(w.text), chunks: 1}, {size: len(w.text), chunks: 7}, {vector: 7}} {
			if w.check(&a, 0) == nil {
				t.Errorf("%s: %+v passes", w.name, a)
			}
		}
		if w.check(&got{size: 1}, 2) == nil {
			t.Errorf("%s: a part of the body passes", w.name)
		}
	}
}

// loop makes the calls that are measured.
func loop(b *testing.B, ask call) {
	b.Helper()
	b.ReportAllocs()
	var a got // one for all calls, so that it is on nobody's bill
	for b.Loop() {
		a = got{}
		if err := ask(b.Context(), &a); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory answers from memory: nothing but the library is on the bill.
func BenchmarkMemory(b *testing.B) {
	group := plan.Find("memory")
	for _, row := range group.Rows {
		b.Run(group.Key+"="+row.Name, func(b *testing.B) {
			for _, lib := range row.Libs {
				b.Run("lib="+lib, func(b *testing.B) {
					ask := open(b, lib, find(row.Name))
					if !row.Parallel {
						loop(b, ask)
						return
					}
					b.ReportAllocs()
					b.ResetTimer()
					b.RunParallel(func(p *testing.PB) {
						var a got
						for p.Next() {
							a = got{}
							if err := ask(context.Background(), &a); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
		})
	}
}
