package prices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// Budget sums up what calls cost and holds it against limits. It is an observer: give
// it to gateway.WithObserver. One that refuses does so before anything is sent or
// looked up in the response cache, by an error with the code
// [providers.ErrQuotaExceeded], which is a 429. It is safe for concurrent use.
//
// A call is admitted while its limits are not used up, and counted when it has ended:
// the calls under way can take a limit beyond its amount by what they cost, at most by
// as many calls as there are at once. [BudgetOptions.Hold] counts them before they have
// ended. Answers from the response cache cost nothing, and calls that ask no model,
// such as counts of tokens, are never refused.
//
// A budget is that of one process. Several of them share nothing: divide the limits, or
// keep the [Budget.Snapshot] of each apart.
type Budget struct {
	table  *Table
	opts   BudgetOptions
	limits []Limit

	mu       sync.Mutex
	accounts map[account]*ledger
	values   []int     // how many accounts each limit has
	swept    time.Time // when room was made last
}

var _ providers.Admitter = (*Budget)(nil)

// BudgetOptions say what a budget does. Limits is required.
type BudgetOptions struct {
	// Table has the prices; nil is [Default].
	Table *Table
	// Limits are what may be spent.
	Limits []Limit
	// Shares are the percents of a limit that OnShare is told of, ascending; nil is
	// 50, 80 and 100.
	Shares []int
	// OnShare is told when spending reaches a share of a limit: once for each share,
	// limit, value and window. In a rolling window it is told again after spending has
	// fallen below it. It is called on the goroutine of a call, without locks, and must
	// not block.
	OnShare func(Crossing)
	// OnUnknown is told of a call whose cost is not known, likewise. Such calls are
	// counted in [Spending.Unknown].
	OnUnknown func(UnknownCall)
	// Unknown is what a call costs whose cost is not known; 0 counts nothing.
	Unknown Amount
	// Hold is what a call under way counts until it has ended; 0 counts nothing.
	Hold Amount
	// MaxValues bounds the values, such as users, that a limit counts apart; default
	// 100,000. Those whose window is over make room first. What comes then is counted
	// together as the value [OtherValues], under one limit: nothing is forgotten, and
	// memory is bounded.
	MaxValues int
}

// Limit is an amount that may be spent in a window.
type Limit struct {
	// Name is what the limit is called, in errors, crossings and snapshots: not empty,
	// and of one limit alone.
	Name string
	// By says what is counted apart; calls that have no such value don't count.
	By Scope
	// Window is [Daily], [Monthly] or, positive, how long spending counts.
	Window Window
	// Amount is what each value may spend, and Values what some of them may, in its
	// place.
	Amount Amount
	Values map[string]Amount
	// Refuse ends calls when the limit is used up. Without it they go on.
	Refuse bool
}

// Scope says what a limit counts apart: [ByAll], [ByKey], [ByUser] or, as
// ByMetadata("team"), the value of metadata.
type Scope string

// The scopes.
const (
	ByAll  Scope = "all"  // nothing: all calls together
	ByKey  Scope = "key"  // the KeyID of [providers.Call]
	ByUser Scope = "user" // the end user that the request named
)

const metadataScope = "metadata."

// ByMetadata counts apart by the value of the metadata of that key.
func ByMetadata(key string) Scope { return Scope(metadataScope + key) }

// Window says how long spending counts.
type Window time.Duration

// The windows of the calendar, in UTC.
const (
	Daily   Window = -1
	Monthly Window = -2
)

// Rolling counts what was spent in the last d. It is counted in sixtieths of d: an
// amount leaves the window up to a sixtieth early.
func Rolling(d time.Duration) Window { return Window(d) }

// OtherValues stands for the values beyond [BudgetOptions.MaxValues].
const OtherValues = "(others)"

// Crossing says that spending has reached a share of a limit.
type Crossing struct {
	Spending
	// Share is in percent.
	Share int
}

// UnknownCall is a call whose cost is not known.
type UnknownCall struct {
	Call  providers.Call
	Model string
	// Reason and Unknown are those of [Cost].
	Reason  Reason
	Unknown []Kind
	// Counted is what it counts.
	Counted Amount
}

// Spending is what a value has spent of a limit.
type Spending struct {
	Limit, Value string
	// From and To are the window; for a rolling one To is the time of asking.
	From, To time.Time
	// Spent is what was counted, Held what calls under way hold, and Amount what may
	// be spent.
	Spent, Held, Amount Amount
	// Unknown counts the calls whose cost is not known.
	Unknown int64
}

// account is what is counted apart: a limit by its place, and a value.
type account struct {
	limit int
	value string
}

// NewBudget returns a budget. All mistakes in the options are reported at once.
func NewBudget(opts BudgetOptions) (*Budget, error) {
	opts.Limits, opts.Shares = slices.Clone(opts.Limits), slices.Clone(opts.Shares)
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Table == nil {
		opts.Table = Default()
	}
	if opts.Shares == nil {
		opts.Shares = []int{50, 80, 100}
	}
	opts.MaxValues = cmp.Or(opts.MaxValues, 100_000)
	return &Budget{
		table: opts.Table, opts: opts, limits: opts.Limits, accounts: map[account]*ledger{}, values: make([]int, len(opts.Limits)),
	}, nil
}

// maxShares is how many shares a ledger can tell apart.
const maxShares = 32

func (o *BudgetOptions) check() error {
	var errs []error
	bad := func(path, message string) { errs = append(errs, providers.Invalid("budget."+path, message)) }
	if len(o.Limits) == 0 {
		bad("limits", "there must be one")
	}
	if len(o.Shares) > maxShares || !slices.IsSorted(o.Shares) || len(o.Shares) > 0 && o.Shares[0] <= 0 {
		bad("shares", "must be positive percents, ascending, 32 of them at most")
	}
	if o.Unknown < 0 || o.Hold < 0 || o.MaxValues < 0 {
		bad("unknown, hold and max_values", "must not be negative")
	}
	names := map[string]bool{}
	for i := range o.Limits {
		l, path := &o.Limits[i], fmt.Sprintf("limits[%d].", i)
		if l.Name == "" || names[l.Name] {
			bad(path+"name", "must be given, and differ from those of the others")
		}
		names[l.Name] = true
		if !l.By.valid() {
			bad(path+"by", `must be "all", "key", "user" or "metadata.KEY"`)
		}
		if l.Window != Daily && l.Window != Monthly && time.Duration(l.Window) < time.Second {
			bad(path+"window", "must be Daily, Monthly or a second and more")
		}
		if l.Amount < 0 {
			bad(path+"amount", "must not be negative")
		}
		for _, a := range l.Values {
			if a < 0 {
				bad(path+"values", "must not be negative")
			}
		}
	}
	return errors.Join(errs...)
}

func (s Scope) valid() bool {
	switch s {
	case ByAll, ByKey, ByUser:
		return true
	}
	return len(s) > len(metadataScope) && s[:len(metadataScope)] == metadataScope
}

// of returns the value of a call; ok is false when it has none.
func (s Scope) of(c *providers.Call) (value string, ok bool) {
	switch s {
	case ByAll:
		return "", true
	case ByKey:
		value = c.KeyID
	case ByUser:
		value = c.Metadata[providers.UserKey]
	default:
		value = c.Metadata[string(s[len(metadataScope):])]
	}
	return value, value != ""
}

// amount is what a value may spend.
func (l *Limit) amount(value string) Amount {
	if a, own := l.Values[value]; own {
		return a
	}
	return l.Amount
}

// holding is the key of a context's hold.
type holding struct{ b *Budget }

// hold says where one call holds an amount.
type hold struct{ ledgers []*ledger }

// CallStart prepares the call.
func (b *Budget) CallStart(ctx context.Context, c providers.Call) context.Context {
	if b.opts.Hold == 0 || free(c.Operation) {
		return ctx
	}
	return context.WithValue(ctx, holding{b}, new(hold))
}

// Admit refuses a call that has a limit which is used up.
func (b *Budget) Admit(ctx context.Context, c providers.Call) error {
	if free(c.Operation) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.limits {
		l := &b.limits[i]
		value, ok := l.By.of(&c)
		if !ok || !l.Refuse {
			continue
		}
		if g := b.ledger(i, value, c.Start); g.left(b.limit(l, g, value)) <= 0 {
			return l.refusal(c.Start)
		}
	}
	if h, ok := ctx.Value(holding{b}).(*hold); ok {
		b.each(&c, c.Start, func(_ *Limit, g *ledger, _ string) {
			g.held += min(b.opts.Hold, maxAmount-g.held)
			h.ledgers = append(h.ledgers, g)
		})
	}
	return nil
}

// refusal is the error of a limit that is used up. It names neither key nor user.
func (l *Limit) refusal(now time.Time) error {
	e := &providers.Error{
		Code:    providers.ErrQuotaExceeded,
		Message: "the budget " + l.Name + " is used up: wait until its window has passed, or raise the limit",
	}
	if l.Window < 0 {
		_, end := l.Window.span(now)
		e.RetryAfter = end.Sub(now)
	}
	return e
}

// each calls do for the ledger of every limit that counts the call. The caller holds
// b.mu.
func (b *Budget) each(c *providers.Call, now time.Time, do func(l *Limit, g *ledger, value string)) {
	for i := range b.limits {
		l := &b.limits[i]
		if value, ok := l.By.of(c); ok {
			do(l, b.ledger(i, value, now), value)
		}
	}
}

// limit is what the value of a ledger may spend: those that share one have no amount
// of their own.
func (b *Budget) limit(l *Limit, g *ledger, value string) Amount {
	if g.others {
		value = OtherValues
	}
	return l.amount(value)
}

// CallEnd counts what the call cost.
func (b *Budget) CallEnd(ctx context.Context, r providers.Record) {
	if free(r.Operation) {
		return
	}
	h, _ := ctx.Value(holding{b}).(*hold)
	var c Cost
	b.table.cost(&r, &c, false)
	spent, unknown := c.Total, !c.Known && !hit(&r)
	if unknown {
		spent = b.opts.Unknown
	}
	if spent == 0 && !unknown && h == nil {
		return
	}
	crossed := b.count(&r, spent, unknown, h)
	if unknown && b.opts.OnUnknown != nil {
		b.opts.OnUnknown(UnknownCall{Call: r.Call, Model: cmp.Or(r.Meta.Model, r.Model), Reason: c.Reason, Unknown: c.Unknown, Counted: spent})
	}
	for i := range crossed {
		b.opts.OnShare(crossed[i])
	}
}

// count adds a call up, and returns the shares that spending has reached by it.
func (b *Budget) count(r *providers.Record, spent Amount, unknown bool, h *hold) []Crossing {
	now := r.Start.Add(r.Duration)
	var crossed []Crossing
	b.mu.Lock()
	defer b.mu.Unlock()
	if h != nil {
		for _, g := range h.ledgers {
			g.held = max(0, g.held-b.opts.Hold)
		}
		h.ledgers = nil
	}
	if spent == 0 && !unknown {
		return nil
	}
	b.each(&r.Call, now, func(l *Limit, g *ledger, value string) {
		if unknown {
			g.unknown++
		}
		g.add(now, spent)
		if g.others {
			value = OtherValues
		}
		amount := l.amount(value)
		for i, share := range b.opts.Shares {
			if g.reached(i, share, amount) && b.opts.OnShare != nil {
				crossed = append(crossed, Crossing{Spending: g.spending(l, value, amount, now), Share: share})
			}
		}
	})
	return crossed
}
