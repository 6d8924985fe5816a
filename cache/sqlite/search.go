package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/cosine"
)

// groups has the vectors that were searched, by group.
type groups struct {
	limit int64

	mu     sync.Mutex
	loaded map[cache.Key]*group
	bytes  int64
	clock  int64
}

// group has the vectors of one group as they were at its last search.
type group struct {
	mu    sync.Mutex // held for one search at a time
	last  int64      // the id that was read last
	rows  []row
	bytes int64
	used  int64
}

// row is one vector, and where its entry is.
type row struct {
	id, expires int64
	vector      []float32
}

// rowOverhead is what a row takes beside its elements.
const rowOverhead = 64

func (g *groups) clear() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loaded, g.bytes = nil, 0
}

func (g *groups) get(key cache.Key) *group {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.loaded[key]
	if out == nil {
		out = new(group)
		if g.loaded == nil {
			g.loaded = map[cache.Key]*group{}
		}
		g.loaded[key] = out
	}
	g.clock++
	out.used = g.clock
	return out
}

// weigh notes how large a group has become, and lets go of those that were searched
// least recently until all fit.
func (g *groups) weigh(key cache.Key, of *group, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.loaded[key] != of {
		return
	}
	g.bytes += bytes - of.bytes
	of.bytes = bytes
	for g.bytes > g.limit && len(g.loaded) > 0 {
		var oldest cache.Key
		least := int64(-1)
		for k, o := range g.loaded {
			if least < 0 || o.used < least {
				oldest, least = k, o.used
			}
		}
		g.bytes -= g.loaded[oldest].bytes
		delete(g.loaded, oldest)
	}
}

// Search implements [cache.Searcher]. It compares all vectors of the group.
func (s *Store) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	var matches []cache.Match
	err := s.with(ctx, "search", func(ctx context.Context, f *file) error {
		matches = nil
		if q.Group.IsZero() || !cosine.Valid(q.Vector) {
			return nil
		}
		g := s.groups.get(q.Group)
		g.mu.Lock()
		defer g.mu.Unlock()
		bytes, err := g.read(ctx, f, q.Group, time.Now().UnixMilli())
		s.groups.weigh(q.Group, g, bytes)
		if err != nil {
			return err
		}
		matches, err = s.compare(ctx, f, g, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.searches.Add(1)
	s.matches.Add(int64(len(matches)))
	return matches, nil
}

// read appends what has come since the last search, lets go of what has expired,
// and returns how large the group is.
func (g *group) read(ctx context.Context, f *file, key cache.Key, now int64) (bytes int64, err error) {
	rows, err := f.read.QueryContext(ctx, `SELECT id, expires, vec FROM entries WHERE grp = ? AND id > ? ORDER BY id`, key[:], g.last)
	if err != nil {
		return g.bytes, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what went wrong
	for rows.Next() {
		var r row
		var packed sql.RawBytes
		if err := rows.Scan(&r.id, &r.expires, &packed); err != nil {
			return g.bytes, err
		}
		g.last = r.id
		r.vector = make([]float32, len(packed)/cosine.Size)
		if cosine.Parse(r.vector, []byte(packed)) && cosine.Valid(r.vector) {
			g.rows = append(g.rows, r)
		}
	}
	g.rows = slices.DeleteFunc(g.rows, func(r row) bool { return r.expires <= now })
	for _, r := range g.rows {
		bytes += rowOverhead + cosine.Size*int64(len(r.vector))
	}
	return bytes, rows.Err()
}

// compare returns the entries that match. Rows without an entry leave the group.
func (s *Store) compare(ctx context.Context, f *file, g *group, q *cache.Query) ([]cache.Match, error) {
	type candidate struct {
		id         int64
		similarity float64
	}
	var near []candidate
	for i := range g.rows {
		if r := &g.rows[i]; len(r.vector) == len(q.Vector) {
			if sim := cosine.Similarity(r.vector, q.Vector); sim >= q.Threshold {
				near = append(near, candidate{r.id, sim})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(b.similarity, a.similarity) })
	var out []cache.Match
	gone := map[int64]bool{}
	for _, c := range near {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		var key, data []byte
		err := f.read.QueryRowContext(ctx, `SELECT key, data FROM entries WHERE id = ?`, c.id).Scan(&key, &data)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		var e *cache.Entry
		if err == nil {
			e = s.entry(ctx, f, c.id, key, data)
		}
		if e == nil || e.Group != q.Group || len(e.Vector) != len(q.Vector) {
			gone[c.id] = true
			continue
		}
		if sim := cosine.Similarity(e.Vector, q.Vector); sim >= q.Threshold {
			out = append(out, cache.Match{Entry: e, Similarity: sim})
		}
	}
	if len(gone) > 0 {
		g.rows = slices.DeleteFunc(g.rows, func(r row) bool { return gone[r.id] })
	}
	return out, nil
}
