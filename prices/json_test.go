package prices_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prices"
)

// written is a table with all that a table may have.
const written = `{"rows":[
	{"provider":"p","model":"m","from":"2026-01-31","until":"2027-01-01","source":"https://x","read":"2026-02-01","note":"n",
	 "rates":{"input":0.0375,"image":0.134,"search":14,"character":0.000001},
	 "variants":[{"class":"batch","percent":50,"only":["input"]},{"above":200000,"regional":true,"size":"1K","rates":{"input":2.5e-1,"output":null}}]},
	{"slug":"s","model":"*","rates":{"input":0}}]}`

func TestATableIsReadAndWritten(t *testing.T) {
	table, err := prices.ParseTable([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	want := []prices.Row{
		{
			Provider: "p", Model: "m", From: prices.Day(2026, time.January, 31), Until: prices.Day(2027, time.January, 1), Source: "https://x",
			Read: prices.Day(2026, time.February, 1), Note: "n",
			Rates: prices.Rates{prices.Input: 37_500, prices.Image: 134e9, prices.Search: 14e9, prices.Character: 1},
			Variants: []prices.Variant{
				{Class: prices.Batch, Percent: 50, Only: []prices.Kind{prices.Input}},
				{Above: 200_000, Regional: true, Size: "1K", Rates: prices.Rates{prices.Input: 250_000, prices.Output: prices.Unpriced}},
			},
		},
		{Slug: "s", Model: "*", Rates: prices.Rates{prices.Input: 0}},
	}
	if diff := cmp.Diff(want, table.Rows()); diff != "" {
		t.Error(diff)
	}
	for _, table := range []*prices.Table{table, prices.Default()} {
		data, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		again, err := prices.ParseTable(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(table.Rows(), again.Rows()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMistakesInATableNameTheirPath(t *testing.T) {
	row := func(members string) string {
		return `{"rows":[{"provider":"p","model":"m","rates":{"input":1}},{"provider":"p","model":"m"` + members + `}]}`
	}
	for want, data := range map[string]string{
		`not valid JSON`:                                                    `{"rows":[`,
		`there is something after the table`:                                `{"rows":[]} {}`,
		`must be an object`:                                                 `[]`,
		`rowz: unknown member (did you mean "rows"`:                         `{"rowz":[]}`,
		`rows: must be an array`:                                            `{"rows":{}}`,
		`rows[0]: must be an object`:                                        `{"rows":[1]}`,
		`rows[0]: provider: is missing`:                                     `{"rows":[{"model":"m","rates":{"input":1}}]}`,
		`rows[0]: model: is missing`:                                        `{"rows":[{"provider":"p","rates":{"input":1}}]}`,
		`rows[0]: model: "*" is for a slug alone`:                           `{"rows":[{"provider":"p","model":"*","rates":{"input":1}}]}`,
		`rows[0]: slug: is written without '@'`:                             `{"rows":[{"slug":"@s","model":"m","rates":{"input":1}}]}`,
		`rows[1]: rates: there must be one`:                                 row(``),
		`rows[1].rates: must be an object`:                                  row(`,"rates":1`),
		`rows[1].rates.input: must be a number`:                             row(`,"rates":{"input":"1"}`),
		`rows[1].rates.output: must be a number`:                            row(`,"rates":{"output":null}`),
		`rows[1].rates.input: is given twice`:                               row(`,"rates":{"input":1,"input":2}`),
		`rows[1].rates.inputs: unknown member (did you mean "input"?)`:      row(`,"rates":{"inputs":1}`),
		`rows[1].rates.input: must be between 0 and`:                        row(`,"rates":{"input":-1}`),
		`rows[1].rates.image: must be between 0 and`:                        row(`,"rates":{"image":1001}`),
		`rows[1].rates.input: has more digits`:                              row(`,"rates":{"input":0.0000001}`),
		`rows[1].rates.image: is too small`:                                 row(`,"rates":{"image":1e-999999999}`),
		`rows[1].from: must be a day`:                                       row(`,"rates":{"input":1},"from":"2026-02-30"`),
		`rows[1]: until: must be after from`:                                row(`,"rates":{"input":1},"from":"2026-02-01","until":"2026-02-01"`),
		`rows[1].note: must be a string`:                                    row(`,"rates":{"input":1},"note":null`),
		`rows[1].variants[0].klass: unknown member (did you mean "class"?)`: row(`,"rates":{"input":1},"variants":[{"klass":"batch"}]`),
		`rows[1]: variants[0].class: must be`:                               row(`,"rates":{"input":1},"variants":[{"class":"x"}]`),
		`rows[1]: variants[0].percent: must be between`:                     row(`,"rates":{"input":1},"variants":[{"percent":1001}]`),
		`rows[1]: variants[0].only: goes with percent`:                      row(`,"rates":{"input":1},"variants":[{"only":["input"]}]`),
		`rows[1].variants[0].only[0]: is no kind`:                           row(`,"rates":{"input":1},"variants":[{"percent":5,"only":["x"]}]`),
		`rows[1]: variants[0].above: must not be negative`:                  row(`,"rates":{"input":1},"variants":[{"above":-1}]`),
		`rows[1].variants[0].above: must be a whole number`:                 row(`,"rates":{"input":1},"variants":[{"above":1.5}]`),
		`rows[1]: variants: there may be 16`:                                row(`,"rates":{"input":1},"variants":[` + strings.Repeat(`{},`, 16) + `{}]`),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := prices.ParseTable([]byte(data)); err == nil || !strings.Contains(err.Error(), "prices: "+want) {
				t.Errorf("%v", err)
			}
		})
	}
	_, err := prices.ParseTable([]byte(`{"rows":[{"a":1},{"b":2}]}`))
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all mistakes at once: %v", err)
	}
	if _, err := prices.ParseTable(bytes.Repeat([]byte(" "), 16<<20+1)); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

func TestOwnPricesWin(t *testing.T) {
	own := func(slug, model string, dollars float64) prices.Row {
		return prices.Row{Provider: "vertex-ai", Slug: slug, Model: model, Rates: prices.Rates{prices.Input: prices.Per(prices.Input, dollars)}}
	}
	later := own("", "gemini-2.5-pro", 9)
	later.From = prices.Day(2027, time.January, 1)
	table, err := prices.Default().With(
		own("deal", "gemini-2.5-pro", 1), own("deal", "*", 5), own("", "gemini-2.5-flash", 7), own("", "endpoints.mine", 8), later,
		own("", "projects/p/locations/l/endpoints/1", 6),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ slug, model, want string }{
		{"deal", "gemini-2.5-pro", "1"}, {"deal", "google/gemini-2.5-pro-001", "1"}, {"deal", "claude-opus-5", "5"}, {"deal", "whatever", "5"},
		{"", "gemini-2.5-flash", "7"}, {"other", "gemini-2.5-flash", "7"}, {"", "gemini-2.5-flash-lite", "0.1"}, {"", "gemini-2.5-pro", "2.5"},
		{"", "endpoints.mine", "8"}, {"", "endpoints.other", "no_row[]"}, {"", "projects/p/locations/l/endpoints/1", "6"},
	} {
		u := use(tt.model, counted(1_000_000, 0))
		u.Slug = tt.slug
		costs(t, tt.want, table.Price(&u))
	}
	u := use("gemini-2.5-pro", counted(1_000_000, 0))
	u.Time = later.From
	costs(t, "9", table.Price(&u))
	if _, err := prices.Default().With(prices.Row{}); err == nil {
		t.Error("an empty row is accepted")
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte(`{"rows":[{"provider":"p","model":"m","rates":{"input":1e-6}}]}`))
	f.Add([]byte(`{"rows":[{"slug":"s","model":"*","rates":{"cache_storage":4.5},"variants":[{"class":"flex","rates":{"input":null}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := prices.ParseTable(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		again, err := prices.ParseTable(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		second, err := json.Marshal(again)
		if err != nil || !bytes.Equal(text, second) {
			t.Fatalf("%v: %s, and then %s", err, text, second)
		}
		for _, r := range table.Rows() {
			c := table.Price(&prices.Use{Provider: r.Provider, Slug: r.Slug, Model: r.Model, Time: r.From, Usage: counted(1e9, 1e9)})
			if c.Known != (c.Reason == "") || c.Total < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func FuzzRestore(f *testing.F) {
	b := budget(f, prices.BudgetOptions{Limits: []prices.Limit{
		{Name: "d", By: prices.ByUser, Window: prices.Daily, Amount: 1}, {Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 1},
	}})
	_ = caller{user: "u"}.spend(b, 1)
	data, err := b.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"accounts":[{"limit":"h","window":3600000000000,"from":"9999-01-01T00:00:00Z","spent_nano":5,"parts_nano":[5]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := budget(t, prices.BudgetOptions{Limits: []prices.Limit{
			{Name: "d", By: prices.ByUser, Window: prices.Daily, Amount: 1}, {Name: "h", By: prices.ByAll, Window: prices.Rolling(time.Hour), Amount: 1},
		}})
		if b.Restore(data) != nil {
			return
		}
		for _, s := range b.All() {
			if s.Spent < 0 || s.Held != 0 {
				t.Fatalf("%+v", s)
			}
		}
		if _, err := b.Snapshot(); err != nil {
			t.Fatal(err)
		}
	})
}
