package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// answer is what has come of the answer to a job, checked as it comes.
type answer struct {
	job  *job
	next int // the number of the piece that is due
	// wrong is the first thing that is not as it must be; nothing is looked at after it.
	wrong error

	begun, first, last time.Time
	transit, gaps      *histogram // nil where times mean nothing

	// kinds counts the pieces of each kind.
	thoughts, texts, calls int
	arguments              map[int]*strings.Builder
	rest                   string // of a shared answer, the beginning of a piece
	finish                 string
	prompt, completion     int64
	usages                 int
	done                   bool // the end was marked: [DONE], or io.EOF
	hit                    bool
}

func newAnswer(j *job) *answer { return &answer{job: j, next: 1, begun: time.Now()} }

func (a *answer) fail(format string, args ...any) {
	if a.wrong == nil {
		a.wrong = fmt.Errorf(format, args...)
	}
}

// text takes a delta that is made of whole pieces and nothing else. A cache may cut
// what it plays again otherwise.
func (a *answer) text(s string, seen time.Time) {
	if a.job.Shared {
		s = a.rest + s
		whole := len(s) - len(s)%pieceLength
		s, a.rest = s[:whole], s[whole:]
	}
	a.texts += a.take(s, true, seen)
}

// thought takes a delta of thoughts.
func (a *answer) thought(s string, seen time.Time) {
	a.thoughts += a.take(s, true, seen)
}

// argument takes a delta of the arguments of a call, which is JSON around pieces.
func (a *answer) argument(call int, s string, seen time.Time) {
	if a.arguments == nil {
		a.arguments = map[int]*strings.Builder{}
	}
	if a.arguments[call] == nil {
		a.arguments[call] = new(strings.Builder)
	}
	a.arguments[call].WriteString(s)
	a.calls += a.take(s, false, seen)
}

// take checks the pieces of s and returns how many there are. With only, there may
// be nothing else.
func (a *answer) take(s string, only bool, seen time.Time) int {
	count := 0
	for s != "" && a.wrong == nil {
		mark, number, sent, ok := cutPiece(s)
		if !ok {
			if only {
				a.fail("%q is no piece of an answer", s)
			}
			next := strings.IndexByte(s[1:], '[')
			if next < 0 {
				break
			}
			s = s[1+next:]
			continue
		}
		a.one(mark, number, sent, seen)
		count++
		s = s[pieceLength:]
	}
	return count
}

// one checks one piece.
func (a *answer) one(mark string, number int, sent, seen time.Time) {
	switch {
	case mark != a.job.Mark:
		a.fail("a piece has the mark %s of another answer", mark)
	case number != a.next:
		a.fail("piece %d came where %d was due", number, a.next)
	}
	a.next++
	if a.first.IsZero() {
		a.first = seen
	}
	if a.transit != nil {
		a.transit.add(seen.Sub(sent))
		if !a.last.IsZero() {
			a.gaps.add(seen.Sub(a.last))
		}
	}
	a.last = seen
}

// use takes the usage that came with the answer.
func (a *answer) use(prompt, completion int64) {
	a.prompt, a.completion = prompt, completion
	a.usages++
}

// whole checks an answer that was read to its end.
func (a *answer) whole() error {
	j := a.job
	texts := j.Pieces - j.Thoughts - j.Calls
	switch {
	case a.wrong != nil:
	case !a.done:
		a.fail("the end is not marked")
	case a.next != j.Pieces+1 || a.rest != "":
		a.fail("%d pieces of %d", a.next-1, j.Pieces)
	case a.thoughts != j.Thoughts || a.texts != texts || a.calls != j.Calls:
		a.fail("%d thoughts, %d texts and %d pieces of arguments, want %d, %d and %d", a.thoughts, a.texts, a.calls, j.Thoughts, texts, j.Calls)
	case a.finish != j.finish():
		a.fail("finish reason %q, want %q", a.finish, j.finish())
	case a.usages != 1:
		a.fail("the usage came %d times", a.usages)
	case a.prompt != j.promptTokens() || a.completion != j.visibleTokens()+j.thoughtTokens():
		a.fail("usage %d and %d, want %d and %d", a.prompt, a.completion, j.promptTokens(), j.visibleTokens()+j.thoughtTokens())
	}
	for call, text := range a.arguments {
		if !json.Valid([]byte(text.String())) {
			a.fail("the arguments of call %d are no JSON: %q", call, text)
		}
	}
	return a.wrong
}
