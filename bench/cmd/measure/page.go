package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/bench/internal/plan"
)

// about says where and when results are from.
type about struct {
	date, commit, version, system, model, command, benchtime string
	processors, count                                        int
}

// line is what stands above the tables of a group.
func (a *about) line(groups ...string) string {
	var files []string
	for _, g := range groups {
		files = append(files, fmt.Sprintf("[%s.txt](performance/%s.txt)", g, g))
	}
	rounds := fmt.Sprintf("%d rounds of %s", a.count, a.benchtime)
	if a.count == 1 {
		rounds = "1 round of " + a.benchtime
	}
	return fmt.Sprintf("%s, commit %s, Go %s, %s, %s, %d processors, %s: `%s`. All results are in %s.\n",
		a.date, a.commit, a.version, a.system, a.model, a.processors, rounds, a.command, strings.Join(files, " and "))
}

// table is one of a group's tables: its title, what it shows, and beside which library.
type table struct{ title, unit, beside string }

// tables are those of each group, in the order of the page.
func tables(group string) []table {
	own := []table{{"Time", wall, ""}, {"Allocations", allocs, ""}, {"Memory allocated", heap, ""}}
	switch group {
	case "memory":
		return append([]table{{"Time, as a multiple of the floor's", wall, plan.Floor}}, own...)
	case "loopback":
		return []table{
			{"Time, as a multiple of the floor's", wall, plan.Floor},
			{"Processor time, as a multiple of the floor's", cpu, plan.Floor},
			{"Time", wall, ""},
			{"Processor time", cpu, ""},
			{"Allocations", allocs, ""},
		}
	}
	return own
}

// parts are the sections of the page, each with the groups that it needs.
func parts() []struct {
	name   string
	groups []string
} {
	return []struct {
		name   string
		groups []string
	}{
		{"targets", []string{"memory", "cache"}},
		{"memory", []string{"memory"}},
		{"cache", []string{"cache"}},
		{"loopback", []string{"loopback"}},
		{"vectors", []string{"vectors"}},
		{"search", []string{"search"}},
	}
}

// fill writes the sections anew whose groups were all run whole.
func fill(page string, a about, whole map[string]results) (string, error) {
	for _, part := range parts() {
		if slices.ContainsFunc(part.groups, func(g string) bool { return whole[g] == nil }) {
			continue
		}
		var text strings.Builder
		text.WriteString(a.line(part.groups...))
		var body string
		var err error
		switch part.name {
		case "targets":
			body, err = verdicts(callTargets(), whole, a.count)
		case "loopback":
			if body, err = verdicts(wireTargets(), whole, a.count); err == nil {
				text.WriteString(body)
				body, err = section(part.name, whole[part.name], a.count)
			}
		default:
			body, err = section(part.name, whole[part.name], a.count)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", part.name, err)
		}
		text.WriteString(body)
		if page, err = replace(page, part.name, text.String()); err != nil {
			return "", err
		}
	}
	return page, nil
}

// section writes the tables of a group.
func section(name string, r results, count int) (string, error) {
	group := plan.Find(name)
	group.Rows = slices.DeleteFunc(group.Rows, func(row plan.Row) bool { return row.Long && !r.has(row.Name) })
	var b strings.Builder
	for _, t := range tables(name) {
		fmt.Fprintf(&b, "\n**%s**\n\n|", t.title)
		for _, row := range group.Rows {
			b.WriteString(" | " + title(row.Name))
		}
		b.WriteString(" |\n|---|" + strings.Repeat("---|", len(group.Rows)) + "\n")
		for _, lib := range group.Libs() {
			b.WriteString("| " + lib)
			for _, row := range group.Rows {
				cell, err := r.cell(t, &row, lib, count)
				if err != nil {
					return "", err
				}
				b.WriteString(" | " + cell)
			}
			b.WriteString(" |\n")
		}
	}
	return b.String(), nil
}

// has says whether anything of the row was measured.
func (r results) has(row string) bool {
	for s := range r {
		if s.row == row {
			return true
		}
	}
	return false
}

// cell is one figure; a library that can't do the workload has a dash.
func (r results) cell(t table, row *plan.Row, lib string, count int) (string, error) {
	if !slices.Contains(row.Libs, lib) {
		return "–", nil
	}
	f, err := r.figure(sampled{row.Name, lib, t.unit}, count)
	if err != nil {
		return "", err
	}
	if t.beside != "" {
		other, err := r.figure(sampled{row.Name, t.beside, t.unit}, count)
		if err != nil {
			return "", err
		}
		if other.median == 0 {
			return "", errors.New(row.Name + " of " + t.beside + " took no time")
		}
		return digits(f.median/other.median) + "x", nil
	}
	return write(f.median/each(row.Name), t.unit) + interval(f), nil
}

// interval is how far off the median may be; nothing, where all samples are the same.
func interval(f figure) string {
	switch f.within {
	case "0%", "":
		return ""
	case "∞":
		return " ± ?"
	}
	return " ± " + strings.TrimSuffix(f.within, "%") + " %"
}

// each is by what the figures of a row are divided: a stream's are for each chunk.
func each(row string) float64 {
	if row == "stream1000" {
		return 1000
	}
	return 1
}

func title(row string) string {
	if each(row) > 1 {
		return row + ", per chunk"
	}
	return row
}

// write writes a figure in its unit.
func write(v float64, unit string) string {
	switch unit {
	case wall, cpu:
		return scaled(v, 1000, " ns", " µs", " ms", " s")
	case heap:
		return scaled(v, 1000, " B", " KB", " MB", " GB")
	case allocs:
		if v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return digits(v) + " " + unit
}

// scaled writes a figure in the largest unit that leaves a digit before the point.
func scaled(v, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && v >= step {
		v, i = v/step, i+1
	}
	if i == 0 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + units[0]
	}
	return digits(v) + units[i]
}

// digits writes three digits, or all before the point.
func digits(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func markers(name string) (begin, end string) {
	return "<!-- measured:" + name + " -->", "<!-- /measured:" + name + " -->"
}

// checkMarkers sees to it that the page has each section once.
func checkMarkers(page string) error {
	for _, part := range parts() {
		if _, err := replace(page, part.name, ""); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a section anew.
func replace(page, name, text string) (string, error) {
	begin, end := markers(name)
	for _, marker := range []string{begin, end} {
		if n := strings.Count(page, marker); n != 1 {
			return "", fmt.Errorf("the page has %s %d times, want once", marker, n)
		}
	}
	before, rest, _ := strings.Cut(page, begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("%s stands before %s", end, begin)
	}
	return before + begin + "\n" + text + end + after, nil
}
