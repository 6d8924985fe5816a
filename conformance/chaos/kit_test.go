// Package chaos_test lets everything fail that a network, a platform, a disk, a
// store and a clock can fail at, over real sockets, and holds what comes out
// against the table of faults. docs/faults.md is that table.
package chaos_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/logs"
)

const (
	// patience is what every wait gets that ends at once on an idle machine.
	patience = 60 * time.Second
	// slack is what a loaded machine may add to a deadline.
	slack = 20 * time.Second
)

// TestMain adds to the tests that no goroutine outlives them and that, in a run
// of all, every row of the table was held against something.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil { // the tests wait, most of the time
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	if err := errors.Join(goroutinesEnd(before), rowsUsed()); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// goroutinesEnd waits until there are no more goroutines than before.
func goroutinesEnd(before int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return nil
		}
	}
	buf := make([]byte, 1<<20)
	return fmt.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// kit is a client with all that writes its calls down, to be held against what
// the platform saw.
type kit struct {
	t      *testing.T
	client *gateway.Client
	log    *logs.Log
	store  *logs.Memory
	live   *analytics.Live
	// closeIdle ends the connections that a transport of the test's own keeps; nil
	// for the library's.
	closeIdle func()

	mu    sync.Mutex
	calls map[string]*verdict
}

// verdict is what is known of one call, by its mark.
type verdict struct {
	row *row
	out outcome
}

// outcome is what a caller has in the end.
type outcome struct {
	text   string
	finish string
	tokens int
	err    error
	front  bool // over HTTP, where an error does not tell whether it was sent
}

// newKit makes a client that asks the address with a token that does not end;
// options may change both.
func newKit(t *testing.T, address string, opts ...gateway.ClientOption) *kit {
	t.Helper()
	return kitOf(t, address, append([]gateway.ClientOption{gateway.WithTokenSource(steadyToken{})}, opts...)...)
}

// kitOf is newKit without a token.
func kitOf(t *testing.T, address string, opts ...gateway.ClientOption) *kit {
	t.Helper()
	k := &kit{t: t, store: logs.NewMemory(50_000), calls: map[string]*verdict{}}
	var err error
	if k.live, err = analytics.NewLive(analytics.Options{}); err != nil {
		t.Fatal(err)
	}
	k.log, err = logs.New(logs.Options{Store: k.store, Sinks: []logs.Sink{k.live}, QueueRecords: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	k.client, err = gateway.New(append([]gateway.ClientOption{
		gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithBaseURL(address),
		gateway.WithLog(k.log),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.client.Close() })
	t.Cleanup(func() { k.closeLog() })
	return k
}

func (k *kit) closeLog() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.log.Close(ctx); err != nil {
		k.t.Errorf("the log did not end: %v", err)
	}
}

var marks atomic.Int64

// newMark returns a mark that no other call has. It is the user of the request,
// which logs keep, and in the prompt, which the platform sees.
func newMark() string { return "mark" + strconv.FormatInt(marks.Add(1)+1_000_000, 10) }

// call makes one call and holds its outcome against the row.
func (k *kit) call(r *row, s surface, mark string, opts ...gateway.RequestOption) {
	k.callWithin(patience, r, s, mark, opts...)
}

// callWithin is call by a caller who waits for so long, and must be back then.
func (k *kit) callWithin(limit time.Duration, r *row, s surface, mark string, opts ...gateway.RequestOption) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	k.callUnder(ctx, limit, r, s, mark, opts...)
}

// callUnder is call by a caller with a context of his own.
func (k *kit) callUnder(ctx context.Context, limit time.Duration, r *row, s surface, mark string, opts ...gateway.RequestOption) {
	k.t.Helper()
	begin := time.Now()
	out := s.ask(ctx, k, mark, opts)
	if took := time.Since(begin); took > limit+slack {
		k.t.Errorf("%s: %s: back after %v, the caller waits %v", r.id, mark, took, limit)
	}
	k.note(r, mark, out)
}

// lateContext is the context of a caller whose deadline is there when the test says
// so, rather than when a slow machine has come as far as the test wants it to be.
type lateContext struct {
	context.Context
	over chan struct{}
	once *sync.Once
}

func newLate() lateContext {
	return lateContext{context.Background(), make(chan struct{}), new(sync.Once)}
}

func (c lateContext) expire()               { c.once.Do(func() { close(c.over) }) }
func (c lateContext) Done() <-chan struct{} { return c.over }

func (c lateContext) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// note writes an outcome down and checks what can be told from it alone.
func (k *kit) note(r *row, mark string, out outcome) {
	k.t.Helper()
	used.Store(r.id, true)
	k.mu.Lock()
	k.calls[mark] = &verdict{r, out}
	k.mu.Unlock()
	if err := r.judge(out); err != nil {
		k.t.Errorf("%s: %s: %v", r.id, mark, err)
	}
}

// settle holds what the logs have, and what the platform counted, against the
// calls: a record for each, as many requests as its row allows, all of them in
// the trail. asked may be nil, where no platform counts.
func (k *kit) settle(asked func(mark string) int) {
	t := k.t
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.log.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	records := k.records(ctx)
	for mark, v := range k.calls {
		list := records[mark]
		if len(list) != 1 {
			t.Errorf("%s: %s: %d records, want one", v.row.id, mark, len(list))
			continue
		}
		if err := v.compare(&list[0]); err != nil {
			t.Errorf("%s: %s: %v", v.row.id, mark, err)
		}
		if asked == nil {
			continue
		}
		if err := v.row.count(asked(mark), &list[0]); err != nil {
			t.Errorf("%s: %s: %v", v.row.id, mark, err)
		}
	}
	report, err := k.live.Report(ctx, analytics.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(k.calls); report.Total.Requests != int64(n) || len(records) != n {
		t.Errorf("%d calls, %d counted, %d in the log", n, report.Total.Requests, len(records))
	}
	if s := k.log.Stats(); s.Dropped != 0 || s.Failed != 0 {
		t.Errorf("lost records: %+v", s)
	}
}

// records returns all records, by their marks.
func (k *kit) records(ctx context.Context) map[string][]logs.Record {
	k.t.Helper()
	out := map[string][]logs.Record{}
	q := logs.Query{Limit: 1000}
	for {
		page, err := k.store.Query(ctx, q)
		if err != nil {
			k.t.Fatal(err)
		}
		for i := range page.Records {
			out[page.Records[i].User] = append(out[page.Records[i].User], page.Records[i])
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
	}
}

// compare holds a record against what the caller got.
func (v *verdict) compare(r *logs.Record) error {
	var e *gateway.Error
	switch {
	case !errors.As(v.out.err, &e):
		if r.Error != nil {
			return fmt.Errorf("the caller has an answer, the log %q", r.Error.Code)
		}
	case r.Error == nil:
		return fmt.Errorf("the caller has %q, the log no error", e.Code)
	case r.Error.Code != string(e.Code) && !v.row.leaves:
		return fmt.Errorf("the caller has %q, the log %q", e.Code, r.Error.Code)
	}
	return nil
}

// each runs f for 0 to n-1, some at a time.
func each(n int, f func(i int)) {
	var group sync.WaitGroup
	var next atomic.Int64
	for range min(n, 16) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}

// eventually waits until what is true sooner or later is.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func contains(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }
