package logsql

import (
	"context"
	"sync/atomic"
	"time"
)

// The pace of pruning: how often a store prunes by itself, and how many batches it
// deletes then at most. When that was not enough, the next Write goes on.
const (
	pruneEvery   = time.Minute
	pruneBatches = 4
)

// Pruner deletes what a store keeps no longer, in batches. Its zero value is ready.
type Pruner struct {
	due atomic.Int64 // in nanoseconds since 1970
}

// Sometimes deletes some batches, if that is due. Of several calls at once one does
// it. batch deletes up to full records and returns how many those were.
func (p *Pruner) Sometimes(ctx context.Context, full int, batch func(context.Context) (int, error)) error {
	now, due := time.Now(), p.due.Load()
	if now.UnixNano() < due || !p.due.CompareAndSwap(due, now.Add(pruneEvery).UnixNano()) {
		return nil
	}
	for range pruneBatches {
		if n, err := batch(ctx); err != nil || n < full {
			return err
		}
	}
	p.due.Store(now.UnixNano())
	return nil
}

// All deletes batches until nothing is left to delete, and returns how many records
// that were.
func (*Pruner) All(ctx context.Context, batch func(context.Context) (int, error)) (total int, err error) {
	for {
		n, err := batch(ctx)
		total += n
		if err != nil || n == 0 {
			return total, err
		}
	}
}
