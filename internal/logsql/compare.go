package logsql

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// comparison is what a filter compares: an expression, for an entry of the metadata
// the mark of its key, and the values, strings, float64s or bools by the kind.
type comparison struct {
	expr, key string
	kind      logs.Kind
	values    []any
	long      bool // the value is a beginning only
}

// orders are the operators that compare with one value and do not hold of none.
var orders = map[logs.Op]string{logs.Lt: " < ", logs.Lte: " <= ", logs.Gt: " > ", logs.Gte: " >= "}

// long reports whether a filter orders by a value of which columns may have less.
func long(f logs.Filter) bool {
	field, ok := logs.FieldOf(f.Field)
	return ok && field.Kind == logs.Word && (f.Op == logs.Prefix || orders[f.Op] != "") && len(f.Values) == 1 && len(Text(f.Values[0])) > ordered
}

// readValues reads the values of a filter as its field has them.
func readValues(f *logs.Filter, kind logs.Kind) ([]any, error) {
	if f.Op == logs.Missing {
		kind = logs.Flag
	}
	out := make([]any, len(f.Values))
	for i, s := range f.Values {
		switch kind {
		case logs.Number:
			n, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return nil, providers.Invalid(f.Field, "the value must be a decimal number")
			}
			out[i] = n
		case logs.Flag:
			out[i] = s == "true"
		case logs.Word:
			out[i] = Word(s)
		}
	}
	return out, nil
}

// comparison returns the condition. A field without a value is NULL.
func (w *Where) comparison(op logs.Op, c comparison, d *Dialect) string {
	arg := func() string { return d.Mark(w.Add(c.values[0]), c.kind) }
	indexed := c.key != "" && d.HasEntry != nil && len(c.values) > 0 && len(c.values) <= maxAlternatives
	switch op {
	case logs.Missing:
		if none, _ := c.values[0].(bool); none {
			return c.expr + " IS NULL"
		}
		return c.expr + " IS NOT NULL"
	case logs.Eq:
		if indexed {
			return d.HasEntry(c.key, arg())
		}
		return c.expr + " = " + arg()
	case logs.Ne:
		return c.expr + " " + d.Differs + " " + arg()
	case logs.In:
		if indexed {
			return w.alternatives(c, d)
		}
		return d.In(c.expr, c.kind, c.values, w.Add)
	case logs.NotIn:
		return "(" + c.expr + " IS NULL OR NOT " + d.In(c.expr, c.kind, c.values, w.Add) + ")"
	case logs.Prefix:
		return d.Prefix(c.expr, arg())
	case logs.Lt, logs.Lte, logs.Gt, logs.Gte:
	}
	if !c.long {
		return c.expr + orders[op] + arg()
	}
	// What begins like the value may be on either side of it.
	mark := arg()
	if op == logs.Gt || op == logs.Gte {
		return c.expr + " >= " + mark
	}
	return "(" + c.expr + " < " + mark + " OR " + d.Prefix(c.expr, mark) + ")"
}

// maxAlternatives is up to how many values of an entry an index is asked for.
const maxAlternatives = 20

// alternatives returns that the metadata has one of the entries.
func (w *Where) alternatives(c comparison, d *Dialect) string {
	all := make([]string, len(c.values))
	for i, v := range c.values {
		all[i] = d.HasEntry(c.key, d.Mark(w.Add(v), c.kind))
	}
	return "(" + strings.Join(all, " OR ") + ")"
}
