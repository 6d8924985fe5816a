package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// TestTriesAgain has what is told of several tries.
func TestTriesAgain(t *testing.T) {
	busy := &providers.Error{Code: providers.ErrUnavailable, Provider: "p", StatusCode: 503, Sent: true, RetryAfter: 30 * time.Second}
	unsent := &providers.Error{Code: providers.ErrConnection, Provider: "p"}
	late := &providers.Error{Code: providers.ErrTimeout, Provider: "p", Sent: true}
	for _, tt := range []struct {
		name       string
		total, ctx time.Duration // limits; 0 is none
		tries      []error       // the last one stays
		code       providers.Code
		sent       bool
		made       int
		took       time.Duration
	}{
		{"one try is enough", 0, 0, []error{nil}, "", false, 1, 0},
		{"the second is", 0, 0, []error{busy, nil}, "", false, 2, 30 * time.Second},
		{"none is", 0, 0, []error{busy}, providers.ErrUnavailable, true, 4, 90 * time.Second},
		{"none was sent", 0, 0, []error{unsent}, providers.ErrConnection, false, 4, 1750 * time.Millisecond},
		{"an early one was sent", 0, 0, []error{busy, unsent}, providers.ErrConnection, true, 4, 31500 * time.Millisecond},
		{"the total ends in a pause", time.Second, 0, []error{busy}, providers.ErrTimeout, true, 1, time.Second},
		{"the total ends in a pause after nothing was sent", 600 * time.Millisecond, 0, []error{unsent}, providers.ErrTimeout, false, 2, 600 * time.Millisecond},
		{"the context ends in a pause", 0, time.Second, []error{busy}, providers.ErrTimeout, true, 1, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.ctx > 0 {
					limited, cancel := context.WithTimeout(ctx, tt.ctx)
					defer cancel()
					ctx = limited
				}
				begun, made := time.Now(), 0
				err := again(ctx, &providers.Target{Timeouts: providers.Timeouts{Total: tt.total}}, func() error {
					made++
					return tt.tries[min(made, len(tt.tries))-1]
				})
				e, _ := failure(err)
				switch {
				case tt.code == "" && err != nil, tt.code != "" && (e == nil || e.Code != tt.code || e.Sent != tt.sent || e.Provider != "p"):
					t.Errorf("%+v, want %s with Sent %v", err, tt.code, tt.sent)
				case made != tt.made || time.Since(begun) != tt.took:
					t.Errorf("%d tries in %v, want %d in %v", made, time.Since(begun), tt.made, tt.took)
				}
			})
		})
	}
	t.Run("a try that took all the time says it itself", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := again(ctx, &providers.Target{}, func() error { cancel(); return late })
		if !errors.Is(err, late) || err.Error() != late.Error() {
			t.Errorf("%v, want %v", err, late)
		}
	})
}
