package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/cosine"
)

const (
	// smallGroup is up to which size a group is compared whole, without an index.
	smallGroup = 2000
	// firstCount is how many neighbours are asked for at first, and countGrowth how
	// much more when all of them may match.
	firstCount, countGrowth = 64, 4
	// maxEffort is the most that the index may look at in one pass, hnsw.ef_search.
	leastEffort, maxEffort = 100, 1000
	// halfPrecision is more than what 16-bit elements can put a similarity too low.
	halfPrecision = 0.005
)

// halfvec writes a vector of length 1 as the extension reads it.
func halfvec(v []float32) string {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	norm := math.Sqrt(sum)
	out := []byte{'['}
	for i, x := range v {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x)/norm, 'g', 5, 32)
	}
	return string(append(out, ']'))
}

// Search implements [cache.Searcher]. How it searches depends on the database; see
// the package documentation.
func (s *Store) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	ctx, cancel, l, err := s.begin(ctx)
	if err != nil {
		return nil, s.failure("search", err)
	}
	defer cancel()
	s.searches.Add(1)
	if q.Group.IsZero() || !cosine.Valid(q.Vector) {
		return nil, nil
	}
	run := search{store: s, layout: l, query: q, seen: map[cache.Key]bool{}}
	run.table, err = s.vectorTable(ctx, l, len(q.Vector), false)
	switch {
	case err != nil:
	case run.table != "":
		err = run.indexed(ctx)
	default:
		err = run.scan(ctx)
	}
	if err != nil {
		return nil, s.failure("search", err)
	}
	slices.SortStableFunc(run.matches, func(a, b cache.Match) int { return cmp.Compare(b.Similarity, a.Similarity) })
	if q.Limit > 0 && len(run.matches) > q.Limit {
		run.matches = run.matches[:q.Limit]
	}
	s.matches.Add(int64(len(run.matches)))
	return run.matches, nil
}

// search is one call of Search.
type search struct {
	store   *Store
	layout  *layout
	query   *cache.Query
	table   string
	seen    map[cache.Key]bool
	matches []cache.Match
}

// indexed asks for more and more neighbours until they end, are too far away, or
// enough.
func (r *search) indexed(ctx context.Context) error {
	count := 0
	if err := r.store.pool.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM `+r.table+` WHERE grp = $1 LIMIT $2) few`, r.query.Group[:], smallGroup+1).Scan(&count); err != nil {
		return err
	}
	farthest := 1 - r.query.Threshold + halfPrecision
	if count <= smallGroup {
		found, err := r.neighbours(ctx, count, false)
		if err != nil {
			return err
		}
		return r.measure(ctx, r.within(found, farthest))
	}
	for n := max(firstCount, 2*r.query.Limit); ; n *= countGrowth {
		found, err := r.neighbours(ctx, n, true)
		if err != nil {
			return err
		}
		if err := r.measure(ctx, r.within(found, farthest)); err != nil {
			return err
		}
		if len(found) < n || found[len(found)-1].distance > farthest || r.query.Limit > 0 && len(r.matches) >= r.query.Limit {
			return nil
		}
	}
}

// neighbour is a member of the group, and the cosine of the angle away from 1.
type neighbour struct {
	key      cache.Key
	distance float64
}

// within returns the keys of those that are near enough and were not seen before.
func (r *search) within(found []neighbour, farthest float64) []cache.Key {
	var out []cache.Key
	for _, n := range found {
		if n.distance <= farthest && !r.seen[n.key] {
			r.seen[n.key] = true
			out = append(out, n.key)
		}
	}
	return out
}

// neighbours returns the nearest members of the group, the nearest first, by the
// index or by comparing all.
func (r *search) neighbours(ctx context.Context, n int, index bool) ([]neighbour, error) {
	// The query is read once, by a subquery, and not for each row.
	distance := fmt.Sprintf(`v OPERATOR(%[1]s.<=>) (SELECT $2::text::%[1]s.halfvec)`, r.layout.extension)
	sql := fmt.Sprintf(`SELECT key, %[2]s AS distance FROM %[1]s WHERE grp = $1 ORDER BY %[2]s LIMIT $3`, r.table, distance)
	if !index {
		sql = fmt.Sprintf(`WITH members AS MATERIALIZED (SELECT key, v FROM %[1]s WHERE grp = $1) SELECT key, %[2]s AS distance FROM members ORDER BY distance LIMIT $3`, r.table, distance)
	}
	var b pgx.Batch // which is one transaction, so the settings end with it
	b.Queue(`SELECT set_config('statement_timeout', $1, true), set_config('hnsw.ef_search', $2, true), set_config('hnsw.iterative_scan', 'strict_order', true)`,
		strconv.FormatInt(r.store.timeout.Milliseconds(), 10), strconv.Itoa(min(maxEffort, max(leastEffort, n))))
	b.Queue(sql, r.query.Group[:], halfvec(r.query.Vector), n)
	results := r.store.pool.SendBatch(ctx, &b)
	if _, err := results.Exec(); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (neighbour, error) {
		var key []byte
		var out neighbour
		err := row.Scan(&key, &out.distance)
		copy(out.key[:], key)
		return out, err
	})
	return found, errors.Join(err, results.Close())
}

// scan compares the vectors that are beside their entries.
func (r *search) scan(ctx context.Context) error {
	rows, err := r.store.pool.Query(ctx, r.layout.scan, r.query.Group[:], time.Now().UnixMilli(), cosine.Size*len(r.query.Vector), r.store.scanLimit)
	if err != nil {
		return err
	}
	defer rows.Close()
	var near []cache.Key
	vector, query := make([]float32, len(r.query.Vector)), cosine.To(r.query.Vector)
	for rows.Next() {
		var key, packed []byte
		if err := rows.Scan(&key, &packed); err != nil {
			return err
		}
		if len(key) == len(cache.Key{}) && cosine.Parse(vector, packed) && query.Similarity(vector) >= r.query.Threshold {
			near = append(near, cache.Key(key))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return r.measure(ctx, near)
}

// measure reads the entries of keys and keeps those that match.
func (r *search) measure(ctx context.Context, keys []cache.Key) error {
	if len(keys) == 0 {
		return nil
	}
	entries, err := r.store.read(ctx, r.layout, keys)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Group != r.query.Group || len(e.Vector) != len(r.query.Vector) {
			continue
		}
		if sim := cosine.Similarity(e.Vector, r.query.Vector); sim >= r.query.Threshold {
			r.matches = append(r.matches, cache.Match{Entry: e, Similarity: sim})
		}
	}
	return nil
}

// read returns the whole entries of keys; those that are not there are left out.
func (s *Store) read(ctx context.Context, l *layout, keys []cache.Key) ([]*cache.Entry, error) {
	raw := make([][]byte, len(keys))
	for i := range keys {
		raw[i] = keys[i][:]
	}
	rows, err := s.pool.Query(ctx, l.read, raw, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*cache.Entry
	for rows.Next() {
		var key, data []byte
		if err := rows.Scan(&key, &data); err != nil {
			return nil, err
		}
		if len(key) != len(cache.Key{}) {
			continue
		}
		if e := s.entry(data, true, cache.Key(key)); e != nil {
			out = append(out, e)
		}
	}
	return out, rows.Err()
}
