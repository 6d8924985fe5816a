package logsapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// parseFilters reads conditions: FIELD=a,b and FIELD[op]=value.
func parseFilters(values url.Values) ([]logs.Filter, error) {
	var out []logs.Filter
	for name, given := range values {
		base, op, has := strings.Cut(name, "[")
		f, _ := logs.FieldOf(base)
		filter := logs.Filter{Field: base, Op: logs.In}
		if has {
			op, ok := strings.CutSuffix(op, "]")
			if filter.Op = logs.Op(op); !ok || !slices.Contains(opsOf(f.Kind), filter.Op) {
				return nil, providers.Invalid(shown(name), "there is no such comparison for the field")
			}
		}
		for _, v := range given {
			filter.Values = []string{v}
			if filter.Op == logs.In || filter.Op == logs.NotIn {
				filter.Values = strings.Split(v, ",")
			}
			if err := checkValues(&f, &filter); err != nil {
				return nil, err
			}
			out = append(out, filter)
		}
	}
	return out, nil
}

func checkValues(f *logs.Field, filter *logs.Filter) error {
	for _, v := range filter.Values {
		bad := ""
		switch _, err := strconv.ParseFloat(v, 64); {
		case filter.Op == logs.Missing || f.Kind == logs.Flag:
			if v != "true" && v != "false" {
				bad = "must be true or false"
			}
		case f.Kind == logs.Number && err != nil:
			bad = "must be a number"
		}
		if bad != "" {
			return providers.Invalid(f.Name, bad)
		}
	}
	return nil
}
