package cache_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestMemoryKeepsItsBound churns stores until they are full, and weighs them.
func TestMemoryKeepsItsBound(t *testing.T) {
	for _, c := range []struct {
		name     string
		maxBytes int64
		body     int // mean size
		dim      int
		groups   int
		lives    time.Duration
	}{
		{"small bodies", 16 << 20, 100, 0, 0, cache.MaxMaxAge},
		{"bodies of 1 KB", 64 << 20, 1 << 10, 0, 0, cache.MaxMaxAge},
		{"bodies of 4 KB", 64 << 20, 4 << 10, 0, 0, cache.MaxMaxAge},
		{"bodies of 100 KB", 64 << 20, 100 << 10, 0, 0, cache.MaxMaxAge},
		{"the least there is", cache.MinMaxBytes, 2 << 10, 0, 0, cache.MaxMaxAge},
		{"vectors in one group", 64 << 20, 2 << 10, 768, 1, cache.MaxMaxAge},
		{"vectors in many groups", 64 << 20, 2 << 10, 768, 5000, cache.MaxMaxAge},
		{"small vectors in a group each", 16 << 20, 100, 8, 1 << 30, cache.MaxMaxAge},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raced {
				c.maxBytes = min(c.maxBytes, 8<<20)
			}
			before := heap()
			m := newMemory(t, c.maxBytes)
			r := rand.New(rand.NewPCG(1, 2))
			total := int64(0)
			for i := uint64(0); total < 3*c.maxBytes; i++ {
				e := numbered(i, r.IntN(2*c.body), time.Minute+time.Duration(r.Int64N(int64(c.lives))))
				e.Operation, e.Model, e.Parts = "chat", "gemini-2.5-flash", make([]cache.Part, 8)
				if c.dim > 0 {
					e.Group, e.Vector = number(1+r.Uint64N(uint64(c.groups))), randomVector(r, c.dim)
					e.Text = fmt.Sprint("text ", i)
				}
				if err := m.Set(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				total += int64(len(e.Body) + 4*len(e.Vector) + 600)
			}
			used, s := heap()-before, m.Stats()
			t.Logf("%d entries: %.3f of the bound in use, %.3f counted, %d bytes each", s.Entries, float64(used)/float64(c.maxBytes), float64(s.Bytes)/float64(c.maxBytes), used/s.Entries)
			if s.Bytes > c.maxBytes {
				t.Errorf("%d bytes are counted, of at most %d", s.Bytes, c.maxBytes)
			}
			if used > c.maxBytes*115/100 || used < c.maxBytes*70/100 {
				t.Errorf("%d bytes are in use, of at most %d", used, c.maxBytes)
			}
			runtime.KeepAlive(m)
		})
	}
}
