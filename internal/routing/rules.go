package routing

import (
	"context"
	"errors"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// Repeat says whether a failed request may be sent to its target again.
type Repeat uint8

// The kinds of repeating.
const (
	Never    Repeat = iota // another try fails the same way
	IfUnsent               // it may have been answered, and billed, unless it was never sent; see Policy.RepeatSent
	Always                 // it was refused
)

// Next says whether a fallback asks its next child.
type Next uint8

// The ways on.
const (
	Stop    Next = iota // the call has ended, whatever the config says
	IfNamed             // only when on_status_codes names the status: every target would fail alike
	Ask                 // unless on_status_codes leaves the status out
)

// None is the Status of a rule for errors without one: the platform answered
// nothing, or nothing was sent.
const None = -1

// Rule says what a failure means. The first one whose Code and Status are the
// error's holds.
type Rule struct {
	// Code is a kind of error, "" for any.
	Code providers.Code
	// Status is the platform's: 0 for any, [None], 4 for all from 400 to 499, 5
	// for all from 500 to 599. Policy.OnStatus replaces the Retry of rules that
	// have one.
	Status int
	// Retry says whether the same target may be asked again.
	Retry Repeat
	// Next says whether another target is asked.
	Next Next
	// Counts says that it is a failure of the target, for its cooldown.
	Counts bool
}

// Rules are all that is decided by the kind of a failure.
//
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/retry-strategy
// and, for 529, https://platform.claude.com/docs/en/api/errors
var Rules = []Rule{
	// The call is over.
	{providers.ErrClosed, 0, Never, Stop, false},
	{providers.ErrCanceled, None, Never, Stop, false},
	// A blocked prompt stays blocked; another model may see it differently, which
	// is for the config to want.
	{providers.ErrContentFilter, 0, Never, IfNamed, false},
	// So does what a guard denied.
	{providers.ErrGuardDenied, 0, Never, IfNamed, false},
	// What is used up comes back in hours: the target is as good as down.
	{providers.ErrQuotaExceeded, 0, Never, Ask, true},
	// Found on this side, before anything was sent.
	{providers.ErrInvalidRequest, None, Never, IfNamed, false},
	{providers.ErrInvalidConfig, None, Never, IfNamed, false},
	{providers.ErrProviderNotFound, None, Never, IfNamed, false},
	{providers.ErrModelNotFound, None, Never, IfNamed, false},
	{providers.ErrTooLarge, None, Never, IfNamed, false},
	{providers.ErrContextLength, None, Never, IfNamed, false},
	{providers.ErrOneToolOnly, None, Never, IfNamed, false},
	// No token could be had; the credentials have tried again themselves.
	{providers.ErrAuthentication, None, Never, Ask, false},

	// The platform refused. A status below 500 was not billed. One from 500 on
	// may have been, in part, but there is no answer to be had from it, and so it
	// is with an error in the place of a stream's first output.
	{"", 408, Always, Ask, true},
	{"", 409, Always, Ask, false},
	{"", 429, Always, Ask, true},
	{"", 500, Always, Ask, true},
	{"", 502, Always, Ask, true},
	{"", 503, Always, Ask, true},
	{"", 504, Always, Ask, true},
	{"", 529, Always, Ask, true},
	// 400, 401, 403, 404 and 413 among them: the same request is refused again,
	// but another model or project may take it.
	{"", 4, Never, Ask, false},
	{"", 5, Never, Ask, true},

	// No status. A request that was sent may be answered, and billed, while we no
	// longer listen: a connection lost before any header is in doubt, and so is a
	// time-out of ours.
	{providers.ErrTimeout, None, IfUnsent, Ask, true},
	{providers.ErrConnection, None, IfUnsent, Ask, true},
	{providers.ErrStreamCut, 0, IfUnsent, Ask, true},
	{providers.ErrServer, None, IfUnsent, Ask, true},
	{providers.ErrUnavailable, None, IfUnsent, Ask, true},
	{providers.ErrRateLimited, None, Always, Ask, true},
	// An answer with nothing in it was billed. The target itself is well.
	{providers.ErrEmptyResponse, 0, IfUnsent, Ask, false},
	// Not the platform's answer: a wrong host, or something in between.
	{providers.ErrBadResponse, 0, Never, Ask, true},
	{"", 0, Never, Ask, false},
}

// RuleOf returns the rule for an error.
func RuleOf(e *providers.Error) *Rule {
	for i := range Rules {
		if r := &Rules[i]; r.Code == "" || r.Code == e.Code {
			if r.holdsFor(e.StatusCode) {
				return r
			}
		}
	}
	return &Rules[len(Rules)-1]
}

func (r *Rule) holdsFor(status int) bool {
	switch r.Status {
	case 0:
		return true
	case None:
		return status == 0
	case 4, 5:
		return status/100 == r.Status
	}
	return status == r.Status
}

// isRetried reports whether the policy sends the request again after e.
func (p *Policy) isRetried(r *Rule, e *providers.Error) bool {
	if len(p.OnStatus) > 0 && r.Status > 0 {
		return slices.Contains(p.OnStatus, e.StatusCode)
	}
	switch r.Retry {
	case Always:
		return true
	case IfUnsent:
		return !e.Sent || p.RepeatSent
	}
	return false
}

// falls reports whether a fallback with these statuses asks its next child
// after e.
func falls(onStatus []int, r *Rule, e *providers.Error) bool {
	if r.Next == Stop || len(onStatus) == 0 {
		return r.Next == Ask
	}
	return slices.Contains(onStatus, e.HTTPStatus()) ||
		e.Code == providers.ErrTimeout && e.StatusCode == 0 && slices.Contains(onStatus, 408)
}

// counts reports whether e is a failure of the target.
func (c *Cooldown) counts(e *providers.Error) bool {
	r := RuleOf(e)
	if len(c.OnStatus) > 0 && r.Status > 0 {
		return slices.Contains(c.OnStatus, e.StatusCode)
	}
	return r.Counts
}

// known returns err as an Error; one of another type is taken for a failure of a
// target that was asked.
func known(err error) *providers.Error {
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return e
	}
	code := providers.ErrServer
	switch {
	case errors.Is(err, context.Canceled):
		code = providers.ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		code = providers.ErrTimeout
	}
	return &providers.Error{Code: code, Sent: true, Err: err}
}
