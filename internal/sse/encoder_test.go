package sse

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestAppend(t *testing.T) {
	tests := []struct {
		name string
		got  []byte
		want string
	}{
		{"one line", AppendEvent(nil, []byte("{}")), "data: {}\n\n"},
		{"no data", AppendEvent(nil, nil), "data: \n\n"},
		{"lines", AppendEvent(nil, []byte("a\nb\rc\r\nd")), "data: a\ndata: b\ndata: c\ndata: d\n\n"},
		{"line break at the end", AppendEvent(nil, []byte("a\n")), "data: a\ndata: \n\n"},
		{"line breaks alone", AppendEvent(nil, []byte("\r\r\n\n")), "data: \ndata: \ndata: \ndata: \n\n"},
		{"leading space", AppendEvent(nil, []byte(" a")), "data:  a\n\n"},
		{"appends", AppendEvent([]byte("x"), []byte("a")), "xdata: a\n\n"},
		{"name", AppendNamedEvent(nil, "error", []byte("a")), "event: error\ndata: a\n\n"},
		{"no name", AppendNamedEvent(nil, "", []byte("a")), "data: a\n\n"},
		{"a name cannot smuggle lines", AppendNamedEvent(nil, "a\rdata: b", []byte("c")), "event: a\ndata: c\n\n"},
		{"done", AppendDone(nil), "data: [DONE]\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, string(tt.got)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLineSafe(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"b\u2028"}`:                       `{"a":"b\u2028"}`,
		"{\"a\":\"\u2028b\u2029\u2028\u0085\"}": `{"a":"\u2028b\u2029\u2028\u0085"}`,
		"\u2027\u202a\u0084\u0086é":             "\u2027\u202a\u0084\u0086é",
		"":                                      "",
	} {
		if got := string(LineSafe([]byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	text := []byte("nothing of the kind")
	if n := testing.AllocsPerRun(100, func() { LineSafe(text) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf, text := make([]byte, 0, 256), []byte("a\nb")
	if n := testing.AllocsPerRun(100, func() { buf = AppendNamedEvent(AppendDone(buf[:0]), "x", text) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// FuzzDecoder checks that the cut of the input does not matter, that event
// text never has line breaks of the input's own kind left, and that what the
// encoder writes of an event is read as that event.
func FuzzDecoder(f *testing.F) {
	for _, tt := range streams {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		whole, wholeErr := drain(bytes.NewReader(in), limit)
		bytewise, err := drain(iotest.OneByteReader(bytes.NewReader(in)), limit)
		if diff := cmp.Diff(whole, bytewise); diff != "" || err != wholeErr {
			t.Fatalf("errors %v and %v, events (-whole +bytewise):\n%s", wholeErr, err, diff)
		}
		var stream []byte
		var want []event
		for _, e := range whole {
			if strings.Contains(e.Data, "\r") || len(e.Data) > limit {
				t.Fatalf("data %q", e.Data)
			}
			stream = AppendNamedEvent(stream, e.Name, []byte(e.Data))
			want = append(want, event{Name: e.Name, Data: e.Data})
		}
		got, err := drain(bytes.NewReader(stream), limit)
		if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
			t.Fatalf("error %v, round trip (-want +got):\n%s", err, diff)
		}
	})
}
