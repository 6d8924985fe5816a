package logsql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// plain is a dialect that can be read.
var plain = Dialect{
	Mark:    func(n int, kind logs.Kind) string { return "$" + strconv.Itoa(n) + []string{"w", "n", "f"}[kind] },
	Time:    func(n int) string { return "$" + strconv.Itoa(n) + "t" },
	Column:  func(name string) string { return name },
	Entry:   func(key string) string { return "entry(" + key + ")" },
	Differs: "DIFFERS",
	In: func(expr string, _ logs.Kind, values []any, add func(any) int) string {
		return fmt.Sprintf("%s IN $%d", expr, add(values))
	},
	HasEntry: func(key, value string) string { return "has(" + key + ", " + value + ")" },
	Prefix:   func(expr, mark string) string { return "prefix(" + expr + ", " + mark + ")" },
	MaxArgs:  8,
	Contains: func(column, text string, add func(any) int) string {
		return fmt.Sprintf("contains(%s, $%d)", column, add(text))
	},
}

func filter(field string, op logs.Op, values ...string) logs.Query {
	return logs.Query{Filters: []logs.Filter{{Field: field, Op: op, Values: values}}}
}

func TestConditions(t *testing.T) {
	at := time.Unix(0, 5)
	tall := strings.Repeat("é", 500)
	for _, tt := range []struct {
		name  string
		query logs.Query
		sql   string
		args  []any
	}{
		{"nothing", logs.Query{}, "1 = 1", nil},
		{"times", logs.Query{From: at, To: at.Add(1)}, "at >= $1t AND at < $2t", []any{int64(5), int64(6)}},
		{"a word", filter("model", logs.Eq, "m"), "model = $1w", []any{"m"}},
		{"a number", filter("cost_usd", logs.Gte, "1e-2"), "cost_usd >= $1n", []any{0.01}},
		{"a flag", filter("failed", logs.Ne, "true"), "failed DIFFERS $1f", []any{true}},
		{"several", filter("status", logs.In, "429", "503"), "status IN $1", []any{[]any{429.0, 503.0}}},
		{"none of several", filter("model", logs.NotIn, "a", "b"), "(model IS NULL OR NOT model IN $1)", []any{[]any{"a", "b"}}},
		{"a prefix", filter("id", logs.Prefix, "a"), "prefix(id, $1w)", []any{"a"}},
		{"missing", filter("user", logs.Missing, "true"), "user IS NULL", nil},
		{"not missing", filter("attempts", logs.Missing, "false"), "attempts IS NOT NULL", nil},
		{"an entry", filter("metadata.team", logs.Eq, "a"), "has($1w, $2w)", []any{"team", "a"}},
		{"an entry of several", filter("metadata.team", logs.In, "a", "b"), "(has($1w, $2w) OR has($1w, $3w))", []any{"team", "a", "b"}},
		{"an entry of none", filter("metadata.team", logs.In), "entry($1w) IN $2", []any{"team", []any{}}},
		{"an entry that orders", filter("metadata.a.b", logs.Lt, "x"), "entry($1w) < $2w", []any{"a.b", "x"}},
		{"a search", logs.Query{Search: "Zoë"}, "contains(search, $1)", []any{logs.Fold("ZOË")}},
		{"a cursor", logs.Query{Cursor: Cursor(7, "b")}, "(at, id) < ($1t, $2w)", []any{int64(7), "b"}},
		{"bytes that cannot be kept", filter("metadata.k\x00", logs.Eq, "a\xffb\x00"), "has($1w, $2w)", []any{"k\ufffd", "a\ufffdb\ufffd"}},
		{"a long prefix", filter("user", logs.Prefix, tall), "prefix(user, $1w)", []any{tall[:896]}},
		{"more than what is long", filter("user", logs.Gt, tall), "user >= $1w", []any{tall[:896]}},
		{"less than what is long", filter("user", logs.Lte, tall), "(user < $1w OR prefix(user, $1w))", []any{tall[:896]}},
		{"what is long itself", filter("user", logs.Eq, tall+"é"), "user = $1w", []any{Word(tall + "é")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := NewWhere(&tt.query, &plain)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.sql, w.SQL); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.args, w.Args); diff != "" {
				t.Error(diff)
			}
			long := strings.Contains(tt.name, "long") && !strings.Contains(tt.name, "itself")
			if long != (w.Match != nil) {
				t.Errorf("records are looked at again: %v", w.Match != nil)
			}
		})
	}
}

func TestWrongQueries(t *testing.T) {
	for param, q := range map[string]logs.Query{
		"limit": {Limit: -1}, "cursor": {Cursor: "x"}, "nofield": filter("nofield", logs.Eq, "a"),
		`id" = '' or 1=1 --`: filter(`id" = '' or 1=1 --`, logs.Eq, "a"), "status": filter("status", logs.Eq, "1e999"),
		"filters": {Filters: []logs.Filter{
			{Field: "id", Op: logs.Eq, Values: []string{"1"}}, {Field: "id", Op: logs.Eq, Values: []string{"2"}}, {Field: "id", Op: logs.Eq, Values: []string{"3"}},
			{Field: "id", Op: logs.Eq, Values: []string{"4"}}, {Field: "id", Op: logs.Eq, Values: []string{"5"}}, {Field: "id", Op: logs.Eq, Values: []string{"6"}},
			{Field: "id", Op: logs.Eq, Values: []string{"7"}}, {Field: "id", Op: logs.Eq, Values: []string{"8"}}, {Field: "id", Op: logs.Eq, Values: []string{"9"}},
		}},
	} {
		_, err := NewWhere(&q, &plain)
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Param != param || !Invalid(err) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// FuzzConditions looks for a query whose text is in the SQL.
func FuzzConditions(f *testing.F) {
	f.Add("model", "eq", "'; DROP TABLE records; --", "\"", "AQAA")
	f.Add("metadata.x') OR 1=1 --", "in", "$1", "%", "")
	f.Add("user", "lt", strings.Repeat("é", 600), "", "")
	f.Fuzz(func(t *testing.T, field, op, value, search, cursor string) {
		q := filter(field, logs.Op(op), value)
		q.Search, q.Cursor = search, cursor
		w, err := NewWhere(&q, &plain)
		if err != nil {
			return
		}
		same := filter(field, logs.Op(op), value)
		if strings.HasPrefix(field, "metadata.") {
			same = filter("metadata.k", logs.Op(op), value)
		}
		if search != "" {
			same.Search = "s"
		}
		if cursor != "" {
			same.Cursor = Cursor(1, "id")
		}
		if known, _ := logs.FieldOf(field); known.Kind == logs.Word && op != "missing" && w.Match == nil {
			same.Filters[0].Values = []string{"v"}
		}
		other, err := NewWhere(&same, &plain)
		if err != nil || other.SQL != w.SQL {
			t.Errorf("%q for %+v and %q for %+v: %v", w.SQL, q, other.SQL, same, err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(Cursor(-1, "id"))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, s string) {
		at, id, err := parseCursor(s)
		if err != nil {
			return
		}
		if at2, id2, err := parseCursor(Cursor(at, id)); err != nil || at2 != at || id2 != id {
			t.Errorf("%q: %d %q, then %d %q, %v", s, at, id, at2, id2, err)
		}
	})
}
