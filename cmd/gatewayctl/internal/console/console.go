// Package console writes for people at a terminal and for pipes: colours and
// progress only where somebody sees them, and no control characters of others.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"
)

// Style is how a text looks on a terminal.
type Style string

// The styles, as parameters of the terminal's sequences.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Console is the three streams of a process. It is safe for concurrent use.
type Console struct {
	// In is the standard input.
	In *os.File
	// InTerminal, OutTerminal and ErrTerminal say which streams are terminals.
	InTerminal, OutTerminal, ErrTerminal bool

	colours bool // where the stream is a terminal
	moving  bool // progress may be drawn

	mu       sync.Mutex
	out, err io.Writer
	hidden   []string
	spinning bool // the standard error's line holds a spinner
}

// New looks at the streams and the environment. NO_COLOR takes the colours, and
// TERM=dumb and CI take progress too.
//
// Source: https://no-color.org
func New(in, out, errs *os.File, getenv func(string) string) *Console {
	is := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	c := &Console{In: in, out: out, err: errs, InTerminal: is(in), OutTerminal: is(out), ErrTerminal: is(errs)}
	capable := getenv("TERM") != "dumb" && getenv("CI") == ""
	c.colours = capable && getenv("NO_COLOR") == ""
	c.moving = capable && c.ErrTerminal
	return c
}

// NoColours takes the colours away.
func (c *Console) NoColours() { c.colours = false }

// Hide keeps a secret out of everything that is written after, but for answers of
// models. Texts of less than four characters would hide too much, and are not
// taken.
func (c *Console) Hide(secret string) {
	if len(secret) < 4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hidden = append(c.hidden, secret, "[redacted]")
}

// Redact replaces the secrets of [Console.Hide].
func (c *Console) Redact(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.NewReplacer(c.hidden...).Replace(text)
}

// Out writes what the program is for. On a terminal, control characters of the
// text become visible.
func (c *Console) Out(text string) error {
	if c.OutTerminal {
		text = Safe(text)
	}
	return c.write(c.out, text)
}

// Outf writes what the program is for, formatted and without secrets.
func (c *Console) Outf(format string, args ...any) error {
	return c.Out(c.Redact(fmt.Sprintf(format, args...)))
}

// OutStyled is Out in a style.
func (c *Console) OutStyled(style Style, text string) error {
	text = c.Redact(text)
	if c.OutTerminal {
		text = Safe(text)
	}
	return c.write(c.out, c.paint(c.OutTerminal, style, text))
}

// Say writes a remark to the standard error, in a style and without secrets.
func (c *Console) Say(style Style, format string, args ...any) {
	text := c.Redact(fmt.Sprintf(format, args...))
	if c.ErrTerminal {
		text = Safe(text)
	}
	_ = c.write(c.err, c.paint(c.ErrTerminal, style, text)) // nobody is left to be told
}

// raw writes sequences to the terminal of the standard error.
func (c *Console) raw(text string) { _ = c.write(c.err, text) }

func (c *Console) write(w io.Writer, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spinning && text != "" && !strings.HasPrefix(text, "\r") {
		_, _ = io.WriteString(c.err, eraseLine)
	}
	_, err := io.WriteString(w, text)
	return err
}

// eraseLine empties the line of the cursor.
const eraseLine = "\r\x1b[K"

func (c *Console) paint(terminal bool, style Style, text string) string {
	body := strings.TrimRight(text, "\n")
	if !terminal || !c.colours || style == Plain || body == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + body + "\x1b[0m" + text[len(body):]
}

// Line is a text as one line, whose control characters are visible: what others wrote
// must not look like a line of the program's own, in a pipe neither.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, Safe(text))
}

// Safe replaces control characters but for tabs and line feeds: a model must not
// be able to steer the terminal. The ends of lines of other systems are those of
// this one.
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069') {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
