package growth

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/b650d4bf/gateway/cache"
)

// What is looked for by meaning: vectors in clusters, as those of texts are.
const (
	dimensions = 768
	clusters   = 100
	threshold  = 0.95
	// within and near are how far a vector lies from its cluster, and a query from
	// the entry that it finds.
	within, near = 0.03, 0.005
	queryCount   = 64
)

func semanticSeries() Series {
	return Series{
		Name: "semantic", Title: "A look-up by meaning, by the entries of its partition", Axis: "entries",
		Metrics: []Metric{
			{Name: "time per look-up", Unit: Nanoseconds, Rule: linear, Plotted: true},
			{Name: "allocations per look-up", Unit: Count},
			{Name: "bytes per entry", Unit: Bytes, Rule: level, Plotted: true, Flat: true},
		},
		measure: measureSemantic,
	}
}

// world draws vectors of length 1.
type world struct {
	rnd     *rand.Rand
	centres [][]float32
}

func newWorld() *world {
	w := &world{rnd: rand.New(rand.NewPCG(1, 2))}
	origin := make([]float32, dimensions)
	for range clusters {
		w.centres = append(w.centres, w.around(origin, 1))
	}
	return w
}

func (w *world) around(centre []float32, spread float64) []float32 {
	v, sum := make([]float32, dimensions), 0.0
	for i := range v {
		v[i] = centre[i] + float32(w.rnd.NormFloat64()*spread)
		sum += float64(v[i]) * float64(v[i])
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return v
}

func (w *world) draw() []float32 { return w.around(w.centres[w.rnd.IntN(clusters)], within) }

// kept is some of the entries, each as likely as any other, that queries are made
// near to.
type kept struct {
	keys    []cache.Key
	vectors [][]float32
}

func (k *kept) offer(w *world, n int, key cache.Key, vector []float32) {
	if len(k.keys) < queryCount {
		k.keys, k.vectors = append(k.keys, key), append(k.vectors, vector)
	} else if at := w.rnd.IntN(n); at < queryCount {
		k.keys[at], k.vectors[at] = key, vector
	}
}

// measureSemantic fills one partition of one store and stops at each size to look
// entries up.
func measureSemantic(ctx context.Context, r *Run) ([]Line, error) {
	most := 100_000
	if r.Long {
		most = 1_000_000
	}
	before := liveHeap()
	m, err := cache.NewMemory(cache.MemoryConfig{MaxBytes: storeBytes})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	empty := liveHeap() - before
	w, some := newWorld(), new(kept)
	lines := []Line{{Name: "found"}, {Name: "not there"}}
	now, filled := time.Now(), 0
	for _, n := range r.sizes(most, 200) {
		for ; filled < n; filled++ {
			e := &cache.Entry{Group: cache.Key{0: 1}, Vector: w.draw(), Body: make([]byte, bodyBytes), Created: now, Expires: now.Add(24 * time.Hour)}
			e.Key = key(uint64(filled))
			if err := m.Set(ctx, e); err != nil {
				return nil, err
			}
			some.offer(w, filled+1, e.Key, e.Vector)
		}
		perEntry := math.NaN()
		if n >= fewEntries {
			perEntry = (liveHeap() - before - empty) / float64(n)
		}
		for i, found := range []bool{true, false} {
			paid, err := searchFor(ctx, r, m, w, some, found, &lines[i])
			if err != nil {
				return nil, fmt.Errorf("%s, %d: %w", lines[i].Name, n, err)
			}
			r.say("  %s, %d: %.0f ns", lines[i].Name, n, paid.ns)
			lines[i].Rows = append(lines[i].Rows, Row{n, []float64{paid.ns, paid.allocs, perEntry}})
			perEntry = math.NaN()
		}
	}
	if s := m.Stats(); s.Vectors != int64(filled) || s.Failed > 0 {
		return nil, fmt.Errorf("%d vectors are kept of %d, and %d calls failed", s.Vectors, filled, s.Failed)
	}
	return lines, nil
}

// searchFor looks for entries that queries lie near to, or for vectors of the same
// clusters to which none is near enough.
func searchFor(ctx context.Context, r *Run, m *cache.Memory, w *world, some *kept, found bool, l *Line) (cost, error) {
	queries := make([][]float32, queryCount)
	for i := range queries {
		if queries[i] = w.draw(); found {
			queries[i] = w.around(some.vectors[i%len(some.vectors)], near)
		}
	}
	at := 0
	return r.measure(func(*clock) error {
		l.Asked++
		at = (at + 1) % queryCount
		list, err := m.Search(ctx, &cache.Query{Group: cache.Key{0: 1}, Vector: queries[at], Threshold: threshold, Limit: 1})
		if err != nil {
			return err
		}
		if found != (len(list) == 1 && list[0].Entry.Key == some.keys[at%len(some.keys)]) || !found && len(list) > 0 {
			return errLookup
		}
		l.Answered++
		return nil
	})
}
