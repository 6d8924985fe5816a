package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/logs"
)

// entry is what stands in a file of records: a call, or what was said of one later,
// which has a line of its own.
type entry struct {
	logs.Record
	RecordID string `json:"record_id"`
}

// errNoRecord is of JSON that is neither.
var errNoRecord = errors.New("it is null")

// call returns the record, nil for feedback.
func (e *entry) call() *logs.Record {
	if e.ID == "" && e.RecordID != "" {
		return nil
	}
	return &e.Record
}

// decodeLine reads the record of a line; nil for an empty one and for feedback.
func decodeLine(line []byte) (*logs.Record, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil, nil //nolint:nilnil // no record, and that is no error
	}
	var e *entry
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, errNoRecord
	}
	return e.call(), nil
}

// passedOver are the lines of a file that are no records, such as those that a process
// did not write to their end.
type passedOver struct {
	lines, at int   // at is the number of the first one
	first     error // why that is none
}

// say tells of them.
func (p *passedOver) say(c *console.Console, name string) {
	switch p.lines {
	case 0:
	case 1:
		c.Say(console.Yellow, "%s: line %d is no record: %s\n", name, p.at, p.first)
	default:
		c.Say(console.Yellow, "%s: %d lines are no records, the first is line %d: %s\n", name, p.lines, p.at, p.first)
	}
}

// eachRecord reads records, one JSON value after the other, whether they have a line or
// several. Lines that are none are passed over.
func eachRecord(in io.Reader, visit func(*logs.Record) error) (*passedOver, error) {
	l := &lineReader{in: bufio.NewReader(in)}
	passed := &passedOver{}
	broken := false // within a value of several lines that is none
	for {
		first, err := l.next()
		if errors.Is(err, io.EOF) {
			return passed, nil
		}
		if err != nil {
			return passed, err
		}
		if len(bytes.TrimSpace(first.text)) == 0 {
			continue
		}
		broken = broken && strings.IndexByte(" \t}]", first.text[0]) >= 0
		err = errNoRecord
		if !broken {
			var r *logs.Record
			if r, err = l.value(first); err == nil {
				if r != nil {
					err = visit(r)
				}
				if err != nil {
					return passed, err
				}
				continue
			}
			if l.err != nil && !errors.Is(l.err, io.EOF) {
				return passed, fmt.Errorf("line %d: %w", first.n, l.err)
			}
			broken = l.taken > 1
		}
		if passed.lines++; passed.first == nil {
			passed.at, passed.first = first.n, err
		}
	}
}

// line is a line of a file, or its rest, with its newline.
type line struct {
	n    int // from 1
	text []byte
}

// lineReader reads lines, some of them again.
type lineReader struct {
	in   *bufio.Reader
	n    int
	held []line // to be read again
	err  error  // of the last read

	taken int // lines that the last value took
}

func (l *lineReader) next() (line, error) {
	if len(l.held) > 0 {
		first := l.held[0]
		l.held = l.held[1:]
		return first, nil
	}
	text, err := l.in.ReadBytes('\n')
	if l.err = err; len(text) == 0 {
		return line{}, err
	}
	l.n++
	return line{l.n, text}, nil
}

// value reads the value that begins with a line, and holds what is behind it, or
// everything but that line when there is none; nil for feedback.
func (l *lineReader) value(first line) (*logs.Record, error) {
	t := &tape{from: l, lines: []line{first}}
	d := json.NewDecoder(t)
	var e *entry
	err := d.Decode(&e)
	l.taken = len(t.lines)
	if err == nil && e == nil {
		err = errNoRecord
	}
	if err != nil {
		l.held = append(t.lines[1:], l.held...)
		return nil, err
	}
	last := t.lines[len(t.lines)-1]
	rest := t.sent + len(t.part) - int(d.InputOffset())
	l.held = append([]line{{last.n, last.text[len(last.text)-rest:]}}, l.held...)
	return e.call(), nil
}

// tape gives lines to a decoder, and keeps them.
type tape struct {
	from  *lineReader
	lines []line
	part  []byte // of the last line, not given yet
	begun bool
	sent  int
}

func (t *tape) Read(p []byte) (int, error) {
	if !t.begun {
		t.begun, t.part = true, t.lines[0].text
	}
	if len(t.part) == 0 {
		next, err := t.from.next()
		if err != nil {
			return 0, err
		}
		t.lines, t.part = append(t.lines, next), next.text
	}
	n := copy(p, t.part)
	t.part, t.sent = t.part[n:], t.sent+n
	return n, nil
}
