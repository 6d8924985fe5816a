package analytics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// The bounds of a report.
const (
	// MaxSteps is how many steps a series may have.
	MaxSteps = 1000
	// DefaultTop and MaxTop are about the number of groups.
	DefaultTop = 100
	MaxTop     = 1000
	// MaxGroupBy is how many fields a report groups by.
	MaxGroupBy = 4
	// MaxPoints bounds the points of the series of all groups together. Without a
	// number of groups, as many are made as there is room for.
	MaxPoints = 20000
)

// plan is a query that was found good.
type plan struct {
	from, to time.Time // to is not included
	every    time.Duration
	fields   []logs.Field
	top      int
	steps    int // of a series, 0 without one
	start    time.Time
}

// newPlan checks a query whose bounds are both set.
func newPlan(q *Query) (*plan, error) {
	p := &plan{from: q.From.UTC(), to: q.To.UTC(), every: q.Every, top: q.Top}
	if p.to.Before(p.from) {
		return nil, providers.Invalid("to", "must not be before from")
	}
	if err := p.addFields(q.GroupBy); err != nil {
		return nil, err
	}
	if err := p.addSteps(); err != nil {
		return nil, err
	}
	return p, p.addTop()
}

func (p *plan) addFields(names []string) error {
	if len(names) > MaxGroupBy {
		return providers.Invalid("group_by", "names more than "+strconv.Itoa(MaxGroupBy)+" fields")
	}
	for i, name := range names {
		f, ok := logs.FieldOf(name)
		switch {
		case !ok:
			return errNoField("group_by", name)
		case f.Kind == logs.Number:
			return providers.Invalid("group_by", name+" is a number: group by a word or a flag, such as model")
		case slices.Contains(names[:i], name):
			return providers.Invalid("group_by", "names "+name+" twice")
		}
		p.fields = append(p.fields, f)
	}
	return nil
}

// errNoField says that there is no field of the name, and which may be meant. A
// name that resembles none is not repeated.
func errNoField(param, name string) error {
	var names []string
	for _, f := range logs.Fields() {
		if f.Kind != logs.Number {
			names = append(names, f.Name)
		}
	}
	if like := near.Of(name, names); len(like) > 0 {
		return providers.Invalid(param, "there is no such field: did you mean "+strings.Join(like, ", ")+"?")
	}
	return providers.Invalid(param, "there is no such field: there are "+strings.Join(names, ", ")+" and metadata.KEY")
}

func (p *plan) addSteps() error {
	switch {
	case p.every < 0:
		return providers.Invalid("every", "must be a positive duration")
	case p.every == 0:
		return nil
	}
	p.start = p.from.Truncate(p.every)
	if p.from.Equal(p.to) {
		return nil
	}
	// Sub stops at 292 years, so that the count is right wherever it is allowed.
	span := p.to.Sub(p.start)
	steps := int64(span / p.every)
	if span%p.every != 0 {
		steps++
	}
	if steps > MaxSteps {
		enough := (span/(MaxSteps-1) + time.Minute).Truncate(time.Minute) // the first step may begin before from
		return providers.Invalid("every", fmt.Sprintf("makes more than %d steps of the time between from and to: make it %s or more, or the time shorter", MaxSteps, enough))
	}
	p.steps = int(steps)
	return nil
}

func (p *plan) addTop() error {
	room := MaxPoints / max(1, p.steps)
	switch {
	case p.top < 0 || p.top > MaxTop:
		return providers.Invalid("top", "must be between 1 and "+strconv.Itoa(MaxTop))
	case p.top == 0:
		p.top = min(DefaultTop, room)
	case p.top > room && len(p.fields) > 0:
		return providers.Invalid("top", fmt.Sprintf("%d groups of %d steps are more than %d points: ask for %d groups or longer steps", p.top, p.steps, MaxPoints, room))
	}
	return nil
}

// has reports whether a time is within the range.
func (p *plan) has(t time.Time) bool { return !t.Before(p.from) && t.Before(p.to) }

// step is the index of the step of a time within the range.
func (p *plan) step(t time.Time) int { return int(t.Sub(p.start) / p.every) }

// key returns the values that a record is grouped by.
func (p *plan) key(r *logs.Record) []string {
	key := make([]string, len(p.fields))
	for i := range p.fields {
		if v, ok := p.fields[i].Of(r); ok {
			key[i] = v.Text
		}
	}
	return key
}
