package logs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// sink does what it is told with records, and keeps a copy.
type sink struct {
	do func(ctx context.Context) error

	mu      sync.Mutex
	records []logs.Record
	batches []int
}

func (s *sink) Write(ctx context.Context, list []logs.Record) error {
	if s.do != nil {
		if err := s.do(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		s.records = append(s.records, *list[i].Clone())
	}
	s.batches = append(s.batches, len(list))
	return nil
}

func (s *sink) ids() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.records {
		out = append(out, s.records[i].ID)
	}
	return out
}

func (s *sink) sizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.batches)
}

func open(t *testing.T, o logs.Options) *logs.Log {
	t.Helper()
	l, err := logs.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// see has the log observe a call.
func see(l *logs.Log, r providers.Record, c *providers.CallContent) {
	ctx := l.CallStart(context.Background(), r.Call)
	if c != nil && l.WantsContent(ctx, r.Call) {
		l.CallContent(ctx, r, *c)
	}
	l.CallEnd(ctx, r)
}

func called(id string) providers.Record {
	return providers.Record{Call: providers.Call{ID: id, Operation: "chat", Start: time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)}}
}

func flush(t *testing.T, l *logs.Log) {
	t.Helper()
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, l *logs.Log) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// paid knows one price.
type paid struct{ cost, saved *prices.Amount }

func (p paid) Record(*providers.Record) (cost, saved *prices.Amount) { return p.cost, p.saved }

func TestRecordsHaveAllThatIsKnownOfACall(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("", 3600))
	usage := &providers.Usage{
		PromptTokens: 10, CompletionTokens: 20, TotalTokens: 30,
		PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: 1, AudioTokens: 2},
		CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 3, AudioTokens: 4},
		Extra:                   providers.Extra(`{"cache_creation_input_tokens":5}`),
	}
	metadata := map[string]string{"team": "a", providers.UserKey: "u"}
	r := providers.Record{
		Call: providers.Call{
			ID: "i", Operation: "chat", Model: "@s/m", Prompt: "p", PromptVersion: "2", Surface: "http", ConfigID: "c", KeyID: "k",
			Stream: true, Metadata: metadata, Start: at,
		},
		Meta: providers.Meta{
			Provider: "vertex-ai", Slug: "s", Model: "m", CacheStatus: providers.CacheSemanticHit, Retry: 2, Fallback: true, LoadBalance: true,
			Cache:    providers.CacheInfo{Similarity: 0.9, Saved: 3 * time.Second},
			Warnings: []providers.Warning{{Code: "w", Param: "p", Message: "m"}},
			Attempts: []providers.Attempt{{
				Target: "targets[0]", Provider: "vertex-ai", Slug: "s", Model: "m", StatusCode: 429, Start: at, Duration: 1500, Code: "rate_limit_exceeded",
				Retry: 1, Wait: time.Second, Hedged: true,
			}, {Target: "targets[1]", Skipped: providers.SkipCooldown}},
			Guards: []providers.GuardVerdict{{Name: "g", Denied: true}, {Name: "h"}, {Name: "g", Denied: true}},
		},
		ResponseID: "ri", ResponseModel: "rm", FinishReason: "stop", Usage: usage, FirstChunk: time.Millisecond, Duration: time.Second,
		Err: &providers.Error{Code: providers.ErrRateLimited, Message: "Quota of key AIza", Param: "p", StatusCode: 429, Sent: true},
	}
	utc := at.UTC().Truncate(time.Microsecond)
	want := logs.Record{
		ID: "i", Time: utc, Surface: "http", Operation: "chat", Stream: true, RequestedModel: "@s/m", Provider: "vertex-ai", Slug: "s", Model: "m",
		ResponseModel: "rm", ResponseID: "ri", ConfigID: "c", PromptID: "p", PromptVersion: "2", KeyID: "k", User: "u",
		Metadata: map[string]string{"team": "a"}, CacheStatus: "Cache Semantic Hit", Similarity: 0.9, RetryStatus: "Success on 2 tries",
		FallbackStatus: "Active", LoadBalanceStatus: "Active",
		Tokens: &logs.Tokens{Prompt: 10, Completion: 20, Total: 30, Cached: 1, CacheWrite: 5, Reasoning: 3, AudioIn: 2, AudioOut: 4},
		Cost:   new(prices.Amount(0)), Saved: new(prices.Amount(7)),
		FirstChunk: logs.Milliseconds(time.Millisecond), Duration: logs.Milliseconds(time.Second), TimeSaved: logs.Milliseconds(2 * time.Second),
		FinishReason: "stop", Warnings: []providers.Warning{{Code: "w", Param: "p", Message: "m"}},
		Attempts: []logs.Attempt{{
			Target: "targets[0]", Provider: "vertex-ai", Slug: "s", Model: "m", StatusCode: 429, Start: utc, Duration: logs.Milliseconds(2000),
			Wait: logs.Milliseconds(time.Second), Code: "rate_limit_exceeded", Retry: 1, Hedged: true,
		}, {Target: "targets[1]", Skipped: "cooldown"}},
		Denied: []string{"g"},
		Error:  &logs.Error{Code: "rate_limit_exceeded", Message: "too many requests, or no capacity", Param: "p", Status: 429, Sent: true},
	}
	s := new(sink)
	l := open(t, logs.Options{Sinks: []logs.Sink{s}, Prices: paid{new(prices.Amount(9)), new(prices.Amount(7))}})
	see(l, r, nil)
	metadata["team"], usage.PromptTokens, r.Meta.Warnings[0].Code, r.Meta.Attempts[0].Provider = "changed", 0, "changed", "changed"
	end(t, l)
	if diff := cmp.Diff([]logs.Record{want}, s.records); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCosts(t *testing.T) {
	some := new(prices.Amount(5))
	for _, tt := range []struct {
		name   string
		prices logs.Pricer
		meta   providers.Meta
		want   [2]*prices.Amount
		panics int64
	}{
		{"nobody knows prices", nil, providers.Meta{}, [2]*prices.Amount{}, 0},
		{"known", paid{cost: some}, providers.Meta{}, [2]*prices.Amount{some, nil}, 0},
		{"unknown", paid{}, providers.Meta{}, [2]*prices.Amount{}, 0},
		{"a hit", paid{saved: some}, providers.Meta{CacheStatus: providers.CacheHit}, [2]*prices.Amount{new(prices.Amount(0)), some}, 0},
		{"a shared answer", paid{saved: some}, providers.Meta{Cache: providers.CacheInfo{Shared: true}}, [2]*prices.Amount{new(prices.Amount(0)), some}, 0},
		{"a hit without prices", nil, providers.Meta{CacheStatus: providers.CacheHit}, [2]*prices.Amount{new(prices.Amount(0)), nil}, 0},
		{"prices that panic", broken{}, providers.Meta{}, [2]*prices.Amount{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(sink)
			l := open(t, logs.Options{Sinks: []logs.Sink{s}, Prices: tt.prices})
			r := called("i")
			r.Meta = tt.meta
			see(l, r, nil)
			end(t, l)
			if diff := cmp.Diff(tt.want, [2]*prices.Amount{s.records[0].Cost, s.records[0].Saved}); diff != "" || l.Stats().Panics != tt.panics {
				t.Errorf("%d panics (-want +got)\n%s", l.Stats().Panics, diff)
			}
		})
	}
}

type broken struct{}

func (broken) Record(*providers.Record) (cost, saved *prices.Amount) { panic("no prices") }

func TestContentIsKeptIfAskedFor(t *testing.T) {
	big := []byte(`{"text":"` + strings.Repeat("é", 100) + `"}`)
	for _, tt := range []struct {
		name string
		o    logs.Options
		c    *providers.CallContent
		want *logs.Content
	}{
		{"not by default", logs.Options{}, &providers.CallContent{Request: []byte(`{}`)}, nil},
		{"both", logs.Options{Content: true}, &providers.CallContent{Request: []byte(`{"a":1}`), Response: []byte(`{"b":1}`)}, &logs.Content{Request: json.RawMessage(`{"a":1}`), Response: json.RawMessage(`{"b":1}`)}},
		{"none was shown", logs.Options{Content: true}, nil, nil},
		{"too large", logs.Options{Content: true, MaxContent: 12}, &providers.CallContent{Request: big, Response: []byte(`{"b":1}`)}, &logs.Content{Request: json.RawMessage(`"{\"text\":\"é"`), Response: json.RawMessage(`{"b":1}`), Truncated: true}},
		{"redacted", logs.Options{Content: true, Redact: func(r *logs.Record) { r.Content.Request = json.RawMessage(`no JSON`) }}, &providers.CallContent{Request: []byte(`{}`)}, &logs.Content{Request: json.RawMessage(`"no JSON"`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(sink)
			tt.o.Sinks = []logs.Sink{s}
			l := open(t, tt.o)
			see(l, called("i"), tt.c)
			end(t, l)
			if diff := cmp.Diff(tt.want, s.records[0].Content); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestARedactorThatPanicsLosesNoSecret(t *testing.T) {
	s := new(sink)
	l := open(t, logs.Options{Sinks: []logs.Sink{s}, Content: true, ErrorMessages: true, Redact: func(r *logs.Record) {
		if r.ID == "bad" {
			r.Model = "half"
			panic("redactor")
		}
		r.User = "somebody"
	}})
	for _, id := range []string{"bad", "good"} {
		r := called(id)
		r.Metadata = map[string]string{"secret": "s", providers.UserKey: "u"}
		r.Err = &providers.Error{Code: providers.ErrServer, Message: "secret"}
		see(l, r, &providers.CallContent{Request: []byte(`{"secret":1}`)})
	}
	end(t, l)
	bad, good := s.records[0], s.records[1]
	if bad.Content != nil || bad.Metadata != nil || bad.User != "" || bad.Error.Message != "the platform failed" || l.Stats().Panics != 1 {
		t.Errorf("%+v, %+v", bad, l.Stats())
	}
	if good.User != "somebody" || good.Content == nil || good.Error.Message != "secret" {
		t.Errorf("%+v", good)
	}
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(sink)
		l := open(t, logs.Options{Sinks: []logs.Sink{s}, BatchSize: 4, FlushInterval: time.Minute})
		var want []string
		for i := range 10 {
			want = append(want, fmt.Sprint(i))
			see(l, called(want[i]), nil)
			synctest.Wait()
		}
		if diff := cmp.Diff([]int{4, 4}, s.sizes()); diff != "" {
			t.Errorf("at once (-want +got)\n%s", diff)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]int{4, 4, 2}, s.sizes()); diff != "" {
			t.Errorf("later (-want +got)\n%s", diff)
		}
		see(l, called("x"), nil)
		flush(t, l)
		if got := s.ids(); !slices.Equal(append(want, "x"), got) {
			t.Errorf("the order is %v", got)
		}
		flush(t, l)
		end(t, l)
		end(t, l)
		see(l, called("late"), nil)
		if got, want := l.Stats(), (logs.Stats{Written: 11, Dropped: 1, Sinks: []logs.SinkStats{{Written: 11, Dropped: 1}}}); !cmp.Equal(want, got) {
			t.Errorf("%+v", got)
		}
	})
}

var errSink = errors.New("no disk")

func TestSinksFailByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fine := new(sink)
		blocked := &sink{do: func(context.Context) error { <-release; return nil }}
		slow := &sink{do: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		failing := &sink{do: func(context.Context) error { return errSink }}
		panics := &sink{do: func(context.Context) error { panic("sink") }}
		l := open(t, logs.Options{
			Sinks: []logs.Sink{blocked, fine, slow, failing, panics}, QueueRecords: 10, BatchSize: 5, FlushInterval: 1, WriteTimeout: time.Second,
		})
		for i := range 30 {
			see(l, called(fmt.Sprint(i)), nil)
			time.Sleep(time.Millisecond)
		}
		if n := len(fine.ids()); n != 30 {
			t.Errorf("the sink beside has %d records", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: %v", err)
		}
		got := l.Stats().Sinks
		want := []logs.SinkStats{{Dropped: 19}, {Written: 30}, {Failed: 11, Dropped: 19, Err: context.DeadlineExceeded}, {Failed: 30, Err: errSink}, {Failed: 30}}
		if got[4].Err == nil {
			t.Error("a panic is no error")
		}
		got[4].Err = nil
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		close(release)
		end(t, l)
		if s := l.Stats().Sinks[0]; s.Written+s.Dropped+s.Failed != 30 || s.Dropped != 29 {
			t.Errorf("in the end %+v", s)
		}
	})
}

func TestTheQueueIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := &sink{do: func(context.Context) error { <-release; return nil }}
		l := open(t, logs.Options{Sinks: []logs.Sink{s}, Content: true, QueueBytes: 100_000, FlushInterval: 1, BatchSize: 1})
		for range 10 {
			see(l, called("i"), &providers.CallContent{Request: []byte(`"` + strings.Repeat("x", 30_000) + `"`)})
			synctest.Wait()
		}
		close(release)
		end(t, l)
		if got := l.Stats(); got.Written != 4 || got.Dropped != 6 { // one is being written, three wait
			t.Errorf("%+v", got)
		}
	})
}

func TestWrongOptions(t *testing.T) {
	m := logs.NewMemory(0)
	for param, o := range map[string]logs.Options{
		"logs.sinks":          {},
		"logs.max_content":    {Store: m, MaxContent: -1},
		"logs.queue_records":  {Store: m, QueueRecords: -1},
		"logs.flush_interval": {Store: m, FlushInterval: -1},
	} {
		_, err := logs.New(o)
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	if _, err := logs.New(logs.Options{Sinks: []logs.Sink{nil}}); err == nil {
		t.Error("a nil sink is taken")
	}
}

func TestTheStoreOfALog(t *testing.T) {
	m := logs.NewMemory(0)
	for _, o := range []logs.Options{{Store: m}, {Sinks: []logs.Sink{new(sink), m}}} {
		l := open(t, o)
		if l.Store() != logs.Store(m) {
			t.Error("another store")
		}
		end(t, l)
	}
	l := open(t, logs.Options{Sinks: []logs.Sink{new(sink)}})
	if l.Store() != nil {
		t.Error("a sink is no store")
	}
	end(t, l)
}

// The errors of guards, of platforms and of users' own code may quote anything.
func TestErrorsSayNothingOfTheCall(t *testing.T) {
	for _, err := range []error{
		&providers.Error{Code: providers.ErrInvalidRequest, Message: "canary", StatusCode: 400},
		&providers.Error{Code: providers.ErrGuardDenied, Message: "canary", Err: errors.New("canary")},
		&providers.Error{Code: "another", Message: "canary", Details: []byte("canary"), NativeStatus: "canary"},
		errors.New("canary"),
		fmt.Errorf("canary: %w", &providers.Error{Code: providers.ErrServer, Message: "canary"}),
	} {
		s := new(sink)
		l := open(t, logs.Options{Sinks: []logs.Sink{s}})
		r := called("i")
		r.Err = err
		see(l, r, nil)
		end(t, l)
		if b, _ := json.Marshal(s.records); strings.Contains(string(b), "canary") || s.records[0].Error.Message == "" {
			t.Errorf("%s", b)
		}
	}
}

// BenchmarkCallEnd is what a call waits for its record: with a sink that is quick, and
// with one that is blocked, so that nearly all is dropped.
func BenchmarkCallEnd(b *testing.B) {
	release := make(chan struct{})
	for name, do := range map[string]func(context.Context) error{
		"quick": func(context.Context) error { return errSink }, "blocked": func(context.Context) error { <-release; return nil },
	} {
		b.Run(name, func(b *testing.B) {
			l, err := logs.New(logs.Options{Sinks: []logs.Sink{&sink{do: do}}})
			if err != nil {
				b.Fatal(err)
			}
			benchCallEnd(b, l)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = l.Close(ctx) // the rest is dropped
		})
	}
	close(release)
}

func benchCallEnd(b *testing.B, l *logs.Log) {
	r := called("i")
	r.Usage, r.Metadata = &providers.Usage{}, map[string]string{"team": "a"}
	r.Meta.Attempts = make([]providers.Attempt, 1)
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		see(l, r, nil)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-us")
}
