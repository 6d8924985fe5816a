package prices

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Table finds prices. It is immutable and safe for concurrent use. [Default],
// [NewTable] and [ParseTable] make one.
type Table struct {
	rows  []Row
	index map[key][]priced
}

// key is what rows are found by.
type key struct{ slug, provider, name string }

// priced is a row made ready.
type priced struct {
	row    *Row
	sheets []sheet // those of the highest Above first
}

// sheet is a price list for some calls.
type sheet struct {
	class    Class
	regional bool
	size     string
	above    int64
	rates    [kinds]Rate // one more than the rate; 0 is unknown
}

// NewTable returns a table of rows. Of two rows for the same model and day the first
// one counts. All mistakes are reported at once.
func NewTable(rows ...Row) (*Table, error) {
	t := &Table{rows: slices.Clone(rows), index: make(map[key][]priced, len(rows))}
	var errs []error
	for i := range t.rows {
		r := &t.rows[i]
		if err := r.check(); err != nil {
			errs = append(errs, fmt.Errorf("prices: rows[%d]: %w", i, err))
			continue
		}
		name, _ := reference(r.Model)
		k := key{slug: r.Slug, name: name}
		if r.Slug == "" {
			k.provider = r.Provider
		}
		t.index[k] = append(t.index[k], priced{row: r, sheets: r.sheets()})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

// With returns a table in which the given rows come first: they win over the others
// on the days they are for.
func (t *Table) With(rows ...Row) (*Table, error) {
	return NewTable(slices.Concat(rows, t.rows)...)
}

// Rows returns the rows, in the order in which they count.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Default returns the table this package ships. Make it once and keep it.
func Default() *Table {
	t, err := NewTable(defaultRows()...)
	if err != nil { // a test holds the rows against it
		return new(Table)
	}
	return t
}

// find returns the row for a model on a day, nil for none.
func (t *Table) find(u *Use) *priced {
	name, _ := reference(u.Model)
	if u.Slug != "" {
		if p := t.named(key{slug: u.Slug}, name, u.Time); p != nil {
			return p
		}
		if p := t.on(key{slug: u.Slug, name: "*"}, u.Time); p != nil {
			return p
		}
	}
	return t.named(key{provider: u.Provider}, name, u.Time)
}

// named finds the row of the name, or of the name without its version.
func (t *Table) named(k key, name string, day time.Time) *priced {
	for ok := true; ok; name, ok = shorter(name) {
		k.name = name
		if p := t.on(k, day); p != nil {
			return p
		}
	}
	return nil
}

// on finds the row that is for a day.
func (t *Table) on(k key, day time.Time) *priced {
	list := t.index[k]
	for i := range list {
		r := list[i].row
		if !day.Before(r.From) && (r.Until.IsZero() || day.Before(r.Until)) {
			return &list[i]
		}
	}
	return nil
}

// sheet returns the price list for a call, nil for none.
func (p *priced) sheet(u *Use, n *counts) *sheet {
	var found *sheet
	for i := range p.sheets {
		s := &p.sheets[i]
		if s.class != n.class || s.regional && !n.resident && !u.regional() || s.above > 0 && n.prompt <= s.above || s.size != "" && s.size != u.Size {
			continue
		}
		if found == nil || s.closer(found) {
			found = s
		}
	}
	return found
}

// closer reports whether a sheet whose conditions are met says more than another.
func (s *sheet) closer(other *sheet) bool {
	switch {
	case s.above != other.above:
		return s.above > other.above
	case s.regional != other.regional:
		return s.regional
	}
	return s.size != "" && other.size == ""
}

// sheets makes a list for each combination of the conditions of the variants.
func (r *Row) sheets() []sheet {
	classes, sizes, aboves, places := []Class{Standard}, []string{""}, []int64{0}, []bool{false}
	for i := range r.Variants {
		v := &r.Variants[i]
		classes, sizes = added(classes, v.Class), added(sizes, v.Size)
		aboves, places = added(aboves, v.Above), added(places, v.Regional)
	}
	var out []sheet
	for _, class := range classes {
		for _, size := range sizes {
			for _, above := range aboves {
				for _, regional := range places {
					s := sheet{class: class, size: size, above: above, regional: regional}
					r.fill(&s)
					out = append(out, s)
				}
			}
		}
	}
	return out
}

func added[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

// fill puts the rates into a sheet.
func (r *Row) fill(s *sheet) {
	s.put(r.Rates)
	for i := range r.Variants {
		v := &r.Variants[i]
		if v.Class != Standard && v.Class != s.class || v.Above > s.above || v.Regional && !s.regional || v.Size != "" && v.Size != s.size {
			continue
		}
		s.put(v.Rates)
		for k := Input; k < kinds && v.Percent > 0; k++ {
			if s.rates[k] > 0 && (len(v.Only) == 0 || slices.Contains(v.Only, k)) {
				s.rates[k] = ((s.rates[k]-1)*Rate(v.Percent)+50)/100 + 1
			}
		}
	}
}

func (s *sheet) put(rates Rates) {
	for k, rate := range rates {
		s.rates[k] = rate + 1
	}
}

// rate returns the price of a kind, or of the kind that it costs as.
func (s *sheet) rate(k Kind) (Rate, bool) {
	if s.rates[k] == 0 {
		switch k {
		case AudioInput, ImageInput, VideoInput:
			k = Input
		case Reasoning:
			k = Output
		}
	}
	return s.rates[k] - 1, s.rates[k] > 0
}

// maxRate is $1,000 for a unit.
const maxRate Rate = 1e15

// check reports what is wrong with a row.
func (r *Row) check() error {
	switch {
	case r.Provider == "" && r.Slug == "":
		return errors.New("provider: is missing: name the provider, or a slug of the catalog")
	case r.Model == "":
		return errors.New("model: is missing")
	case r.Model == "*" && r.Slug == "":
		return errors.New(`model: "*" is for a slug alone`)
	case strings.HasPrefix(r.Slug, "@"), strings.HasPrefix(r.Model, "@"):
		return errors.New("slug: is written without '@', and apart from the model")
	case !r.Until.IsZero() && !r.From.Before(r.Until):
		return errors.New("until: must be after from")
	case len(r.Rates) == 0:
		return errors.New("rates: there must be one")
	case len(r.Variants) > maxVariants:
		return fmt.Errorf("variants: there may be %d of them", maxVariants)
	}
	if err := r.Rates.check("rates", 0); err != nil {
		return err
	}
	for i := range r.Variants {
		if err := r.Variants[i].check(); err != nil {
			return fmt.Errorf("variants[%d].%w", i, err)
		}
	}
	return nil
}

// maxVariants bounds what a row is made into.
const maxVariants = 16

func (v *Variant) check() error {
	switch v.Class {
	case Standard, Batch, Flex, Priority:
	default:
		return errors.New(`class: must be "batch", "flex" or "priority"`)
	}
	switch {
	case v.Above < 0:
		return errors.New("above: must not be negative")
	case v.Percent < 0 || v.Percent > 1000:
		return errors.New("percent: must be between 1 and 1000")
	case len(v.Only) > 0 && v.Percent == 0:
		return errors.New("only: goes with percent")
	}
	for _, k := range v.Only {
		if !k.valid() {
			return errors.New("only: names a kind that does not exist")
		}
	}
	return v.Rates.check("rates", Unpriced)
}

func (r Rates) check(path string, least Rate) error {
	for k, rate := range r {
		switch {
		case !k.valid():
			return fmt.Errorf("%s: names a kind that does not exist", path)
		case rate < least || rate > maxRate:
			return fmt.Errorf("%s.%s: must be between 0 and a thousand dollars a unit", path, k)
		}
	}
	return nil
}
