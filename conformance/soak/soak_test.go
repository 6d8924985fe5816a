package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain is the other processes too.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(exitCode(runRole(role, os.Stdin, os.Stdout)))
	}
	os.Exit(m.Run())
}

// TestManyStreamsAtOnce is a short run: all that is checked but what a busy machine
// can't keep.
func TestManyStreamsAtOnce(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), options{
		Streams: 300, For: 3 * time.Second, Pace: 100 * time.Millisecond, Every: 500 * time.Millisecond, Ramp: time.Second,
		Configs: []string{configFull, configBare}, Proto: "mix", Command: "go test", Seed: rand.Uint64(), HTTP2Streams: 250, Out: &out,
	})
	t.Log(out.String())
	if err != nil {
		t.Error(err)
	}
}

// TestPromptsSayTheJob has the emulator read what a caller wrote, in both schemas.
func TestPromptsSayTheJob(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		j := (mix{Pace: 2 * time.Second, Proto: "mix"}).job(rng)
		got, err := parsePrompt(j.prompt())
		if err != nil {
			t.Fatal(err)
		}
		want := &job{Mark: j.Mark, Pieces: j.Pieces, Thoughts: j.Thoughts, Calls: j.Calls, Pace: j.Pace, Shape: j.Shape, Fault: j.Fault}
		if *got != *want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if j.Leave < 0 || j.Leave >= j.Pieces || j.Thoughts+j.Calls > j.Pieces {
			t.Fatalf("a job that can't be: %+v", j)
		}
	}
	for _, text := range []string{"", "Say hello.", "soak x pieces 1 thoughts 0 calls 0 pace 1 shape text fault none"} {
		if j, err := parsePrompt(text); err == nil {
			t.Errorf("%q is %+v", text, j)
		}
	}
}

// TestTheWireIsJSON reads all that the emulator writes.
func TestTheWireIsJSON(t *testing.T) {
	for _, family := range []string{gemini, claude} {
		for _, shape := range []job{{Pieces: 5}, {Pieces: 5, Thoughts: 2}, {Pieces: 5, Calls: 3}, {Pieces: 5, Calls: 5}} {
			j := shape
			j.Family, j.Mark = family, "0123456789abcdef"
			w := wireOf(&j)
			if text := w.whole(); !json.Valid([]byte(text)) || strings.Count(text, j.Mark+".") != j.Pieces {
				t.Errorf("%s, whole: %s", family, text)
			}
			for n := 1; n <= j.Pieces; n++ {
				for line := range strings.Lines(w.events(n, time.Now())) {
					if text, ok := strings.CutPrefix(line, "data: "); ok && !json.Valid([]byte(text)) {
						t.Errorf("%s, piece %d: %s", family, n, text)
					}
				}
			}
		}
	}
}

const testMark, otherMark = "0123456789abcdef", "fedcba9876543210"

// feed gives an answer of four pieces, two of text and two of arguments.
func feed(a *answer) {
	now := time.Now()
	a.text(piece(testMark, 1, now), now)
	a.text(piece(testMark, 2, now), now)
	a.argument(0, `{"piece":"`+piece(testMark, 3, now), now)
	a.argument(0, piece(testMark, 4, now)+`"}`, now)
	a.finish, a.done = "tool_calls", true
	a.use(a.job.promptTokens(), 12)
}

func TestWhatAnswersMustBe(t *testing.T) {
	now := time.Now()
	tests := []struct {
		name  string
		feed  func(*answer)
		wrong string // "" is nothing
	}{
		{"as it must be", feed, ""},
		{"a piece of another answer", func(a *answer) { a.text(piece(otherMark, 1, now), now); feed(a) }, "of another answer"},
		{"a piece of another answer at the end", func(a *answer) { feed(a); a.text(piece(otherMark, 5, now), now) }, "of another answer"},
		{"a piece of another answer in the arguments", func(a *answer) { a.argument(0, `{"piece":"`+piece(otherMark, 1, now)+`"}`, now) }, "of another answer"},
		{"a piece twice", func(a *answer) { a.text(piece(testMark, 1, now), now); feed(a) }, "piece 1 came where 2 was due"},
		{"a piece that is missing", func(a *answer) { a.text(piece(testMark, 2, now), now) }, "piece 2 came where 1 was due"},
		{"nothing", func(*answer) {}, "the end is not marked"},
		{"an end too early", func(a *answer) { a.text(piece(testMark, 1, now), now); a.done = true }, "1 pieces of 4"},
		{"a text that nobody sent", func(a *answer) { a.text("Hello.", now) }, "no piece of an answer"},
		{"a piece with a text behind", func(a *answer) { a.text(piece(testMark, 1, now)+" ", now) }, "no piece of an answer"},
		{"text as thoughts", func(a *answer) { a.thought(piece(testMark, 1, now), now); a.next = 1; feed(a) }, "1 thoughts"},
		{"arguments that are cut", func(a *answer) { feed(a); a.arguments[0].WriteString("{") }, "are no JSON"},
		{"another finish reason", func(a *answer) { feed(a); a.finish = "length" }, "finish reason"},
		{"no usage", func(a *answer) { feed(a); a.usages = 0 }, "the usage came 0 times"},
		{"another usage", func(a *answer) { feed(a); a.completion++ }, "usage 391 and 13, want 391 and 12"},
		{"no end", func(a *answer) { feed(a); a.done = false }, "the end is not marked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAnswer(&job{Mark: testMark, Pieces: 4, Calls: 2})
			tt.feed(a)
			err := a.whole()
			if (tt.wrong == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("got %v, want %q", err, tt.wrong)
			}
		})
	}
}

// TestHowCallsMayEnd has one call end in each of the ways.
func TestHowCallsMayEnd(t *testing.T) {
	refused := &refusal{status: 429, code: "rate_limit_exceeded"}
	pieces := func(a *answer, n int) {
		for i := range n {
			a.text(piece(testMark, i+1, time.Now()), time.Now())
		}
	}
	tests := []struct {
		name   string
		job    job
		pieces int
		done   bool
		err    error
		good   bool
	}{
		{"refused as asked", job{Fault: faultRefuse}, 0, false, refused, true},
		{"refused with another error", job{Fault: faultRefuse}, 0, false, errors.New("boom"), false},
		{"refused and answered", job{Fault: faultRefuse}, 4, true, nil, false},
		{"refused unasked", job{}, 0, false, refused, false},
		{"cut as asked", job{Fault: faultCut}, 2, false, &refusal{code: "stream_interrupted"}, true},
		{"cut with a good end", job{Fault: faultCut}, 2, true, nil, false},
		{"cut with pieces lost", job{Fault: faultCut}, 1, false, &refusal{code: "stream_interrupted"}, false},
		{"canceled as asked", job{Cancel: 1}, 1, false, t.Context().Err(), false},
		{"canceled with its error", job{Cancel: 1}, 1, false, &refusal{code: "canceled"}, true},
		{"canceled unasked", job{}, 1, false, &refusal{code: "canceled"}, false},
		{"left as asked", job{Leave: 2}, 2, false, nil, true},
		{"ended before the caller left", job{Leave: 3}, 2, true, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := tt.job
			j.Mark, j.Pieces = testMark, 4
			a := newAnswer(&j)
			pieces(a, tt.pieces)
			a.done = tt.done
			l := &load{asker: &viaFront{}}
			if err := l.judge(&j, a, tt.err); (err == nil) != tt.good {
				t.Errorf("got %v", err)
			}
		})
	}
}

// good is a measurement that keeps all criteria of a run with 100 streams.
func good() *measurement {
	m := &measurement{Config: configFull, Go: tally{Calls: 50, Hits: 1}, Front: tally{Calls: 50, Canceled: 5}}
	for i := range 30 {
		s := sample{Heap: 100 << 20, Goroutines: 300, At: time.Unix(int64(10*i), 0)}
		s.Emulator.Open = 90
		m.Gateway, m.Emulator, m.Load = append(m.Gateway, s), append(m.Emulator, s), append(m.Load, s)
	}
	m.Idle.Emulator.Left = 5
	m.Closed = closedGateway{Base: sample{Goroutines: 2, FDs: 9}, Closed: sample{Goroutines: 2, FDs: 9}, Reported: 100, Measured: 95}
	return m
}

func TestCriteria(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*measurement)
		want  string // the criterion that is not kept, "" for none
	}{
		{"all kept", func(*measurement) {}, ""},
		{"an answer of another call", func(m *measurement) { m.Front.Failed = 1; m.Front.Failures = []string{"mixed"} }, "answers that are not as they must be: 1"},
		{"a stream left open", func(m *measurement) { m.Idle.Emulator.Open = 1 }, "still open on the platform"},
		{"callers that nobody followed", func(m *measurement) { m.Go.Left = 20; m.Idle.Emulator.Left = 22 }, "left with: 22, not at least 23"},
		{"callers that were followed before", func(m *measurement) { m.Go.Left = 20; m.Before.Emulator.Left = 5; m.Idle.Emulator.Left = 25 }, "left with: 20"},
		{"a request of nobody's", func(m *measurement) { m.Idle.Emulator.Strange = 1 }, "requests that no caller made"},
		{"a goroutine too many", func(m *measurement) { m.Closed.Closed.Goroutines++ }, "goroutines after Close: 3, not 2"},
		{"a file too many", func(m *measurement) { m.Closed.Closed.FDs++ }, "file descriptors after Close: 10, not 9"},
		{"goroutines for nothing", func(m *measurement) { m.Gateway[3].Goroutines = 1901 }, "goroutines of the gateway, most: 1901"},
		{"a record lost", func(m *measurement) { m.Closed.Dropped = 1 }, "records that the log dropped"},
		{"calls that nobody counted", func(m *measurement) { m.Closed.Reported = 94 }, "calls in the live analytics: 94, not 95 to 100"},
		{"calls counted twice", func(m *measurement) { m.Closed.Measured = 101 }, "calls in the metrics: 101"},
		{"no load", func(m *measurement) { m.Emulator[7].Emulator.Open = 84 }, "streams open on the platform, least: 84"},
		{"a heap that grows", func(m *measurement) {
			for i := range m.Gateway {
				m.Gateway[i].Heap += int64(i) << 20
			}
		}, "live heap of the gateway"},
		{"a heap that swings", func(m *measurement) {
			for i := range m.Gateway {
				m.Gateway[i].Heap += int64(i%3) << 24
			}
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := good()
			tt.spoil(m)
			plain := &measurement{Config: "none", Load: m.Load, Emulator: []sample{m.Emulator[0]}}
			var out bytes.Buffer
			o := &options{Streams: 100, Pace: time.Second, Judged: true, Out: &out}
			err := o.report([]*measurement{plain, m})
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestQuantiles(t *testing.T) {
	var h histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	q := h.quantiles()
	within := func(name string, got, want time.Duration) {
		if got < want || got > want*103/100 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	within("p50", q.P50, 500*time.Millisecond)
	within("p99", q.P99, 990*time.Millisecond)
	within("max", q.Max, time.Second)
	if q.Count != 1000 {
		t.Errorf("count is %d", q.Count)
	}
}

// TestThePageGetsThePart has the part of the page replaced, and nothing else.
func TestThePageGetsThePart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# Load\n<!-- measured:load -->\nold\n<!-- /measured:load -->\nrest\n")
	if err := writePage(path, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "# Load\n<!-- measured:load -->\n\nnew\n\n<!-- /measured:load -->\nrest\n"; err != nil || string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write("# Load\n")
	if err := writePage(path, "new\n"); err == nil {
		t.Error("a page without the part is no error")
	}
}

// TestWhatCannotWorkIsSaid has runs refused before anything begins.
func TestWhatCannotWorkIsSaid(t *testing.T) {
	fine := options{Streams: 10, For: time.Second, Pace: time.Second, Every: time.Second, Proto: "mix", HTTP2Streams: 100, Configs: []string{configBare}}
	if err := fine.check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*options){
		"raise it with ulimit -n": func(o *options) { o.Streams, o.Proto = 1<<30, h1 },
		"-streams must be":        func(o *options) { o.Streams = 1 },
		"-proto spdy":             func(o *options) { o.Proto = "spdy" },
		"-config half":            func(o *options) { o.Configs = []string{"half"} },
	} {
		o := fine
		spoil(&o)
		if err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
