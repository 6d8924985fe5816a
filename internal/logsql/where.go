package logsql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// Dialect is what databases write differently. Expressions and arguments are put
// into SQL by it; the marks of arguments are numbered from 1.
type Dialect struct {
	// Mark returns the mark of the nth argument, which is a value of that kind.
	Mark func(n int, kind logs.Kind) string
	// Time returns the mark of the nth argument, which is a number of nanoseconds.
	Time func(n int) string
	// Column returns the column of a field.
	Column func(field string) string
	// Entry returns the entry of the metadata whose key is the argument of that mark.
	Entry func(mark string) string
	// Differs is the comparison for which NULL is a value like another.
	Differs string
	// In returns that an expression is one of the values, which it adds as arguments.
	In func(expr string, kind logs.Kind, values []any, add func(any) int) string
	// HasEntry, if there is one, returns that the metadata has an entry, in a way that an
	// index answers; key and value are marks.
	HasEntry func(key, value string) string
	// Prefix returns that an expression begins with the argument of that mark.
	Prefix func(expr, mark string) string
	// MaxArgs is how many arguments a statement takes.
	MaxArgs int
	// Contains returns that a column contains a text, which it adds as an argument.
	Contains func(column, text string, add func(any) int) string
}

// Where is the condition of a query.
type Where struct {
	// SQL is the condition, never empty, and Args its arguments.
	SQL  string
	Args []any
	// Limit is the size of a page.
	Limit int
	// Match, if there is one, is to be asked about each record that is found: a value was
	// too long for the columns. A page has fewer records then, and still a next one.
	Match func(*logs.Record) bool
}

// Add adds an argument and returns its number.
func (w *Where) Add(v any) int {
	w.Args = append(w.Args, v)
	return len(w.Args)
}

// NewWhere returns the condition of a query. Names of fields are looked up, keys and
// values are arguments: nothing of the query's text is in the SQL.
func NewWhere(q *logs.Query, d *Dialect) (*Where, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	w := &Where{Limit: q.PageSize()}
	var all []string
	if !q.From.IsZero() {
		all = append(all, d.Column("at")+" >= "+d.Time(w.Add(At(q.From))))
	}
	if !q.To.IsZero() {
		all = append(all, d.Column("at")+" < "+d.Time(w.Add(At(q.To))))
	}
	for i := range q.Filters {
		sql, err := w.filter(&q.Filters[i], d)
		if err != nil {
			return nil, err
		}
		all = append(all, sql)
	}
	if q.Search != "" {
		all = append(all, d.Contains(d.Column("search"), logs.Fold(q.Search), w.Add))
	}
	if q.Cursor != "" {
		at, id, err := parseCursor(q.Cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, "("+d.Column("at")+", "+d.Column("id")+") < ("+d.Time(w.Add(at))+", "+d.Mark(w.Add(id), logs.Word)+")")
	}
	if slices.ContainsFunc(q.Filters, long) {
		m, err := logs.Compile(*q)
		if err != nil {
			return nil, err
		}
		w.Match = m.Match
	}
	if len(w.Args) > d.MaxArgs {
		return nil, providers.Invalid("filters", "have more than "+strconv.Itoa(d.MaxArgs)+" values")
	}
	if len(all) == 0 {
		all = append(all, "1 = 1")
	}
	w.SQL = strings.Join(all, " AND ")
	return w, nil
}

// filter returns the condition of a filter, which is a right one.
func (w *Where) filter(f *logs.Filter, d *Dialect) (string, error) {
	field, ok := logs.FieldOf(f.Field)
	if !ok {
		return "", providers.Invalid(f.Field, "is no field of a record")
	}
	values, err := readValues(f, field.Kind)
	if err != nil {
		return "", err
	}
	expr, key := d.Column(f.Field), ""
	if name, ok := strings.CutPrefix(f.Field, "metadata."); ok {
		key = d.Mark(w.Add(Text(name)), logs.Word)
		expr = d.Entry(key)
	}
	c := comparison{expr, key, field.Kind, values, long(*f)}
	if c.long {
		c.values = []any{cut(Text(f.Values[0]), ordered)}
	}
	return w.comparison(f.Op, c, d), nil
}
