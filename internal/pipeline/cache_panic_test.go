package pipeline

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// TestAPanicLeavesNoFlightJoined has a guard panic when the answer is there.
func TestAPanicLeavesNoFlightJoined(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, mode := range []providers.GuardMode{providers.GuardDeny, providers.GuardObserve} {
			for _, plan := range []bool{false, true} {
				t.Run(string(mode)+", streamed "+strconv.FormatBool(stream)+", planned "+strconv.FormatBool(plan), func(t *testing.T) {
					y := new(tardy)
					e, s := engineOf(t, y), timed(time.Minute)
					s.Guards = []providers.Guard{{Name: "g", Mode: mode, Answer: func(context.Context, *providers.ChatCompletionRequest, *providers.ChatCompletion) (*providers.ChatCompletion, error) {
						panic("the answer")
					}}}
					if plan {
						s.Plan = planOf(t, `{"retry":{"attempts":1}}`)
					}
					func() {
						defer func() {
							if recover() == nil {
								t.Error("no panic")
							}
						}()
						_ = e.either(t.Context(), s, stream)
					}()
					if n := e.cache.flights.Open(); n != 0 {
						t.Errorf("%d flights can be joined", n)
					}
				})
			}
		}
	}
}

func TestABreakerOutlivesNoClock(t *testing.T) {
	var b breaker
	for range breakAfter {
		b.tell(false)
	}
	if b.closed() {
		t.Error("it is closed after failures")
	}
	b.until.Add(int64(time.Hour)) // as after the clock was set back
	if !b.closed() {
		t.Error("it stays open for an hour")
	}
}
