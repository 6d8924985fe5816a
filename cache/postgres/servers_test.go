package postgres_test

import (
	"context"
	crand "crypto/rand"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache"
	"github.com/b650d4bf/gateway/cache/cachetest"
	"github.com/b650d4bf/gateway/cache/postgres"
)

// servers are the variables with the URLs of servers; .ci/servers sets them.
var servers = []string{"GATEWAY_TEST_POSTGRES", "GATEWAY_TEST_POSTGRES_PLAIN"}

// eachServer runs a test with each server that there is.
func eachServer(t *testing.T, test func(t *testing.T, url string)) {
	for _, name := range servers {
		t.Run(name, func(t *testing.T) { test(t, serverURL(t, name)) })
	}
}

func serverURL(t testing.TB, variable string) string {
	t.Helper()
	url := os.Getenv(variable)
	if url == "" {
		t.Skipf("%s names no server; bash .ci/servers COMMAND runs a command with all of them", variable)
	}
	return url
}

// connect returns a pool that ends with the test.
func connect(t testing.TB, url string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	c, err := pgxpool.ParseConfig(url)
	must(t, err)
	c.MaxConns = 8
	c.ConnConfig.ConnectTimeout = 20 * time.Second
	for _, f := range change {
		f(c)
	}
	p, err := pgxpool.NewWithConfig(context.Background(), c)
	must(t, err)
	t.Cleanup(p.Close)
	return p
}

// withExtension sees to it that the database has pgvector, if the server does.
func withExtension(t testing.TB, url string) {
	t.Helper()
	p, ctx := connect(t, url), t.Context()
	defer p.Close()
	_, _ = p.Exec(ctx, `SELECT pg_advisory_xact_lock(1); CREATE EXTENSION IF NOT EXISTS vector`, pgx.QueryExecModeSimpleProtocol)
}

func prefix() string { return "t" + strings.ToLower(crand.Text()) + "_" }

// open returns a store with tables of its own.
func open(t testing.TB, url string, opts ...postgres.Option) (*postgres.Store, string) {
	t.Helper()
	name := prefix()
	return openAs(t, url, name, opts...), name
}

func openAs(t testing.TB, url, name string, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	withExtension(t, url)
	s, err := postgres.New(connect(t, url), append([]postgres.Option{postgres.WithPrefix(name), postgres.WithTimeout(20 * time.Second)}, opts...)...)
	must(t, err)
	t.Cleanup(func() { _ = s.Close(); drop(t, url, name) })
	return s
}

// drop removes all tables of a prefix.
func drop(t testing.TB, url, name string) {
	t.Helper()
	p := connect(t, url)
	defer p.Close()
	rows, err := p.Query(context.Background(), `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE tablename LIKE $1`, strings.ReplaceAll(name, "_", `\_`)+"%")
	if err != nil {
		t.Log(err)
		return
	}
	var names []string
	for rows.Next() {
		var n string
		must(t, rows.Scan(&n))
		names = append(names, n)
	}
	if len(names) > 0 {
		if _, err := p.Exec(context.Background(), `DROP TABLE IF EXISTS `+strings.Join(names, ", ")+` CASCADE`); err != nil {
			t.Log(err)
		}
	}
}

func TestStore(t *testing.T) {
	for name, opts := range map[string][]postgres.Option{"as it comes": nil, "without pgvector": {postgres.WithoutExtension()}} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, url string) {
				cachetest.Run(t,
					func(t *testing.T) cache.Store { s, _ := open(t, url, opts...); return s },
					cachetest.WithoutSizes(), cachetest.WithOperations(500), cachetest.WithLife(800*time.Millisecond),
					cachetest.WithShared(func(t *testing.T) (a, b cache.Store) {
						first, name := open(t, url, opts...)
						return first, openAs(t, url, name, opts...)
					}))
			})
		})
	}
}

func entry(n int) *cache.Entry {
	now := time.UnixMilli(time.Now().UnixMilli())
	return &cache.Entry{
		Key: cache.Key{byte(n), byte(n >> 8), 31: 1}, Body: []byte(strings.Repeat("body", 100)), Created: now, Expires: now.Add(time.Hour),
		Operation: "chat", Model: "gemini-2.5-flash", Parts: []cache.Part{{Name: "model", Sum: 7}}, Text: "text",
	}
}

// unit returns a vector of length 1.
func unit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return normal(v)
}

func normal(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// near returns a vector of length 1 at that similarity of v.
func near(r *rand.Rand, v []float32, similarity float64) []float32 {
	other := unit(r, len(v))
	along := 0.0
	for i := range v {
		along += float64(v[i]) * float64(other[i])
	}
	for i := range other {
		other[i] -= float32(along) * v[i]
	}
	normal(other)
	out := make([]float32, len(v))
	for i := range out {
		out[i] = float32(similarity)*v[i] + float32(math.Sqrt(1-similarity*similarity))*other[i]
	}
	return normal(out)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for what is true a little later.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
