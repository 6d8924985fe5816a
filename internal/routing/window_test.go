package routing

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A window may count a request up to one grain longer than a minute, never
// shorter, and its memory is bounded however much goes through.
func TestWindowAgainstAnExactLog(t *testing.T) {
	type event struct {
		at     time.Duration
		tokens int64
	}
	random := rand.New(rand.NewPCG(3, 4))
	var w window
	var log []event
	now := time.Duration(0)
	for i := range 50_000 {
		now += time.Duration(random.ExpFloat64() * float64([]time.Duration{time.Millisecond, 20 * time.Millisecond, time.Second}[i/5000%3]))
		w.drop(now)
		tokens := random.Int64N(100)
		w.add(now, tokens)
		log = append(log, event{now, tokens})
		for now-log[0].at >= minute+grain {
			log = log[1:]
		}
		var sure, most int
		var sureTokens, mostTokens int64
		for _, e := range log {
			most++
			mostTokens += e.tokens
			if now-e.at < minute {
				sure++
				sureTokens += e.tokens
			}
		}
		if w.requests < sure || w.requests > most || w.tokens < sureTokens || w.tokens > mostTokens {
			t.Fatalf("at %v: %d requests and %d tokens, want %d to %d and %d to %d", now, w.requests, w.tokens, sure, most, sureTokens, mostTokens)
		}
		if len(w.slots) > int(minute/grain)+1 {
			t.Fatalf("%d slots", len(w.slots))
		}
	}
	w.drop(now + 2*minute)
	if w.requests != 0 || w.tokens != 0 || len(w.slots) != 0 {
		t.Errorf("%d requests, %d tokens and %d slots are left", w.requests, w.tokens, len(w.slots))
	}
}

func TestWindowCorrectsWhatItStillHas(t *testing.T) {
	var w window
	old := w.add(0, 10)
	fresh := w.add(30*time.Second, 20)
	w.change(old, 0, 5)
	w.change(fresh, -1, -20)
	if w.requests != 1 || w.tokens != 15 {
		t.Errorf("%d requests and %d tokens", w.requests, w.tokens)
	}
	w.drop(minute)
	w.change(old, -1, -15) // gone by now
	if w.requests != 0 || w.tokens != 0 || len(w.slots) != 1 {
		t.Errorf("%d requests and %d tokens in %d slots", w.requests, w.tokens, len(w.slots))
	}
}
