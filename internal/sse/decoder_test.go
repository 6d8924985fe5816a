package sse

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// event is an Event that owns its text.
type event struct {
	Name, Data string
	Stray      bool
}

// drain reads all events and the error that follows them.
func drain(r io.Reader, maxEvent int) ([]event, error) {
	var events []event
	d := NewDecoder(r, maxEvent)
	for {
		e, err := d.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event{string(e.Name), string(e.Data), e.Stray})
	}
}

func data(lines ...string) []event {
	var events []event
	for _, line := range lines {
		events = append(events, event{Data: line})
	}
	return events
}

func stray(text string) event { return event{Data: text, Stray: true} }

var streams = []struct {
	name, in string
	want     []event
}{
	{"empty input", "", nil},
	{"blank lines only", "\n\r\n\r\n\n", nil},
	{"one event", "data: a\n\n", data("a")},
	{"line ends of all kinds", "data: a\r\rdata: b\n\ndata: c\r\n\r\n", data("a", "b", "c")},
	{"mixed line ends in one event", "data: a\rdata: b\r\ndata: c\n\n", data("a\nb\nc")},
	{"a line feed then a carriage return are two line ends", "data: a\n\rdata: b\n\n", data("a", "b")},
	{"byte order mark", "\ufeffdata: a\n\n", data("a")},
	{"only one byte order mark", "\ufeff\ufeffdata: a\n\n", []event{stray("\ufeffdata: a")}},
	{"byte order mark later", "data: a\n\n\ufeff\n\n", []event{{Data: "a"}, stray("\ufeff")}},
	{"byte order mark alone", "\ufeff\ndata: a\n\n", data("a")},
	{"comments", ": x\n:\ndata: a\n:keep-alive\ndata: b\n\n: x\n\n", data("a\nb")},
	{"one leading space is stripped", "data:  a \n\ndata:b\n\ndata: \n\n", data(" a ", "b", "")},
	{"a tab is not stripped", "data:\ta\n\n", data("\ta")},
	{"data without colon", "data\n\ndata\ndata\n\n", data("", "\n")},
	{"colons in the value", "data: a: b:c\n\n", data("a: b:c")},
	{"empty lines of data", "data: a\ndata:\ndata: b\ndata\n\n", data("a\n\nb\n")},
	{"name", "event: x\ndata: a\n\ndata: b\n\n", []event{{Name: "x", Data: "a"}, {Data: "b"}}},
	{"the last name wins", "event: xyz\ndata: a\nevent: v\n\n", []event{{Name: "v", Data: "a"}}},
	{"an event field without value resets the name", "event: x\nevent\ndata: a\n\n", data("a")},
	{"no data, no event, and the name is gone", "event: x\n\ndata: a\n\n", data("a")},
	{"id and retry", "id: 1\nretry: 2\ndata: a\nid\n\n", data("a")},
	{"not closed at the end", "data: a\n\nevent: x\ndata: b\ndata: c", []event{{Data: "a"}, {Name: "x", Data: "b\nc"}}},
	{"not closed, carriage return at the end", "data: a\r", data("a")},
	{"done", "data: {}\n\ndata: [DONE]\n\n", data("{}", "[DONE]")},
	{"zero bytes are text", "data: \x00\n\n", data("\x00")},

	{"stray text only", "upstream failed", []event{stray("upstream failed")}},
	{"stray text of one line", "data: a\n\n{\"error\": 1}\n\n", []event{{Data: "a"}, stray("{\"error\": 1}")}},
	{"stray text of several lines", "{\r\n  \"error\": {\r\n\r\n  }\r\n}\r\n\r\n", []event{stray("{\n  \"error\": {\n\n  }\n}")}},
	{"stray text ends at a field", "{\n\n}\n\ndata: a\n\n", []event{stray("{\n\n}"), {Data: "a"}}},
	{"stray text ends at an id", "a\nid: 1\nb\n", []event{stray("a"), stray("b")}},
	{"stray text goes on over a comment", "a\n: x\nb\n", []event{stray("a\nb")}},
	{"white space is no stray text", "  \n\t\ndata: a\n\n   \n", data("a")},
	{"white space inside stray text stays", "a\n  \n b\n  \n", []event{stray("a\n  \n b")}},
	{"stray text after open data", "data: a\n{}\n\nx\n", []event{{Data: "a"}, stray("{}\n\nx")}},
	{"stray text amid an event", "event: n\ndata: a\nx\ny\ndata: b\n\n", []event{stray("x\ny"), {Name: "n", Data: "a\nb"}}},
	{"stray text after open data at the end", "data: a\nx", []event{{Data: "a"}, stray("x")}},
	{"names that only resemble fields", "Data: a\ndata : b\n data: c\ndatax\n", []event{stray("Data: a\ndata : b\n data: c\ndatax")}},
}

func TestDecoder(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			got, err := drain(strings.NewReader(tt.in), 0)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if err != io.EOF {
				t.Errorf("error = %v, want io.EOF", err)
			}
		})
	}
}

func TestDecoderReadsAlikeHoweverTheInputIsCut(t *testing.T) {
	readers := map[string]func(io.Reader) io.Reader{
		"one byte":         iotest.OneByteReader,
		"half":             iotest.HalfReader,
		"data with EOF":    iotest.DataErrReader,
		"empty reads":      func(r io.Reader) io.Reader { return &stutter{r: iotest.OneByteReader(r)} },
		"one byte and EOF": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
	}
	for _, tt := range streams {
		for name, cut := range readers {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				got, err := drain(cut(strings.NewReader(tt.in)), 0)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if err != io.EOF {
					t.Errorf("error = %v, want io.EOF", err)
				}
			})
		}
	}
}

// stutter answers every other Read with nothing.
type stutter struct {
	r    io.Reader
	idle bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.idle = !s.idle; s.idle {
		return 0, nil
	}
	return s.r.Read(p)
}

// shredder cuts its input at random.
type shredder struct {
	rest string
	rand *rand.Rand
}

func (s *shredder) Read(p []byte) (int, error) {
	if s.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, s.rest[:min(len(s.rest), 1+s.rand.IntN(3000))])
	s.rest = s.rest[n:]
	return n, nil
}

// TestDecoderOfLongStreams moves blocks through many fills of the buffer.
func TestDecoderOfLongStreams(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		in := randomStream(random)
		want, _ := drain(strings.NewReader(in), 0)
		got, err := drain(&shredder{rest: in, rand: random}, 0)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Fatalf("seed %d: error %v, events (-want +got):\n%s", seed, err, diff)
		}
		if diff := cmp.Diff(reference(in), got); diff != "" {
			t.Fatalf("seed %d: events (-want +got):\n%s", seed, diff)
		}
	}
}

func randomStream(random *rand.Rand) string {
	lines := []string{"data", "data: x", "event: n", ": comment", "", "", "id: 7", "stray", "  ", "}"}
	ends := []string{"\n", "\r\n", "\r"}
	var b strings.Builder
	for range 300 {
		line := lines[random.IntN(len(lines))]
		b.WriteString(line)
		if line == "data: x" && random.IntN(3) == 0 {
			b.WriteString(strings.Repeat("0123456789", random.IntN(2500)))
		}
		b.WriteString(ends[random.IntN(len(ends))])
	}
	return b.String()
}

// reference decodes a whole stream in the plainest way.
func reference(in string) []event {
	in = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(in)
	var events []event
	var name string
	var data, text []string
	flush := func() {
		if s := strings.TrimRight(strings.Join(text, "\n"), " \n"); s != "" {
			events = append(events, stray(s))
		}
		text = nil
	}
	for line := range strings.SplitSeq(in, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch key {
		case "data", "event", "id":
			flush()
		}
		switch {
		case key == "data":
			data = append(data, value)
		case key == "event":
			name = value
		case line == "" && data != nil:
			events = append(events, event{Name: name, Data: strings.Join(data, "\n")})
			data, name = nil, ""
		case line == "":
			name = ""
		}
		if blank := strings.TrimSpace(line) == ""; blank && text != nil || !blank && key != "" && key != "data" && key != "event" && key != "id" {
			text = append(text, line)
		}
	}
	if data != nil {
		events = append(events, event{Name: name, Data: strings.Join(data, "\n")})
	}
	flush()
	return events
}

func TestDecoderErrors(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		r    io.Reader
		want []event
		err  error
	}{
		{"after complete events", io.MultiReader(strings.NewReader("data: a\n\ndata: b\n\n"), iotest.ErrReader(broken)), data("a", "b"), broken},
		{"an open event is dropped", io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), data("a"), broken},
		{"stray lines are kept", io.MultiReader(strings.NewReader("oops\nda"), iotest.ErrReader(broken)), []event{stray("oops")}, broken},
		{"unexpected EOF stays what it is", io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), nil, io.ErrUnexpectedEOF},
		{"no progress", readerFunc(func([]byte) (int, error) { return 0, nil }), nil, io.ErrNoProgress},
		{"count beyond the buffer", readerFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), nil, errBadCount},
		{"negative count", readerFunc(func([]byte) (int, error) { return -1, nil }), nil, errBadCount},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := drain(tt.r, 0)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if err != tt.err {
				t.Errorf("error = %v, want %v", err, tt.err)
			}
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestDecoderRepeatsItsError(t *testing.T) {
	for name, in := range map[string]string{"end": "data: a\n\n", "limit": "data: " + strings.Repeat("x", 99)} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(strings.NewReader(in), 9)
			var first error
			for first == nil {
				_, first = d.Next()
			}
			if e, err := d.Next(); err != first || e.Data != nil {
				t.Errorf("Next = %q, %v, want the error %v again", e.Data, err, first)
			}
		})
	}
}

func TestDecoderDoesNotWaitForTheByteAfterCarriageReturn(t *testing.T) {
	r := io.MultiReader(strings.NewReader("data: a\r\r"), readerFunc(func([]byte) (int, error) {
		t.Error("Next read on before it returned a complete event")
		return 0, io.EOF
	}))
	if e, err := NewDecoder(r, 0).Next(); err != nil || string(e.Data) != "a" {
		t.Errorf("Next = %q, %v", e.Data, err)
	}
}
