// Command measure runs all benchmarks of this module and writes docs/performance.md
// by them:
//
//	go -C bench run ./cmd/measure
//
// It builds the test binary once and makes rounds, in which each library has its turn
// with each workload, in a process of its own and in another order each time; so that
// what else the machine does is on everybody's bill. benchstat's statistics give
// medians and intervals, and its tables go to the output.
//
// What lies between the markers of the page, as in <!-- measured:memory --> and
// <!-- /measured:memory -->, is written anew, and the results beside the page, as in
// performance/memory.txt. A part of the page is all of one run, or left as it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout) //nolint:forbidigo // the program's own output
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "measure:", err) //nolint:forbidigo // likewise
		os.Exit(1)                               //nolint:forbidigo // a program ends so
	}
}

// options are what the command is told.
type options struct {
	count     int
	benchtime string
	only      *regexp.Regexp
	page, out string
	long      bool
	args      []string // as they were given
}

// parse reads the flags.
func parse(args []string, output io.Writer) (*options, error) {
	o := &options{args: args}
	var only string
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&o.count, "count", 6, "how many rounds; intervals need 6")
	flags.StringVar(&o.benchtime, "benchtime", "1s", "how long, or how often as in 100x, each turn runs")
	flags.StringVar(&only, "only", "", "what is run, as a regular expression for names like memory/small/gateway; a part of the page that is not run whole stays")
	flags.StringVar(&o.page, "page", "../docs/performance.md", "the page that is read")
	flags.StringVar(&o.out, "out", "../docs/performance.md", "where the page is written, with the results beside it")
	flags.BoolVar(&o.long, "long", false, "look up among a million entries too, which takes 4 GB and several minutes a round")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || o.count < 1 {
		return nil, errors.New("there are flags only, and -count is at least 1")
	}
	var err error
	if o.only, err = regexp.Compile(only); err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	return o, nil
}

// run measures and writes.
func run(ctx context.Context, args []string, output io.Writer) error {
	o, err := parse(args, output)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	page := string(text)
	if err := checkMarkers(page); err != nil { // before hours are spent
		return fmt.Errorf("%s: %w", o.page, err)
	}
	scratch, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // nothing can be done
	m := &machine{dir: scratch, options: o, output: output}
	if err := m.build(ctx); err != nil {
		return err
	}
	groups := selected(o)
	if len(groups) == 0 {
		return errors.New("-only selects nothing")
	}
	whole := map[string]results{}
	for i := range groups {
		raw, err := m.measure(ctx, &groups[i])
		if err != nil {
			return err
		}
		if groups[i].whole {
			if whole[groups[i].Name], err = read(raw); err != nil {
				return err
			}
			if err := save(o.out, groups[i].Name, raw); err != nil {
				return err
			}
		}
		if err := m.benchstat(ctx, groups[i].Name, raw); err != nil {
			return err
		}
	}
	return m.write(ctx, page, whole)
}

// write writes the page with the parts that were run whole.
func (m *machine) write(ctx context.Context, page string, whole map[string]results) error {
	about, err := m.about(ctx)
	if err != nil {
		return err
	}
	page, err = fill(page, about, whole)
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.options.out, []byte(page), 0o644); err != nil { //nolint:gosec // a page for everybody
		return err
	}
	_, err = fmt.Fprintf(m.output, "wrote %s\n", m.options.out)
	return err
}

// save writes the results of a group beside the page.
func save(out, group string, raw []byte) error {
	dir := strings.TrimSuffix(out, filepath.Ext(out))
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a directory for everybody
		return err
	}
	return os.WriteFile(filepath.Join(dir, group+".txt"), raw, 0o644) //nolint:gosec // likewise
}
