package logsapi

import (
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
	maxQuery   = 16 << 10 // bytes
	maxFilters = 32
	maxShown   = 64 // bytes of a name that an error repeats
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

// rangeParams bound the time of records.
func rangeParams() []param {
	return []param{
		{"from", func(p *params, v string) (err error) { p.From, err = readTime("from", v); return err }},
		{"to", func(p *params, v string) (err error) { p.To, err = readTime("to", v); return err }},
	}
}

func searchParam() param {
	return param{"q", func(p *params, v string) error { p.Search = v; return nil }}
}

// pageParams choose a page.
func pageParams() []param {
	return []param{
		{"limit", func(p *params, v string) (err error) { p.Limit, err = readCount("limit", v, logs.MaxLimit); return err }},
		{"cursor", func(p *params, v string) error { p.Cursor = v; return nil }},
	}
}

// params reads the query string: the route's own parameters and, where it is about
// records, conditions on fields. What the request may not see is filtered out.
func (q *request) params(own []param, records bool) (*params, error) {
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
	if err := readFilters(out, values, own, records); err != nil {
		return nil, err
	}
	out.Filters = q.restrict(out.Filters)
	return out, nil
}

// readFilters reads what is left: conditions on fields.
func readFilters(out *params, values url.Values, own []param, records bool) error {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names) // so that the same query has the same error
	if len(names) > maxFilters {
		return providers.Invalid("query", "has more than "+strconv.Itoa(maxFilters)+" conditions")
	}
	for _, name := range names {
		base, _, _ := strings.Cut(name, "[")
		if _, ok := logs.FieldOf(base); !ok || !records {
			return errNoParam(base, own, records)
		}
	}
	if len(values) == 0 {
		return nil
	}
	asked, err := parseFilters(values)
	if err != nil {
		return err
	}
	out.Filters = asked
	return nil
}

// errNoParam says that there is no parameter of that name, and which may be meant.
func errNoParam(name string, own []param, records bool) error {
	names := make([]string, 0, 64)
	for _, p := range own {
		names = append(names, p.name)
	}
	list := strings.Join(names, ", ")
	if records {
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

// readTime reads a time of RFC 3339 or Unix seconds.
func readTime(name, value string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		var seconds int64
		seconds, err = strconv.ParseInt(value, 10, 64)
		t = time.Unix(seconds, 0)
	}
	if t = t.UTC(); err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, providers.Invalid(name, "must be a time as of RFC 3339, such as 2026-01-31T12:00:00Z, or Unix seconds")
	}
	return t, nil
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
