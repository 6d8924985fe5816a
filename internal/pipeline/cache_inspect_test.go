package pipeline

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// TestAnInspectionChangesNothing looks again and again, at a target that cools down
// and has one request a minute.
func TestAnInspectionChangesNothing(t *testing.T) {
	off := &Settings{Debug: new(false)}
	for name, tt := range map[string]struct {
		plan         string
		client, call func() *Settings
		reason       string
	}{
		"a target without a cache": {
			`{"targets":[{"cb_config":{"failure_threshold":1,"cooldown_interval":60000},"limits":{"requests_per_minute":1}}]}`,
			here, func() *Settings { return new(Settings) }, "neither the call, nor a config, nor the client has a cache",
		},
		"a call that is not recorded": {
			`{"cache":{"mode":"simple"},"targets":[{"cb_config":{"failure_threshold":1,"cooldown_interval":60000},"limits":{"requests_per_minute":1}}]}`,
			func() *Settings { return timed(0) }, func() *Settings { return off }, "debug is false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := &tardy{err: &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Provider: "tardy"}}
				e, client := engineOf(t, y), tt.client()
				client.Plan = planOf(t, tt.plan)
				inspect := func() {
					for range 5 {
						in, err := e.CacheInspect(t.Context(), client, tt.call(), ask("m"))
						if err != nil {
							t.Fatal(err)
						}
						wantEqual(t, &CacheInspection{Status: providers.CacheDisabled, Reason: tt.reason, Provider: "tardy", Model: "m"}, in)
					}
				}
				inspect()
				if e.either(t.Context(), client, false) == nil || len(y.totals) != 1 {
					t.Fatalf("the limit is used up: %v", y.totals)
				}
				inspect()
				a, ok := errors.AsType[*providers.Error](e.either(t.Context(), client, false))
				if !ok || len(a.Attempts) != 1 || a.Attempts[0].Skipped != providers.SkipLimit {
					t.Errorf("%+v", a)
				}
			})
		})
	}
	t.Run("a cooldown goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			y := &tardy{err: &providers.Error{Code: providers.ErrUnavailable, StatusCode: 503, Provider: "tardy"}}
			e, client := engineOf(t, y), here()
			client.Plan = planOf(t, `{"strategy":{"mode":"fallback"},"targets":[
				{"name":"one","cb_config":{"failure_threshold":1,"cooldown_interval":60000}},{"name":"two","cb_config":{"failure_threshold":1,"cooldown_interval":60000},"override_params":{"model":"two"}}]}`)
			if e.either(t.Context(), client, false) == nil {
				t.Fatal("no error")
			}
			if _, err := e.CacheInspect(t.Context(), client, new(Settings), ask("m")); err != nil {
				t.Fatal(err)
			}
			a, ok := errors.AsType[*providers.Error](e.either(t.Context(), client, false))
			if !ok || len(a.Attempts) != 2 || a.Attempts[0].Skipped != providers.SkipCooldown || len(y.totals) != 3 {
				t.Errorf("%+v, %d requests", a, len(y.totals))
			}
		})
	})
	t.Run("a target that can't be made ready is an error", func(t *testing.T) {
		e, client := engineOf(t, new(tardy)), here()
		client.Cache = &config.Cache{Mode: config.CacheSimple}
		client.Plan = planOf(t, `{"targets":[{"provider":"@none"}]}`)
		if _, err := e.CacheInspect(t.Context(), client, new(Settings), ask("m")); err == nil {
			t.Error("no error")
		}
	})
}
