package prices_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

func TestABudgetSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		opts := prices.BudgetOptions{
			Limits: []prices.Limit{
				{Name: "d", By: prices.ByKey, Window: prices.Daily, Amount: 10 * prices.Dollar, Refuse: true},
				{Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 10 * prices.Dollar},
			},
			OnShare: func(prices.Crossing) { told++ },
		}
		time.Sleep(12 * time.Hour)
		b := budget(t, opts)
		_ = caller{key: "a"}.spend(b, 6)
		time.Sleep(30 * time.Minute)
		_ = caller{key: "b"}.spend(b, 3)
		_ = caller{end: func(r *providers.Record) { r.Meta.Model = "x" }}.spend(b, 3)
		data, err := b.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		before := told
		again := budget(t, opts)
		if err := again.Restore(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.All(), again.All()); diff != "" {
			t.Error(diff)
		}
		if second, _ := again.Snapshot(); string(second) != string(data) {
			t.Errorf("%s\n%s", data, second)
		}
		_ = caller{key: "a"}.spend(again, 1) // 70 % of the day: 50 was told before
		if told != before+1 {                // 80 % of the hour and no more
			t.Errorf("told %d times", told-before)
		}
		time.Sleep(31 * time.Minute)
		spent(t, again, "h", "", 4*prices.Dollar)
		time.Sleep(12 * time.Hour)
		late := budget(t, opts)
		if err := late.Restore(data); err != nil || len(late.All()) != 0 {
			t.Errorf("%v, %v", err, late.All())
		}
	})
}

func TestASnapshotThatIsNone(t *testing.T) {
	b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{{Name: "d", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 1}}})
	for _, data := range []string{
		``, `{}`, `[]`, `{"version":2,"accounts":[]}`, `{"version":1,"accounts":[],"x":1}`, `{"version":1,"accounts":[]} 1`,
		`{"version":1,"accounts":[{"limit":"d","window":-1,"spent_nano":-1}]}`,
		`{"version":1,"accounts":[{"limit":"d","window":3600000000000,"spent_nano":5}]}`,
		`{"version":1,"accounts":[{"limit":"d","window":3600000000000,"spent_nano":5,"parts_nano":[9,-4]}]}`,
		`{"version":1,"accounts":[{"limit":"d","window":-1,"spent_nano":5,"parts_nano":[5]}]}`,
	} {
		if b.Restore([]byte(data)) == nil {
			t.Errorf("accepted: %s", data)
		}
	}
	for _, data := range []string{
		`{"version":1,"accounts":[{"limit":"d","window":-2,"from":"` + time.Now().UTC().Format(time.RFC3339) + `","spent_nano":5}]}`,
		`{"version":1,"accounts":[]}`, `{"version":1,"accounts":[{"limit":"gone","window":-1,"from":"2000-01-01T00:00:00Z","spent_nano":5}]}`,
		`{"version":1,"accounts":[{"limit":"d","window":-1,"from":"2000-01-01T00:00:00Z","spent_nano":5}]}`,
	} {
		if err := b.Restore([]byte(data)); err != nil || len(b.All()) != 0 {
			t.Errorf("%s: %v, %v", data, err, b.All())
		}
	}
}
