package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The criteria.
const (
	// heapGrowth and heapSlack bound the median heap of the last third of the samples by
	// that of the first third.
	heapGrowth = 1.10
	heapSlack  = 8 << 20
	// judgedSamples is how many samples there must be for that.
	judgedSamples = 9
	// goroutinesPerStream and goroutinesBesides bound the goroutines of the gateway's
	// process: a stream has its caller or the server's side of a connection, two of a
	// connection over HTTP/1.1 on each side, and idle connections have them too.
	goroutinesPerStream = 4
	goroutinesBesides   = 1500
	// openShare is the least part of the streams that the platform sees open: between
	// two calls there is none, and the cache answers without it.
	openShare = 0.85
	// leftShare is the least part of the calls that callers left or gave up of which the
	// platform must have known before it had sent the last chunk.
	leftShare = 0.95
)

// check is a criterion with what was measured.
type check struct {
	name, measured, bound string
	kept                  bool
}

// report writes what was measured. It returns an error that names each breach.
func (o *options) report(all []*measurement) error {
	var b strings.Builder
	var breaches []error
	o.head(&b)
	latencies(&b, all)
	for _, m := range all {
		fmt.Fprintf(&b, "\n%s\n\n", title(m.Config))
		b.WriteString(m.calls(o.Streams))
		b.WriteString("\n| criterion | measured | bound | kept |\n|---|---|---|---|\n")
		for _, c := range m.checks(o) {
			kept := "yes"
			if !c.kept {
				kept = "**no**"
				breaches = append(breaches, fmt.Errorf("%s: %s: %s, not %s", m.Config, c.name, c.measured, c.bound))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, c.measured, c.bound, kept)
		}
		if err := m.failures(); err != nil {
			breaches = append(breaches, err)
		}
	}
	if _, err := fmt.Fprint(o.Out, b.String()); err != nil {
		return err
	}
	if err := errors.Join(breaches...); err != nil {
		return err
	}
	if o.Page == "" {
		return nil
	}
	return writePage(o.Page, b.String())
}

func title(config string) string {
	if config == "none" {
		return "### No gateway: the plain HTTP client"
	}
	return "### Configuration `" + config + "`"
}

// head says what was run where.
func (o *options) head(b *strings.Builder) {
	fmt.Fprintf(b, "%s, commit %s, %s on %d processors (%s), %s, %s:\n\n```sh\n%s\n```\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 MST"), commit(), runtime.Version(), runtime.NumCPU(), processor(), kernel(), runtime.GOARCH, strings.TrimSpace(o.Command))
	fmt.Fprintf(b, "%d streams at a time, a chunk each %v: about %.0f chunks a second. Connections: %s. Each configuration %v, after a ramp of %v and a warm-up of %v. Seed %d.\n\n",
		o.Streams, o.Pace, float64(o.Streams)/o.Pace.Seconds(), o.Proto, o.For, o.Ramp, maxPieces*o.Pace, o.Seed)
}

// commit is that of the working tree, with a + for changes.
func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty=+", "--abbrev=12").Output() //nolint:noctx // it is over at once
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// processor is the model of the first one.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "unknown"
}

func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return runtime.GOOS + " " + strings.TrimSpace(string(text))
}

// latencies writes the table of times, with what the gateway adds to the plain client.
func latencies(b *strings.Builder, all []*measurement) {
	b.WriteString("| through | first chunk p50 | p99 | transit p50 | p99 | gap p50 | p99 | chunks timed |\n|---|---|---|---|---|---|---|---|\n")
	base := &all[0].Front
	row := func(name string, t *tally, added bool) {
		cell := func(d, from time.Duration) string {
			if !added {
				return short(d)
			}
			return fmt.Sprintf("%s (%+.2f ms)", short(d), float64(d-from)/float64(time.Millisecond))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %d |\n", name,
			cell(t.First.P50, base.First.P50), cell(t.First.P99, base.First.P99),
			cell(t.Transit.P50, base.Transit.P50), cell(t.Transit.P99, base.Transit.P99),
			cell(t.Gap.P50, base.Gap.P50), cell(t.Gap.P99, base.Gap.P99), t.Transit.Count)
	}
	row("no gateway", base, false)
	for _, m := range all[1:] {
		row("Go client, `"+m.Config+"`", &m.Go, true)
		row("HTTP front, `"+m.Config+"`", &m.Front, true)
	}
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// calls says what the calls were, and what the processes used.
func (m *measurement) calls(streams int) string {
	var b strings.Builder
	b.WriteString("| load | calls | whole answers | of these from the cache | left early | canceled | refused | cut | chunks checked |\n|---|---|---|---|---|---|---|---|---|\n")
	row := func(name string, t *tally) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, t.Calls, t.Whole, t.Hits, t.Left, t.Canceled, t.Refused, t.Cut, t.Pieces)
	}
	if m.Gateway == nil {
		row("plain client", &m.Front)
	} else {
		row("Go client", &m.Go)
		row("HTTP front", &m.Front)
	}
	b.WriteString("\n| process | processors used | peak RSS | live heap, median | goroutines, most | file descriptors, most |\n|---|---|---|---|---|---|\n")
	for _, p := range []struct {
		name string
		of   []sample
	}{{"gateway", m.Gateway}, {"load", m.Load}, {"platform", m.Emulator}} {
		if len(p.of) == 0 {
			continue
		}
		last := p.of[len(p.of)-1]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %d |\n", p.name, processors(p.of), mega(last.PeakRSS), mega(median(heaps(p.of))),
			most(p.of, func(s sample) int { return s.Goroutines }), most(p.of, func(s sample) int { return s.FDs }))
	}
	if d := &m.Closed.Drained; m.Gateway != nil {
		fmt.Fprintf(&b, "\nUnder load the gateway's live heap is %.1f KiB for each stream.", float64(median(heaps(m.Gateway)))/1024/float64(streams))
		fmt.Fprintf(&b, " After the last call and before Close its process has %d goroutines, %d file descriptors and a live heap of %s.\n", d.Goroutines, d.FDs, mega(d.Heap))
	}
	return b.String()
}

func processors(of []sample) string {
	first, last := of[0], of[len(of)-1]
	if took := last.At.Sub(first.At); took > 0 {
		return fmt.Sprintf("%.2f", float64(last.CPU-first.CPU)/float64(took))
	}
	return "unknown"
}

func mega(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func most(of []sample, f func(sample) int) int {
	n := 0
	for _, s := range of {
		n = max(n, f(s))
	}
	return n
}

func heaps(of []sample) []int64 {
	out := make([]int64, len(of))
	for i, s := range of {
		out[i] = s.Heap
	}
	return out
}

func median(of []int64) int64 {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}

// writePage replaces the part of the page between its marks.
func writePage(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	const begin, end = "<!-- measured:load -->\n", "<!-- /measured:load -->"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no part between %s and %s", path, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o600)
}
