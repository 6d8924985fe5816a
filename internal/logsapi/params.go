package logsapi

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// The bounds of a query string.
const (
	maxQuery = 16 << 10 // bytes
	maxShown = 64       // bytes of a name that an error repeats
)

// params is what a query string says.
type params struct {
	logs.Query
	groupBy []string      // nil where nothing is said
	every   time.Duration // 0 where nothing is said
	top     int
	format  string
}

// param is a parameter that is no condition on a field.
type param struct {
	name string
	read func(p *params, value string) error
}

// The parameters of queries that are no fields.
var (
	// pageParams are those of a page.
	pageParams = []string{"from", "to", "limit", "cursor", "q"}
	// allParams are those of all that a query means.
	allParams = []string{"from", "to", "q"}
	// timeParams are those of a report, which knows no search.
	timeParams = []string{"from", "to"}
)

// params reads the query string: the route's own parameters, and with members those
// of a query and conditions on fields. What the request may not see is filtered out.
func (q *request) params(own []param, members []string) (*params, error) {
	raw := q.http.URL.RawQuery
	if len(raw) > maxQuery {
		return nil, providers.Invalid("query", "the query string is over the limit of "+strconv.Itoa(maxQuery)+" bytes")
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, providers.Invalid("query", "the query string can't be read: % and ; must be escaped in it")
	}
	out := new(params)
	for _, p := range own {
		given, has := values[p.name]
		if !has {
			continue
		}
		delete(values, p.name)
		if len(given) > 1 {
			return nil, providers.Invalid(p.name, "is given more than once")
		}
		if err := p.read(out, given[0]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) { // so that the same query has the same error
		base := name
		if at := strings.LastIndexByte(name, '['); at > 0 {
			base = name[:at]
		}
		if _, ok := logs.FieldOf(base); (!ok || members == nil) && !slices.Contains(members, name) {
			return nil, errNoParam(base, own, members)
		}
	}
	if out.Query, err = logs.ParseQuery(values); err != nil {
		return nil, err
	}
	out.Filters = q.restrict(out.Filters)
	return out, nil
}

// errNoParam says that there is no parameter of that name, and which may be meant.
func errNoParam(name string, own []param, members []string) error {
	names := slices.Clone(members)
	for _, p := range own {
		names = append(names, p.name)
	}
	list := strings.Join(names, ", ")
	if members != nil {
		for _, f := range logs.Fields() {
			names = append(names, f.Name)
		}
		list += ", metadata.KEY and the names of GET logs/fields"
	}
	like := near.Of(name, names)
	switch {
	case len(names) == 0:
		return providers.Invalid(shown(name), "this path takes no parameters")
	case len(like) > 0:
		return providers.Invalid(shown(name), "there is no such parameter: did you mean "+strings.Join(like, ", ")+"?")
	}
	return providers.Invalid(shown(name), "there is no such parameter: there are "+list)
}

// shown is a name as an error repeats it.
func shown(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name[:min(len(name), maxShown)])
}

// readCount reads a number from 1 to most.
func readCount(name, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, providers.Invalid(name, "must be a number from 1 to "+strconv.Itoa(most))
	}
	return n, nil
}

// readSpan reads a duration, of whole days and weeks too.
func readSpan(name, value string) (time.Duration, error) {
	unit := map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[value[max(0, len(value)-1):]]
	if unit > 0 {
		if n, err := strconv.ParseUint(value[:len(value)-1], 10, 12); err == nil && n > 0 {
			return time.Duration(n) * unit, nil
		}
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, providers.Invalid(name, "must be a duration, such as 15m, 1h, 1d or 1w")
	}
	return d, nil
}
