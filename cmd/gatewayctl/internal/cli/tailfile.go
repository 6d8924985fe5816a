package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/logs"
)

// tailFile reads a file, and goes on where it grows.
func (a *app) tailFile(ctx context.Context, t *tailing, conditions []string) error {
	f := &follower{app: a, tailing: t, in: &growing{ctx: ctx, file: a.console.In}}
	f.in.anew = func() { f.lines = 0 }
	for _, text := range conditions {
		c, err := readCondition(text)
		if err != nil {
			return err
		}
		f.all = append(f.all, c)
	}
	if t.file != "-" {
		file, err := os.Open(t.file)
		if err != nil {
			return err
		}
		f.in.file, f.in.path = file, t.file
		defer func() { _ = f.in.file.Close() }() // it was only read
	}
	return f.run(ctx)
}

// follower reads a file line by line: the last records up to its end, and then, to
// follow it, each as it comes.
type follower struct {
	app *app
	*tailing
	in    *growing
	all   []condition
	last  []*logs.Record
	lines int
}

func (f *follower) run(ctx context.Context) error {
	reader := bufio.NewReader(f.in)
	for {
		line, err := reader.ReadBytes('\n')
		if err == nil {
			if err := f.line(line); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if !f.follow {
			return errors.Join(f.line(line), f.flush())
		}
		if err := f.flush(); err != nil {
			return err
		}
		f.in.follow = true
		// A line that is still written has its beginning here.
		reader.Reset(io.MultiReader(bytes.NewReader(line), f.in))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// line takes one line of the file.
func (f *follower) line(line []byte) error {
	f.lines++
	r, err := decodeLine(line)
	switch {
	case err != nil:
		f.app.console.Say(console.Yellow, "%s: line %d is no record: %s\n", f.file, f.lines, err)
	case r == nil || !matchesAll(r, f.all):
	case f.in.follow:
		return f.app.showRecord(r, f.json)
	default:
		if f.last = append(f.last, r); len(f.last) > f.limit {
			f.last = f.last[1:]
		}
	}
	return nil
}

// flush shows the last records.
func (f *follower) flush() error {
	for _, r := range f.last {
		if err := f.app.showRecord(r, f.json); err != nil {
			return err
		}
	}
	f.last = nil
	return nil
}

// growing is a file whose end is not the end once follow is set: it goes on where it
// grows, in the next one when it was put aside, and where it was cut when it was.
type growing struct {
	ctx    context.Context
	file   *os.File
	path   string // empty for the standard input
	follow bool
	anew   func() // called before the first line of another file, or of this one again

	offset int64
	head   []byte // the first bytes, headSize at most
	within bool   // the last byte was within a line
	aside  bool   // another file has the path, and what was left of this one comes first
}

// headSize is how much of its beginning tells what a file was from what it is: a record
// begins with its id and its time.
const headSize = 512

// fate is what became of a file of which everything was read.
type fate int

const (
	grows fate = iota
	putAside
	wasCut
)

func (g *growing) Read(p []byte) (int, error) {
	for {
		n, err := g.file.Read(p)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) || !g.follow {
			g.took(p[:n])
			return n, err
		}
		now, err := g.look()
		switch {
		case err != nil:
		case now == grows:
			err = sleep(g.ctx, followEvery)
		case now == putAside && !g.aside: // it may have grown until then
			g.aside = true
		case g.within: // nobody writes the rest of that line
			g.within = false
			return copy(p, "\n"), nil
		case now == putAside:
			err = g.reopen()
		default:
			err = g.rewind()
		}
		if err != nil {
			return 0, err
		}
	}
}

func (g *growing) took(p []byte) {
	if len(p) == 0 {
		return
	}
	if room := headSize - len(g.head); room > 0 {
		g.head = append(g.head, p[:min(len(p), room)]...)
	}
	g.offset += int64(len(p))
	g.within = p[len(p)-1] != '\n'
}

func (g *growing) look() (fate, error) {
	if g.path == "" {
		return grows, nil
	}
	own, err := g.file.Stat()
	if err != nil {
		return grows, err
	}
	named, err := os.Stat(g.path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the next one is yet to come
		return grows, nil
	case err != nil:
		return grows, err
	case !os.SameFile(own, named):
		return putAside, nil
	case own.Mode().IsRegular() && own.Size() < g.offset:
		return wasCut, nil
	}
	return grows, nil
}

// reopen goes on with the file that has the path now.
func (g *growing) reopen() error {
	file, err := os.Open(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_ = g.file.Close() // it was only read
	g.file = file
	g.begin()
	return nil
}

func (g *growing) begin() {
	g.offset, g.head, g.aside = 0, nil, false
	g.anew()
}

// rewind goes on where the file was cut: at its end, when the log took back what it
// could not write whole, or else at its beginning, since others are there now.
func (g *growing) rewind() error {
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(int64(len(g.head)), info.Size()))
	if _, err := g.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	to := info.Size()
	if to == 0 || !bytes.HasPrefix(g.head, head) {
		g.begin()
		to = 0
	}
	g.offset, g.head = to, g.head[:min(int64(len(g.head)), to)]
	_, err = g.file.Seek(to, io.SeekStart)
	return err
}
