package routing_test

import (
	"fmt"
	"testing"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// verdict is what a failure leads to by default.
type verdict struct{ Repeated, RepeatedIfAllowed, Falls, FallsIfNamed, Counts bool }

func TestWhatEachFailureLeadsTo(t *testing.T) {
	const yes, no = true, false
	for _, tt := range []struct {
		code   providers.Code
		status int
		sent   bool
		want   verdict
	}{
		{providers.ErrTimeout, 408, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrInvalidRequest, 409, false, verdict{yes, yes, yes, yes, no}},
		{providers.ErrRateLimited, 429, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrServer, 500, true, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrServer, 502, true, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrUnavailable, 503, true, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrTimeout, 504, true, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrUnavailable, 529, true, verdict{yes, yes, yes, yes, yes}},

		{providers.ErrInvalidRequest, 400, false, verdict{no, no, yes, yes, no}},
		{providers.ErrContextLength, 400, false, verdict{no, no, yes, yes, no}},
		{providers.ErrAuthentication, 401, false, verdict{no, no, yes, yes, no}},
		{providers.ErrPermission, 403, false, verdict{no, no, yes, yes, no}},
		{providers.ErrModelNotFound, 404, false, verdict{no, no, yes, yes, no}},
		{providers.ErrTooLarge, 413, false, verdict{no, no, yes, yes, no}},
		{providers.ErrCanceled, 499, false, verdict{no, no, yes, yes, no}},
		{providers.ErrServer, 501, true, verdict{no, no, yes, yes, yes}},
		{providers.ErrServer, 599, true, verdict{no, no, yes, yes, yes}},
		{providers.ErrQuotaExceeded, 429, false, verdict{no, no, yes, yes, yes}},

		{providers.ErrContentFilter, 0, true, verdict{no, no, no, yes, no}},
		{providers.ErrContentFilter, 400, false, verdict{no, no, no, yes, no}},
		{providers.ErrGuardDenied, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrGuardDenied, 0, true, verdict{no, no, no, yes, no}},
		{providers.ErrInvalidRequest, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrInvalidConfig, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrProviderNotFound, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrModelNotFound, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrTooLarge, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrContextLength, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrOneToolOnly, 0, false, verdict{no, no, no, yes, no}},
		{providers.ErrCanceled, 0, true, verdict{no, no, no, no, no}},
		{providers.ErrClosed, 0, false, verdict{no, no, no, no, no}},
		{providers.ErrAuthentication, 0, false, verdict{no, no, yes, yes, no}},

		{providers.ErrConnection, 0, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrConnection, 0, true, verdict{no, yes, yes, yes, yes}},
		{providers.ErrTimeout, 0, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrTimeout, 0, true, verdict{no, yes, yes, yes, yes}},
		{providers.ErrStreamCut, 0, true, verdict{no, yes, yes, yes, yes}},
		{providers.ErrServer, 0, true, verdict{no, yes, yes, yes, yes}},
		{providers.ErrUnavailable, 0, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrRateLimited, 0, false, verdict{yes, yes, yes, yes, yes}},
		{providers.ErrEmptyResponse, 0, true, verdict{no, yes, yes, yes, no}},
		{providers.ErrBadResponse, 0, true, verdict{no, no, yes, yes, yes}},
		{providers.ErrBadResponse, 302, true, verdict{no, no, yes, yes, yes}},
		{providers.ErrCacheNotFound, 0, true, verdict{no, no, yes, yes, no}},
		{"invented", 0, false, verdict{no, no, yes, yes, no}},
	} {
		t.Run(fmt.Sprintf("%s %d sent %v", tt.code, tt.status, tt.sent), func(t *testing.T) {
			e := &providers.Error{Code: tt.code, StatusCode: tt.status, Sent: tt.sent}
			again := func(p routing.Policy) bool {
				p.Attempts, p.Base = 1, 1
				s := newStage(map[string][]reply{"a": fails(e)})
				_, err := s.run(t.Context(), t, routing.New(routing.Config{}), &routing.Node{Key: "a", Retry: p}, routing.Call{})
				return err == nil
			}
			goesOn := func(onStatus ...int) bool {
				s := newStage(map[string][]reply{"a": fails(e)})
				root := group(routing.Fallback, leaf("a"), leaf("b"))
				root.OnStatus = onStatus
				_, err := s.run(t.Context(), t, routing.New(routing.Config{}), root, routing.Call{})
				return err == nil
			}
			got := verdict{
				Repeated:          again(routing.Policy{}),
				RepeatedIfAllowed: again(routing.Policy{RepeatSent: true}),
				Falls:             goesOn(),
				FallsIfNamed:      goesOn(e.HTTPStatus()),
				Counts:            routing.RuleOf(e).Counts,
			}
			wantEqual(t, "verdict", tt.want, got)
			if goesOn(418) {
				t.Error("it falls though only another status is named")
			}
		})
	}
}

func TestATimeoutOfOursIsA408AsWell(t *testing.T) {
	late := &providers.Error{Code: providers.ErrTimeout, Sent: true}
	for on, want := range map[int]bool{408: true, 504: true, 500: false} {
		s := newStage(map[string][]reply{"a": fails(late)})
		root := group(routing.Fallback, leaf("a"), leaf("b"))
		root.OnStatus = []int{on}
		if _, err := s.run(t.Context(), t, routing.New(routing.Config{}), root, routing.Call{}); (err == nil) != want {
			t.Errorf("%d named: %v", on, err)
		}
	}
}

func TestAListOfStatusesReplacesTheRulesOfStatuses(t *testing.T) {
	blocked := &providers.Error{Code: providers.ErrContentFilter, StatusCode: 400}
	lost := &providers.Error{Code: providers.ErrConnection, Sent: true}
	for _, tt := range []struct {
		name string
		on   []int
		err  error
		want bool
	}{
		{"one in it", []int{404}, status(404), true},
		{"one not in it", []int{404}, status(503), false},
		{"a blocked prompt stays blocked", []int{400}, blocked, false},
		{"a quota that is used up stays so", []int{429}, &providers.Error{Code: providers.ErrQuotaExceeded, StatusCode: 429}, false},
		{"what was sent without an answer stays in doubt", []int{502}, lost, false},
		{"what was not sent is repeated", []int{404}, &providers.Error{Code: providers.ErrConnection}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(map[string][]reply{"a": fails(tt.err)})
			root := &routing.Node{Key: "a", Retry: routing.Policy{Attempts: 1, Base: 1, OnStatus: tt.on}}
			if _, err := s.run(t.Context(), t, routing.New(routing.Config{}), root, routing.Call{}); (err == nil) != tt.want {
				t.Errorf("%v, want it repeated: %v", err, tt.want)
			}
		})
	}
}
