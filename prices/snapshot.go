package prices

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Spent returns what a value has spent of the limit of that name; the value of a limit
// by [ByAll] is "". ok is false when there is no such limit. A value that has spent
// nothing, and one that is counted among [OtherValues], has an empty one.
func (b *Budget) Spent(limit, value string) (s Spending, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.limits, func(l Limit) bool { return l.Name == limit })
	if i < 0 {
		return Spending{}, false
	}
	now := time.Now()
	g := b.accounts[account{i, value}]
	if g == nil {
		g = newLedger(b.limits[i].Window, now)
	}
	g.turn(now)
	l := &b.limits[i]
	return g.spending(l, value, l.amount(value), now), true
}

// All returns what was spent of every limit, in the order of the limits, and within
// one in that of the values. Values that have spent nothing are left out.
func (b *Budget) All() []Spending {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	keys := make([]account, 0, len(b.accounts))
	for k, g := range b.accounts {
		if !g.over(now) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b account) int { return cmp.Or(cmp.Compare(a.limit, b.limit), cmp.Compare(a.value, b.value)) })
	out := make([]Spending, 0, len(keys))
	for _, k := range keys {
		l := &b.limits[k.limit]
		out = append(out, b.accounts[k].spending(l, k.value, l.amount(k.value), now))
	}
	return out
}

// snapshot is the form of what a budget remembers.
type snapshot struct {
	Version  int       `json:"version"`
	Accounts []counted `json:"accounts"`
}

// counted is one account. Amounts are in billionths of a dollar, so that they are
// exact everywhere.
type counted struct {
	Limit   string    `json:"limit"`
	Value   string    `json:"value,omitempty"`
	Window  Window    `json:"window"`
	From    time.Time `json:"from"`
	Spent   int64     `json:"spent_nano"`
	Unknown int64     `json:"unknown,omitempty"`
	Told    []int     `json:"told,omitempty"`
	// Parts are those of a rolling window, the newest first, up to the last with an
	// amount.
	Parts []int64 `json:"parts_nano,omitempty"`
}

const snapshotVersion = 1

// Snapshot returns what the budget remembers as JSON, for [Budget.Restore]. It has the
// names of limits and their values, such as users. What calls under way hold is no part
// of it.
func (b *Budget) Snapshot() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	out := snapshot{Version: snapshotVersion, Accounts: []counted{}}
	for k, g := range b.accounts {
		g.turn(now)
		if g.spent == 0 && g.unknown == 0 {
			continue
		}
		c := counted{Limit: b.limits[k.limit].Name, Value: k.value, Window: g.window, From: g.from, Spent: int64(g.spent), Unknown: g.unknown}
		for i, share := range b.opts.Shares {
			if g.told&(1<<i) != 0 {
				c.Told = append(c.Told, share)
			}
		}
		for i := windowParts - 1; g.parts != nil && i >= 0; i-- {
			if g.parts[i] != 0 || len(c.Parts) > 0 {
				c.Parts = append(c.Parts, int64(g.parts[i]))
			}
		}
		slices.Reverse(c.Parts)
		out.Accounts = append(out.Accounts, c)
	}
	slices.SortFunc(out.Accounts, func(a, b counted) int { return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Value, b.Value)) })
	return json.Marshal(out)
}

// Restore adds what [Budget.Snapshot] returned, before the first call. Windows that
// have passed, and limits that are no longer there or have another window, are left
// out. When the data is not valid nothing is added.
func (b *Budget) Restore(data []byte) error {
	var in snapshot
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return fmt.Errorf("prices: not a snapshot of a budget: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) || in.Version != snapshotVersion {
		return errors.New("prices: not a snapshot of a budget, or of another version")
	}
	for i := range in.Accounts {
		if err := in.Accounts[i].check(); err != nil {
			return fmt.Errorf("prices: accounts[%d]: %w", i, err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for i := range in.Accounts {
		b.restore(&in.Accounts[i], now)
	}
	return nil
}

// check reports what no snapshot has.
func (c *counted) check() error {
	sum := int64(0)
	for _, n := range c.Parts {
		if n < 0 || n > c.Spent-sum {
			return errors.New("parts_nano: must be what was spent")
		}
		sum += n
	}
	switch {
	case c.Spent < 0 || c.Unknown < 0:
		return errors.New("must not be negative")
	case len(c.Parts) > windowParts:
		return fmt.Errorf("parts_nano: there are %d at most", windowParts)
	case c.Window > 0 && sum != c.Spent:
		return errors.New("parts_nano: must be what was spent")
	case c.Window < 0 && len(c.Parts) > 0:
		return errors.New("parts_nano: are of rolling windows")
	}
	return nil
}

// restore adds one account.
func (b *Budget) restore(c *counted, now time.Time) {
	i := slices.IndexFunc(b.limits, func(l Limit) bool { return l.Name == c.Limit })
	if i < 0 || b.limits[i].Window != c.Window || c.From.After(now) {
		return
	}
	old := newLedger(c.Window, c.From)
	old.spent, old.unknown = Amount(c.Spent), c.Unknown
	for j, n := range c.Parts {
		old.parts[j] = Amount(n)
	}
	for j, share := range b.opts.Shares {
		if slices.Contains(c.Told, share) {
			old.told |= 1 << j
		}
	}
	if old.over(now) {
		return
	}
	g := b.ledger(i, c.Value, now)
	if g.parts != nil {
		for j := range old.parts {
			g.parts[j] += min(old.parts[j], maxAmount-g.parts[j])
		}
	}
	g.spent += min(old.spent, maxAmount-g.spent)
	g.unknown += old.unknown
	g.told |= old.told
}
