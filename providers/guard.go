package providers

import (
	"context"
	"strings"
	"time"
)

// Guard is a check of chat completions, such as a moderation service: of the
// request before it is sent, of the answer before it is shown, or of both. One
// guard serves calls from many goroutines at once. What it does counts into the
// time of the call, whose context it gets and should obey. It must not panic.
//
// A function that returns an error has found fault; what becomes of that is the
// mode's. nil, or the value that it was given, lets the call go on as it is. Any
// other value takes the place of the one given: begin with a copy of that, which
// itself must not be changed.
//
// A guard that can't judge, because its service is down, says by what it returns
// whether the call goes on.
type Guard struct {
	// Name is what configs, errors and verdicts call the guard by: letters, digits,
	// '-', '_' and '.', at most 128 bytes. Over HTTP clients see it.
	Name string
	// Mode is deny when it is empty.
	Mode GuardMode
	// Request judges a request. Nil judges none.
	Request func(ctx context.Context, req *ChatCompletionRequest) (*ChatCompletionRequest, error)
	// Answer judges the answer to req, with all that strict compliance hides; its
	// Meta is not complete yet. Nil judges none. Where it changes a message's
	// content and leaves the text of the ContentBlocks as it was, the blocks get the
	// new text too, and log probabilities that it leaves are taken out. Thinking,
	// tool calls, audio and grounding are for the guard to change.
	Answer func(ctx context.Context, req *ChatCompletionRequest, answer *ChatCompletion) (*ChatCompletion, error)
}

// GuardMode says what becomes of a request or answer that a guard finds fault
// with.
type GuardMode string

// The modes of a guard.
const (
	// GuardDeny refuses it, as an [ErrGuardDenied]. A streamed answer is held back
	// until it was judged as a whole.
	GuardDeny GuardMode = "deny"
	// GuardObserve lets it go on with a warning. Nothing that the guard returns
	// changes the call, and a streamed answer is judged when it has been shown.
	GuardObserve GuardMode = "observe"
)

// GuardStage is what a guard judged.
type GuardStage string

// The stages of a guard.
const (
	GuardRequest GuardStage = "request"
	GuardAnswer  GuardStage = "answer"
)

// GuardVerdict is what one guard made of one request or answer.
type GuardVerdict struct {
	// Name is the guard's, Stage what it judged and Mode how.
	Name  string
	Stage GuardStage
	Mode  GuardMode
	// Target is the target's place in the config, as in [Attempt]; empty for a
	// guard of the client or the call.
	Target string
	// Denied says that it found fault, which in the mode observe changed nothing.
	Denied bool
	// Changed says that it returned another value, which in the mode observe was
	// not used.
	Changed bool
	// Duration is how long it took.
	Duration time.Duration
	// Err is why it found fault, in the guard's own words, or why it could not
	// judge. Whether they quote the prompt is up to the guard.
	Err error
}

// WarnGuard is the code of a warning of a guard that observes and found fault.
const WarnGuard = "guard_observed" // nothing: a guard that only observes found fault

// maxGuardName is what a config allows for the name of a guard, in bytes.
const maxGuardName = 128

// Validate reports what is wrong with the guard.
func (g *Guard) Validate() error {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	bad := func(param, message string) error {
		return &Error{Code: ErrInvalidConfig, Param: param, Message: message}
	}
	switch {
	case g.Name == "" || len(g.Name) > maxGuardName || strings.Trim(g.Name, chars) != "":
		return bad("guard.name", "is made of letters, digits, '-', '_' and '.', at most 128 of them")
	case g.Mode != "" && g.Mode != GuardDeny && g.Mode != GuardObserve:
		return bad("guard.mode", `must be "deny" or "observe"`)
	case g.Request == nil && g.Answer == nil:
		return bad("guard", "the guard "+g.Name+" judges nothing: give it Request, Answer or both")
	}
	return nil
}
