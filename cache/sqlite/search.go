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
	"github.com/b650d4bf/gateway/cache/sqlite/internal/dbfile"
	"github.com/b650d4bf/gateway/internal/cosine"
	"github.com/b650d4bf/gateway/internal/vector"
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
	mu     sync.Mutex // held for one search at a time
	last   int64      // the id that was read last
	purged int64      // when the expired were let go of
	dims   map[int]*dimension
	bytes  int64
	used   int64
}

// dimension has the vectors of one length.
type dimension struct {
	index *vector.Index
	rows  map[uint32]row // by their ids in the index
}

// row is where the entry of a vector is.
type row struct{ id, expires int64 }

func (d *dimension) forget(id uint32) {
	d.index.Delete(id)
	delete(d.rows, id)
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
	err := s.with(ctx, "search", func(ctx context.Context, f *dbfile.File) error {
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

// read takes in what has come since the last search, lets go of what has expired,
// and returns how large the group is.
func (g *group) read(ctx context.Context, f *dbfile.File, key cache.Key, now int64) (bytes int64, err error) {
	rows, err := f.Read.QueryContext(ctx, `SELECT id, expires, vec FROM entries WHERE grp = ? AND id > ? ORDER BY id`, key[:], g.last)
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
		g.add(r, packed)
	}
	const purgeEvery = 1000
	purge := now-g.purged >= purgeEvery
	if purge {
		g.purged = now
	}
	for _, d := range g.dims {
		for id, r := range d.rows {
			if !purge {
				break
			}
			if r.expires <= now {
				d.forget(id)
			}
		}
		bytes += d.index.Bytes() + rowOverhead*int64(len(d.rows))
	}
	return bytes, rows.Err()
}

// add takes in one vector.
func (g *group) add(r row, packed []byte) {
	v := make([]float32, len(packed)/cosine.Size)
	if !cosine.Parse(v, packed) || !vector.Normalize(v) {
		return
	}
	d := g.dims[len(v)]
	if d == nil {
		d = &dimension{vector.NewShared(len(v)), map[uint32]row{}}
		if g.dims == nil {
			g.dims = map[int]*dimension{}
		}
		g.dims[len(v)] = d
	}
	if id, ok := d.index.Add(v); ok {
		d.rows[id] = r
	}
}

// rounding is more than what the index can put a similarity too low.
const rounding = 1e-5

// compare returns the entries that match. Vectors without an entry leave the group.
func (s *Store) compare(ctx context.Context, f *dbfile.File, g *group, q *cache.Query) ([]cache.Match, error) {
	d, v := g.dims[len(q.Vector)], slices.Clone(q.Vector)
	if d == nil || !vector.Normalize(v) {
		return nil, nil
	}
	var out []cache.Match
	for _, hit := range d.index.Search(nil, v, float32(q.Threshold-rounding), 0) {
		if q.Limit > 0 && len(out) == q.Limit {
			break
		}
		var key, data []byte
		r := d.rows[hit.ID]
		err := f.Read.QueryRowContext(ctx, `SELECT key, data FROM entries WHERE id = ?`, r.id).Scan(&key, &data)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		var e *cache.Entry
		if err == nil {
			e = s.entry(ctx, f, r.id, key, data)
		}
		if e == nil || e.Group != q.Group || len(e.Vector) != len(q.Vector) {
			d.forget(hit.ID)
			continue
		}
		if sim := cosine.Similarity(e.Vector, q.Vector); sim >= q.Threshold {
			out = append(out, cache.Match{Entry: e, Similarity: sim})
		}
	}
	slices.SortStableFunc(out, func(a, b cache.Match) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return out, nil
}
