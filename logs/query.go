package logs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/providers"
)

// The bounds of a query, which strangers may write.
const (
	maxFilters = 64
	maxValues  = 1000
	maxText    = 4096 // bytes of a value, a search or a cursor
)

// Validate reports the first thing that is wrong with the query. The error names
// the member: a field, or one of "from", "to", "limit", "cursor" and "q".
func (q *Query) Validate() error {
	switch {
	case !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To):
		return providers.Invalid("to", "must be later than from")
	case q.Limit < 0 || q.Limit > MaxLimit:
		return providers.Invalid("limit", "must be between 1 and "+strconv.Itoa(MaxLimit))
	case len(q.Search) > maxText:
		return providers.Invalid("q", "must have "+strconv.Itoa(maxText)+" bytes at most")
	case len(q.Cursor) > maxText:
		return badCursor()
	case len(q.Filters) > maxFilters:
		return providers.Invalid("filters", "there are more than "+strconv.Itoa(maxFilters))
	}
	for i := range q.Filters {
		if _, err := compile(&q.Filters[i]); err != nil {
			return err
		}
	}
	return nil
}

// PageSize is the limit, or the default.
func (q *Query) PageSize() int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

func badCursor() error {
	return providers.Invalid("cursor", "must be the next_cursor of a page of the same store")
}

// Matcher is a query, readied: it says which records are meant, whatever the page.
// It is safe for concurrent use.
type Matcher struct {
	from, to   time.Time
	conditions []condition
	search     string // folded
}

// Compile checks a query and readies it.
func Compile(q Query) (*Matcher, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	m := &Matcher{from: q.From, to: q.To, search: Fold(q.Search)}
	for i := range q.Filters {
		c, err := compile(&q.Filters[i])
		if err != nil {
			return nil, err
		}
		m.conditions = append(m.conditions, c)
	}
	return m, nil
}

// Match reports whether the query means the record.
func (m *Matcher) Match(r *Record) bool {
	if !m.from.IsZero() && r.Time.Before(m.from) || !m.to.IsZero() && !r.Time.Before(m.to) {
		return false
	}
	for i := range m.conditions {
		if !m.conditions[i].holds(r) {
			return false
		}
	}
	return m.search == "" || strings.Contains(SearchText(r), m.search)
}

// condition is a filter, readied.
type condition struct {
	of      func(*Record) (Value, bool)
	number  bool
	op      Op
	words   []string
	numbers []float64
	missing bool // of the operator Missing
}

// ops are the comparisons, with the kinds of fields that each is for.
var ops = map[Op][]Kind{
	Eq: {Word, Number, Flag}, Ne: {Word, Number, Flag}, In: {Word, Number, Flag}, NotIn: {Word, Number, Flag}, Missing: {Word, Number, Flag},
	Lt: {Word, Number}, Lte: {Word, Number}, Gt: {Word, Number}, Gte: {Word, Number},
	Prefix: {Word},
}

// opNames are the comparisons in the order of the documentation.
var opNames = []Op{Eq, Ne, Lt, Lte, Gt, Gte, In, NotIn, Prefix, Missing}

func compile(f *Filter) (condition, error) {
	field, ok := FieldOf(f.Field)
	if !ok {
		return condition{}, unknownField(f.Field)
	}
	kinds, ok := ops[f.Op]
	if !ok {
		return condition{}, providers.Invalid(f.Field, "no such comparison: it is one of "+listOps(opNames))
	}
	if !slices.Contains(kinds, field.Kind) {
		return condition{}, providers.Invalid(f.Field, "is a "+field.Kind.String()+", which is compared by "+listOps(opsOf(field.Kind)))
	}
	if n := len(f.Values); f.Op != In && f.Op != NotIn && n != 1 {
		return condition{}, providers.Invalid(f.Field, "the comparison "+string(f.Op)+" takes one value")
	} else if n > maxValues {
		return condition{}, providers.Invalid(f.Field, "has more than "+strconv.Itoa(maxValues)+" values")
	}
	c := condition{of: field.Of, op: f.Op, number: field.Kind == Number}
	return c, c.take(f, field.Kind)
}

// take reads the values of a filter.
func (c *condition) take(f *Filter, kind Kind) error {
	for _, v := range f.Values {
		switch {
		case len(v) > maxText:
			return providers.Invalid(f.Field, "a value has more than "+strconv.Itoa(maxText)+" bytes")
		case (f.Op == Missing || kind == Flag) && v != "true" && v != "false":
			return providers.Invalid(f.Field, "the value must be true or false")
		case f.Op == Missing:
			c.missing = v == "true"
		case kind == Number:
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				return providers.Invalid(f.Field, "the value must be a decimal number")
			}
			c.numbers = append(c.numbers, n)
		default:
			c.words = append(c.words, v)
		}
	}
	return nil
}

func (c *condition) holds(r *Record) bool {
	v, ok := c.of(r)
	if c.op == Missing {
		return ok != c.missing
	}
	if !ok {
		return c.op == Ne || c.op == NotIn
	}
	if c.number {
		return compared(c.op, v.Num, c.numbers)
	}
	if c.op == Prefix {
		return strings.HasPrefix(v.Text, c.words[0])
	}
	return compared(c.op, v.Text, c.words)
}

// compared compares a value; words by their bytes.
func compared[T float64 | string](op Op, v T, with []T) bool {
	switch op {
	case In:
		return slices.Contains(with, v)
	case NotIn:
		return !slices.Contains(with, v)
	case Eq:
		return v == with[0]
	case Ne:
		return v != with[0]
	case Lt:
		return v < with[0]
	case Lte:
		return v <= with[0]
	case Gt:
		return v > with[0]
	}
	return v >= with[0] // Gte
}

// String returns the kind's word.
func (k Kind) String() string {
	switch k {
	case Number:
		return "number"
	case Flag:
		return "flag"
	}
	return "word"
}

// unknownField is the error of a name that no field has.
func unknownField(name string) error {
	names := make([]string, 0, 48)
	for _, f := range Fields() {
		names = append(names, f.Name)
	}
	message := "no such field"
	if found := near.Of(name, append(names, "from", "to", "limit", "cursor", "q")); len(found) > 0 {
		message += `: did you mean "` + strings.Join(found, `", "`) + `"?`
	} else {
		message += `: an entry of the metadata is "metadata.KEY"`
	}
	return providers.Invalid(short(name), message)
}

// short bounds a name that a stranger chose.
func short(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

func opsOf(k Kind) []Op {
	var list []Op
	for _, op := range opNames {
		if slices.Contains(ops[op], k) {
			list = append(list, op)
		}
	}
	return list
}

func listOps(list []Op) string {
	var b strings.Builder
	for i, op := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(op))
	}
	return b.String()
}
