package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// call is the state of one request from Do to the Close of its answer, in one
// allocation: the limits of its phases, the request body and the answer.
type call struct {
	caller context.Context // as Do got it
	ctx    context.Context // ends with the call, or when a phase is too long
	cancel context.CancelCauseFunc
	limits providers.Timeouts
	watch  watch
	total  *time.Timer // nil without that limit
	alarm  *alarm      // nil without limits
	sent   atomic.Bool
	once   sync.Once
	reader bodyReader
	answer Response
}

// phaseError is the cancel cause of a phase that took too long.
type phaseError struct {
	phase string
	limit time.Duration
}

func (e *phaseError) Error() string { return fmt.Sprintf("%s within %v", e.phase, e.limit) }

func newCall(caller context.Context, q *Request) *call {
	c := &call{caller: caller, limits: q.Timeouts}
	c.ctx, c.cancel = context.WithCancelCause(caller)
	c.reader = bodyReader{sent: &c.sent, payload: q.Body}
	total, watched := c.limits.Total, c.limits.FirstByte > 0 || c.limits.Idle > 0
	if total <= 0 && !watched {
		return c
	}
	c.alarm = new(alarm)
	c.alarm.call.Store(c)
	if total > 0 {
		c.total = time.AfterFunc(total, c.alarm.late)
	}
	if watched {
		c.watch.start(c, c.limits.FirstByte)
	}
	return c
}

// alarm is all that the timers of a call know of it. The runtime keeps timers that
// were stopped until they are a quarter of all, and so would keep their calls, with
// the buffers of connections that were closed long ago.
type alarm struct{ call atomic.Pointer[call] } // nil once the call has ended

// silent is what the watch's timer does.
func (a *alarm) silent() {
	if c := a.call.Load(); c != nil {
		c.watch.fire()
	}
}

// late ends a call that takes too long as a whole.
func (a *alarm) late() {
	if c := a.call.Load(); c != nil {
		c.cancel(&phaseError{"the call did not end", c.limits.Total})
	}
}

// silent ends a call that has waited too long for its answer, or for more of
// it.
func (c *call) silent() {
	if c.watch.answered.Load() {
		c.cancel(&phaseError{"no data", c.limits.Idle})
	} else {
		c.cancel(&phaseError{"no answer", c.limits.FirstByte})
	}
}

// stop releases the timers, the context and the call's share of the payload.
func (c *call) stop() {
	c.once.Do(func() {
		c.watch.stop()
		if c.total != nil {
			c.total.Stop()
		}
		if c.alarm != nil {
			c.alarm.call.Store(nil)
		}
		c.cancel(context.Canceled)
		c.reader.payload.Release()
	})
}

// failure turns what went wrong into an error that says why and whether the
// request was sent.
func (c *call) failure(err error) error {
	sent := c.sent.Load()
	var late *phaseError
	switch {
	case errors.As(context.Cause(c.ctx), &late):
		return &providers.Error{Code: providers.ErrTimeout, Message: late.Error(), Sent: sent, Err: context.DeadlineExceeded}
	case c.caller.Err() != nil:
		return ContextError(c.caller, sent)
	case errors.Is(err, context.DeadlineExceeded):
		return &providers.Error{Code: providers.ErrTimeout, Sent: sent, Err: plain(err)}
	}
	return &providers.Error{Code: providers.ErrConnection, Sent: sent, Err: plain(err)}
}

// ContextError says that the caller's context has ended.
func ContextError(ctx context.Context, sent bool) error {
	code := providers.ErrCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = providers.ErrTimeout
	}
	return &providers.Error{Code: code, Message: "the caller's context ended", Sent: sent, Err: context.Cause(ctx)}
}

// maxStale bounds how often a request goes to another connection because the one
// that was kept for it had ended. A peer that restarts ends many at once.
const maxStale = 4

// staleText is the error of net/http, which has no name, for a kept connection that
// its peer ended as a request took it.
const staleText = "http: server closed idle connection"

// isStale reports whether a request came to a connection that had ended and can go
// to another: nothing has read its body, so none of it can have been answered.
// net/http does not send a POST again by itself, since it does not know that.
func (c *call) isStale(err error) bool {
	return err != nil && err.Error() == staleText && !c.sent.Load() && c.ctx.Err() == nil && len(c.reader.payload.Bytes()) > 0
}

// answered ends the wait for the header. Each read of the body is a wait of its
// own.
func (c *call) answered(res *http.Response) *Response {
	c.sent.Store(true)
	c.watch.answered.Store(true)
	c.watch.rest()
	c.answer = Response{Status: res.StatusCode, Header: res.Header, Length: res.ContentLength, body: res.Body, call: c}
	return &c.answer
}
