package prices

import (
	"errors"
	"math/bits"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Cost is what a call cost.
type Cost struct {
	// Known says that Total and Saved are. When it is false Reason says why.
	Known bool
	// Total is what was paid: 0 for an answer from the response cache. The sum is
	// exact, and rounded once, half up.
	Total Amount
	// Saved is what an answer from the response cache would have cost; else 0.
	Saved Amount
	// Parts are what Total, or Saved, is made of.
	Parts []Part
	// AtLeast says that the answer broke off, and that the platform counted no
	// further than there.
	AtLeast bool
	// Uncounted counts the other requests of the call that may have been billed too:
	// hedges that lost and tries that failed after they were sent.
	Uncounted int
	// Reason is empty when the cost is known.
	Reason Reason
	// Unknown names the kinds that were used and have no price, for
	// [ReasonNoPrice].
	Unknown []Kind
	// Row is what it was reckoned by; nil for none. It must not be changed.
	Row *Row
}

// Part is what one kind of unit cost.
type Part struct {
	Kind  Kind
	Units int64
	Rate  Rate
	// Amount is rounded by itself, so that parts may add up to a little more or less
	// than the total.
	Amount Amount
}

// Reason is why a cost is not known.
type Reason string

// The reasons.
const (
	ReasonNoRow   Reason = "no_row"   // the table does not have the model on that day
	ReasonNoPrice Reason = "no_price" // it does not have the price of something that was used: see Cost.Unknown
	ReasonClass   Reason = "class"    // it does not have the prices of the class of service, or the call was paid for beforehand
	ReasonNoUsage Reason = "no_usage" // nobody counted what was used
	ReasonUsage   Reason = "usage"    // what was counted contradicts itself, or can't be told apart
	ReasonLater   Reason = "later"    // the call started what is billed later, such as a batch
)

// Record returns what a call cost and what it saved, as a log keeps them: nil when
// that is not known or, for saved, when the answer was not from the response cache.
func (t *Table) Record(r *providers.Record) (cost, saved *Amount) {
	var c Cost
	t.cost(r, &c, false)
	switch {
	case hit(r):
		if c.Known {
			saved = new(c.Saved)
		}
		return new(Amount), saved
	case c.Known:
		return new(c.Total), nil
	}
	return nil, nil
}

// hit reports whether no request was made for the call, since the answer was there or
// on its way.
func hit(r *providers.Record) bool { return r.Meta.CacheStatus.IsHit() || r.Meta.Cache.Shared }

// Cost returns what a call cost, in parts.
func (t *Table) Cost(r *providers.Record) Cost {
	var c Cost
	t.cost(r, &c, true)
	return c
}

// Price returns what a use costs, in parts.
func (t *Table) Price(u *Use) Cost {
	var c Cost
	t.price(u, &c, true)
	return c
}

// cost reckons a record.
func (t *Table) cost(r *providers.Record, c *Cost, parts bool) {
	u := useOf(r)
	if !hit(r) {
		c.Uncounted = uncounted(r)
	}
	switch {
	case free(r.Operation):
		c.Known = true
	case r.Err != nil && u.nothing():
		if c.Known = !sent(r.Err) && c.Uncounted == 0; !c.Known {
			c.Reason = ReasonNoUsage
		}
	case r.Operation == "batch.create" && r.Err == nil:
		c.Reason = ReasonLater
	default:
		t.price(&u, c, parts)
		c.AtLeast = c.Known && r.Stream && r.Err != nil && !errors.Is(r.Err, providers.ErrGuardDenied)
	}
	if hit(r) {
		c.Saved, c.Total = c.Total, 0
	}
}

// free reports whether an operation asks no model.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/get-token-count,
// https://platform.claude.com/docs/en/build-with-claude/token-counting
func free(operation string) bool {
	switch operation {
	case "count_tokens", "cache.get", "cache.list", "cache.extend", "cache.delete", "batch.get", "batch.list", "batch.cancel", "batch.results",
		"native.countTokens", "native.computeTokens":
		return true
	}
	return strings.HasPrefix(operation, "file.")
}

// sent reports whether a request that failed may be billed.
func sent(err error) bool {
	e, ok := errors.AsType[*providers.Error](err)
	return !ok || e.Sent
}

// uncounted counts the requests that may be billed without an answer, but for the
// one that made the call's answer or error.
func uncounted(r *providers.Record) int {
	n, list := 0, r.Meta.Attempts
	if r.Err != nil && len(list) > 0 {
		list = list[:len(list)-1]
	}
	for i := range list {
		a := &list[i]
		if a.Skipped == "" && a.Code != "" && (a.StatusCode == 0 || a.StatusCode == http.StatusOK || a.StatusCode >= 500) {
			n++
		}
	}
	return n
}

// price reckons a use.
func (t *Table) price(u *Use, c *Cost, parts bool) {
	if u.nothing() {
		c.Reason = ReasonNoUsage
		return
	}
	var n counts
	if u.count(&n); n.bad {
		c.Reason = ReasonUsage
		return
	}
	p := t.find(u)
	if p == nil {
		c.Reason = ReasonNoRow
		return
	}
	c.Row = p.row
	s := p.sheet(u, &n)
	if s == nil {
		c.Reason = ReasonClass
		return
	}
	all, reason := n.units(s)
	if reason != "" {
		c.Reason = reason
		return
	}
	c.add(s, &all, parts)
}

// add sums the parts up.
func (c *Cost) add(s *sheet, all *units, parts bool) {
	if parts {
		n := 0
		for _, u := range all {
			if u > 0 {
				n++
			}
		}
		c.Parts = make([]Part, 0, n)
	}
	var hi, lo uint64 // the sum, in trillionths
	for k := Input; k < kinds; k++ {
		if all[k] <= 0 {
			continue
		}
		rate, known := s.rate(k)
		if !known {
			c.Unknown = append(c.Unknown, k)
			continue
		}
		h, l := bits.Mul64(uint64(all[k]), uint64(rate))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
		if parts {
			amount, _ := rounded(h, l)
			c.Parts = append(c.Parts, Part{Kind: k, Units: all[k], Rate: rate, Amount: amount})
		}
	}
	if len(c.Unknown) > 0 {
		c.Reason = ReasonNoPrice
		return
	}
	if c.Total, c.Known = rounded(hi, lo); !c.Known {
		c.Reason = ReasonUsage
	}
}

// rounded turns trillionths into an amount, half up. It reports false for a sum
// beyond what an amount holds.
func rounded(hi, lo uint64) (Amount, bool) {
	const perNano = 1000
	lo, carry := bits.Add64(lo, perNano/2, 0)
	if hi += carry; hi >= perNano {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, perNano)
	if q > 1<<63-1 {
		return 0, false
	}
	return Amount(q), true
}
