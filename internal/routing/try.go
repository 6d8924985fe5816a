package routing

import (
	"sync"

	"github.com/b650d4bf/gateway/providers"
)

// Call is what a walk knows of a call.
type Call struct {
	// View is what conditions and sticky draws read.
	View any
	// Tokens is an estimate of what the call uses, prompt and answer, for limits
	// on tokens.
	Tokens int64
	// Stream says that the answer is a stream, which is never hedged.
	Stream bool
	// Looks says that the call only wants to know where it would go: an [Ahead]
	// answers for each leaf, none is asked, and nothing changes.
	Looks bool

	// FellBack and Balanced are set by [Run]: the way of the call led through a
	// fallback, or a load balancer, of several targets.
	FellBack, Balanced bool
}

// Try is one try of one leaf. It belongs to the caller's function until that
// returns.
type Try struct {
	// Leaf is the leaf to ask.
	Leaf *Node
	// Attempt is the try's entry in the trail. The function fills in Provider,
	// Slug and Model; the rest is filled in around it.
	Attempt providers.Attempt
	// Carry is what an [Ahead] gave the tries of its leaf; nil without one.
	Carry any

	lease *Lease
	kept  bool
	used  int64
}

// Used tells how many tokens the try used, for limits on tokens.
func (t *Try) Used(tokens int64) { t.used = tokens }

// Keep takes over the try's place within the leaf's limits, for an answer that
// is not at its end when the function returns. The caller must call
// [Lease.Done] once it is. A function that returns an error has kept nothing.
func (t *Try) Keep() *Lease {
	t.kept = true
	return t.lease
}

// Apart says that the try goes elsewhere than its leaf does for others, so that
// neither its answer nor its failure says anything of the leaf.
func (t *Try) Apart() { t.lease.apart() }

// Hurried says that the try has less time than its leaf gives others, so that a
// time-out says nothing of the leaf.
func (t *Try) Hurried() { t.lease.hurry() }

// Lease is a place within a leaf's limits, and what the leaf's health is to
// learn. A nil Lease is that of a leaf with neither.
type Lease struct {
	permit permit

	mu        sync.Mutex // guards the rest
	admission admission
	hurried   bool
	done      bool
}

// Done gives the place back, with the tokens used, 0 when that is not known, and
// how the answer ended. Only the first call counts. It is safe for concurrent
// use.
func (l *Lease) Done(tokens int64, err error) {
	if l == nil || !l.end(err) {
		return
	}
	if err == nil {
		l.permit.end(0, l.correction(tokens))
		return
	}
	switch e := known(err); {
	case e.Sent:
		l.permit.end(0, l.correction(tokens))
	case e.StatusCode != 0: // it was refused, and used nothing
		l.permit.end(0, -l.permit.tokens)
	default:
		l.permit.undo()
	}
}

// end tells the health how the answer ended, and reports whether that is new.
func (l *Lease) end(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return false
	}
	l.done = true
	if err == nil {
		l.admission.succeeded()
		return true
	}
	e := known(err)
	if l.hurried && e.Code == providers.ErrTimeout && e.StatusCode == 0 {
		e = interrupted()
	}
	l.admission.failed(e)
	return true
}

func (l *Lease) apart() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admission.givenUp()
	l.admission.health = nil
}

func (l *Lease) hurry() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hurried = true
}

// correction is what makes the estimate true.
func (l *Lease) correction(tokens int64) int64 {
	if tokens <= 0 {
		return 0
	}
	return tokens - l.permit.tokens
}

// begun notes that the answer has begun and that its end will be told.
func (l *Lease) begun() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done {
		l.admission.opened()
	}
}

// interrupted is the end of a try that says nothing of its target.
func interrupted() *providers.Error {
	return &providers.Error{Code: providers.ErrCanceled, Sent: true}
}
