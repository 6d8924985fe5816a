package chaos_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/config"
)

const (
	retryTwice  = `{"retry":{"attempts":2,"backoff":{"base":1,"max":2}}}`
	fallBackOne = `{"strategy":{"mode":"fallback"},"retry":{"attempts":1,"backoff":{"base":1,"max":2}},"targets":[{"vertex_region":"global"},{"vertex_region":"us-east1"}]}`
	coolDown    = `{"strategy":{"mode":"fallback"},"targets":[{"vertex_region":"global","cb_config":{"failure_threshold":3,"cooldown_interval":600000}},{"vertex_region":"us-east1"}]}`
)

func under(t *testing.T, text string) gateway.RequestOption {
	t.Helper()
	c, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return gateway.WithConfig(c)
}

// then answers after so many refusals, which take turns.
func then(s surface, refusals int, list ...act) act {
	return func(w *wire, n int) {
		if refusals >= 0 && n > refusals {
			answer(s.answer)(w, n)
			return
		}
		list[(n-1)%len(list)](w, n)
	}
}

func resets(w *wire, _ int) { w.reset() }

// TestStorms counts what arrives at a platform that refuses.
func TestStorms(t *testing.T) {
	in := func(d time.Duration) string { return "Retry-After: " + time.Now().Add(d).UTC().Format(http.TimeFormat) }
	for _, row := range []struct {
		id, config string
		refusals   int
		acts       []act
	}{
		{"storm/429 none", "", -1, []act{refusal(429)}},
		{"storm/503 none", "", -1, []act{refusal(503)}},
		{"storm/429 retry", retryTwice, -1, []act{refusal(429)}},
		{"storm/503 retry", retryTwice, -1, []act{refusal(503)}},
		{"storm/ends", retryTwice, 2, []act{refusal(429), refusal(503)}},
		{"storm/fallback", fallBackOne, -1, []act{refusal(429), refusal(503)}},
		{"storm/asks to wait", retryTwice, 1, []act{refusal(429, "Retry-After: 1")}},
		{"storm/asks to wait", retryTwice, 1, []act{refusal(429, in(2*time.Second))}},
		{"storm/past", retryTwice, 1, []act{refusal(429, in(-time.Hour))}},
		{"storm/past", retryTwice, 1, []act{refusal(429, "Retry-After: -5")}},
		{"storm/past", retryTwice, 1, []act{refusal(429, "Retry-After: soon")}},
		{"storm/past", retryTwice, 1, []act{refusal(429, "Retry-After: NaN")}},
		{"storm/past", retryTwice, 1, []act{refusal(429, "Retry-After: 0")}},
		{"storm/absurd", retryTwice, -1, []act{refusal(429, "Retry-After: 61")}},
		{"storm/absurd", retryTwice, -1, []act{refusal(429, "Retry-After: 99999999999999999999")}},
		{"storm/absurd", retryTwice, -1, []act{refusal(429, "Retry-After: Inf")}},
		{"storm/absurd", retryTwice, -1, []act{refusal(429, in(100*365*24*time.Hour))}},
		{"storm/deadline", retryTwice, -1, []act{refusal(429, "Retry-After: 59")}},
		{"storm/cut retry", retryTwice, -1, []act{resets}},
		{"storm/cut fallback", fallBackOne, -1, []act{resets}},
	} {
		t.Run(fmt.Sprintf("%s, %d", row.id, row.refusals), func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			k := newKit(t, p.url)
			var opts []gateway.RequestOption
			if row.config != "" {
				opts = append(opts, under(t, row.config))
			}
			each(4, func(i int) {
				mark := newMark()
				p.on(mark, then(surfaces[i], row.refusals, row.acts...))
				begin := time.Now()
				k.callWithin(45*time.Second, of(t, row.id), surfaces[i], mark, opts...)
				if took := time.Since(begin); row.id == "storm/deadline" && took > slack {
					t.Errorf("back after %v", took)
				}
			})
			k.settle(p.count)
			p.left(k)
		})
	}
}

// TestStalledRequestsAreNotRepeated has a platform that may be at work.
func TestStalledRequestsAreNotRepeated(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, p.url)
	p.always(func(w *wire, _ int) { w.hold(); _ = w.Close() })
	each(4, func(i int) {
		k.call(of(t, "storm/stalled retry"), surfaces[i], newMark(), under(t, retryTwice), gateway.WithTimeouts(gateway.Timeouts{FirstByte: 10 * time.Second}))
	})
	k.settle(p.count)
}

// TestAHundredCallersInAStorm has no more retries than the budget: 50 at once, a
// fifth of the calls, and one a second.
func TestAHundredCallersInAStorm(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, p.url)
	p.always(refusal(429))
	opt := under(t, retryTwice)
	begin := time.Now()
	done := make(chan struct{})
	for i := range 100 {
		go func() {
			k.call(of(t, "storm/hundred"), surfaces[i%4], newMark(), opt)
			done <- struct{}{}
		}()
	}
	for range 100 {
		<-done
	}
	if most := 100 + 50 + 20 + int(time.Since(begin).Seconds()) + 1; p.total() > most {
		t.Errorf("%d requests, want %d at most", p.total(), most)
	}
	if p.total() < 150 {
		t.Errorf("%d requests: the budget was not used", p.total())
	}
	k.settle(p.count)
}

// TestATargetThatCoolsDown is asked until its circuit opens.
func TestATargetThatCoolsDown(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	k := newKit(t, p.url)
	var first atomic.Int64
	opt := under(t, coolDown)
	for range 10 {
		mark := newMark()
		p.on(mark, func(w *wire, n int) {
			if contains([]byte(w.path), "/global/") {
				first.Add(1)
				refusal(503)(w, n)
				return
			}
			answer(geminiUnary)(w, n)
		})
		k.call(of(t, "storm/cooldown"), surfaces[0], mark, opt)
	}
	if first.Load() != 3 {
		t.Errorf("the first target was asked %d times", first.Load())
	}
	k.settle(p.count)
}
