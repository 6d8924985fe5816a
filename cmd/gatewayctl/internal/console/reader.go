package console

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"
)

// ErrInterrupted says that Ctrl-C was pressed at the prompt.
var ErrInterrupted = errors.New("interrupted")

// keyInterrupt is what Ctrl-C sends to a program that reads keys itself.
const keyInterrupt = 3

// LineReader reads lines from a terminal, with editing and history.
type LineReader struct {
	console *Console
	keys    *keys
	line    *term.Terminal
}

// NewLineReader returns a reader of the standard input that writes its prompts to
// the standard error.
func (c *Console) NewLineReader() *LineReader {
	r := &LineReader{console: c, keys: &keys{in: c.In, out: c}}
	r.line = term.NewTerminal(r.keys, "")
	return r
}

// Read shows the prompt and returns a line, io.EOF at the end of the input, and
// [ErrInterrupted]. What was pasted as several lines is one, and so are lines that
// end with a backslash. The terminal is in its own mode again when it returns.
func (r *LineReader) Read(ctx context.Context, prompt string) (string, error) {
	fd := int(r.console.In.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }()
	if width, height, err := term.GetSize(fd); err == nil {
		_ = r.line.SetSize(width, height)
	}
	r.line.SetBracketedPasteMode(true)
	defer r.line.SetBracketedPasteMode(false)
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() { // ends with the line; when ctx ends first, with the process
		text, err := r.lines(prompt)
		done <- result{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// lines reads until a line ends the text.
func (r *LineReader) lines(prompt string) (string, error) {
	var text strings.Builder
	for {
		r.line.SetPrompt(prompt)
		line, err := r.line.ReadLine()
		pasted := errors.Is(err, term.ErrPasteIndicator)
		if err != nil && !pasted {
			return "", r.ended(err)
		}
		head, goesOn := strings.CutSuffix(line, `\`)
		switch {
		case pasted:
			text.WriteString(line + "\n")
		case goesOn:
			text.WriteString(head + "\n")
		default:
			return text.String() + line, nil
		}
		prompt = strings.Repeat(".", max(len(strings.TrimSpace(prompt)), 1)) + " "
	}
}

// ended tells Ctrl-C from the end of the input. The line that was begun is dropped
// with its terminal; the history stays.
func (r *LineReader) ended(err error) error {
	if !r.keys.interrupted.Swap(false) {
		return err
	}
	fresh := term.NewTerminal(r.keys, "")
	fresh.History = r.line.History
	r.line = fresh
	r.console.raw("^C\r\n")
	return ErrInterrupted
}

// keys is the terminal, with an eye on Ctrl-C.
type keys struct {
	in          *os.File
	out         *Console
	interrupted atomic.Bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	for _, b := range p[:n] {
		if b == keyInterrupt {
			k.interrupted.Store(true)
		}
	}
	return n, err
}

func (k *keys) Write(p []byte) (int, error) {
	k.out.raw(string(p))
	return len(p), nil
}

var _ io.ReadWriter = (*keys)(nil)
