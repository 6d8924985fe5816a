package providers

import "context"

// Admitter is an [Observer] that can refuse calls, such as a budget.
type Admitter interface {
	Observer
	// Admit is asked after CallStart, with the context that it made, and before
	// anything is sent or looked up in the response cache. An error ends the call with
	// it. It must not block and is safe for concurrent use.
	Admit(ctx context.Context, c Call) error
}
