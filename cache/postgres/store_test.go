package postgres_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/postgres"
)

func TestSearchFindsAllMatches(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		for name, dim := range map[string]int{"768 dimensions": 768, "3072 dimensions": 3072, "more than an index takes": 4100} {
			t.Run(name, func(t *testing.T) {
				const all, threshold = 120, 0.95
				s, _ := open(t, url)
				ctx, r := t.Context(), rand.New(rand.NewPCG(1, 2))
				group, query := cache.Key{7}, unit(r, dim)
				want := 0
				for i := range all {
					e := entry(i)
					e.Group, e.Vector = group, unit(r, dim)
					switch i % 4 {
					case 0:
						e.Vector = near(r, query, 0.9501+0.04*float64(i)/all)
						want++
					case 1:
						e.Vector = near(r, query, 0.9499)
					}
					must(t, s.Set(ctx, e))
				}
				found, err := s.Search(ctx, &cache.Query{Group: group, Vector: query, Threshold: threshold})
				must(t, err)
				if len(found) != want {
					t.Errorf("found %d, want %d", len(found), want)
				}
				for i, m := range found {
					if m.Similarity < threshold || i > 0 && m.Similarity > found[i-1].Similarity {
						t.Errorf("match %d: %v", i, m.Similarity)
					}
				}
			})
		}
	})
}

// TestLargeGroupsAreSearchedThroughTheIndex has more members than are compared
// whole, and more matches than are asked for at first.
func TestLargeGroupsAreSearchedThroughTheIndex(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, _ := open(t, url)
	ctx, r := t.Context(), rand.New(rand.NewPCG(1, 2))
	const all, matching = 2600, 150
	query := unit(r, 32)
	var wg sync.WaitGroup
	for worker := range 4 {
		r := rand.New(rand.NewPCG(9, uint64(worker)))
		wg.Go(func() {
			for i := worker; i < all; i += 4 {
				e := entry(i)
				e.Group, e.Vector = cache.Key{7}, unit(r, 32)
				if i < matching {
					e.Vector = near(r, query, 0.97)
				}
				if err := s.Set(ctx, e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	found, err := s.Search(ctx, &cache.Query{Group: cache.Key{7}, Vector: query, Threshold: 0.95})
	must(t, err)
	// The index is approximate: most of them, and nothing else.
	if len(found) < matching*95/100 || len(found) > matching {
		t.Errorf("found %d of %d", len(found), matching)
	}
	found, err = s.Search(ctx, &cache.Query{Group: cache.Key{7}, Vector: query, Threshold: 0.95, Limit: 2})
	if err != nil || len(found) != 2 {
		t.Errorf("of 2: %d, %v", len(found), err)
	}
}

func TestProcessesMayStartAtTheSameTime(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		withExtension(t, url)
		for range 3 {
			name := prefix()
			t.Cleanup(func() { drop(t, url, name) })
			var wg sync.WaitGroup
			for i := range 8 {
				s := openAs(t, url, name, postgres.WithSchema("own_"+strings.ToLower(name[:8])))
				wg.Go(func() {
					e := entry(i)
					e.Group, e.Vector = cache.Key{1}, []float32{1, 0}
					if err := s.Set(t.Context(), e); err != nil {
						t.Error(err)
					}
					if err := s.Migrate(t.Context(), 2, 3); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
	})
}

func TestNewerTablesAreLeftAlone(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	s, name := open(t, url)
	must(t, s.Set(t.Context(), entry(1)))
	_, err := connect(t, url).Exec(t.Context(), `INSERT INTO `+name+`schema VALUES (99)`)
	must(t, err)
	again := openAs(t, url, name)
	if err := again.Set(t.Context(), entry(1)); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("%v", err)
	}
}

func TestExpiredEntriesAreSwept(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		s, name := open(t, url, postgres.WithSweep(50*time.Millisecond))
		ctx := t.Context()
		for i := range 50 {
			e := entry(i)
			e.Group, e.Vector = cache.Key{7}, []float32{1, 0}
			if i%2 == 0 {
				e.Expires = e.Created.Add(100 * time.Millisecond)
			}
			_ = s.Set(ctx, e)
		}
		p := connect(t, url)
		eventually(t, "half of them are gone", func() bool {
			n := 0
			must(t, p.QueryRow(ctx, `SELECT count(*) FROM `+name+`entries`).Scan(&n))
			return n == 25
		})
		// What a slow machine stores after its time is rejected.
		eventually(t, "each is counted", func() bool { st := s.Stats(); return st.Expired+st.Rejected == 25 })
	})
}

func TestMistakesAreRefused(t *testing.T) {
	p, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	must(t, err)
	defer p.Close()
	for _, o := range []postgres.Option{
		postgres.WithPrefix(""), postgres.WithPrefix(`a"; DROP TABLE x; --`), postgres.WithPrefix("Upper"), postgres.WithPrefix(strings.Repeat("a", 41)),
		postgres.WithSchema("a b"), postgres.WithSchema("1a"), postgres.WithTimeout(0), postgres.WithSweep(-1), postgres.WithMaxEntryBytes(0), postgres.WithScanLimit(0),
	} {
		if _, err := postgres.New(p, o); err == nil {
			t.Error("not refused")
		}
	}
	if _, err := postgres.New(nil); err == nil {
		t.Error("no pool is not refused")
	}
}
