package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/providers"
)

// Log writes a record of each call that it observes, in the background: a sink that
// blocks, fails or panics never touches a call. Each sink has a queue and a goroutine
// of its own, so that none waits for another. What finds no room is dropped and
// counted. A Log is safe for concurrent use; [Log.Close] ends it.
type Log struct {
	opts   Options
	store  Store
	intake *queue
	sinks  []*outlet
	panics atomic.Int64    // of Redact and Prices
	ctx    context.Context //nolint:containedctx // of the goroutines, which end with the log
	cancel context.CancelFunc
	ended  chan struct{} // closed when all goroutines have ended
	once   sync.Once
}

// outlet is a sink with what waits for it.
type outlet struct {
	sink                     Sink
	queue                    *queue
	written, dropped, failed atomic.Int64

	mu   sync.Mutex
	last error
}

// Stats count records. Written, Dropped and Failed are summed over the sinks: after a
// Flush they add up to the calls times the sinks.
type Stats struct {
	// Written counts records that a sink took, Dropped those that there was no room or
	// no time for, and Failed those that a sink could not take.
	Written, Dropped, Failed int64
	// Panics counts those of Redact and Prices.
	Panics int64
	// Sinks has the counts of each: the Store first, then the Sinks.
	Sinks []SinkStats
}

// SinkStats counts the records of one sink.
type SinkStats struct {
	Written, Dropped, Failed int64
	// Err is why it failed last, nil if it never did.
	Err error
}

var _ providers.ContentObserver = (*Log)(nil)

// New returns a log, whose goroutines end with [Log.Close].
func New(o Options) (*Log, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	l := &Log{opts: o, store: o.Store, intake: newQueue(&o, 0), ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	list := slices.Clone(o.Sinks)
	if o.Store != nil {
		list = slices.Insert(list, 0, Sink(o.Store))
	}
	for _, s := range list {
		if store, ok := s.(Store); ok && l.store == nil {
			l.store = store
		}
		l.sinks = append(l.sinks, &outlet{sink: s, queue: newQueue(&o, o.FlushInterval)})
	}
	go l.run()
	return l, nil
}

// Store returns the store of the options, or the first sink that is one; nil without.
func (l *Log) Store() Store { return l.store }

// slot is the key of the context's value that holds the content of a call until its
// end.
type slot struct{ log *Log }

// CallStart makes room for the content of the call, if it is kept.
func (l *Log) CallStart(ctx context.Context, _ providers.Call) context.Context {
	if !l.opts.Content {
		return ctx
	}
	return context.WithValue(ctx, slot{l}, new(Content))
}

// WantsContent reports whether prompts and answers are kept.
func (l *Log) WantsContent(context.Context, providers.Call) bool { return l.opts.Content }

// CallContent keeps what was asked and answered until the call's end.
func (l *Log) CallContent(ctx context.Context, _ providers.Record, c providers.CallContent) {
	if at, ok := ctx.Value(slot{l}).(*Content); ok && l.opts.Content {
		at.Request = at.part(c.Request, l.opts.MaxContent)
		at.Response = at.part(c.Response, l.opts.MaxContent)
	}
}

// CallEnd hands the record over to be written. It does not wait.
func (l *Log) CallEnd(ctx context.Context, r providers.Record) {
	rec := l.record(&r)
	if l.opts.Content {
		if c, ok := ctx.Value(slot{l}).(*Content); ok && (c.Request != nil || c.Response != nil) {
			rec.Content = c
		}
	}
	if l.intake.put(rec) {
		return
	}
	for _, s := range l.sinks {
		s.dropped.Add(1)
	}
}

// Flush waits until what was observed before has been written, or has failed to be. All
// sinks write at once, so that none has to be ready for another to be.
func (l *Log) Flush(ctx context.Context) error {
	err := l.intake.wait(ctx, l.intake.ask())
	if err == nil {
		asked := make([]waiter, len(l.sinks))
		for i, s := range l.sinks {
			asked[i] = s.queue.ask()
		}
		for i, s := range l.sinks { // each, so that nothing of the waiting is left
			err = cmp.Or(err, s.queue.wait(ctx, asked[i]))
		}
	}
	if err != nil {
		return fmt.Errorf("logs: not all was written: %w", err)
	}
	return nil
}

// Close writes what is left and ends the log. When ctx ends before that, the rest is
// dropped and counted, and Close returns: a sink that does not obey its context keeps
// its goroutine until it returns. What is observed later is dropped. It is idempotent.
func (l *Log) Close(ctx context.Context) error {
	l.once.Do(l.intake.close)
	select {
	case <-l.ended:
		return nil
	default:
	}
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		l.cancel()
		return fmt.Errorf("logs: not all was written: %w", ctx.Err())
	}
}

// Stats returns the counts.
func (l *Log) Stats() Stats {
	out := Stats{Panics: l.panics.Load()}
	for _, s := range l.sinks {
		one := SinkStats{Written: s.written.Load(), Dropped: s.dropped.Load(), Failed: s.failed.Load()}
		s.mu.Lock()
		one.Err = s.last
		s.mu.Unlock()
		out.Written, out.Dropped, out.Failed = out.Written+one.Written, out.Dropped+one.Dropped, out.Failed+one.Failed
		out.Sinks = append(out.Sinks, one)
	}
	return out
}

// run takes records in, readies them and hands them to the sinks, until the log is
// closed and all has been written.
func (l *Log) run() {
	var all sync.WaitGroup
	var times apart
	for _, s := range l.sinks {
		all.Go(func() { s.run(l.ctx, &l.opts) })
	}
	for list := l.intake.next(); len(list) > 0; list = l.intake.next() {
		for _, r := range list {
			over := l.ctx.Err() != nil // the time to close
			if !over {
				l.redact(r)
				times.place(r)
			}
			for _, s := range l.sinks {
				if over || !s.queue.put(r) {
					s.dropped.Add(1)
				}
			}
		}
		l.intake.done(len(list))
	}
	for _, s := range l.sinks {
		s.queue.close()
	}
	all.Wait()
	l.cancel()
	close(l.ended)
}

// redact has the record changed by the function of the options.
func (l *Log) redact(r *Record) {
	if l.opts.Redact == nil {
		return
	}
	defer func() {
		if recover() == nil {
			r.Content.mend()
			return
		}
		l.panics.Add(1)
		r.Content, r.Metadata, r.User = nil, nil, ""
		if r.Error != nil {
			r.Error.Message = sentence(providers.Code(r.Error.Code))
		}
	}()
	l.opts.Redact(r)
}

// run writes what waits for the sink.
func (s *outlet) run(ctx context.Context, o *Options) {
	for list := s.queue.next(); len(list) > 0; list = s.queue.next() {
		n := int64(len(list))
		if ctx.Err() != nil { // the time to close is over
			s.dropped.Add(n)
		} else if err := s.write(ctx, o, list); err != nil {
			s.failed.Add(n)
			s.mu.Lock()
			s.last = err
			s.mu.Unlock()
		} else {
			s.written.Add(n)
		}
		s.queue.done(len(list))
	}
}

// errPanicked says that a sink did.
var errPanicked = errors.New("logs: the sink panicked")

func (s *outlet) write(ctx context.Context, o *Options, list []*Record) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.WriteTimeout)
	defer cancel()
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	records := make([]Record, len(list))
	for i, r := range list {
		records[i] = *r
	}
	return s.sink.Write(ctx, records)
}
