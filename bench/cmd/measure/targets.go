package main

import (
	"fmt"
	"strings"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// target is what we hold ourselves to, of one row in one unit.
type target struct {
	group, row, unit string
	limit            float64
	// over is the library whose figure divides ours: the limit is then a multiple.
	over string
	// least says that it is theirs over ours, and the limit is the least.
	least bool
}

// callTargets are those of calls and cache hits.
func callTargets() []target {
	const us = 1000.0
	out := []target{
		{group: "memory", row: "small", unit: wall, limit: 2, over: plan.Floor},
		{group: "memory", row: "small", unit: allocs, limit: 28},
		{group: "memory", row: "bigresp", unit: wall, limit: 100 * us},
		{group: "memory", row: "conv40", unit: wall, limit: 90 * us},
		{group: "memory", row: "conv40", unit: allocs, limit: 35},
		{group: "memory", row: "image1m", unit: wall, limit: 200 * us},
		{group: "memory", row: "stream1000", unit: wall, limit: 950},
		{group: "memory", row: "stream1000", unit: allocs, limit: 2},
		{group: "memory", row: "embed768", unit: wall, limit: 50 * us},
		{group: "memory", row: "embed768", unit: allocs, limit: 25},
	}
	for i, row := range []string{"small", "bigresp", "conv40", "image1m", "stream1000", "embed768"} {
		out = append(out,
			target{group: "memory", row: row, unit: wall, over: plan.GenAI, least: true, limit: []float64{9, 22, 17, 22, 22, 16}[i]},
			target{group: "memory", row: row, unit: wall, over: plan.OpenAI, least: true, limit: []float64{7, 19, 7, 9, 22, 14}[i]})
	}
	return append(out,
		target{group: "cache", row: "small", unit: wall, limit: 1.5 * us},
		target{group: "cache", row: "small", unit: allocs, limit: 5},
		target{group: "cache", row: "conv40", unit: wall, limit: 60 * us},
		target{group: "cache", row: "conv40", unit: allocs, limit: 5})
}

// wireTargets are those over loopback.
func wireTargets() []target {
	return []target{
		{group: "loopback", row: "small", unit: cpu, limit: 1.15, over: plan.Floor},
		{group: "loopback", row: "conv40", unit: cpu, limit: 1.7, over: plan.Floor},
	}
}

// verdicts writes the table of targets. Figures are compared as they were measured,
// not as they are written.
func verdicts(targets []target, whole map[string]results, count int) (string, error) {
	var b strings.Builder
	b.WriteString("\n| workload | target | measured | |\n|---|---|---|---|\n")
	for i := range targets {
		t := &targets[i]
		ours, err := whole[t.group].figure(sampled{t.row, plan.Gateway, t.unit}, count)
		if err != nil {
			return "", err
		}
		v := ours.median / each(t.row)
		if t.over != "" {
			theirs, err := whole[t.group].figure(sampled{t.row, t.over, t.unit}, count)
			if err != nil {
				return "", err
			}
			if theirs.median == 0 || ours.median == 0 {
				return "", fmt.Errorf("%s took no time", t.row)
			}
			if v = ours.median / theirs.median; t.least {
				v = 1 / v
			}
		}
		verdict := "**missed**"
		if t.least && v >= t.limit || !t.least && v <= t.limit {
			verdict = "kept"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.place(), t.says(), t.figure(v), verdict)
	}
	return b.String(), nil
}

// place is what the target is about.
func (t *target) place() string {
	if t.group == "cache" {
		return "cache hit, " + title(t.row)
	}
	return title(t.row)
}

// says is the target in words.
func (t *target) says() string {
	name := map[string]string{wall: "time", cpu: "processor time"}[t.unit]
	switch {
	case t.least:
		return fmt.Sprintf("at least %gx faster than %s", t.limit, t.over)
	case t.over != "":
		return fmt.Sprintf("at most %gx the %s of the %s", t.limit, name, t.over)
	case t.unit == allocs:
		return fmt.Sprintf("at most %g allocations", t.limit)
	case t.limit < 1000:
		return fmt.Sprintf("at most %g ns", t.limit)
	}
	return fmt.Sprintf("at most %g µs", t.limit/1000)
}

// figure writes what was measured.
func (t *target) figure(v float64) string {
	if t.over != "" {
		return digits(v) + "x"
	}
	return write(v, t.unit)
}
