package main

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// results are the samples of one group, by row, library and unit.
type results map[sampled][]float64

// sampled names samples.
type sampled struct{ row, lib, unit string }

// The units.
const (
	wall   = "ns/op"
	cpu    = "cpu-ns/op"
	allocs = "allocs/op"
	heap   = "B/op"
)

// read reads the results of a group.
func read(raw []byte) (results, error) {
	out := results{}
	r := benchfmt.NewReader(bytes.NewReader(raw), "results")
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, record
		case *benchfmt.Result:
			var s sampled
			_, parts := record.Name.Parts()
			for _, part := range parts {
				key, value, _ := strings.Cut(strings.TrimPrefix(string(part), "/"), "=")
				switch {
				case key == "lib":
					s.lib = value
				case value != "":
					s.row = value
				}
			}
			for _, v := range record.Values {
				s.unit = v.Unit
				value := v.Value
				if v.OrigUnit != "" {
					s.unit, value = v.OrigUnit, v.OrigValue
				}
				out[s] = append(out[s], value)
			}
		}
	}
	return out, r.Err()
}

// figure is a median with how sure it is.
type figure struct {
	median float64
	within string // of the interval around it, as in "2%"
}

// figure returns the median of what was measured count times; anything else is an
// error, since a gap in a table would look like something that can't be measured.
func (r results) figure(s sampled, count int) (figure, error) {
	values := r[s]
	if len(values) != count {
		return figure{}, fmt.Errorf("%s of %s has %d results for %s, want %d", s.row, s.lib, len(values), s.unit, count)
	}
	sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(append([]float64(nil), values...), &benchmath.DefaultThresholds), 0.95)
	return figure{sum.Center, sum.PctRangeString()}, nil
}
