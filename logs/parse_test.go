package logs_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

func TestQueryStrings(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := func(field string, op logs.Op, values ...string) logs.Query {
		return logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: values}}}
	}
	for _, tt := range []struct {
		in   string
		want logs.Query
	}{
		{"", logs.Query{}},
		{"from=2026-01-02T03:04:05Z&to=2026-01-02T04:04:06%2B01:00&limit=7&cursor=c&q=a+b", logs.Query{From: at, To: at.Add(time.Second), Limit: 7, Cursor: "c", Search: "a b"}},
		{"from=1767323045&to=1767323045.25", logs.Query{From: at, To: at.Add(250 * time.Millisecond)}},
		{"model=a", one("model", logs.In, "a")},
		{"model=a,b&model=c", one("model", logs.In, "a", "b", "c")},
		{"model[nin]=a,b", one("model", logs.NotIn, "a", "b")},
		{"model[eq]=a,b", one("model", logs.Eq, "a,b")},
		{"cost_usd[gte]=0.01", one("cost_usd", logs.Gte, "0.01")},
		{"cost_usd[missing]=true", one("cost_usd", logs.Missing, "true")},
		{"metadata.team[prefix]=se", one("metadata.team", logs.Prefix, "se")},
		{"metadata.a[b][ne]=x", one("metadata.a[b]", logs.Ne, "x")},
		{"model[ne]=a&model[ne]=b&failed=true", logs.Query{Filters: []logs.Filter{
			{Field: "failed", Op: logs.In, Values: []string{"true"}},
			{Field: "model", Op: logs.Ne, Values: []string{"a"}}, {Field: "model", Op: logs.Ne, Values: []string{"b"}},
		}}},
	} {
		t.Run(tt.in, func(t *testing.T) {
			values, err := url.ParseQuery(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := logs.ParseQuery(values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWrongQueryStrings(t *testing.T) {
	for _, tt := range []struct{ in, param, message string }{
		{"modle=a", "modle", `did you mean "model"`},
		{"limt=5", "limt", `"limit"`},
		{"zzzzzz=a", "zzzzzz", "metadata.KEY"},
		{strings.Repeat("x", 500) + "=a", strings.Repeat("x", 64) + "…", "no such field"},
		{"metadata.=a", "metadata.", "no such field"},
		{"limit=0", "limit", "between 1 and 1000"},
		{"limit=x", "limit", "between 1 and 1000"},
		{"limit=5&limit=6", "limit", "more than once"},
		{"from=yesterday", "from", "RFC 3339"},
		{"from=-1", "from", "RFC 3339"},
		{"from=1e300", "from", "RFC 3339"},
		{"from=NaN", "from", "RFC 3339"},
		{"to=0001-01-01T00:00:00Z", "to", "RFC 3339"},
		{"from=5&to=5", "to", "later than from"},
		{"model=", "model", "model[missing]=true"},
		{"model=a,,b", "model", "empty value"},
		{"model[like]=a", "model", "one of eq, ne, lt, lte, gt, gte, in, nin, prefix, missing"},
		{"model[eq=a", "model[eq", "no such field"},
		{"cost_usd=cheap", "cost_usd", "decimal number"},
		{"cost_usd[prefix]=1", "cost_usd", "is a number, which is compared by eq, ne, lt, lte, gt, gte, in, nin, missing"},
		{"stream=1", "stream", "true or false"},
		{"q=" + strings.Repeat("x", 5000), "q", "4096 bytes"},
	} {
		t.Run(tt.in[:min(len(tt.in), 40)], func(t *testing.T) {
			values, err := url.ParseQuery(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			_, err = logs.ParseQuery(values)
			e, ok := errors.AsType[*providers.Error](err)
			if !ok || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || !strings.Contains(e.Message, tt.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzParseQuery holds that what is taken is a query that every store takes.
func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{
		"from=1&to=2&limit=3&q=x", "cost_usd[gte]=0.01&model=a,b", "metadata.a[b][missing]=true", "from=2026-01-02T03:04:05.999999999%2B14:00", "from=1e9", "%00=%ff", "model[]=a",
	} {
		f.Add(s)
	}
	m := logs.NewMemory(10)
	if err := m.Write(f.Context(), []logs.Record{{ID: "i", Time: time.Unix(1, 0), Model: "a", Metadata: map[string]string{"a": "b"}}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		q, err := logs.ParseQuery(values)
		if err != nil {
			if _, ok := errors.AsType[*providers.Error](err); !ok {
				t.Fatalf("%v", err)
			}
			return
		}
		cursor := q.Cursor
		q.Cursor = ""
		if _, err := m.Query(t.Context(), q); err != nil {
			t.Fatalf("%q is taken, but %v", s, err)
		}
		q.Cursor = cursor
		if _, err := m.Query(t.Context(), q); err != nil && !errors.Is(err, providers.ErrInvalidRequest) {
			t.Fatal(err)
		}
	})
}

func TestFoldMakesTextsEqualThatDifferInTheirCase(t *testing.T) {
	for _, list := range [][]string{
		{"straße", "STRAßE", "Straẞe"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"kelvin", "KELVIN", "\u212Aelvin"}, {"a b", "A\x00B", "a\nb"}, {"é", "É"},
	} {
		for _, s := range list[1:] {
			if a, b := logs.Fold(list[0]), logs.Fold(s); a != b {
				t.Errorf("Fold(%q) = %q, Fold(%q) = %q", list[0], a, s, b)
			}
		}
	}
	if logs.Fold("a") == logs.Fold("á") {
		t.Error("accents count")
	}
}
