package logstest

import (
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/logs"
)

// filters holds what a store finds against what [logs.Matcher] says, for every field
// and every comparison that it has, with values that records have and others.
func filters(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	names := []string{"metadata.team", "metadata.Env", "metadata.empty", "metadata.with.dot and space", "metadata.none", "metadata.it's"}
	for _, f := range logs.Fields() {
		names = append(names, f.Name)
	}
	for _, name := range names {
		field, ok := logs.FieldOf(name)
		if !ok {
			t.Fatalf("no field %q", name)
		}
		t.Run(name, func(t *testing.T) {
			for _, f := range filtersOf(&field, list) {
				checkQuery(t, s, list, logs.Query{Filters: []logs.Filter{f}})
			}
		})
	}
}

// filtersOf are filters on one field.
func filtersOf(field *logs.Field, list []logs.Record) []logs.Filter {
	values := []string{"other", "Z", "", "%", "_", "'", "é"}
	byKind := []logs.Op{logs.Eq, logs.Ne, logs.Lt, logs.Lte, logs.Gt, logs.Gte, logs.Prefix}
	switch field.Kind {
	case logs.Number:
		values, byKind = []string{"0", "-1", "1e3", "0.01", "150", "1.5e-6", "0.9876"}, byKind[:6]
	case logs.Flag:
		values, byKind = []string{"true", "false"}, byKind[:2]
	case logs.Word:
		for i := range list {
			if v, ok := field.Of(&list[i]); ok && !slices.Contains(values, v.Text) {
				if values = append(values, v.Text); i == 0 {
					values = append(values, strings.ToUpper(v.Text), v.Text[:len(v.Text)/2])
				}
			}
		}
	}
	out := []logs.Filter{
		{Field: field.Name, Op: logs.Missing, Values: []string{"true"}}, {Field: field.Name, Op: logs.Missing, Values: []string{"false"}},
		{Field: field.Name, Op: logs.In}, {Field: field.Name, Op: logs.NotIn},
		{Field: field.Name, Op: logs.In, Values: values}, {Field: field.Name, Op: logs.NotIn, Values: values},
		{Field: field.Name, Op: logs.In, Values: values[:1]}, {Field: field.Name, Op: logs.NotIn, Values: values[1:2]},
	}
	for _, op := range byKind {
		for _, v := range values {
			out = append(out, logs.Filter{Field: field.Name, Op: op, Values: []string{v}})
		}
	}
	return out
}

// checkQuery holds what the store finds against the matcher.
func checkQuery(t *testing.T, s logs.Store, list []logs.Record, q logs.Query) {
	t.Helper()
	m, err := logs.Compile(q)
	if err != nil {
		t.Fatalf("Compile(%+v): %v", q, err)
	}
	want := []string{}
	for i := len(list) - 1; i >= 0; i-- {
		if m.Match(&list[i]) {
			want = append(want, list[i].ID)
		}
	}
	if got := ids(t, s, q); !slices.Equal(want, got) {
		t.Errorf("%+v: got %v, want %v", q, got, want)
	}
}

func several(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	f := func(field string, op logs.Op, values ...string) logs.Filter {
		return logs.Filter{Field: field, Op: op, Values: values}
	}
	for _, q := range []logs.Query{
		{Filters: []logs.Filter{f("operation", logs.Eq, "chat"), f("total_tokens", logs.Gte, "15"), f("total_tokens", logs.Lt, "3000")}},
		{Filters: []logs.Filter{f("metadata.team", logs.In, "search", "ads"), f("metadata.team", logs.Ne, "ads")}},
		{Filters: []logs.Filter{f("failed", logs.Eq, "false"), f("cost_usd", logs.Missing, "true")}, Search: "FLASH"},
		{From: list[1].Time, To: list[6].Time, Filters: []logs.Filter{f("surface", logs.NotIn, "http")}, Search: "gemini", Limit: 2},
	} {
		checkQuery(t, s, list, q)
	}
}

func searches(t *testing.T, s logs.Store) {
	list := Records()
	list[3].Metadata["note"] = "Straße 100% of_it ΣΊΣΥΦΟΣ \\ \"quoted\""
	list[5].Metadata["note"] = "a line\nand another"
	write(t, s, list...)
	for _, text := range []string{
		"", "call", "CALL-3", "too MANY", "requests", "search", "Zoë", "ZOË", "zoe", "straße", "100%", "%", "_", "of_it", "ofxit", "σίσυφος", "ΣΊΣΥΦΟς",
		`\`, `"quoted"`, "'", "line and", "line\nand", "nowhere", "team", "Cache Hit", "cache hit", "é",
	} {
		checkQuery(t, s, list, logs.Query{Search: text})
	}
}
