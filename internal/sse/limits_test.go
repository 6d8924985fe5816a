package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestDecoderLimit(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	const limit = 2000
	tests := []struct {
		name, in string
		want     []event
		err      error
	}{
		{"exactly the limit", "data: " + long(limit) + "\n\n", data(long(limit)), io.EOF},
		{"one byte more", "data: a\n\ndata: " + long(limit+1) + "\n\n", data("a"), ErrTooLong},
		{"several lines at the limit", "data: " + long(limit-2) + "\ndata: b\n\n", data(long(limit-2) + "\nb"), io.EOF},
		{"several lines, one byte more", "data: " + long(limit-2) + "\ndata: bc\n\n", nil, ErrTooLong},
		{"the limit is per event", strings.Repeat("data: "+long(limit)+"\n\n", 3), data(long(limit), long(limit), long(limit)), io.EOF},
		{"no line end", "data: " + long(2*limit), nil, ErrTooLong},
		{"comment without end", ":" + long(2*limit), nil, ErrTooLong},
		{"stray text", strings.Repeat("stray\n", limit), nil, ErrTooLong},
		{"stray blank lines", "stray" + strings.Repeat("\n", limit), nil, ErrTooLong},
		{"many comments", strings.Repeat(": x\n", limit) + "data: a\n\n", data("a"), io.EOF},
		{"many comments amid an event", "data: a\n" + strings.Repeat(": x\n", limit) + "data: b\n\n", data("a\nb"), io.EOF},
		{"not closed at the end", "data: " + long(limit+1), nil, ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for cut, r := range map[string]io.Reader{
				"whole":    strings.NewReader(tt.in),
				"one byte": iotest.OneByteReader(strings.NewReader(tt.in)),
			} {
				got, err := drain(r, limit)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: events (-want +got):\n%s", cut, diff)
				}
				if !errors.Is(err, tt.err) {
					t.Errorf("%s: error = %v, want %v", cut, err, tt.err)
				}
			}
		})
	}
}

func TestDecoderOfOneHugeLine(t *testing.T) {
	const size, part = DefaultMaxEvent, 256 << 10
	text := strings.Repeat("x", part)
	parts := []io.Reader{strings.NewReader("data: ")}
	for range size / part {
		parts = append(parts, strings.NewReader(text))
	}
	parts = append(parts, strings.NewReader("\r\n\r\n"))
	e, err := NewDecoder(io.MultiReader(parts...), 0).Next()
	if err != nil || len(e.Data) != size {
		t.Fatalf("Next = %d bytes, %v, want %d", len(e.Data), err, size)
	}
	if bytes.Count(e.Data, []byte("x")) != size {
		t.Error("data was damaged")
	}
}

// TestDecoderStaysLinear would run for minutes if the buffer were searched anew
// for each line end, or blocks moved with each line.
func TestDecoderStaysLinear(t *testing.T) {
	const n = 1 << 19
	for name, in := range map[string]string{
		"carriage returns, a line feed far away": strings.Repeat("data\r", n) + "\n",
		"line feeds, no carriage return":         strings.Repeat("data\n", n),
		"comments amid an event":                 "data: " + strings.Repeat("x", n) + strings.Repeat("\n:", n),
	} {
		t.Run(name, func(t *testing.T) {
			in = "data: " + strings.Repeat("x", n) + "\n" + in // one fill brings many lines
			if got, err := drain(strings.NewReader(in), 0); len(got) != 1 || err != io.EOF {
				t.Errorf("%d events, %v, want 1", len(got), err)
			}
		})
	}
}

// TestDecoderSearchesALineOnce would run for minutes if a line were searched
// from its start with each read.
func TestDecoderSearchesALineOnce(t *testing.T) {
	const n = 1 << 20
	in := "data: " + strings.Repeat("x", n)
	if got, err := drain(iotest.OneByteReader(strings.NewReader(in)), 0); len(got) != 1 || len(got[0].Data) != n || err != io.EOF {
		t.Errorf("%d events, %v, want 1", len(got), err)
	}
}

func TestDecoderDoesNotAllocatePerEvent(t *testing.T) {
	in := strings.NewReader("")
	stream := strings.Repeat("event: chunk\r\ndata: {\"text\": \"some text\"}\r\n\r\ndata: a\ndata: b\n\n", 1000)
	allocs := testing.AllocsPerRun(5, func() {
		in.Reset(stream)
		d := NewDecoder(in, 0)
		events := 0
		for {
			if _, err := d.Next(); err != nil {
				break
			}
			events++
		}
		if events != 2000 {
			t.Fatalf("%d events, want 2000", events)
		}
	})
	if allocs > 3 { // decoder, buffer, name
		t.Errorf("%v allocations for 2000 events, want at most 3", allocs)
	}
}

func TestDecoderGivesDataWithoutCopying(t *testing.T) {
	d := NewDecoder(strings.NewReader("data: abc\n\n"), 0)
	e, err := d.Next()
	if err != nil || &e.Data[0] != &d.buf[len("data: ")] {
		t.Errorf("data %q (error %v) is not where it was read", e.Data, err)
	}
}

func BenchmarkDecoder(b *testing.B) {
	stream := strings.Repeat("data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"a few words\"}]}}]}\r\n\r\n", 1000)
	in := strings.NewReader("")
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(stream)
		d := NewDecoder(in, 0)
		for {
			if _, err := d.Next(); err != nil {
				break
			}
		}
	}
}
