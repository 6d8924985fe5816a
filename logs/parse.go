package logs

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

// ParseQuery reads the query string of a URL: from and to, in RFC 3339 or in seconds
// since 1970; limit; cursor; q, the search. Every other name is a field of [Fields]
// or metadata.KEY, with the comparison in brackets behind it: cost_usd[gte]=0.01.
// Without one it is [In], over the values between commas, and NotIn takes such a list
// too; a value that has a comma in it needs [Eq]. Of one name several values are
// further values of In and NotIn, and further conditions else.
func ParseQuery(values url.Values) (Query, error) {
	var q Query
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list := values[name]
		if set, ok := members[name]; ok {
			if len(list) != 1 {
				return Query{}, providers.Invalid(name, "is given more than once")
			}
			if err := set(&q, list[0]); err != nil {
				return Query{}, err
			}
			continue
		}
		if err := q.filter(name, list); err != nil {
			return Query{}, err
		}
	}
	if err := q.Validate(); err != nil {
		return Query{}, err
	}
	return q, nil
}

// members are the names in a query string that are no fields.
var members = map[string]func(*Query, string) error{
	"from": func(q *Query, s string) (err error) {
		q.From, err = parseTime("from", s)
		return err
	},
	"to": func(q *Query, s string) (err error) {
		q.To, err = parseTime("to", s)
		return err
	},
	"limit": func(q *Query, s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > MaxLimit {
			return providers.Invalid("limit", "must be between 1 and "+strconv.Itoa(MaxLimit))
		}
		q.Limit = n
		return nil
	},
	"cursor": func(q *Query, s string) error {
		q.Cursor = s
		return nil
	},
	"q": func(q *Query, s string) error {
		q.Search = s
		return nil
	},
}

// filter adds the conditions of one name of the query string.
func (q *Query) filter(name string, list []string) error {
	field, op := name, In
	if base, rest, ok := strings.Cut(name, "["); ok && strings.HasSuffix(rest, "]") {
		field, op = base, Op(strings.TrimSuffix(rest, "]"))
		if strings.HasPrefix(name, metadataField) { // whose key may have brackets itself
			at := strings.LastIndexByte(name, '[')
			field, op = name[:at], Op(name[at+1:len(name)-1])
		}
	}
	if _, ok := FieldOf(field); !ok {
		return unknownField(field)
	}
	if op != In && op != NotIn {
		for _, v := range list {
			q.Filters = append(q.Filters, Filter{Field: field, Op: op, Values: []string{v}})
		}
		return nil
	}
	f := Filter{Field: field, Op: op}
	for _, v := range list {
		for part := range strings.SplitSeq(v, ",") {
			if part == "" {
				return providers.Invalid(name, "has an empty value: records without one are found by "+short(field)+"[missing]=true")
			}
			f.Values = append(f.Values, part)
		}
	}
	q.Filters = append(q.Filters, f)
	return nil
}

// parseTime reads a time. It must be one that every store can hold.
func parseTime(name, s string) (time.Time, error) {
	const first, last = 0, 253402300800 // 1970 and the end of 9999
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		var f float64
		if f, err = strconv.ParseFloat(s, 64); err == nil && f >= first && f < last {
			whole, part := math.Modf(f)
			t = time.Unix(int64(whole), int64(math.Round(part*1e6))*int64(time.Microsecond))
		} else {
			t = time.Time{}
		}
	}
	if t.Unix() < first || t.Unix() >= last {
		return time.Time{}, providers.Invalid(name, "must be a time in RFC 3339, such as 2026-01-31T15:04:05Z, or in seconds since 1970")
	}
	return t.UTC(), nil
}
