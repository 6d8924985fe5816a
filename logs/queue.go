package logs

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queue holds records between two goroutines. It never makes who puts wait.
type queue struct {
	most, mostBytes int
	batch           int           // as many as are taken at once
	interval        time.Duration // how long a record waits for a batch
	wake            chan struct{} // has room for one

	mu      sync.Mutex
	list    []queued
	bytes   int
	tight   bool      // something found no room since the last batch was taken
	since   time.Time // of the oldest
	closed  bool
	in, out uint64 // put, and done with
	waiters []waiter
}

type queued struct {
	record *Record
	size   int
}

// waiter waits until as many are done with.
type waiter struct {
	upTo uint64
	done chan struct{}
}

func newQueue(o *Options, interval time.Duration) *queue {
	return &queue{most: o.QueueRecords, mostBytes: o.QueueBytes, batch: o.BatchSize, interval: interval, wake: make(chan struct{}, 1)}
}

// put adds a record, and reports whether there was room.
func (q *queue) put(r *Record) bool {
	size := r.size()
	q.mu.Lock()
	if q.closed || len(q.list) >= q.most || q.bytes+size > q.mostBytes {
		q.tight = true
		q.mu.Unlock()
		q.rouse()
		return false
	}
	q.list = append(q.list, queued{r, size})
	q.bytes += size
	q.in++
	n := len(q.list)
	if n == 1 {
		q.since = time.Now()
	}
	rouse := n == 1 || q.enough()
	q.mu.Unlock()
	if rouse {
		q.rouse()
	}
	return true
}

// enough reports whether what waits is a batch: by its number, or since the room in
// bytes may be gone before there are as many.
func (q *queue) enough() bool {
	return len(q.list) >= q.batch || q.bytes >= q.mostBytes/2 || q.tight
}

func (q *queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next waits for a batch. It is empty once the queue was closed and has nothing left.
func (q *queue) next() []*Record {
	for {
		list, wait := q.take()
		switch {
		case len(list) > 0 || wait < 0:
			return list
		case wait == 0:
			<-q.wake
		default:
			timer := time.NewTimer(wait)
			select {
			case <-q.wake:
			case <-timer.C:
			}
			timer.Stop()
		}
	}
}

// take takes a batch if it is time. Else it says how long there is to wait: 0 is until
// something comes, and less is for ever.
func (q *queue) take() ([]*Record, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.list)
	switch {
	case n == 0 && q.closed:
		return nil, -1
	case n == 0:
		return nil, 0
	case !q.enough() && !q.closed && len(q.waiters) == 0:
		if left := q.interval - time.Since(q.since); left > 0 {
			return nil, left
		}
	}
	n = min(n, q.batch)
	out := make([]*Record, n)
	for i := range out {
		out[i] = q.list[i].record
		q.bytes -= q.list[i].size
	}
	q.list = slices.Delete(q.list, 0, n)
	q.tight = false
	q.since = time.Now()
	return out, 0
}

// done notes that a batch is dealt with.
func (q *queue) done(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out += uint64(n)
	q.waiters = slices.DeleteFunc(q.waiters, func(w waiter) bool {
		if w.upTo > q.out {
			return false
		}
		close(w.done)
		return true
	})
}

// ask has all that was put taken without further wait. What it returns is for wait.
func (q *queue) ask() waiter {
	q.mu.Lock()
	if q.in == q.out {
		q.mu.Unlock()
		return waiter{}
	}
	w := waiter{q.in, make(chan struct{})}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	q.rouse()
	return w
}

// wait waits until all that was asked for is done with.
func (q *queue) wait(ctx context.Context, w waiter) error {
	if w.done == nil { // it was when asked
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = slices.DeleteFunc(q.waiters, func(o waiter) bool { return o.done == w.done })
	return ctx.Err()
}

// close refuses what comes later. What is there is still taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.rouse()
}
