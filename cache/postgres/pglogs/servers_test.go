package pglogs_test

import (
	"context"
	crand "crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache/postgres/pglogs"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/logs/logstest"
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

func prefix() string { return "t" + strings.ToLower(crand.Text()) + "_" }

// open returns a store with tables of its own, and their prefix.
func open(t testing.TB, url string, opts ...pglogs.Option) (*pglogs.Store, string) {
	t.Helper()
	name := prefix()
	t.Cleanup(func() { drop(t, url, name) })
	return openAs(t, url, name, opts...), name
}

func openAs(t testing.TB, url, name string, opts ...pglogs.Option) *pglogs.Store {
	t.Helper()
	s, err := pglogs.New(connect(t, url), append([]pglogs.Option{pglogs.WithPrefix(name), pglogs.WithTimeout(20 * time.Second)}, opts...)...)
	must(t, err)
	return s
}

// drop removes all tables of a prefix.
func drop(t testing.TB, url, name string) {
	t.Helper()
	p := connect(t, url)
	defer p.Close()
	ctx := context.Background()
	rows, err := p.Query(ctx, `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE tablename LIKE $1`, strings.ReplaceAll(name, "_", `\_`)+"%")
	must(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if len(names) > 0 {
		_, err = p.Exec(ctx, `DROP TABLE IF EXISTS `+strings.Join(names, ", ")+` CASCADE`)
		must(t, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	eachServer(t, func(t *testing.T, url string) {
		logstest.Store(t, func(t *testing.T) logs.Store { s, _ := open(t, url); return s })
	})
}

// TestStoreWithOtherProtocols is for poolers, which know no prepared statements.
func TestStoreWithOtherProtocols(t *testing.T) {
	url := serverURL(t, "GATEWAY_TEST_POSTGRES")
	for name, mode := range map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "exec": pgx.QueryExecModeExec, "describe": pgx.QueryExecModeCacheDescribe,
	} {
		t.Run(name, func(t *testing.T) {
			logstest.Store(t, func(t *testing.T) logs.Store {
				name := prefix()
				t.Cleanup(func() { drop(t, url, name) })
				p := connect(t, url, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
				s, err := pglogs.New(p, pglogs.WithPrefix(name), pglogs.WithTimeout(20*time.Second))
				must(t, err)
				return s
			})
		})
	}
}
