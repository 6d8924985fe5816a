package routing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// reply is how a target answers one try: after a while, with an error or well.
type reply struct {
	after time.Duration
	err   error
}

// stage plays targets by their keys. Each try takes the next reply; after the
// last one all is well.
type stage struct {
	replies map[string][]reply
	begun   time.Time
	asked   []string // "key" or "key@1.5s"
	trail   []providers.Attempt
	tokens  int64 // that each try uses
}

func newStage(replies map[string][]reply) *stage {
	return &stage{replies: replies, begun: time.Now()}
}

func (s *stage) try(ctx context.Context, t *routing.Try) (string, error) {
	key := t.Leaf.Key
	at := key
	if d := time.Since(s.begun); d > 0 {
		at += "@" + d.String()
	}
	s.asked = append(s.asked, at)
	t.Attempt.Provider = "p-" + key
	t.Used(s.tokens)
	var r reply
	if list := s.replies[key]; len(list) > 0 {
		r, s.replies[key] = list[0], list[1:]
	}
	return key, settle(ctx, r)
}

// settle waits for a reply as a provider would.
func settle(ctx context.Context, r reply) error {
	if r.after > 0 {
		timer := time.NewTimer(r.after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			code := providers.ErrCanceled
			if ctx.Err() == context.DeadlineExceeded {
				code = providers.ErrTimeout
			}
			return &providers.Error{Code: code, Sent: true, Err: ctx.Err()}
		}
	}
	return r.err
}

// run walks the tree once, on a new trail.
func (s *stage) run(ctx context.Context, t *testing.T, r *routing.Router, root *routing.Node, call routing.Call) (string, error) {
	t.Helper()
	s.trail = nil
	out, err := routing.Run(ctx, r, compile(t, root), &call, &s.trail, s.try)
	for i := range s.trail {
		if s.trail[i].Start.IsZero() {
			t.Errorf("an attempt has no start: %+v", s.trail[i])
		}
	}
	return out, err
}

func compile(t testing.TB, root *routing.Node) *routing.Tree {
	t.Helper()
	tree, err := routing.Compile(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func leaf(key string) *routing.Node { return &routing.Node{Key: key} }

func group(m routing.Mode, children ...*routing.Node) *routing.Node {
	return &routing.Node{Mode: m, Children: children}
}

// status is a platform's refusal.
func status(code int) *providers.Error {
	kind := map[int]providers.Code{
		400: providers.ErrInvalidRequest, 401: providers.ErrAuthentication, 403: providers.ErrPermission, 404: providers.ErrModelNotFound,
		408: providers.ErrTimeout, 413: providers.ErrTooLarge, 429: providers.ErrRateLimited, 499: providers.ErrCanceled,
		503: providers.ErrUnavailable, 504: providers.ErrTimeout, 529: providers.ErrUnavailable,
	}[code]
	if kind == "" {
		kind = providers.ErrServer
		if code < 500 {
			kind = providers.ErrInvalidRequest
		}
	}
	return &providers.Error{Code: kind, StatusCode: code, Sent: code >= 500}
}

func asking(code int, wait time.Duration) *providers.Error {
	e := status(code)
	e.RetryAfter = wait
	return e
}

// fails makes a reply of each error, at once.
func fails(errs ...error) []reply {
	out := make([]reply, len(errs))
	for i, err := range errs {
		out[i].err = err
	}
	return out
}

func always(v float64) func() float64 { return func() float64 { return v } }

// lines writes a trail as text.
func lines(trail []providers.Attempt) []string {
	var out []string
	for _, a := range trail {
		words := []string{a.Target}
		add := func(on bool, format string, v any) {
			if on {
				words = append(words, fmt.Sprintf(format, v))
			}
		}
		add(a.Skipped != "", "skipped: %s", a.Skipped)
		add(a.StatusCode != 0, "%d", a.StatusCode)
		add(a.Code != "", "%s", a.Code)
		add(a.Retry != 0, "retry %d", a.Retry)
		add(a.Wait != 0, "after %v", a.Wait)
		add(a.Duration != 0, "in %v", a.Duration)
		add(a.Hedged, "hedged%s", "")
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func wantEqual(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// codeOf is the kind of an error, "" for none.
func codeOf(err error) providers.Code {
	if err == nil {
		return ""
	}
	e, ok := err.(*providers.Error)
	if !ok {
		return "no *providers.Error"
	}
	return e.Code
}
