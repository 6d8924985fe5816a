package analytics

import (
	"errors"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// A value that gets a place in the middle of a bucket has its first calls with the
// others: its sum must not pass for the whole.
func TestAPlaceThatComesLate(t *testing.T) {
	now := noon
	l, err := NewLive(Options{Days: 1, Hours: 24, Minutes: -1, Fields: []string{"user"}, MaxValues: 1, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	call := func(user string) {
		if err := l.Write(t.Context(), []logs.Record{{Time: now, User: user}}); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(user string) (*Report, error) {
		from := now.Truncate(24 * time.Hour)
		return l.Report(t.Context(), Query{From: from, To: from.Add(24 * time.Hour), Filters: []logs.Filter{{Field: "user", Op: logs.Eq, Values: []string{user}}}})
	}
	call("ann")
	now = noon.Add(22 * time.Hour)
	call("bob") // ann has the place
	now = noon.Add(25 * time.Hour)
	call("bob") // who has it now
	if r, err := ask("bob"); !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("bob: %+v, %v, want a refusal", r, err)
	}
	now = now.Add(24 * time.Hour)
	call("bob")
	call("eve")
	if r, err := ask("bob"); err != nil || r.Total.Requests != 1 {
		t.Errorf("bob on the next day: %+v, %v", r, err)
	}
}
