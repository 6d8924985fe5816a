package analytics

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// tally collects what a report needs.
type tally struct {
	*plan
	total  line
	groups map[string]*group // by joined
	other  sum
}

// line is a total with its series.
type line struct {
	total  sum
	points []*sum // by step; nil for a step without calls
}

type group struct {
	key []string
	line
}

func newTally(p *plan) *tally { return &tally{plan: p, groups: map[string]*group{}} }

// each calls do with every sum of the line that a time is part of.
func (l *line) each(p *plan, t time.Time, do func(*sum)) {
	do(&l.total)
	if p.steps == 0 {
		return
	}
	if l.points == nil {
		l.points = make([]*sum, p.steps)
	}
	at := &l.points[p.step(t)]
	if *at == nil {
		*at = new(sum)
	}
	do(*at)
}

// series returns the points, those without calls included.
func (l *line) series(p *plan) []Point {
	if p.steps == 0 {
		return nil
	}
	out := make([]Point, p.steps)
	for i := range out {
		out[i].Time = p.start.Add(time.Duration(i) * p.every)
		if l.points != nil && l.points[i] != nil {
			out[i].Totals = l.points[i].totals()
		}
	}
	return out
}

// group returns the group of a key, and makes it.
func (t *tally) group(key []string) *group {
	name := joined(key)
	g, ok := t.groups[name]
	if !ok {
		g = &group{key: key}
		t.groups[name] = g
	}
	return g
}

// joined is a key as one text; no two keys have the same.
func joined(key []string) string {
	if len(key) == 1 {
		return key[0]
	}
	var b []byte
	for _, v := range key {
		b = append(strconv.AppendInt(b, int64(len(v)), 10), ':')
		b = append(b, v...)
	}
	return string(b)
}

// report returns what was collected.
func (t *tally) report() *Report {
	out := &Report{From: t.from, To: t.to, Total: t.total.total.totals(), Series: t.total.series(t.plan), Approximate: true}
	groups := make([]*group, 0, len(t.groups))
	for _, g := range t.groups {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.total.requests, a.total.requests), slices.Compare(a.key, b.key))
	})
	for i, g := range groups {
		if i >= t.top {
			t.other.merge(&g.total)
			continue
		}
		out.Groups = append(out.Groups, Group{Key: g.key, Totals: g.total.totals(), Series: g.series(t.plan)})
	}
	if t.other.requests > 0 {
		other := t.other.totals()
		out.Other = &other
	}
	return out
}
