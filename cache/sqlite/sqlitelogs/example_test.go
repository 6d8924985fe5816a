package sqlitelogs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/b650d4bf/gateway/cache/sqlite/sqlitelogs"
	"github.com/b650d4bf/gateway/logs"
)

// Records are kept in a file for a month, and found again by what they say.
func Example() {
	dir, err := os.MkdirTemp("", "calls")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlitelogs.Open(filepath.Join(dir, "calls.db"), sqlitelogs.WithMaxAge(30*24*time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close() }()

	// A log does so for each call: logs.New(logs.Options{Store: store}).
	ctx := context.Background()
	err = store.Write(ctx, []logs.Record{
		{ID: "a", Time: time.Now(), Operation: "chat", Model: "gemini-2.5-flash", Metadata: map[string]string{"team": "search"}},
		{ID: "b", Time: time.Now(), Operation: "chat", Model: "gemini-2.5-pro", Error: &logs.Error{Code: "rate_limit_exceeded"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := store.Query(ctx, logs.Query{Filters: []logs.Filter{{Field: "metadata.team", Op: logs.Eq, Values: []string{"search"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range page.Records {
		fmt.Println(r.ID, r.Model)
	}
	// Output: a gemini-2.5-flash
}
