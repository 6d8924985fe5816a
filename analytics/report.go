// Package analytics sums records up: requests, errors, tokens, money, latency and
// what the response cache saved, as a whole, by a field and over time.
package analytics

import (
	"context"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
)

// Source answers reports. It is safe for concurrent use.
type Source interface {
	Report(ctx context.Context, q Query) (*Report, error)
}

// Query says what a report is about.
type Query struct {
	// From and To bound the time of the calls, From included and To not.
	From, To time.Time
	// Filters choose among the calls.
	Filters []logs.Filter
	// GroupBy names fields of kind word or flag, of [logs.Fields], or
	// "metadata.KEY"; calls without one are in the group with an empty value.
	GroupBy []string
	// Every makes a series of such steps, aligned to UTC; 0 makes none. A report has
	// at most 1,000 steps.
	Every time.Duration
	// Top bounds the number of groups, those with the most requests first; what is
	// left is summed up in Other. 0 means 100.
	Top int
}

// Report is the answer to a [Query].
type Report struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Total Totals    `json:"total"`
	// Groups are sorted by requests, the most first.
	Groups []Group `json:"groups,omitempty"`
	// Other is what has no group of its own.
	Other *Totals `json:"other,omitempty"`
	// Series has a point for every step, those without calls included.
	Series []Point `json:"series,omitempty"`
	// Approximate says that percentiles come from a sketch, within
	// 1 % of the value.
	Approximate bool `json:"approximate"`
}

// Group is what the calls with the same values of the fields sum up to.
type Group struct {
	Key    []string `json:"key"`
	Totals Totals   `json:"totals"`
	Series []Point  `json:"series,omitempty"`
}

// Point is one step of a series.
type Point struct {
	Time   time.Time `json:"time"`
	Totals Totals    `json:"totals"`
}

// Totals sum calls up.
type Totals struct {
	Requests int64 `json:"requests"`
	// Errors are the calls that failed, and ErrorRate their share.
	Errors    int64   `json:"errors"`
	ErrorRate float64 `json:"error_rate"`
	// Tokens are those that were paid for: cache hits don't count.
	Tokens logs.Tokens `json:"tokens"`
	// Cost sums up the calls whose cost is known, and Unpriced counts the others that
	// used tokens.
	Cost     prices.Amount `json:"cost_usd"`
	Unpriced int64         `json:"unpriced"`
	// Duration and FirstChunk are of calls that did well; FirstChunk of streams.
	Duration   Latency `json:"duration_ms"`
	FirstChunk Latency `json:"first_chunk_ms"`
	Cache      Cache   `json:"cache"`
	// Feedback is nil without any.
	Feedback *FeedbackTotals `json:"feedback,omitempty"`
}

// Latency is a distribution, in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Cache is what the response cache did.
type Cache struct {
	// Hits and SemanticHits are answers from the cache, Misses and Refreshes those that
	// were made although it was on. Disabled counts the calls without it.
	Hits         int64 `json:"hits"`
	SemanticHits int64 `json:"semantic_hits"`
	Misses       int64 `json:"misses"`
	Refreshes    int64 `json:"refreshes"`
	Disabled     int64 `json:"disabled"`
	// HitRate is the share of hits, of both kinds, among the calls that looked: hits
	// and misses.
	HitRate float64 `json:"hit_rate"`
	// Latency is that of hits of both kinds.
	Latency Latency `json:"latency_ms"`
	// TimeSaved is the sum over the hits, and MoneySaved that of those whose price is
	// known.
	TimeSaved  float64       `json:"time_saved_ms"`
	MoneySaved prices.Amount `json:"money_saved_usd"`
}

// FeedbackTotals sum feedback up.
type FeedbackTotals struct {
	Count    int64   `json:"count"`
	Mean     float64 `json:"mean"` // weighted
	Positive int64   `json:"positive"`
	Negative int64   `json:"negative"`
}
