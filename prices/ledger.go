package prices

import (
	"math"
	"time"
)

// maxAmount is the most that an amount holds.
const maxAmount Amount = math.MaxInt64

// windowParts is how many a rolling window is counted in.
const windowParts = 60

// ledger is what one value has spent of one limit in its window.
type ledger struct {
	window  Window
	from    time.Time // of the window, or of the newest part of a rolling one
	spent   Amount
	held    Amount
	unknown int64
	told    uint32               // the shares that were told of, by their place
	parts   *[windowParts]Amount // of a rolling window, the newest first; nil for others
	others  bool                 // it is that of values without one of their own
}

func newLedger(w Window, now time.Time) *ledger {
	g := &ledger{window: w}
	if w > 0 {
		g.parts = new([windowParts]Amount)
	}
	g.from, _ = w.span(now)
	return g
}

// span returns the window that a time is in; of a rolling one, the part.
func (w Window) span(now time.Time) (from, to time.Time) {
	now = now.UTC()
	switch w {
	case Daily:
		from = Day(now.Year(), now.Month(), now.Day())
		return from, from.AddDate(0, 0, 1)
	case Monthly:
		from = Day(now.Year(), now.Month(), 1)
		return from, from.AddDate(0, 1, 0)
	}
	part := w.part()
	from = now.Truncate(part)
	return from, from.Add(part)
}

// part is how long a part of a rolling window is.
func (w Window) part() time.Duration { return max(time.Duration(w)/windowParts, 1) }

// turn moves the ledger to the window of a time. A time before it changes nothing: it
// is that of a call which took longer to be counted.
func (g *ledger) turn(now time.Time) {
	from, _ := g.window.span(now)
	if !from.After(g.from) {
		return
	}
	if g.parts == nil {
		g.from, g.spent, g.unknown, g.told = from, 0, 0, 0
		return
	}
	steps := int(min(from.Sub(g.from)/g.window.part(), windowParts+1))
	for range steps {
		g.spent -= g.parts[windowParts-1]
		copy(g.parts[1:], g.parts[:windowParts-1])
		g.parts[0] = 0
	}
	if steps > windowParts {
		g.unknown = 0
	}
	g.from = from
}

// over reports whether there is nothing in the ledger that still counts.
func (g *ledger) over(now time.Time) bool {
	g.turn(now)
	return g.spent == 0 && g.held == 0 && g.unknown == 0
}

// add counts an amount. A sum beyond what an amount holds stays there.
func (g *ledger) add(now time.Time, a Amount) {
	g.turn(now)
	a = min(a, maxAmount-g.spent)
	g.spent += a
	if g.parts != nil {
		g.parts[0] += a
	}
}

// left is what may still be spent.
func (g *ledger) left(amount Amount) Amount {
	if g.held > maxAmount-g.spent {
		return 0
	}
	return amount - g.spent - g.held
}

// reached reports whether spending has reached a share for the first time.
func (g *ledger) reached(place, share int, amount Amount) bool {
	bit := uint32(1) << place
	if g.spent < portion(amount, share) {
		g.told &^= bit
		return false
	}
	fresh := g.told&bit == 0
	g.told |= bit
	return fresh
}

// portion is so many percent of an amount.
func portion(a Amount, percent int) Amount {
	p := Amount(percent)
	if a/100 > maxAmount/max(p, 1)-1 {
		return maxAmount
	}
	return a/100*p + (a%100*p+99)/100
}

func (g *ledger) spending(l *Limit, value string, amount Amount, now time.Time) Spending {
	from, to := g.from, now
	if g.parts == nil {
		_, to = g.window.span(g.from)
	} else {
		from = from.Add(-g.window.part() * (windowParts - 1))
	}
	return Spending{Limit: l.Name, Value: value, From: from, To: to.UTC(), Spent: g.spent, Held: g.held, Amount: amount, Unknown: g.unknown}
}

// ledger returns that of a value, in the window of now. The caller holds b.mu.
func (b *Budget) ledger(limit int, value string, now time.Time) *ledger {
	k := account{limit, value}
	g := b.accounts[k]
	if g == nil {
		g = b.newLedger(k, now)
	}
	g.turn(now)
	return g
}

// sweepEvery bounds how often room is made.
const sweepEvery = time.Minute

// newLedger makes one for a value, or returns that of the others when there are too
// many.
func (b *Budget) newLedger(k account, now time.Time) *ledger {
	others := account{k.limit, OtherValues}
	if b.values[k.limit] >= b.opts.MaxValues {
		b.sweep(now)
	}
	if b.values[k.limit] >= b.opts.MaxValues {
		if g := b.accounts[others]; g != nil {
			return g
		}
		k = others
	}
	g := newLedger(b.limits[k.limit].Window, now)
	g.others = k == others
	b.accounts[k] = g
	b.values[k.limit]++
	return g
}

// sweep forgets the values that have nothing in their window.
func (b *Budget) sweep(now time.Time) {
	if now.Sub(b.swept) < sweepEvery {
		return
	}
	b.swept = now
	for k, g := range b.accounts {
		if g.over(now) {
			delete(b.accounts, k)
			b.values[k.limit]--
		}
	}
}
