package redis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
)

// pageKeys is how many keys are read together.
const pageKeys = 128

// namespaceKey is the sorted set of a namespace's keys, by when they expire.
func (s *Store) namespaceKey(namespace string) string {
	sum := sha256.Sum256([]byte(namespace))
	return s.prefix + "n:" + hex.EncodeToString(sum[:16])
}

// join appends what puts an entry into its namespace, and what takes the expired
// out of it.
func (s *Store) join(cmds rueidis.Commands, e *cache.Entry) rueidis.Commands {
	if e.Namespace == "" {
		return cmds
	}
	b, key := s.client.B(), s.namespaceKey(e.Namespace)
	return append(cmds, s.outliving(key, e,
		b.Zadd().Key(key).ScoreMember().ScoreMember(float64(e.Expires.UnixMilli()), string(e.Key[:])).Build(),
		b.Zremrangebyscore().Key(key).Min("-inf").Max(strconv.FormatInt(time.Now().UnixMilli(), 10)).Build())...)
}

// outliveScript lets a key live at least until a time.
const outliveScript = `local left = redis.call('PTTL', KEYS[1])
if left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 0`

// outliving returns the commands that add an entry to an index, between two that keep
// the index for as long as the entry. The first is for an index whose other entries
// are about to expire, which would take the new one along before the second runs; the
// second is for a new index.
func (s *Store) outliving(key string, e *cache.Entry, add ...rueidis.Completed) rueidis.Commands {
	life := strconv.FormatInt(max(time.Until(e.Expires).Milliseconds(), 1), 10)
	return append(append(rueidis.Commands{s.eval(outliveScript, key, life)}, add...), s.eval(outliveScript, key, life))
}

// leave takes deleted entries out of the indexes. What fails here is found later.
func (s *Store) leave(ctx context.Context, entries ...*cache.Entry) {
	var cmds rueidis.Commands
	keys := make([]cache.Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
		if e.Namespace != "" {
			cmds = append(cmds, s.client.B().Zrem().Key(s.namespaceKey(e.Namespace)).Member(string(e.Key[:])).Build())
		}
		if indexable(e) {
			sets, err := s.hasVectorSets(ctx)
			if err != nil {
				return
			}
			cmds = append(cmds, s.removal(sets, s.groupKey(sets, e.Group, len(e.Vector)), string(e.Key[:])))
		}
	}
	if len(cmds) > 0 {
		s.client.DoMulti(ctx, cmds...)
		_ = s.rejoin(ctx, keys)
	}
}

// rejoin puts the entries of keys that were taken out of an index back into it if
// they are there. Set writes the entry before the vector, so a Set at the same time
// either is seen here or adds its vector afterwards.
func (s *Store) rejoin(ctx context.Context, keys []cache.Key) error {
	entries, err := s.entries(ctx, keys)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if cmds := s.join(nil, e); len(cmds) > 0 {
			s.client.DoMulti(ctx, cmds...)
		}
		if indexable(e) {
			if err := s.addVector(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// List implements [cache.Keeper].
func (s *Store) List(ctx context.Context, f cache.Filter) iter.Seq2[*cache.Entry, error] {
	return func(yield func(*cache.Entry, error) bool) {
		for keys, err := range s.keys(ctx, f) {
			var entries []*cache.Entry
			if err == nil {
				entries, err = s.entries(ctx, keys)
			}
			if err != nil {
				yield(nil, s.failure("list", err))
				return
			}
			for _, e := range entries {
				if f.Takes(e) && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// DeleteAll implements [cache.Keeper]. Without a filter it deletes all that is
// below the prefix, and tells those who watch to forget everything.
func (s *Store) DeleteAll(ctx context.Context, f cache.Filter) (int, error) {
	n, err := s.deleteAll(ctx, f)
	s.deleted.Add(int64(n))
	if err != nil {
		return n, s.failure("delete all", err)
	}
	return n, nil
}

func (s *Store) deleteAll(ctx context.Context, f cache.Filter) (int, error) {
	s.recent.addAll()
	defer s.recent.addAll()
	n := 0
	for keys, err := range s.keys(ctx, f) {
		if err != nil {
			return n, err
		}
		entries, err := s.entries(ctx, keys)
		if err != nil {
			return n, err
		}
		var taken []*cache.Entry
		for _, e := range entries {
			if f.Takes(e) {
				taken = append(taken, e)
			}
		}
		gone, err := s.deletePage(ctx, taken)
		if n += gone; err != nil {
			return n, err
		}
	}
	if f != (cache.Filter{}) {
		return n, nil
	}
	// Indexes of entries that are gone already, and what was no entry.
	for keys, err := range s.scan(ctx, s.prefix+"*") {
		if err == nil {
			err = s.unlink(ctx, keys)
		}
		if err != nil {
			return n, err
		}
	}
	return n, s.publish(ctx, string(rune(messageReset)))
}

// deletePage deletes entries together and tells those who watch.
func (s *Store) deletePage(ctx context.Context, entries []*cache.Entry) (int, error) {
	if len(entries) == 0 {
		return 0, nil
	}
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	var cmds rueidis.Commands
	keys := make([]cache.Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
		cmds = append(cmds, s.client.B().Unlink().Key(s.entryKey(e.Key)).Build())
	}
	n := 0
	for _, r := range s.client.DoMulti(ctx, cmds...) {
		gone, err := r.AsInt64()
		if err != nil {
			return n, err
		}
		n += int(gone)
	}
	s.leave(ctx, entries...)
	for ; len(keys) > 0; keys = keys[min(messageKeys, len(keys)):] {
		if err := s.publish(ctx, changedMessage(keys[:min(messageKeys, len(keys))]...)); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *Store) publish(ctx context.Context, message string) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	return s.client.Do(ctx, s.client.B().Publish().Channel(s.channel()).Message(message).Build()).Error()
}

// unlink deletes keys of any kind, but no locks: they are for answers to come.
func (s *Store) unlink(ctx context.Context, keys []string) error {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	var cmds rueidis.Commands
	for _, key := range keys {
		if !strings.HasPrefix(key, s.prefix+"l:") {
			cmds = append(cmds, s.client.B().Unlink().Key(key).Build())
		}
	}
	for _, r := range s.client.DoMulti(ctx, cmds...) {
		if err := r.Error(); err != nil {
			return err
		}
	}
	return nil
}

// keys yields pages of the keys among which are those of a filter.
func (s *Store) keys(ctx context.Context, f cache.Filter) iter.Seq2[[]cache.Key, error] {
	if f.Namespace != nil && *f.Namespace != "" {
		return s.members(ctx, s.namespaceKey(*f.Namespace))
	}
	return func(yield func([]cache.Key, error) bool) {
		for names, err := range s.scan(ctx, s.prefix+"e:*") {
			keys := make([]cache.Key, 0, len(names))
			for _, name := range names {
				if key, err := cache.ParseKey(strings.TrimPrefix(name, s.prefix+"e:")); err == nil {
					keys = append(keys, key)
				}
			}
			if !yield(keys, err) || err != nil {
				return
			}
		}
	}
}

// members yields the keys in a namespace's sorted set, as they were at first.
func (s *Store) members(ctx context.Context, name string) iter.Seq2[[]cache.Key, error] {
	return func(yield func([]cache.Key, error) bool) {
		first, cancel, err := s.begin(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		all, err := s.client.Do(first, s.client.B().Zrange().Key(name).Min("0").Max("-1").Build()).AsStrSlice()
		cancel()
		if wrongType(err) {
			s.corrupt.Add(1)
			all, err = nil, s.unlink(ctx, []string{name})
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for ; len(all) > 0; all = all[min(pageKeys, len(all)):] {
			var keys []cache.Key
			for _, m := range all[:min(pageKeys, len(all))] {
				if len(m) == len(cache.Key{}) {
					keys = append(keys, cache.Key([]byte(m)))
				}
			}
			if !yield(keys, nil) {
				return
			}
		}
	}
}

// scan yields pages of the names that match, on all servers that hold any. A name
// that comes twice, as SCAN may say it, is left out the second time in its page.
func (s *Store) scan(ctx context.Context, match string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, node := range s.client.Nodes() {
			for cursor := uint64(0); ; {
				page, cancel, err := s.begin(ctx)
				if err != nil {
					yield(nil, err)
					return
				}
				found, err := node.Do(page, node.B().Scan().Cursor(cursor).Match(match).Count(8*pageKeys).Build()).AsScanEntry()
				cancel()
				if !yield(found.Elements, err) || err != nil {
					return
				}
				if cursor = found.Cursor; cursor == 0 {
					break
				}
			}
		}
	}
}

// entries reads the whole entries of keys; those that are not there are left out.
func (s *Store) entries(ctx context.Context, keys []cache.Key) ([]*cache.Entry, error) {
	var out []*cache.Entry
	for ; len(keys) > 0; keys = keys[min(pageKeys, len(keys)):] {
		page := keys[:min(pageKeys, len(keys))]
		found, err := s.read(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if e != nil {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// read returns the entry of each key, nil where there is none.
func (s *Store) read(ctx context.Context, keys []cache.Key) ([]*cache.Entry, error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer cancel()
	cmds := make(rueidis.Commands, len(keys))
	for i, k := range keys {
		cmds[i] = s.client.B().Get().Key(s.entryKey(k)).Build()
	}
	out := make([]*cache.Entry, len(keys))
	for i, r := range s.client.DoMulti(ctx, cmds...) {
		if out[i], err = s.entry(r, keys[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
