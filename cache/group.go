package cache

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// vectorOverhead is what a vector takes in its group.
const vectorOverhead = 64

// groups has the vectors of all groups.
type groups struct {
	mu      sync.RWMutex
	byKey   map[groupKey]*group
	vectors atomic.Int64
}

// groupKey is a group, and the length of the vectors: those of another are of
// another kind.
type groupKey struct {
	group Key
	dim   int
}

// group has the nodes among which a search looks.
type group struct {
	key groupKey
	// used counts the nodes that are in or on their way; the lock of groups guards
	// it.
	used  int
	mu    sync.RWMutex
	nodes []*node
}

// add puts the vector of a node into its group. It and remove are called in
// order for one node.
func (g *groups) add(n *node) {
	if n.entry.Group.IsZero() || len(n.entry.Vector) == 0 {
		return
	}
	key := groupKey{n.entry.Group, len(n.entry.Vector)}
	g.mu.Lock()
	in := g.byKey[key]
	if in == nil {
		in = &group{key: key}
		g.byKey[key] = in
	}
	in.used++
	g.mu.Unlock()
	in.mu.Lock()
	n.group, n.row = in, len(in.nodes)
	in.nodes = append(in.nodes, n)
	in.mu.Unlock()
	g.vectors.Add(1)
}

// remove takes the vector of a node out, and frees the group with its last.
func (g *groups) remove(n *node) {
	in := n.group
	if in == nil {
		return
	}
	in.mu.Lock()
	last := in.nodes[len(in.nodes)-1]
	in.nodes[n.row], last.row = last, n.row
	in.nodes[len(in.nodes)-1] = nil
	in.nodes = in.nodes[:len(in.nodes)-1]
	in.mu.Unlock()
	g.mu.Lock()
	if in.used--; in.used == 0 {
		delete(g.byKey, in.key)
	}
	g.mu.Unlock()
	g.vectors.Add(-1)
}

// search returns what matches, the most similar first, and among equals the
// newest.
func (g *groups) search(q *Query, now time.Time) []Match {
	g.mu.RLock()
	in := g.byKey[groupKey{q.Group, len(q.Vector)}]
	g.mu.RUnlock()
	if in == nil {
		return nil
	}
	var out []Match
	in.mu.RLock()
	for _, n := range in.nodes {
		if similarity := dot(q.Vector, n.entry.Vector); similarity >= q.Threshold && !n.expired(now) {
			out = append(out, Match{Entry: &n.entry, Similarity: similarity})
		}
	}
	in.mu.RUnlock()
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), b.Entry.Created.Compare(a.Entry.Created))
	})
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

func (g *groups) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byKey = nil
	g.vectors.Store(0)
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// checkVector reports a vector that is not of length 1, which would be similar to
// too much or to nothing.
func checkVector(v []float32) error {
	if v == nil {
		return nil
	}
	if norm := dot(v, v); !(math.Abs(norm-1) <= 1e-3) { // not a number is neither
		return errors.New("cache: a vector is of length 1; divide it by its own")
	}
	return nil
}
