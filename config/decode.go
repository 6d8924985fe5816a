package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Problem is one mistake in a config.
type Problem struct {
	// Path leads to the member at fault, such as targets[1].retry.attempts; empty
	// for the config itself.
	Path string
	// Message says what is wrong and, where it can, the remedy. It repeats no
	// value.
	Message string
}

// String is the path and the message.
func (p Problem) String() string {
	if p.Path == "" {
		return "config: " + p.Message
	}
	return p.Path + ": " + p.Message
}

// maxProblems is how many mistakes an [Error] lists.
const maxProblems = 50

// Error lists the mistakes in a config.
type Error struct {
	// Problems are the first 50, at most one for each path.
	Problems []Problem
	// More is how many there are beyond those.
	More int
}

// Error has a line for each problem.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// problems collects mistakes. What is wrong at a path already is not said again,
// so values may be judged although their shape was refused.
type problems struct {
	found Error
	at    map[string]bool
	tree
	regexes int // bytes of regular expressions so far
}

// tree is the tree of targets as it is walked: the table of a target, which its
// own rows need, and where the walk has got to.
type tree struct {
	rows           []member[Target]
	depth, targets int
}

// enter goes down to a target and reports whether the tree may have it. Then
// and only then leave must follow.
func (t *tree) enter() bool {
	if t.depth == MaxDepth-1 || t.targets == MaxTargets {
		return false
	}
	t.depth++
	t.targets++
	return true
}

func (t *tree) leave() { t.depth-- }

// encoder writes a config.
type encoder struct {
	jsonx.Writer
	tree
}

func (p *problems) add(path, format string, args ...any) {
	if p.at[path] {
		return
	}
	if p.at == nil {
		p.at = make(map[string]bool)
	}
	p.at[path] = true
	if len(p.found.Problems) == maxProblems {
		p.found.More++
		return
	}
	p.found.Problems = append(p.found.Problems, Problem{path, fmt.Sprintf(format, args...)})
}

// rule adds what a rule found, if anything.
func (p *problems) rule(path, problem string) {
	if problem != "" {
		p.add(path, "%s", problem)
	}
}

func (p *problems) err() error {
	if len(p.found.Problems) == 0 {
		return nil
	}
	return &p.found
}

// patterns counts bytes of regular expressions and reports whether a config may
// have as many.
func (p *problems) patterns(path string, n int) bool {
	if p.regexes += n; p.regexes > maxPatterns {
		p.add(path, "goes beyond the %d bytes that all patterns of a config may have", maxPatterns)
		return false
	}
	return true
}

// params judges an object of request members.
func (p *problems) params(path string, raw []byte) {
	r := jsonx.NewReader(raw)
	switch {
	case len(raw) > MaxSize:
		p.add(path, "is larger than %d KiB", MaxSize>>10)
	case !utf8.Valid(raw):
		p.add(path, "is not valid UTF-8")
	case r.Kind() != jsonx.Object || !jsonx.Valid(raw):
		p.add(path, "must be an object")
	default:
		p.unique(func() string { return path }, &r)
		for key := range jsonx.Members(raw) {
			p.rule(join(path, key), checkParam(key))
		}
	}
}

// unique finds the first repeated member of the value that is next, at any
// depth, and reports whether there is none. The path is made when it is needed:
// values may be deep and wide.
func (p *problems) unique(path func() string, r *jsonx.Reader) bool {
	switch r.Kind() {
	case jsonx.Object:
		seen := make(map[string]bool)
		for r.Object(); r.NextKey(); {
			key := string(r.Key())
			at := func() string { return join(path(), key) }
			if seen[key] {
				p.add(at(), "is given twice")
				return false
			}
			seen[key] = true
			if !p.unique(at, r) {
				return false
			}
		}
	case jsonx.Array:
		i := -1
		at := func() string { return element(path(), i) }
		for r.Array(); r.NextElem(); {
			if i++; !p.unique(at, r) {
				return false
			}
		}
	default:
		r.Skip()
	}
	return true
}

// decoder collects mistakes while it reads.
type decoder struct{ problems }

// wellFormed returns data without a byte order mark, or what keeps it from being
// one JSON value of bearable size.
func wellFormed(data []byte) ([]byte, error) {
	var p problems
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := jsonx.NewReader(data)
	switch {
	case len(data) > MaxSize:
		p.add("", "larger than %d KiB", MaxSize>>10)
	case !utf8.Valid(data):
		p.add("", "not valid UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		p.add("", "empty")
	default:
		r.Skip()
		if fault, ok := errors.AsType[*jsonx.Error](r.End()); ok {
			head := data[:min(fault.Offset, len(data))]
			line := bytes.Count(head, []byte("\n")) + 1
			p.add("", "not valid JSON at line %d, column %d: %s", line, len(head)-bytes.LastIndexByte(head, '\n'), fault.Msg)
		}
	}
	return data, p.err()
}

// readObject reads the members of an object by their table and reports whether
// it is one. Members of the wrong shape are reported and left unset.
func readObject[T any](d *decoder, path string, raw []byte, rows []member[T], into *T) bool {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		d.add(path, "must be an object")
		return false
	}
	seen := make([]string, len(rows))
	for r.Object(); r.NextKey(); {
		name := string(r.Key())
		value := r.Raw()
		i := slices.IndexFunc(rows, func(m member[T]) bool { return m.Name == name || slices.Contains(m.Aliases, name) })
		at := join(path, name)
		switch {
		case i < 0:
			d.add(at, "%s", unknown(d, name, rows))
		case seen[i] == name:
			d.add(at, "is given twice")
		case seen[i] != "":
			d.add(at, "is another spelling of %s: keep one", seen[i])
		case string(value) == "null":
			d.add(at, "is null: give a value or leave the member out")
		default:
			rows[i].read(d, at, value, into)
		}
		if i >= 0 {
			seen[i] = name
		}
	}
	for i := range rows {
		if m := &rows[i].Member; m.Required && seen[i] == "" {
			d.add(join(path, m.Name), "%s", missing(m))
		}
	}
	return true
}

func writeObject[T any](w *encoder, rows []member[T], from *T) {
	w.BeginObject()
	for i := range rows {
		rows[i].write(w, from)
	}
	w.EndObject()
}

// checkObject judges the members of an object, unless it is none.
func checkObject[T any](p *problems, path string, rows []member[T], of *T) {
	if p.at[path] {
		return
	}
	for i := range rows {
		rows[i].check(p, join(path, rows[i].Name), of)
	}
}

// text reads a string that isn't empty.
func (d *decoder) text(path string, raw []byte) (string, bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		d.add(path, "must be a string")
		return "", false
	}
	s := r.String()
	if s == "" {
		d.add(path, isEmpty)
	}
	return s, s != ""
}

func (d *decoder) boolean(path string, raw []byte) (value, ok bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Bool {
		d.add(path, "must be true or false")
		return false, false
	}
	return r.Bool(), true
}

// parseNumber returns the value of a JSON number within the range of a double.
func parseNumber(raw []byte) (float64, bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Number {
		return 0, false
	}
	f := r.Float()
	return f, r.Err() == nil
}

// parseInteger returns the value of a JSON number that is an integer.
func parseInteger(raw []byte) (int64, bool) {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Number {
		return 0, false
	}
	n := r.Int()
	return n, r.Err() == nil
}

// unknown says what is known of a member that has no row.
func unknown[T any](d *decoder, name string, rows []member[T]) string {
	if name == "name" || name == "weight" {
		return "unknown member: it is for targets"
	}
	if why := elsewhere(name); why != "" {
		return why
	}
	names := make([]string, 0, len(rows))
	for i := range rows {
		names = append(names, rows[i].Name)
	}
	return "unknown member" + d.meant(name, names)
}

// join appends a member name to a path, quoted where it would be unclear.
func join(path, name string) string {
	plain := name != "" && len(name) <= maxQuote && strings.TrimLeft(name, letters+digits+"-_$") == ""
	switch {
	case !plain:
		return path + "[" + quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

const maxQuote = 64 // bytes of a foreign name repeated in an error

// quote renders a name from outside for an error, shortened and escaped.
func quote(name string) string {
	if len(name) > maxQuote {
		name = name[:maxQuote] + "…"
	}
	return strconv.Quote(name)
}
