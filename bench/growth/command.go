// Package growth measures how the cost of the library grows: with the length of a
// history, the number of tools, of chunks, of open streams and of cached entries.
// It fits an exponent to each curve, holds it to a rule, and writes docs/growth.md
// with a picture of each series.
package growth

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Exit codes of [Main].
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// options are the flags.
type options struct {
	run  Run
	out  string
	only []string
}

// Main is the program. It returns 1 if a cost grows faster than its rule allows,
// or if something could not be measured.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return exitUsage
	}
	failed, err := o.measure(ctx, All(), origin(ctx, args), stdout)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return exitFailed
	}
	for _, text := range failed {
		_, _ = fmt.Fprintln(stderr, text)
	}
	if len(failed) > 0 {
		return exitFailed
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{run: Run{Samples: 7, Least: 100 * time.Millisecond}}
	var only string
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.run.Quick, "quick", false, "measure small sizes once, which shows that all works and no more")
	flags.BoolVar(&o.run.Long, "long", false, "look among 1,000,000 entries by meaning too, which takes 8 GB")
	flags.IntVar(&o.run.Samples, "samples", o.run.Samples, "how often each figure is taken; the median counts")
	flags.DurationVar(&o.run.Least, "least", o.run.Least, "how long a sample repeats its work at least")
	flags.StringVar(&o.out, "out", "../docs", "the directory with growth.md, written to; empty writes nothing, as -quick does by default")
	flags.StringVar(&only, "only", "", "measure only these series, by commas: "+names())
	verbose := flags.Bool("v", false, "print each figure as it is taken")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	out := false
	flags.Visit(func(f *flag.Flag) { out = out || f.Name == "out" })
	if o.run.Quick {
		o.run.Samples, o.run.Least = 1, time.Millisecond
		if !out {
			o.out = ""
		}
	}
	if o.run.Samples < 1 {
		err := fmt.Errorf("growth: -samples is %d, and 1 at least", o.run.Samples)
		_, _ = fmt.Fprintln(stderr, err)
		return nil, err
	}
	if *verbose {
		o.run.Progress = stderr
	}
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(All(), func(s Series) bool { return s.Name == name }) {
			err := fmt.Errorf("growth: there is no series %q; there are %s", name, names())
			_, _ = fmt.Fprintln(stderr, err)
			return nil, err
		}
	}
	return o, nil
}

func names() string {
	var list []string
	for _, s := range All() {
		list = append(list, s.Name)
	}
	return strings.Join(list, ",")
}

// measure measures the series, writes them and returns what is not OK.
func (o *options) measure(ctx context.Context, series []Series, from Origin, stdout io.Writer) (failed []string, err error) {
	for _, s := range series {
		if len(o.only) > 0 && !slices.Contains(o.only, s.Name) {
			continue
		}
		begin := time.Now()
		lines, err := s.measure(ctx, &o.run)
		if err != nil {
			return nil, fmt.Errorf("growth: %s: %w", s.Name, err)
		}
		r := &Result{s, lines}
		for _, v := range r.Judge() {
			state := "ok    "
			if !v.OK {
				state = "NOT OK"
				failed = append(failed, fmt.Sprintf("growth: %s: %s", s.Name, v))
			}
			_, _ = fmt.Fprintf(stdout, "%s %-9s %-22s %-27s exponent %5s  rise %5s  %s\n",
				state, s.Name, v.Line, v.Metric, ratio(v.Exponent), ratio(v.Rise), v.Rule)
		}
		_, _ = fmt.Fprintf(stdout, "       %s took %s\n", s.Name, time.Since(begin).Round(time.Second))
		if err := o.write(r, from); err != nil {
			return nil, err
		}
	}
	return failed, nil
}

// write puts a series into the page, and its picture beside it.
func (o *options) write(r *Result, from Origin) error {
	if o.out == "" {
		return nil
	}
	name := filepath.Join(o.out, "growth.md")
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := replaceSection(string(page), r.Name, r.section(from, &o.run))
	if err != nil {
		return err
	}
	pictures := filepath.Join(o.out, "growth")
	if err := os.MkdirAll(pictures, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(pictures, r.Name+".svg"), r.Plot(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}
