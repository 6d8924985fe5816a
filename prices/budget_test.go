package prices_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// dollars is a table in which a token of the model m costs a dollar, for a million
// dollars a million.
func dollars(t testing.TB) *prices.Table {
	t.Helper()
	table, err := prices.NewTable(prices.Row{Provider: "p", Model: "m", Rates: prices.Rates{prices.Input: prices.Per(prices.Input, 1e6)}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func budget(t testing.TB, opts prices.BudgetOptions) *prices.Budget {
	t.Helper()
	opts.Table = dollars(t)
	b, err := prices.NewBudget(opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// caller is who makes a call.
type caller struct {
	key, user, team string
	operation       string
	end             func(*providers.Record)
}

// start begins a call as the pipeline does, and returns how it ends.
func (c caller) start(b *prices.Budget, tokens int64) (end func(), err error) {
	call := providers.Call{Operation: "chat", KeyID: c.key, Metadata: map[string]string{}, Start: time.Now()}
	if c.operation != "" {
		call.Operation = c.operation
	}
	if c.user != "" {
		call.Metadata[providers.UserKey] = c.user
	}
	if c.team != "" {
		call.Metadata["team"] = c.team
	}
	ctx := b.CallStart(context.Background(), call)
	err = b.Admit(ctx, call)
	r := providers.Record{Call: call, Meta: providers.Meta{Provider: "p", Model: "m", CacheStatus: providers.CacheMiss}, Usage: counted(tokens, 0)}
	if err != nil {
		r.Usage, r.Err = nil, err
	}
	return func() {
		r.Duration = time.Since(r.Start)
		if c.end != nil {
			c.end(&r)
		}
		b.CallEnd(ctx, r)
	}, err
}

// spend makes a whole call.
func (c caller) spend(b *prices.Budget, tokens int64) error {
	end, err := c.start(b, tokens)
	end()
	return err
}

func spent(t *testing.T, b *prices.Budget, limit, value string, want prices.Amount) {
	t.Helper()
	s, ok := b.Spent(limit, value)
	if !ok || s.Spent != want {
		t.Errorf("%s of %q: %v, want %v", limit, value, s.Spent, want)
	}
}

func TestABudgetRefusesUntilItsWindowHasPassed(t *testing.T) {
	for name, tt := range map[string]struct {
		window prices.Window
		after  time.Duration // midnight of January 1st, 2000
		wait   time.Duration
		retry  time.Duration
	}{
		"a day":   {prices.Daily, 18 * time.Hour, 6 * time.Hour, 6 * time.Hour},
		"a month": {prices.Monthly, 30 * 24 * time.Hour, 24 * time.Hour, 24 * time.Hour},
		"an hour": {prices.Rolling(time.Hour), time.Hour, 61 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{{Name: "all", By: prices.ByAll, Window: tt.window, Amount: 10 * prices.Dollar, Refuse: true}}})
				time.Sleep(tt.after)
				for range 2 {
					if err := (caller{}).spend(b, 5); err != nil {
						t.Fatal(err)
					}
				}
				err := caller{}.spend(b, 5)
				e, ok := errors.AsType[*providers.Error](err)
				if !ok || e.Code != providers.ErrQuotaExceeded || e.HTTPStatus() != 429 || e.Sent || e.Retryable() || e.RetryAfter != tt.retry || !strings.Contains(e.Message, "the budget all") {
					t.Fatalf("%+v", err)
				}
				spent(t, b, "all", "", 10*prices.Dollar)
				time.Sleep(tt.wait - time.Nanosecond)
				if tt.window < 0 && (caller{}).spend(b, 1) == nil {
					t.Error("it goes on before the window has passed")
				}
				time.Sleep(time.Nanosecond)
				spent(t, b, "all", "", 0)
				if err := (caller{}).spend(b, 1); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestARollingWindowForgetsByAndBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{{Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: prices.Dollar}}})
		for range 6 { // every ten minutes
			_ = caller{}.spend(b, 1)
			time.Sleep(10 * time.Minute)
		}
		for i := range 7 {
			spent(t, b, "h", "", prices.Amount(6-i)*prices.Dollar-at0(i))
			time.Sleep(10 * time.Minute)
		}
	})
}

func TestARollingWindowIsAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{{Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: prices.Dollar}}})
		_ = caller{}.spend(b, 1)
		time.Sleep(time.Hour - time.Nanosecond)
		spent(t, b, "h", "", prices.Dollar)
		time.Sleep(time.Nanosecond)
		spent(t, b, "h", "", 0)
	})
}

// at0 is what left the window with its own tenth minute.
func at0(i int) prices.Amount {
	if i == 6 {
		return 0
	}
	return prices.Dollar
}

func TestSharesAreToldOnceAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := budget(t, prices.BudgetOptions{
			Limits:  []prices.Limit{{Name: "d", By: prices.ByKey, Window: prices.Daily, Amount: 10 * prices.Dollar}},
			OnShare: func(c prices.Crossing) { got = append(got, fmt.Sprint(c.Value, " ", c.Share, " ", c.Spent)) },
		})
		a, z := caller{key: "a"}, caller{key: "z"}
		for _, tokens := range []int64{4, 1, 1, 3, 0, 1, 5} {
			_ = a.spend(b, tokens)
		}
		_ = z.spend(b, 12)
		_ = caller{}.spend(b, 12)
		time.Sleep(24 * time.Hour)
		_ = a.spend(b, 5)
		want := []string{"a 50 5", "a 80 9", "a 100 10", "z 50 12", "z 80 12", "z 100 12", "a 50 5"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARollingShareIsToldAgainAfterItFell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		b := budget(t, prices.BudgetOptions{
			Limits: []prices.Limit{{Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 2 * prices.Dollar}},
			Shares: []int{100}, OnShare: func(prices.Crossing) { told++ },
		})
		for _, tt := range []struct {
			wait   time.Duration
			tokens int64
			told   int
		}{{0, 2, 1}, {time.Minute, 1, 1}, {2 * time.Hour, 1, 1}, {0, 1, 2}} {
			time.Sleep(tt.wait)
			if _ = (caller{}).spend(b, tt.tokens); told != tt.told {
				t.Errorf("%+v: told %d times", tt, told)
			}
		}
	})
}

func TestScopesAreCountedApart(t *testing.T) {
	limit := func(name string, by prices.Scope, own map[string]prices.Amount) prices.Limit {
		return prices.Limit{Name: name, By: by, Window: prices.Daily, Amount: 3 * prices.Dollar, Values: own, Refuse: true}
	}
	b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{
		limit("keys", prices.ByKey, map[string]prices.Amount{"rich": 1000 * prices.Dollar, "none": 0}),
		limit("users", prices.ByUser, nil), limit("teams", prices.ByMetadata("team"), nil),
		{Name: "all", By: prices.ByAll, Window: prices.Monthly, Amount: 100 * prices.Dollar},
	}})
	for _, tt := range []struct {
		who    caller
		tokens int64
		denied string
	}{
		{caller{key: "a", user: "u"}, 2, ""}, {caller{key: "a", user: "v"}, 2, ""}, {caller{key: "a", user: "w"}, 1, "keys"},
		{caller{key: "b", user: "u"}, 1, ""}, {caller{key: "c", user: "u"}, 1, "users"}, {caller{user: "u"}, 1, "users"},
		{caller{key: "rich"}, 50, ""}, {caller{key: "rich"}, 1, ""}, {caller{key: "none"}, 1, "keys"},
		{caller{team: "x"}, 3, ""}, {caller{team: "x", key: "d"}, 1, "teams"}, {caller{}, 1, ""},
	} {
		err := tt.who.spend(b, tt.tokens)
		if tt.denied == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), "the budget "+tt.denied+" ") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	spent(t, b, "keys", "a", 4*prices.Dollar)
	spent(t, b, "users", "u", 3*prices.Dollar)
	spent(t, b, "teams", "x", 3*prices.Dollar)
	spent(t, b, "all", "", 60*prices.Dollar)
	if _, ok := b.Spent("none", ""); ok {
		t.Error("a limit that isn't there")
	}
	var names []string
	for _, s := range b.All() {
		names = append(names, s.Limit+" "+s.Value)
	}
	if diff := cmp.Diff([]string{"keys a", "keys b", "keys rich", "users u", "users v", "teams x", "all "}, names); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownCostsAreTold(t *testing.T) {
	var got []prices.UnknownCall
	b := budget(t, prices.BudgetOptions{
		Limits: []prices.Limit{{Name: "d", By: prices.ByAll, Window: prices.Daily, Amount: 10 * prices.Dollar}}, Unknown: 2 * prices.Dollar,
		OnUnknown: func(u prices.UnknownCall) { u.Call = providers.Call{}; got = append(got, u) },
	})
	end := func(set func(*providers.Record)) caller { return caller{end: set} }
	_ = end(func(r *providers.Record) { r.Meta.Model = "x" }).spend(b, 5)
	_ = end(func(r *providers.Record) { r.Usage = counted(1, 1) }).spend(b, 5)
	_ = end(func(r *providers.Record) {
		r.Usage, r.Err = nil, &providers.Error{Code: providers.ErrTimeout, Sent: true}
	}).spend(b, 5)
	_ = end(func(r *providers.Record) { r.Usage, r.Err = nil, &providers.Error{Code: providers.ErrTimeout} }).spend(b, 5)
	_ = end(func(r *providers.Record) { r.Meta.CacheStatus, r.Meta.Model = providers.CacheHit, "x" }).spend(b, 5)
	want := []prices.UnknownCall{
		{Model: "x", Reason: prices.ReasonNoRow, Counted: 2 * prices.Dollar},
		{Model: "m", Reason: prices.ReasonNoPrice, Unknown: []prices.Kind{prices.Output}, Counted: 2 * prices.Dollar},
		{Model: "m", Reason: prices.ReasonNoUsage, Counted: 2 * prices.Dollar},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s, _ := b.Spent("d", ""); s.Spent != 6*prices.Dollar || s.Unknown != 3 {
		t.Errorf("%+v", s)
	}
}

func TestWhatCostsNothingSpendsNothing(t *testing.T) {
	b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{{Name: "d", By: prices.ByAll, Window: prices.Daily, Amount: prices.Dollar, Refuse: true}}})
	for _, set := range []func(*providers.Record){
		func(r *providers.Record) { r.Meta.CacheStatus = providers.CacheHit },
		func(r *providers.Record) { r.Meta.CacheStatus = providers.CacheSemanticHit },
		func(r *providers.Record) { r.Meta.Cache.Shared = true },
	} {
		if err := (caller{end: set}).spend(b, 50); err != nil {
			t.Error(err)
		}
	}
	spent(t, b, "d", "", 0)
	_ = caller{}.spend(b, 1)
	if err := (caller{operation: "count_tokens"}).spend(b, 5); err != nil {
		t.Errorf("a token count is refused: %v", err)
	}
	if err := (caller{operation: "batch.create"}).spend(b, 5); err == nil {
		t.Error("a batch is not refused")
	}
	spent(t, b, "d", "", prices.Dollar)
}

// Without a hold all the calls under way are admitted; with one that is what they
// cost, the limit is passed by less than one call.
func TestTheOvershootIsBounded(t *testing.T) {
	const workers, calls, cost = 16, 50, 3
	for _, hold := range []prices.Amount{0, cost * prices.Dollar} {
		t.Run(hold.String(), func(t *testing.T) {
			limit := 100 * prices.Dollar
			crossings := 0
			b := budget(t, prices.BudgetOptions{
				Limits: []prices.Limit{{Name: "d", By: prices.ByAll, Window: prices.Monthly, Amount: limit, Refuse: true}}, Hold: hold,
				Shares: []int{100}, OnShare: func(prices.Crossing) { crossings++ },
			})
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for range calls {
						_ = caller{}.spend(b, cost)
					}
				})
			}
			all.Wait()
			s, _ := b.Spent("d", "")
			most := limit + workers*cost*prices.Dollar
			if hold > 0 {
				most = limit + cost*prices.Dollar
			}
			if s.Spent < limit || s.Spent >= most || s.Held != 0 || crossings != 1 {
				t.Errorf("%+v, crossed %d times", s, crossings)
			}
		})
	}
}

func TestCallsUnderWayAreHeld(t *testing.T) {
	b := budget(t, prices.BudgetOptions{
		Limits: []prices.Limit{{Name: "u", By: prices.ByUser, Window: prices.Monthly, Amount: 10 * prices.Dollar, Refuse: true}}, Hold: 5 * prices.Dollar,
	})
	u := caller{user: "u"}
	first, _ := u.start(b, 1)
	second, _ := u.start(b, 1)
	third, err := u.start(b, 1)
	if err == nil {
		t.Error("a third call is admitted")
	}
	if s, _ := b.Spent("u", "u"); s.Held != 10*prices.Dollar || s.Spent != 0 {
		t.Errorf("%+v", s)
	}
	third()
	first()
	if err := u.spend(b, 1); err != nil {
		t.Error(err)
	}
	second()
	if s, _ := b.Spent("u", "u"); s.Held != 0 || s.Spent != 3*prices.Dollar {
		t.Errorf("%+v", s)
	}
}

func TestValuesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget(t, prices.BudgetOptions{
			Limits: []prices.Limit{{Name: "u", By: prices.ByUser, Window: prices.Daily, Amount: 10 * prices.Dollar, Refuse: true}}, MaxValues: 2, Hold: 1,
		})
		for _, user := range []string{"a", "b", "c", "d"} {
			if err := (caller{user: user}).spend(b, 5); err != nil {
				t.Error(err)
			}
		}
		spent(t, b, "u", "a", 5*prices.Dollar)
		spent(t, b, "u", "c", 0)
		spent(t, b, "u", prices.OtherValues, 10*prices.Dollar)
		if (caller{user: "e"}).spend(b, 1) == nil || (caller{user: "a"}).spend(b, 1) != nil {
			t.Error("the others are not refused together, or those before them are")
		}
		time.Sleep(24 * time.Hour)
		if err := (caller{user: "e"}).spend(b, 1); err != nil {
			t.Error(err)
		}
		spent(t, b, "u", "e", prices.Dollar)
		if n := len(b.All()); n != 1 {
			t.Errorf("%d values", n)
		}
	})
}

func TestOptionsOfABudgetAreChecked(t *testing.T) {
	ok := prices.Limit{Name: "a", By: prices.ByAll, Window: prices.Daily}
	for want, opts := range map[string]prices.BudgetOptions{
		"budget.limits":            {},
		"budget.limits[1].name":    {Limits: []prices.Limit{ok, ok}},
		"budget.limits[0].name":    {Limits: []prices.Limit{{By: prices.ByAll, Window: prices.Daily}}},
		"budget.limits[0].by":      {Limits: []prices.Limit{{Name: "a", By: "metadata.", Window: prices.Daily}}},
		"budget.limits[0].window":  {Limits: []prices.Limit{{Name: "a", By: prices.ByAll}}},
		"budget.limits[0].amount":  {Limits: []prices.Limit{{Name: "a", By: prices.ByAll, Window: prices.Daily, Amount: -1}}},
		"budget.limits[0].values":  {Limits: []prices.Limit{{Name: "a", By: prices.ByAll, Window: prices.Daily, Values: map[string]prices.Amount{"x": -1}}}},
		"budget.shares":            {Limits: []prices.Limit{ok}, Shares: []int{80, 50}},
		"budget.unknown, hold and": {Limits: []prices.Limit{ok}, Hold: -1},
	} {
		if _, err := prices.NewBudget(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
