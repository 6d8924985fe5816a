package analytics

import (
	"math"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// sum is what records sum up to. All of it are whole numbers, so that sums of sums
// are exact whatever their order.
type sum struct {
	requests, errors                                int64
	tokens                                          logs.Tokens
	cost, saved                                     prices.Amount
	unpriced                                        int64
	hits, semanticHits, misses, refreshes, disabled int64
	timeSaved                                       int64 // microseconds
	duration, firstChunk, hitLatency                sketch
	feedback                                        scores
	partial                                         bool // of a Live: some may be with the others
}

// scores sum feedback up.
type scores struct {
	count, positive, negative int64
	weights, weighted         int64 // in millionths
}

// add adds one record.
func (s *sum) add(r *logs.Record) {
	s.requests++
	well := r.Error == nil
	if !well {
		s.errors++
	}
	hit := s.addCache(r, well)
	if t := r.Tokens; t != nil && !hit && !shared(r) {
		addTokens(&s.tokens, t)
		if r.Cost == nil && *t != (logs.Tokens{}) {
			s.unpriced++
		}
	}
	if r.Cost != nil {
		s.cost += *r.Cost
	}
	if well {
		s.duration.add(micros(r.Duration))
		if r.FirstChunk > 0 {
			s.firstChunk.add(micros(r.FirstChunk))
		}
	}
	for i := range r.Feedback {
		s.feedback.add(&r.Feedback[i])
	}
}

// shared reports whether the answer was that of another call, made at the same time:
// nothing was sent for it, and it cost nothing.
func shared(r *logs.Record) bool {
	return len(r.Attempts) == 0 && r.Cost != nil && *r.Cost == 0 && r.Error == nil &&
		(r.CacheStatus == providers.CacheMiss.String() || r.CacheStatus == providers.CacheRefreshed.String())
}

// addCache adds what the response cache did, and reports whether the answer came
// from it.
func (s *sum) addCache(r *logs.Record, well bool) (hit bool) {
	switch r.CacheStatus {
	case providers.CacheHit.String():
		s.hits++
	case providers.CacheSemanticHit.String():
		s.semanticHits++
	case providers.CacheMiss.String():
		s.misses++
		return false
	case providers.CacheRefreshed.String():
		s.refreshes++
		return false
	default:
		s.disabled++
		return false
	}
	s.timeSaved += micros(r.TimeSaved)
	if r.Saved != nil {
		s.saved += *r.Saved
	}
	if well {
		s.hitLatency.add(micros(r.Duration))
	}
	return true
}

func addTokens(sum, t *logs.Tokens) {
	sum.Prompt += t.Prompt
	sum.Completion += t.Completion
	sum.Total += t.Total
	sum.Cached += t.Cached
	sum.CacheWrite += t.CacheWrite
	sum.Reasoning += t.Reasoning
	sum.AudioIn += t.AudioIn
	sum.AudioOut += t.AudioOut
}

func (s *scores) add(f *logs.Feedback) {
	weight := int64(math.Round(f.Weight * 1e6))
	if f.Weight == 0 {
		weight = 1e6
	}
	s.count++
	s.weights += weight
	s.weighted += weight * int64(f.Value)
	switch {
	case f.Value > 0:
		s.positive++
	case f.Value < 0:
		s.negative++
	}
}

// merge adds what another sum has.
func (s *sum) merge(o *sum) {
	s.requests += o.requests
	s.errors += o.errors
	addTokens(&s.tokens, &o.tokens)
	s.cost += o.cost
	s.saved += o.saved
	s.unpriced += o.unpriced
	s.hits += o.hits
	s.semanticHits += o.semanticHits
	s.misses += o.misses
	s.refreshes += o.refreshes
	s.disabled += o.disabled
	s.timeSaved += o.timeSaved
	s.duration.merge(&o.duration)
	s.firstChunk.merge(&o.firstChunk)
	s.hitLatency.merge(&o.hitLatency)
	s.feedback.count += o.feedback.count
	s.feedback.positive += o.feedback.positive
	s.feedback.negative += o.feedback.negative
	s.feedback.weights += o.feedback.weights
	s.feedback.weighted += o.feedback.weighted
}

// totals returns the sum as a report has it.
func (s *sum) totals() Totals {
	t := Totals{
		Requests: s.requests, Errors: s.errors, ErrorRate: share(s.errors, s.requests),
		Tokens: s.tokens, Cost: s.cost, Unpriced: s.unpriced,
		Duration: s.duration.latency(), FirstChunk: s.firstChunk.latency(),
		Cache: Cache{
			Hits: s.hits, SemanticHits: s.semanticHits, Misses: s.misses, Refreshes: s.refreshes, Disabled: s.disabled,
			HitRate: share(s.hits+s.semanticHits, s.hits+s.semanticHits+s.misses),
			Latency: s.hitLatency.latency(), TimeSaved: float64(s.timeSaved) / 1e3, MoneySaved: s.saved,
		},
	}
	if f := &s.feedback; f.count > 0 {
		t.Feedback = &FeedbackTotals{Count: f.count, Mean: share(f.weighted, f.weights), Positive: f.positive, Negative: f.negative}
	}
	return t
}

// share is a part of a whole, 0 of nothing.
func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
