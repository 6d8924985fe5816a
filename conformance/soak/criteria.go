package main

import (
	"fmt"
	"strconv"
)

// checks holds a measurement against the criteria.
func (m *measurement) checks(o *options) []check {
	zero := func(name string, n int64) check { return check{name, strconv.FormatInt(n, 10), "0", n == 0} }
	out := []check{
		zero("answers that are not as they must be", m.Front.Failed+m.Go.Failed),
		zero("requests that no caller made", m.Idle.Emulator.Strange),
		zero("answers still open on the platform after the last call", m.Idle.Emulator.Open),
	}
	if o.Judged {
		least := int64(openShare * float64(o.Streams))
		open := m.Emulator[0].Emulator.Open
		for _, s := range m.Emulator {
			open = min(open, s.Emulator.Open)
		}
		out = append(out, check{"streams open on the platform, least", strconv.FormatInt(open, 10), "at least " + strconv.FormatInt(least, 10), open >= least})
	}
	if m.Gateway == nil {
		return out
	}
	c := &m.Closed
	bound := goroutinesPerStream*o.Streams + goroutinesBesides
	goroutines := most(m.Gateway, func(s sample) int { return s.Goroutines })
	out = append(out,
		check{"goroutines of the gateway, most", strconv.Itoa(goroutines), fmt.Sprintf("at most %d a stream + %d = %d", goroutinesPerStream, goroutinesBesides, bound), goroutines <= bound},
		check{"goroutines after Close", strconv.Itoa(c.Closed.Goroutines), strconv.Itoa(c.Base.Goroutines) + " as before", c.Closed.Goroutines == c.Base.Goroutines},
		check{"file descriptors after Close", strconv.Itoa(c.Closed.FDs), strconv.Itoa(c.Base.FDs) + " as before", c.Closed.FDs == c.Base.FDs},
	)
	if m.Config == configFull {
		out = append(out, m.recorded()...)
	}
	if o.Judged {
		hits := m.Go.Hits + m.Front.Hits
		if m.Config == configFull {
			out = append(out, check{"answers from the cache", strconv.FormatInt(hits, 10), "at least 1", hits > 0})
		}
		out = append(out, m.followed(), heap(m.Gateway))
	}
	return out
}

// followed says whether the platform was left where a caller left or gave up: it has
// another chunk to send then, at the job's pace.
func (m *measurement) followed() check {
	left, least := m.Idle.Emulator.Left-m.Before.Emulator.Left, int64(leftShare*float64(m.Go.Left+m.Front.Left+m.Go.Canceled+m.Front.Canceled))
	return check{"streams that the platform was left with", strconv.FormatInt(left, 10), "at least " + strconv.FormatInt(least, 10), left >= least}
}

// recorded holds what the log, the analytics and the metrics counted against the
// calls. A call over HTTP that its caller gave up may never have reached the gateway.
func (m *measurement) recorded() []check {
	c := &m.Closed
	most := m.Go.Calls + m.Front.Calls
	least := most - m.Front.Canceled
	within := func(name string, n int64) check {
		return check{name, strconv.FormatInt(n, 10), fmt.Sprintf("%d to %d", least, most), n >= least && n <= most}
	}
	return []check{
		within("calls in the live analytics", c.Reported),
		within("calls in the metrics", c.Measured),
		{"records that the log dropped or could not write", strconv.FormatInt(c.Dropped+c.Failed, 10), "0", c.Dropped+c.Failed == 0},
		{"faults of the cache", strconv.FormatInt(c.Cache.Faults+c.Cache.Corrupt, 10), "0", c.Cache.Faults+c.Cache.Corrupt == 0},
	}
}

// heap holds the end of a run against its beginning.
func heap(of []sample) check {
	all := heaps(of)
	name := "live heap of the gateway, medians of the first and the last third"
	if len(all) < judgedSamples {
		return check{name, "not judged", fmt.Sprintf("of %d samples and more", judgedSamples), true}
	}
	third := len(all) / 3
	first, last := median(all[:third]), median(all[len(all)-third:])
	bound := int64(float64(first)*heapGrowth) + heapSlack
	return check{name, fmt.Sprintf("%s, then %s, by a slope of %+.2f MiB a minute", mega(first), mega(last), slope(of[len(of)/5:])), "at most " + mega(bound), last <= bound}
}

// slope is that of the line that fits the heap best, in MiB a minute.
func slope(of []sample) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, s := range of {
		x, y := s.At.Sub(of[0].At).Minutes(), float64(s.Heap)/(1<<20)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if d := n*sxx - sx*sx; d != 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}
