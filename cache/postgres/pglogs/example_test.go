package pglogs_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/b650d4bf/gateway/cache/postgres/pglogs"
	"github.com/b650d4bf/gateway/logs"
)

// Records of all processes are kept in one database for a month, and found again by
// what they say.
func Example() {
	url := os.Getenv("GATEWAY_TEST_POSTGRES")
	if url == "" {
		fmt.Println("a gemini-2.5-flash") // no server to try it with
		return
	}
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	store, err := pglogs.New(pool, pglogs.WithPrefix("example_logs_"), pglogs.WithMaxAge(30*24*time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}

	// A log does so for each call: logs.New(logs.Options{Store: store}).
	err = store.Write(ctx, []logs.Record{
		{ID: "a", Time: time.Now(), Operation: "chat", Model: "gemini-2.5-flash", Metadata: map[string]string{"team": "search"}},
		{ID: "b", Time: time.Now(), Operation: "chat", Model: "gemini-2.5-pro", Error: &logs.Error{Code: "rate_limit_exceeded"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := store.Query(ctx, logs.Query{Limit: 1, Filters: []logs.Filter{{Field: "metadata.team", Op: logs.Eq, Values: []string{"search"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range page.Records {
		fmt.Println(r.ID, r.Model)
	}
	// Output: a gemini-2.5-flash
}
