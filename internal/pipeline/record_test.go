package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

func TestRecordOfAWholeAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := answering(rich)
		answer := p.answer
		p.answer = func(ctx context.Context) (*providers.ChatCompletion, error) {
			time.Sleep(2 * time.Second)
			out, err := answer(ctx)
			out.Meta.Warnings = []providers.Warning{{Code: providers.WarnAdjusted}}
			return out, err
		}
		w := &watcher{name: "w"}
		client, start := watched(w), time.Now()
		client.Metadata = map[string]string{"team": "a", "env": "prod"}
		call := &Settings{RequestID: "my-id", Metadata: map[string]string{"env": "test"}}
		req := ask("m")
		req.Metadata = map[string]string{"env": "dev", "user": "u"}
		out, err := New(p).Chat(t.Context(), client, call, req)
		if err != nil {
			t.Fatal(err)
		}
		made := providers.Call{ID: "my-id", Operation: "chat", Model: "m", Metadata: map[string]string{"team": "a", "env": "test", "user": "u"}, Start: start}
		meta := providers.Meta{
			RequestID: "my-id", Provider: "fake", Model: "m", CacheStatus: providers.CacheDisabled,
			Warnings: []providers.Warning{{Code: providers.WarnAdjusted}},
			Attempts: []providers.Attempt{{Provider: "fake", Model: "m", StatusCode: 200, Duration: 2 * time.Second}},
		}
		wantEqual(t, []providers.Call{made}, w.starts)
		wantEqual(t, []providers.Record{{
			Call: made, Meta: meta, ResponseID: "i", ResponseModel: "m", FinishReason: "stop",
			Usage: richUsage(), Billed: providers.Billed{Region: "r"}, Duration: 2 * time.Second,
		}}, w.records)
		wantEqual(t, meta, out.Meta)
	})
}

// An answer without a choice is odd, but no reason to fall over.
func TestRecordOfAnAnswerWithoutChoices(t *testing.T) {
	w := &watcher{}
	out, err := New(answering(func() providers.ChatCompletion { return providers.ChatCompletion{ID: "i"} })).
		Chat(t.Context(), watched(w), &Settings{}, ask("m"))
	if err != nil || out.ID != "i" {
		t.Fatalf("got %v, %v", out, err)
	}
	wantEqual(t, []string{"i", ""}, []string{w.last().ResponseID, w.last().FinishReason})
}

func TestRecordMetadataIsLaidOver(t *testing.T) {
	client, call := map[string]string{"a": "1", "b": "1"}, map[string]string{"b": "2", "c": "2"}
	wantEqual(t, map[string]string{"a": "1", "b": "2", "c": "2"}, metadata(client, call))
	wantEqual(t, client, metadata(client, nil))
	wantEqual(t, call, metadata(nil, call))
	wantEqual(t, map[string]string{"a": "1", "b": "1"}, client)
}

// The context that the observers make is the one that the provider and the end
// of the call get.
func TestObserversMakeTheContext(t *testing.T) {
	var log []string
	a, b, c := &watcher{name: "a", log: &log}, &watcher{name: "b", log: &log}, &watcher{name: "c", log: &log}
	type caller struct{}
	ctx := context.WithValue(t.Context(), caller{}, "caller's")
	p := answering(rich)
	p.stream = streaming(io.EOF, part(providers.Delta{Content: "x"})).stream
	e, client, call := New(p), watched(a, b), &Settings{Observers: []providers.Observer{c}}
	if _, err := e.Chat(ctx, client, call, ask("m")); err != nil {
		t.Fatal(err)
	}
	s, err := e.ChatStream(ctx, client, call, ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(s); err != nil {
		t.Fatal(err)
	}
	once := []string{"a start", "b start", "c start", "a end", "b end", "c end"}
	wantEqual(t, append(once, once...), log)
	for _, w := range []*watcher{a, b, c} {
		for i, ctx := range w.ends {
			for _, name := range []string{"a", "b", "c"} {
				wantEqual(t, any(fmt.Sprint("call ", i+1)), ctx.Value(mark(name)))
			}
			wantEqual(t, any("caller's"), ctx.Value(caller{}))
		}
	}
	if p.ctx != c.ends[1] {
		t.Error("the provider has another context than the end of the call")
	}
}

func TestEachCallHasAnIDOfItsOwn(t *testing.T) {
	w := &watcher{}
	e, seen := New(answering(rich)), map[string]bool{}
	for range 100 {
		out, err := e.Chat(t.Context(), watched(w), &Settings{}, ask("m"))
		if err != nil {
			t.Fatal(err)
		}
		if out.Meta.RequestID != w.last().ID || len(out.Meta.RequestID) < 20 || seen[out.Meta.RequestID] {
			t.Fatalf("the id %q is not fit to find the call by", out.Meta.RequestID)
		}
		seen[out.Meta.RequestID] = true
	}
}

// Whatever fails and whenever, observers are told once, and the caller gets an
// Error with the call's id.
func TestFailuresAreRecordedOnce(t *testing.T) {
	boom := &providers.Error{Code: providers.ErrRateLimited, Message: "slow down", Provider: "fake", StatusCode: 429}
	closed := New(refusing(boom))
	_ = closed.Close()
	tests := []struct {
		name     string
		engine   *Engine
		client   func(...providers.Observer) *Settings
		req      *providers.ChatCompletionRequest
		code     providers.Code
		attempts int
	}{
		{"closed engine", closed, watched, ask("m"), providers.ErrClosed, 0},
		{"invalid request", New(refusing(boom)), watched, &providers.ChatCompletionRequest{Model: "m"}, providers.ErrInvalidRequest, 0},
		{"unknown slug", New(refusing(boom)), watched, ask("@x/m"), providers.ErrProviderNotFound, 0},
		{"a refusal", New(refusing(boom)), watched, ask("m"), providers.ErrRateLimited, 1},
		{"a wrapped refusal", New(refusing(fmt.Errorf("call: %w", boom))), watched, ask("m"), providers.ErrRateLimited, 1},
		{"something else", New(refusing(errors.New("odd"))), watched, ask("m"), providers.ErrServer, 1},
		{"the caller left", New(refusing(context.Canceled)), watched, ask("m"), providers.ErrCanceled, 1},
		{"a deadline", New(refusing(fmt.Errorf("x: %w", context.DeadlineExceeded))), watched, ask("m"), providers.ErrTimeout, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watcher{}
			_, whole := tt.engine.Chat(t.Context(), tt.client(w), &Settings{}, tt.req)
			_, stream := tt.engine.ChatStream(t.Context(), tt.client(w), &Settings{}, tt.req)
			wantEqual(t, [2]int{2, 2}, w.counts())
			for i, err := range []error{whole, stream} {
				e, r := known(t, err), w.records[i]
				wantEqual(t, tt.code, e.Code)
				wantEqual(t, r.ID, e.RequestID)
				wantEqual(t, tt.attempts, len(r.Meta.Attempts))
				if tt.attempts > 0 {
					wantEqual(t, tt.code, r.Meta.Attempts[0].Code)
					wantEqual(t, e.StatusCode, r.Meta.Attempts[0].StatusCode)
				}
				if r.Err != err { // the very same
					t.Errorf("the record has %v and the caller %v", r.Err, err)
				}
				if _, ok := err.(*providers.Error); !ok { // callers may assert it
					t.Errorf("got a %T", err)
				}
			}
		})
	}
}

// A provider may return one error to many calls: each gets a copy.
func TestErrorsOfAProviderAreNotChanged(t *testing.T) {
	shared := &providers.Error{Code: providers.ErrUnavailable, Message: "down", Provider: "fake"}
	e := New(refusing(shared))
	ids := map[string]bool{}
	for range 3 {
		_, err := e.Chat(t.Context(), here(), &Settings{}, ask("m"))
		ids[known(t, err).RequestID] = true
		wantEqual(t, "service_unavailable: fake: down", err.Error())
	}
	wantEqual(t, "", shared.RequestID)
	wantEqual(t, 3, len(ids))

	wrapped := fmt.Errorf("while asking: %w", shared)
	_, err := New(refusing(wrapped)).Chat(t.Context(), here(), &Settings{}, ask("m"))
	wantEqual(t, "down", known(t, err).Message)
	if !errors.Is(err, wrapped) {
		t.Error("the wrapper is lost")
	}
}

// The logger gets one entry for each call, and nothing that was said or sent
// along.
func TestLogEntries(t *testing.T) {
	secret := &providers.Error{Code: providers.ErrPermission, Message: "the secret prompt echoed", Provider: "fake", StatusCode: 403, Sent: true,
		Details: []byte(`"secret"`), Err: errors.New("why")}
	for name, tt := range map[string]struct {
		provider *fake
		level    zapcore.Level
		message  string
		fields   map[string]any
	}{
		"success": {answering(rich), zapcore.InfoLevel, "chat completion", map[string]any{
			"prompt_tokens": int64(1), "completion_tokens": int64(2), "total_tokens": int64(3), "finish_reason": "stop",
		}},
		"failure": {refusing(secret), zapcore.WarnLevel, "chat completion failed", map[string]any{
			"code": "permission_denied", "param": "", "status": int64(403), "sent": true, "finish_reason": "", "cause": "why",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			core, logs := observer.New(zap.DebugLevel)
			client := &Settings{
				Catalog: entries(t, catalog.Entry{Slug: "vx", Provider: "fake", AccessToken: "the-secret-token"}),
				Header:  http.Header{"X-Key": {"the-secret-header"}}, Logger: zap.New(core),
			}
			_, _ = New(tt.provider).Chat(t.Context(), client, &Settings{RequestID: "id"}, ask("@vx/m"))
			all := logs.All()
			wantEqual(t, 1, len(all))
			wantEqual(t, tt.level, all[0].Level)
			wantEqual(t, tt.message, all[0].Message)
			got := all[0].ContextMap()
			maps.Copy(tt.fields, map[string]any{
				"request_id": "id", "operation": "chat", "provider": "fake", "slug": "vx", "model": "m", "stream": false,
				"cache_status": "Cache Disabled", "retry_status": "Not Triggered", "fallback_status": "Disabled", "loadbalance_status": "Disabled", "warnings": int64(0),
			})
			delete(got, "duration")
			wantEqual(t, tt.fields, got)
			if text := fmt.Sprint(all[0], got); strings.Contains(text, "secret") {
				t.Errorf("the entry holds a secret: %s", text)
			}
		})
	}
}

func TestTheCallsLoggerWins(t *testing.T) {
	clientCore, clientLogs := observer.New(zap.DebugLevel)
	callCore, callLogs := observer.New(zap.DebugLevel)
	client := here()
	client.Logger = zap.New(clientCore)
	if _, err := New(answering(rich)).Chat(t.Context(), client, &Settings{Logger: zap.New(callCore)}, ask("m")); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, [2]int{0, 1}, [2]int{clientLogs.Len(), callLogs.Len()})
}

// Who does not watch does not pay for it.
func TestNoObserversCostNothing(t *testing.T) {
	rec, ctx := newRecorder(&Settings{}, &Settings{RequestID: "id"}, opChat, "m", nil), t.Context()
	if n := testing.AllocsPerRun(100, func() {
		if rec.start(ctx) != ctx {
			t.Fatal("another context")
		}
		rec.end()
	}); n > 0 {
		t.Errorf("got %v allocations", n)
	}
	e, client, none, req := New(answering(rich)), here(), &Settings{}, ask("m")
	run := func() {
		if _, err := e.Chat(ctx, client, none, req); err != nil {
			t.Fatal(err)
		}
	}
	bare := testing.AllocsPerRun(100, run)
	client.Observers = []providers.Observer{&watcher{}}
	if observed := testing.AllocsPerRun(100, run); observed <= bare {
		t.Errorf("a watched call takes %v allocations and a plain one %v: this test sees no difference", observed, bare)
	}
}
