package redis_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/b650d4bf/gateway/cache"
)

// An index goes when the last of its entries expires. What is added in the moment
// before stays.
func TestAnIndexThatIsAboutToExpireKeepsWhatIsAdded(t *testing.T) {
	eachServer(t, func(t *testing.T, o rueidis.ClientOption) {
		s, ctx, r := open(t, o), t.Context(), rand.New(rand.NewPCG(1, 2))
		const life = 4 * time.Millisecond
		for i := range 300 {
			group, vector := cache.Key{1: byte(i), 2: byte(i >> 8), 3: 1}, unit(r, 8)
			short, long := entry(2*i), entry(2*i+1)
			for _, e := range []*cache.Entry{short, long} {
				e.Group, e.Vector = group, vector
			}
			short.Expires = time.Now().Add(life)
			must(t, s.Set(ctx, short))
			time.Sleep(time.Until(short.Expires) - time.Duration(r.Int64N(int64(life/2))))
			must(t, s.Set(ctx, long))
			matches, err := s.Search(ctx, &cache.Query{Group: group, Vector: vector, Threshold: 0.9})
			must(t, err)
			found := false
			for _, m := range matches {
				found = found || m.Entry.Key == long.Key
			}
			if !found {
				t.Fatalf("round %d: the entry is not found", i)
			}
		}
	})
}
