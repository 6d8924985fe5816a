package transport

import (
	"sync/atomic"
	"time"
)

// watch tells a call when a wait takes too long. Waits begin and end far
// more often than one is too long, so its timer is left alone in between: when
// it fires early, it is set anew for what is left.
type watch struct {
	begun    time.Time
	timer    *time.Timer  // nil when nothing is watched
	call     *call        // told once
	due      atomic.Int64 // when the wait is too long, since begun; 0 when nothing waits
	fires    atomic.Int64 // when the timer fires, since begun; 0 when it is not set
	answered atomic.Bool
}

// start begins to watch, with a first wait that is bounded unless limit is 0.
func (w *watch) start(c *call, limit time.Duration) {
	w.begun, w.call = time.Now(), c
	w.due.Store(int64(limit))
	w.fires.Store(int64(limit))
	if limit == 0 {
		limit = time.Hour // stopped at once; wait sets it
	}
	w.timer = time.AfterFunc(limit, c.alarm.silent)
	if w.due.Load() == 0 {
		w.timer.Stop()
	}
}

// wait begins a wait that is too long after limit.
func (w *watch) wait(limit time.Duration) {
	if limit <= 0 || w.timer == nil {
		return
	}
	due := int64(time.Since(w.begun) + limit)
	w.due.Store(due)
	if fires := w.fires.Load(); fires == 0 || due < fires {
		w.fires.Store(due)
		w.timer.Reset(limit)
	}
}

// rest ends the wait.
func (w *watch) rest() { w.due.Store(0) }

// fire looks at the wait that is under way, if any.
func (w *watch) fire() {
	w.fires.Store(0)
	due := w.due.Load()
	if due == 0 {
		return // the next wait sets the timer
	}
	left := time.Duration(due) - time.Since(w.begun)
	if left <= 0 {
		w.call.silent()
		return
	}
	w.fires.Store(due)
	w.timer.Reset(left)
}

// stop ends the watch.
func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
