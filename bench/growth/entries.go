package growth

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

const (
	// bodyBytes is the length of each kept answer.
	bodyBytes = 512
	// storeBytes is room for all entries, so that none has to leave.
	storeBytes = 16 << 30
	// asked is the number of keys and vectors that look-ups go round in.
	asked = 1 << 15
	// fewEntries take too little memory to tell it from that of the process.
	fewEntries = 1000
)

var errLookup = errors.New("growth: a look-up did not find what is there, or found what is not")

// lookups leaves room for the noise of caches of the processor and of timers, and
// none for work that grows with the store.
var lookups = Rule{Exponent: 0.5}

func entriesSeries() Series {
	return Series{
		Name: "entries", Title: "The response cache in memory by its entries", Axis: "entries",
		Metrics: []Metric{
			{Name: "time per look-up", Unit: Nanoseconds, Rule: lookups, Plotted: true, Flat: true},
			{Name: "allocations per look-up", Unit: Count},
			{Name: "bytes per entry", Unit: Bytes, Rule: level, Plotted: true, Flat: true},
		},
		measure: measureEntries,
	}
}

// key spreads numbers over keys, as digests are spread.
func key(i uint64) cache.Key {
	var k cache.Key
	rnd := rand.NewPCG(i, 7)
	for at := 0; at < len(k); at += 8 {
		binary.LittleEndian.PutUint64(k[at:], rnd.Uint64())
	}
	return k
}

// measureEntries fills one store and stops at each size to look entries up.
func measureEntries(ctx context.Context, r *Run) ([]Line, error) {
	before := liveHeap()
	m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: storeBytes})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	empty, own := liveHeap()-before, float64(m.Stats().Bytes)
	lines := []Line{{Name: "found"}, {Name: "not there"}, {Name: "as the store counts"}}
	now, filled := time.Now(), 0
	for _, n := range r.sizes(1_000_000, 1000) {
		for ; filled < n; filled++ {
			e := &cache.Entry{Key: key(uint64(filled)), Body: make([]byte, bodyBytes), Created: now, Expires: now.Add(24 * time.Hour)}
			if err := m.Set(ctx, e); err != nil {
				return nil, err
			}
		}
		perEntry, counted := math.NaN(), math.NaN()
		if n >= fewEntries {
			perEntry = (liveHeap() - before - empty) / float64(n)
			counted = (float64(m.Stats().Bytes) - own) / float64(n)
		}
		for i, found := range []bool{true, false} {
			paid, err := lookUp(ctx, r, m, n, found, &lines[i])
			if err != nil {
				return nil, fmt.Errorf("%s, %d: %w", lines[i].Name, n, err)
			}
			lines[i].Rows = append(lines[i].Rows, Row{n, []float64{paid.ns, paid.allocs, perEntry}})
			perEntry = math.NaN()
		}
		lines[2].Rows = append(lines[2].Rows, Row{n, []float64{math.NaN(), math.NaN(), counted}})
	}
	s := m.Stats()
	if lines[0].Answered, lines[1].Answered = s.Hits, s.Misses; s.Entries != int64(filled) || s.Failed > 0 {
		return nil, fmt.Errorf("%d entries are kept of %d, and %d calls failed", s.Entries, filled, s.Failed)
	}
	runtime.KeepAlive(m)
	return lines, nil
}

// lookUp looks entries up, in no order.
func lookUp(ctx context.Context, r *Run, m *cache.Memory, n int, found bool, l *Line) (cost, error) {
	keys := make([]cache.Key, asked)
	for i := range keys {
		number := rand.NewPCG(uint64(i), 3).Uint64() % uint64(n)
		if !found {
			number += 1 << 40
		}
		keys[i] = key(number)
	}
	at := 0
	paid, err := r.measure(func(*clock) error {
		l.Asked++
		at = (at + 1) % asked
		e, ok, err := m.Get(ctx, keys[at])
		if err == nil && (ok != found || ok && e.Key != keys[at]) {
			err = errLookup
		}
		return err
	})
	r.say("  %s, %d: %.0f ns", l.Name, n, paid.ns)
	return paid, err
}
