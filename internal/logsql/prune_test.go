package logsql

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// batches deletes from what is there.
type batches struct{ there, calls int }

func (b *batches) one(context.Context) (int, error) {
	b.calls++
	n := min(b.there, 10)
	b.there -= n
	return n, nil
}

func TestPruningIsDoneNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pruner
		b := batches{there: 65}
		for _, step := range []struct {
			wait        time.Duration
			there, runs int
		}{
			{0, 25, 4},               // four full batches, and more to do
			{0, 0, 7},                // which the next call goes on with
			{0, 0, 7},                // not yet
			{59 * time.Second, 0, 7}, // nor now
			{time.Second, 0, 8},
		} {
			time.Sleep(step.wait)
			if err := p.Sometimes(t.Context(), 10, b.one); err != nil {
				t.Fatal(err)
			}
			if b.there != step.there || b.calls != step.runs {
				t.Errorf("after %v: %d left after %d batches, want %d after %d", step.wait, b.there, b.calls, step.there, step.runs)
			}
		}
	})
}

func TestPruningAllGoesToTheEnd(t *testing.T) {
	b := batches{there: 95}
	if n, err := new(Pruner).All(t.Context(), b.one); n != 95 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestPruningTellsFaults(t *testing.T) {
	fault := errors.New("fault")
	broken := func(context.Context) (int, error) { return 3, fault }
	var p Pruner
	if err := p.Sometimes(t.Context(), 10, broken); !errors.Is(err, fault) {
		t.Errorf("sometimes: %v", err)
	}
	if n, err := p.All(t.Context(), broken); n != 3 || !errors.Is(err, fault) {
		t.Errorf("all: %d, %v", n, err)
	}
}
