package cache

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/internal/vector"
)

const (
	// groupBytes is what a group takes beside its vectors. The first of its vectors
	// is charged with it, the second with half of it, and so on, since they come and
	// go in any order.
	groupBytes = 600
	// rowBytes is what a vector takes in its group beside its numbers.
	rowBytes = 160
	// rounding is how far apart similarities of the same vectors may be that were
	// computed in different ways.
	rounding = 1e-6
	// shrunk says that a group is made anew when it has one in so many of the
	// vectors it had, of which there were at least shrinkable.
	shrunk, shrinkable = 8, 2048
)

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
	used int

	mu    sync.RWMutex
	index *vector.Index
	rows  []*node // by their ids in the index
	most  int     // rows it has had at once
	// freed counts the rows that were given free, and may have another node since.
	freed uint64
}

// add puts the vector of a node into its group, and charges the node for that. It
// and remove are called in order for one node.
func (g *groups) add(n *node) {
	if n.entry.Group.IsZero() || len(n.entry.Vector) == 0 {
		return
	}
	key := groupKey{n.entry.Group, len(n.entry.Vector)}
	g.mu.Lock()
	in := g.byKey[key]
	if in == nil {
		in = &group{key: key, index: vector.NewShared(key.dim)}
		g.byKey[key] = in
	}
	in.used++
	n.cost += int64(groupBytes / in.used)
	g.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	n.group = in
	in.add(n)
	g.vectors.Add(1)
}

// add is groups.add with the group locked.
func (in *group) add(n *node) {
	id, ok := in.index.Add(n.entry.Vector)
	if !ok { // it was checked before
		n.row = -1
		return
	}
	for int(id) >= len(in.rows) {
		in.rows = append(in.rows, nil)
	}
	n.row, in.rows[id] = int(id), n
	in.most = max(in.most, in.index.Len())
}

// remove takes the vector of a node out, and frees the group with its last.
func (g *groups) remove(n *node) {
	in := n.group
	if in == nil {
		return
	}
	in.mu.Lock()
	if n.row >= 0 {
		in.index.Delete(uint32(n.row))
		in.rows[n.row] = nil
		in.freed++
	}
	if live := in.index.Len(); in.most >= shrinkable && live <= in.most/shrunk {
		in.anew(live)
	}
	in.mu.Unlock()
	g.mu.Lock()
	if in.used--; in.used == 0 {
		delete(g.byKey, in.key)
	}
	g.mu.Unlock()
	g.vectors.Add(-1)
}

// anew makes the index anew, without what only the vectors needed that are gone.
func (in *group) anew(live int) {
	old := in.rows
	in.index, in.rows, in.most = vector.NewShared(in.key.dim), make([]*node, 0, live), 0
	for _, n := range old {
		if n != nil {
			in.add(n)
		}
	}
	in.freed++
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
	out := in.search(q, now)
	slices.SortStableFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), b.Entry.Created.Compare(a.Entry.Created))
	})
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

// search returns what matches, in no order.
func (in *group) search(q *Query, now time.Time) []Match {
	hits, freed := in.hits(q)
	if len(hits) == 0 {
		return nil
	}
	return in.matches(q, hits, freed, now)
}

// hits searches the index, which others may change meanwhile and afterwards: freed
// says what it was like before.
func (in *group) hits(q *Query) (hits []vector.Hit, freed uint64) {
	in.mu.RLock()
	index, freed := in.index, in.freed
	in.mu.RUnlock()
	return index.Search(nil, q.Vector, float32(q.Threshold-rounding), 0), freed
}

// matches returns what the hits are. It compares them again if a row may be
// another's since.
func (in *group) matches(q *Query, hits []vector.Hit, freed uint64, now time.Time) []Match {
	out := make([]Match, 0, len(hits))
	in.mu.RLock()
	defer in.mu.RUnlock()
	for _, hit := range hits {
		if int(hit.ID) >= len(in.rows) || in.rows[hit.ID] == nil || in.rows[hit.ID].expired(now) {
			continue
		}
		n, similarity := in.rows[hit.ID], float64(hit.Similarity)
		if freed != in.freed {
			similarity = dot(q.Vector, n.entry.Vector)
		}
		if similarity >= q.Threshold-rounding {
			out = append(out, Match{Entry: &n.entry, Similarity: min(similarity, 1)})
		}
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
	if norm := math.Sqrt(dot(v, v)); !(math.Abs(norm-1) <= 1e-3) { // not a number is neither
		return errors.New("cache: a vector is of length 1; divide it by its own")
	}
	return nil
}
