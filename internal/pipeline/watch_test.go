package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/b650d4bf/gateway/providers"
)

// mark is a key that an observer puts into the context of a call.
type mark string

// watcher is an observer that writes down what it is told.
type watcher struct {
	name string
	log  *[]string // shared by several watchers, to see their order

	mu      sync.Mutex
	starts  []providers.Call
	records []providers.Record
	ends    []context.Context
}

func (w *watcher) CallStart(ctx context.Context, c providers.Call) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts = append(w.starts, c)
	w.say("start")
	return context.WithValue(ctx, mark(w.name), fmt.Sprint("call ", len(w.starts)))
}

func (w *watcher) CallEnd(ctx context.Context, r providers.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
	w.ends = append(w.ends, ctx)
	w.say("end")
}

func (w *watcher) say(event string) {
	if w.log != nil {
		*w.log = append(*w.log, w.name+" "+event)
	}
}

// counts is how often the watcher was told of a start and of an end.
func (w *watcher) counts() [2]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return [2]int{len(w.starts), len(w.records)}
}

// last is the record of the latest call.
func (w *watcher) last() providers.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records[len(w.records)-1]
}

// watched are settings of a client with the observer.
func watched(list ...providers.Observer) *Settings {
	s := here()
	s.Observers = list
	return s
}
