package redis

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/internal/cosine"
)

const (
	// firstCount is how many neighbours are asked for at first, and countGrowth how
	// much more when all of them may match.
	firstCount, countGrowth = 32, 4
	// leastEffort is the least number of candidates that the server looks at.
	leastEffort = 128
	// quantization is more than what 8 bits can put a similarity too low.
	quantization = 0.02
)

// indexable reports whether an entry can be found by its vector.
func indexable(e *cache.Entry) bool { return !e.Group.IsZero() && cosine.Valid(e.Vector) }

// hasVectorSets asks the server once whether it has vector sets.
func (s *Store) hasVectorSets(ctx context.Context) (bool, error) {
	if !s.vectorSets {
		return false, nil
	}
	if known := s.index.Load(); known != nil {
		return *known, nil
	}
	// Old servers answer with nil, and a key that is not there has no members.
	err := s.client.Do(ctx, s.client.B().Vcard().Key(s.prefix+"v:").Build()).Error()
	has := true
	if e, ok := rueidis.IsRedisErr(err); ok && !e.IsNil() {
		if has = false; !strings.Contains(strings.ToLower(e.Error()), "unknown command") {
			return false, err
		}
	} else if err != nil && !rueidis.IsRedisNil(err) {
		return false, err
	}
	s.index.Store(&has)
	return has, nil
}

// groupKey is where the vectors of one length of a group are.
func (s *Store) groupKey(sets bool, group cache.Key, dim int) string {
	kind := "h:"
	if sets {
		kind = "v:"
	}
	return s.prefix + kind + group.String() + ":" + strconv.Itoa(dim)
}

// removal takes a member out of a group.
func (s *Store) removal(sets bool, key, member string) rueidis.Completed {
	if sets {
		return s.client.B().Vrem().Key(key).Element(member).Build()
	}
	return s.client.B().Hdel().Key(key).Field(member).Build()
}

// tidyScript draws members of a vector set and takes out those whose time is over,
// so that a set that is only written to does not grow forever.
const tidyScript = `for _, m in ipairs(redis.call('VRANDMEMBER', KEYS[1], 3)) do
  local at = redis.call('VGETATTR', KEYS[1], m)
  if not at or (tonumber(at) or 0) <= tonumber(ARGV[1]) then
    redis.call('VREM', KEYS[1], m)
  end -- of the condition
end
return 0`

// tidyHashScript does so for hashes, and lets members at random go above a limit.
const tidyHashScript = `local drawn = redis.call('HRANDFIELD', KEYS[1], 3, 'WITHVALUES')
for i = 1, #drawn, 2 do
  if (tonumber(string.sub(drawn[i + 1], 1, 16), 16) or 0) <= tonumber(ARGV[1]) then
    redis.call('HDEL', KEYS[1], drawn[i])
  end -- of the condition
end
local over = redis.call('HLEN', KEYS[1]) - tonumber(ARGV[2])
if over <= 0 then return 0 end
for _, m in ipairs(redis.call('HRANDFIELD', KEYS[1], over + 1)) do
  if m ~= ARGV[3] and over > 0 then
    redis.call('HDEL', KEYS[1], m)
    over = over - 1
  end -- of the condition
end
return 0`

// addVector puts an entry into its group.
func (s *Store) addVector(ctx context.Context, e *cache.Entry) error {
	sets, err := s.hasVectorSets(ctx)
	if err != nil {
		return err
	}
	key := s.groupKey(sets, e.Group, len(e.Vector))
	if err = s.addTo(ctx, sets, key, e); err == nil {
		return nil
	}
	if r, ok := rueidis.IsRedisErr(err); !ok || !wrongType(err) && !strings.Contains(r.Error(), "dimension") {
		return err
	}
	// Something else has the name of our index.
	s.corrupt.Add(1)
	if err := s.unlink(ctx, []string{key}); err != nil {
		return err
	}
	return s.addTo(ctx, sets, key, e)
}

func (s *Store) addTo(ctx context.Context, sets bool, key string, e *cache.Entry) error {
	member, now, b := string(e.Key[:]), strconv.FormatInt(time.Now().UnixMilli(), 10), s.client.B()
	var cmds rueidis.Commands
	if sets {
		cmds = append(cmds,
			b.Vadd().Key(key).Fp32().Vector(rueidis.BinaryString(cosine.Append(nil, e.Vector))).Element(member).Cas().
				Setattr(strconv.FormatInt(e.Expires.UnixMilli(), 10)).Build(),
			s.eval(tidyScript, key, now))
	} else {
		value := cosine.Append(hex16(e.Expires.UnixMilli()), e.Vector)
		cmds = append(cmds,
			b.Hset().Key(key).FieldValue().FieldValue(member, rueidis.BinaryString(value)).Build(),
			s.eval(tidyHashScript, key, now, strconv.Itoa(s.scanLimit), member))
	}
	for _, r := range s.client.DoMulti(ctx, s.outliving(key, e, cmds...)...) {
		if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
			return err
		}
	}
	return nil
}

// hex16 is a time as 16 digits, which scripts and searches read.
func hex16(ms int64) []byte {
	const width = 16
	digits := strconv.AppendInt(nil, max(ms, 0), 16)
	return append(slices.Repeat([]byte("0"), width-len(digits)), digits...)
}

// Search implements [cache.Searcher]. How it searches depends on the server; see
// the package documentation.
func (s *Store) Search(ctx context.Context, q *cache.Query) ([]cache.Match, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, s.failure("search", err)
	}
	defer cancel()
	s.searches.Add(1)
	if q.Group.IsZero() || !cosine.Valid(q.Vector) {
		return nil, nil
	}
	sets, err := s.hasVectorSets(ctx)
	if err != nil {
		return nil, s.failure("search", err)
	}
	run := search{store: s, query: q, sets: sets, key: s.groupKey(sets, q.Group, len(q.Vector)), seen: map[cache.Key]bool{}}
	if sets {
		err = run.neighbours(ctx)
	} else {
		err = run.all(ctx)
	}
	if wrongType(err) {
		s.corrupt.Add(1)
		return nil, nil
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
	query   *cache.Query
	sets    bool
	key     string
	seen    map[cache.Key]bool
	matches []cache.Match
}

// neighbours asks a vector set for more and more neighbours until they end, are too
// far away, or enough.
func (r *search) neighbours(ctx context.Context) error {
	s := r.store
	vector, least := rueidis.BinaryString(cosine.Append(nil, r.query.Vector)), r.query.Threshold-quantization
	for count := max(firstCount, 2*r.query.Limit); ; count *= countGrowth {
		found, err := s.client.Do(ctx, s.client.B().Vsim().Key(r.key).Fp32().Vector(vector).Withscores().
			Count(int64(count)).Ef(int64(max(leastEffort, 2*count))).Build()).AsMap()
		if rueidis.IsRedisNil(err) {
			return nil
		}
		if err != nil {
			return err
		}
		near, lowest := r.candidates(found, least)
		if err := r.measure(ctx, near); err != nil {
			return err
		}
		if len(found) < count || lowest < least || r.query.Limit > 0 && len(r.matches) >= r.query.Limit {
			return nil
		}
	}
}

// candidates returns the neighbours that are near enough and were not seen before,
// and the lowest similarity of all.
func (r *search) candidates(found map[string]rueidis.RedisMessage, least float64) (near []cache.Key, lowest float64) {
	lowest = 1
	for member, score := range found {
		f, err := score.AsFloat64()
		if err != nil || len(member) != len(cache.Key{}) {
			continue
		}
		similarity := 2*f - 1 // the server's scores are from 0 to 1
		lowest = min(lowest, similarity)
		if key := cache.Key([]byte(member)); similarity >= least && !r.seen[key] {
			r.seen[key] = true
			near = append(near, key)
		}
	}
	return near, lowest
}

// all measures each vector of a hash.
func (r *search) all(ctx context.Context) error {
	s := r.store
	found, err := s.client.Do(ctx, s.client.B().Hgetall().Key(r.key).Build()).AsStrMap()
	if err != nil && !rueidis.IsRedisNil(err) {
		return err
	}
	const header = 16
	now := time.Now().UnixMilli()
	var near, gone []cache.Key
	var broken []string
	vector, query := make([]float32, len(r.query.Vector)), cosine.To(r.query.Vector)
	for member, value := range found {
		if len(member) != len(cache.Key{}) || len(value) != header+cosine.Size*len(r.query.Vector) {
			s.corrupt.Add(1)
			broken = append(broken, member)
			continue
		}
		if expires, err := strconv.ParseInt(value[:header], 16, 64); err != nil || expires <= now {
			gone = append(gone, cache.Key([]byte(member)))
			continue
		}
		if cosine.Parse(vector, value[header:]) && query.Similarity(vector) >= r.query.Threshold {
			near = append(near, cache.Key([]byte(member)))
		}
	}
	if len(broken) > 0 {
		if err := s.client.Do(ctx, s.client.B().Hdel().Key(r.key).Field(broken...).Build()).Error(); err != nil {
			return err
		}
	}
	if err := r.remove(ctx, gone); err != nil {
		return err
	}
	return r.measure(ctx, near)
}

// measure reads the entries of keys and keeps those that match. Members without an
// entry of the group leave it.
func (r *search) measure(ctx context.Context, keys []cache.Key) error {
	for ; len(keys) > 0; keys = keys[min(pageKeys, len(keys)):] {
		page := keys[:min(pageKeys, len(keys))]
		entries, err := r.store.read(ctx, page)
		if err != nil {
			return err
		}
		var gone []cache.Key
		for i, e := range entries {
			if e == nil || e.Group != r.query.Group || len(e.Vector) != len(r.query.Vector) {
				gone = append(gone, page[i])
				continue
			}
			if sim := cosine.Similarity(e.Vector, r.query.Vector); sim >= r.query.Threshold {
				r.matches = append(r.matches, cache.Match{Entry: e, Similarity: sim})
			}
		}
		if err := r.remove(ctx, gone); err != nil {
			return err
		}
	}
	return nil
}

// remove takes members out of the group.
func (r *search) remove(ctx context.Context, keys []cache.Key) error {
	if len(keys) == 0 {
		return nil
	}
	cmds := make(rueidis.Commands, len(keys))
	for i, k := range keys {
		cmds[i] = r.store.removal(r.sets, r.key, string(k[:]))
	}
	for _, res := range r.store.client.DoMulti(ctx, cmds...) {
		if err := res.Error(); err != nil {
			return err
		}
	}
	return r.store.rejoin(ctx, keys)
}
