package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// The families of models, by the wire they are asked over.
const (
	gemini = "gemini"
	claude = "claude"
)

// The shapes of an answer: text alone, thoughts and then text, text and then
// calls of a tool.
const (
	shapeText     = "text"
	shapeThinking = "thinking"
	shapeTools    = "tools"
)

// What the platform does wrong on purpose.
const (
	faultNone   = "none"
	faultRefuse = "refuse" // an error of status 429
	faultCut    = "cut"    // half of the answer, and no end
)

// The protocols of a connection: HTTP/1.1 in the clear, HTTP/2 over TLS.
const (
	h1 = "h1"
	h2 = "h2"
)

// job is one call: what is asked for, how, and what the caller does in between.
type job struct {
	// Mark is what tells this answer from all others: 16 hexadecimal digits, in the
	// prompt and in every piece of the answer.
	Mark string
	// Pieces is how many pieces the answer has, one each Pace. The first Thoughts of
	// them are thoughts, the last Calls are arguments of a tool.
	Pieces, Thoughts, Calls int
	Pace                    time.Duration
	Family, Shape, Fault    string
	// Proto is that of the connection to the platform.
	Proto string
	// Unary asks for the whole answer at once, which comes after one Pace.
	Unary bool
	// Leave is after how many pieces the caller closes the stream; 0 is never.
	Leave int
	// Cancel is when the caller's context ends; 0 is never.
	Cancel time.Duration
	// Shared is a prompt that others have too, so that a cache may answer it.
	Shared bool
}

// promptTokens, visibleTokens and thoughtTokens are the usage of the answer.
func (j *job) promptTokens() int64 {
	n, err := strconv.ParseInt(j.Mark[:4], 16, 64)
	if err != nil {
		return 1
	}
	return 100 + n%1000
}
func (j *job) visibleTokens() int64 { return 3 * int64(j.Pieces-j.Thoughts) }
func (j *job) thoughtTokens() int64 { return 5 * int64(j.Thoughts) }

// prompt is what the emulator is told by the text of the prompt.
func (j *job) prompt() string {
	return fmt.Sprintf("soak %s pieces %d thoughts %d calls %d pace %d shape %s fault %s",
		j.Mark, j.Pieces, j.Thoughts, j.Calls, j.Pace.Milliseconds(), j.Shape, j.Fault)
}

// parsePrompt is the inverse of prompt.
func parsePrompt(text string) (*job, error) {
	var (
		j    job
		pace int64
	)
	_, err := fmt.Sscanf(text, "soak %s pieces %d thoughts %d calls %d pace %d shape %s fault %s",
		&j.Mark, &j.Pieces, &j.Thoughts, &j.Calls, &pace, &j.Shape, &j.Fault)
	switch {
	case err != nil:
		return nil, fmt.Errorf("a prompt that no job wrote: %w", err)
	case !isMark(j.Mark) || j.Pieces < 1 || j.Thoughts < 0 || j.Calls < 0 || j.Thoughts+j.Calls > j.Pieces:
		return nil, fmt.Errorf("a prompt with numbers that no job has: %q", text)
	}
	j.Pace = time.Duration(pace) * time.Millisecond
	return &j, nil
}

// lasts is how long the platform takes for the whole answer, about.
func (j *job) lasts() time.Duration {
	if j.Unary {
		return firstPiece + j.Pace
	}
	return firstPiece + time.Duration(j.Pieces)*j.Pace
}

// model is the model that is asked for, without the slug.
func (j *job) model() string {
	if j.Family == claude {
		return "anthropic.claude-sonnet-4-5@20250929"
	}
	return "gemini-2.5-flash"
}

// finish is the finish reason that a whole answer has.
func (j *job) finish() string {
	if j.Calls > 0 {
		return "tool_calls"
	}
	return "stop"
}

// mix says what jobs are made of.
type mix struct {
	Pace  time.Duration
	Proto string // "mix", h1 or h2
	// Plain leaves out what needs a gateway: shared prompts, and what a caller or the
	// platform does wrong.
	Plain bool
}

// The shares of what is special, in calls of a hundred. The rest are streams that
// are read to their end.
const (
	shareUnary  = 5
	shareShared = 10
	shareLeave  = 4
	shareCancel = 3
	shareRefuse = 2
	shareCut    = 2
	shareTools  = 15
	shareThinks = 15
	shareClaude = 40
)

// sharedPrompts is how many prompts there are that several calls have.
const sharedPrompts = 50

// minPieces and maxPieces bound the length of an answer.
const (
	minPieces = 5
	maxPieces = 15
)

// pickProto chooses a protocol.
func (m mix) pickProto(rng *rand.Rand) string {
	if m.Proto == h1 || m.Proto == h2 {
		return m.Proto
	}
	return []string{h1, h2}[rng.IntN(2)]
}

// job makes up the next call of a slot.
func (m mix) job(rng *rand.Rand) *job {
	j := &job{
		Mark: fmt.Sprintf("%016x", rng.Uint64()), Pace: m.Pace, Family: gemini, Shape: shapeText, Fault: faultNone,
		Pieces: minPieces + rng.IntN(maxPieces-minPieces+1), Proto: m.pickProto(rng),
	}
	if rng.IntN(100) < shareClaude {
		j.Family = claude
	}
	switch n := rng.IntN(100); {
	case n < shareTools:
		j.Shape, j.Calls = shapeTools, 1+j.Pieces/2
	case n < shareTools+shareThinks:
		j.Shape, j.Thoughts = shapeThinking, 1+j.Pieces/3
	}
	j.Unary = rng.IntN(100) < shareUnary
	if !m.Plain {
		m.special(j, rng)
	}
	return j
}

// special makes some of the jobs more than a plain answer.
func (m mix) special(j *job, rng *rand.Rand) {
	n := rng.IntN(100)
	under := func(share int) bool { n -= share; return n < 0 }
	switch {
	case under(shareShared):
		k := rng.Uint64N(sharedPrompts)
		// All that the key of a cache depends on follows from k.
		*j = job{
			Mark: fmt.Sprintf("%04x5a5a5a5a5a5a", k), Pace: m.Pace / 10, Family: gemini, Shape: shapeText, Fault: faultNone,
			Pieces: minPieces, Unary: j.Unary, Shared: true, Proto: j.Proto,
		}
		if k%2 == 1 {
			j.Family = claude
		}
	case under(shareLeave):
		j.Unary, j.Leave = false, 1+rng.IntN(j.Pieces-1)
	case under(shareCancel):
		j.Cancel = time.Duration(1 + rng.Int64N(int64(j.lasts())))
	case under(shareRefuse):
		j.Fault = faultRefuse
	case under(shareCut):
		j.Unary, j.Fault = false, faultCut
	}
}

// The pieces of an answer: [mark.number.time], the time being that of sending in
// nanoseconds since 1970.
const (
	markDigits  = 16
	pieceLength = 1 + markDigits + 1 + 5 + 1 + 19 + 1
)

// piece writes one.
func piece(mark string, number int, at time.Time) string {
	return fmt.Sprintf("[%s.%05d.%019d]", mark, number, at.UnixNano())
}

// isMark reports whether s could be a mark.
func isMark(s string) bool {
	return len(s) == markDigits && strings.Trim(s, "0123456789abcdef") == ""
}

// cutPiece reads the piece that s begins with.
func cutPiece(s string) (mark string, number int, at time.Time, ok bool) {
	if len(s) < pieceLength || s[0] != '[' || s[17] != '.' || s[23] != '.' || s[pieceLength-1] != ']' || !isMark(s[1:17]) {
		return "", 0, time.Time{}, false
	}
	number, err := strconv.Atoi(s[18:23])
	if err != nil {
		return "", 0, time.Time{}, false
	}
	ns, err := strconv.ParseInt(s[24:pieceLength-1], 10, 64)
	return s[1:17], number, time.Unix(0, ns), err == nil
}
