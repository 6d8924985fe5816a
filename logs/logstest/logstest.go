// Package logstest is the suite that every store of logs must pass.
package logstest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// start is when the first of the records was made. Stores hold microseconds.
var start = time.Date(2026, 5, 4, 10, 0, 0, 123456000, time.UTC)

// Store tests a store. open returns a new, empty one, which open has closed at the
// end of the test, and which takes feedback for what was written before. Records are
// written in the order in which calls end.
func Store(t *testing.T, open func(t *testing.T) logs.Store) {
	t.Helper()
	for _, tt := range []struct {
		name string
		run  func(*testing.T, logs.Store)
	}{
		{"a record comes back as it was written", whole},
		{"records have their content in Get alone", content},
		{"what is not there is not found", missing},
		{"an empty store has an empty page", empty},
		{"the newest are first", order},
		{"pages follow each other", pages},
		{"pages stay as they are while records are written", pagesMeanwhile},
		{"a page has the size that was asked for", sizes},
		{"an id may come twice", twice},
		{"times bound what is meant", times},
		{"filters", filters},
		{"filters add up", several},
		{"searches", searches},
		{"wrong queries are refused", wrong},
		{"feedback is kept", feedback},
		{"wrong feedback is refused", wrongFeedback},
		{"odd texts do no harm", odd},
		{"huge records are kept", huge},
		{"a store may not keep what it was given", owned},
		{"many may use it at once", concurrent},
		{"calls that are over stop", canceled},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// Records returns records that have every field between them, the oldest first: id is
// "call-0", "call-1" and so on.
func Records() []logs.Record {
	plain := func(i int) logs.Record {
		return logs.Record{
			ID: "call-" + strconv.Itoa(i), Time: start.Add(time.Duration(i) * time.Minute), Surface: logs.SurfaceGo, Operation: "chat",
			CacheStatus: "Cache Disabled", RetryStatus: "Not Triggered", FallbackStatus: "Disabled", LoadBalanceStatus: "Disabled",
			RequestedModel: "gemini-2.5-flash", Provider: "vertex-ai", Model: "gemini-2.5-flash", Duration: ms(100 * (i + 1)),
		}
	}
	list := make([]logs.Record, 8)
	for i := range list {
		list[i] = plain(i)
	}
	full(&list[0])
	list[1].Error = &logs.Error{Code: "rate_limit_exceeded", Message: "Too many requests", Status: 429, Sent: true}
	list[2].CacheStatus, list[2].Cost, list[2].Saved = "Cache Hit", new(prices.Amount(0)), new(1500*prices.NanoDollar)
	list[2].Tokens = &logs.Tokens{Prompt: 10, Completion: 5, Total: 15}
	list[3].Metadata = map[string]string{"team": "search", "Env": "Prod", "with.dot and space": "x"}
	list[4].RequestedModel, list[4].Model, list[4].Provider = "@claude/claude-sonnet-5", "claude-sonnet-5", "anthropic"
	list[4].Surface, list[4].KeyID, list[4].User = logs.SurfaceHTTP, "key-1", "u-2"
	list[5].Metadata = map[string]string{"team": "ads"}
	list[5].Tokens, list[5].Cost = &logs.Tokens{Prompt: 1000, Completion: 2000, Total: 3000}, new(prices.Dollar/100)
	list[6].Operation, list[6].Surface = "embeddings", logs.SurfaceTransport
	list[6].Tokens = &logs.Tokens{}
	list[7].Stream, list[7].FirstChunk, list[7].FinishReason = true, ms(20), "length"
	return list
}

// full fills in all there is.
func full(r *logs.Record) {
	r.Stream, r.Slug, r.ResponseModel, r.ResponseID = true, "prod", "gemini-2.5-flash-001", "resp-1"
	r.ConfigID, r.PromptID, r.PromptVersion, r.KeyID, r.User = "main", "welcome", "3", "key-0", "Zoë"
	r.Metadata = map[string]string{"team": "search", "empty": ""}
	r.CacheStatus, r.Similarity = "Cache Semantic Hit", 0.987654321
	r.RetryStatus, r.FallbackStatus, r.LoadBalanceStatus = "Success on 2 tries", "Active", "Active"
	r.Tokens = &logs.Tokens{Prompt: 100, Completion: 50, Total: 150, Cached: 40, CacheWrite: 30, Reasoning: 20, AudioIn: 5, AudioOut: 6}
	r.Cost, r.Saved = new(prices.Amount(123456789)), new(prices.Amount(1))
	r.FirstChunk, r.TimeSaved, r.FinishReason = ms(12)+logs.Milliseconds(345*time.Microsecond), ms(900), "stop"
	r.Warnings = []providers.Warning{{Code: "adjusted_parameter", Param: "temperature", Message: "was lowered to 2"}}
	r.Attempts = []logs.Attempt{
		{Target: "targets[0]", Provider: "vertex-ai", Model: "m", StatusCode: 503, Start: r.Time, Duration: ms(5), Code: "service_unavailable"},
		{Target: "targets[1]", Provider: "vertex-ai", Slug: "prod", Model: "m", StatusCode: 200, Start: r.Time.Add(time.Millisecond), Duration: ms(7), Wait: ms(1), Retry: 1, Hedged: true},
		{Provider: "", Model: "", Skipped: "cooldown"},
	}
	r.Denied = []string{"moderation"}
	r.Content = &logs.Content{Request: json.RawMessage(`{"model":"m","n":12345678901234567890}`), Response: json.RawMessage(`"the begin"`), Truncated: true}
}

func ms(n int) logs.Milliseconds { return logs.Milliseconds(time.Duration(n) * time.Millisecond) }

// write writes records one after the other.
func write(t *testing.T, s logs.Store, list ...logs.Record) {
	t.Helper()
	if err := s.Write(t.Context(), list); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

// ids are those of what a query means, page after page.
func ids(t *testing.T, s logs.Store, q logs.Query) []string {
	t.Helper()
	out := []string{}
	for range 1000 {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatalf("Query(%+v): %v", q, err)
		}
		for i := range p.Records {
			out = append(out, p.Records[i].ID)
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			return out
		}
	}
	t.Fatal("the pages don't end")
	return nil
}

func get(t *testing.T, s logs.Store, id string) *logs.Record {
	t.Helper()
	r, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get(%q): %v", id, err)
	}
	return r
}

// equal compares what has a JSON of its own.
func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	a, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%s:\nwant %s\ngot  %s", what, a, b)
	}
}

func whole(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	for i := range list {
		equal(t, list[i].ID, &list[i], get(t, s, list[i].ID))
	}
}

func content(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	p, err := s.Query(t.Context(), logs.Query{})
	if err != nil || len(p.Records) != len(list) {
		t.Fatalf("%v, %v", p, err)
	}
	for i := range p.Records {
		want := list[len(list)-1-i]
		want.Content = nil
		equal(t, "page", &want, &p.Records[i])
	}
	if c := get(t, s, "call-0").Content; c == nil || !c.Truncated {
		t.Errorf("the content is %+v", c)
	}
}

func missing(t *testing.T, s logs.Store) {
	write(t, s, Records()[:2]...)
	for _, id := range []string{"call-9", "", "CALL-0", "call-", "%", "' or 1=1 --", "\x00", "\xff"} {
		if r, err := s.Get(t.Context(), id); r != nil || !errors.Is(err, logs.ErrNotFound) {
			t.Errorf("Get(%q) = %v, %v", id, r, err)
		}
	}
	if err := s.AddFeedback(t.Context(), logs.Feedback{RecordID: "call-9", Value: 1}); !errors.Is(err, logs.ErrNotFound) {
		t.Errorf("AddFeedback: %v", err)
	}
}

func empty(t *testing.T, s logs.Store) {
	write(t, s)
	p, err := s.Query(t.Context(), logs.Query{})
	if err != nil || p.Next != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	if b, err := json.Marshal(p); err != nil || string(b) != `{"data":[]}` {
		t.Errorf("%s, %v", b, err)
	}
}

func canceled(t *testing.T, s logs.Store) {
	write(t, s, Records()...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	go func() { // an error or an answer, but no waiting
		defer close(done)
		_, _ = s.Query(ctx, logs.Query{})
		_, _ = s.Get(ctx, "call-0")
		_ = s.Write(ctx, Records()[:1])
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("a call that is over goes on")
	}
}
