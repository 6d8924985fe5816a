package jsonx

import (
	"encoding/json"
	"strings"
	"testing"
)

var small = []byte(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello,\nworld"}]},"index":0,"avgLogprobs":-0.125}],` +
	`"usageMetadata":{"promptTokenCount":"12","total":20.0,"x":null,"y":true,"z":[1,{"a":"b"}]},"modelVersion":"gemini-2.5-flash"}`)

// readSmall touches all methods that must not allocate.
func readSmall(r *Reader) int64 {
	var sum int64
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "candidates", "parts":
			for r.Array(); r.NextElem(); {
				sum += readSmall(r)
			}
		case "content", "usageMetadata":
			sum += readSmall(r)
		case "text", "role":
			sum += int64(len(r.Bytes()))
		case "index":
			sum += r.Int()
		case "promptTokenCount", "total":
			sum += r.LooseInt()
		case "avgLogprobs":
			sum += int64(8 * r.Float())
		case "y":
			if r.Bool() {
				sum++
			}
		case "x":
			r.Null()
		case "modelVersion":
			sum += int64(len(r.Intern("gemini-2.5-flash")))
		default:
			sum += int64(len(r.Raw()))
		}
	}
	return sum
}

func writeSmall(w *Writer) {
	w.BeginObject()
	w.Key("contents")
	w.BeginArray()
	w.String("Hello,\nw\u00f6rld \xff")
	w.StringBytes(small[:9])
	w.Verbatim("data:", "image/png", ";base64,", "AAAA")
	w.Int(12)
	w.Float(0.25)
	w.Bool(true)
	w.Null()
	w.Raw(small)
	w.EndArray()
	w.AnyKey("any\tkey")
	w.BeginObject()
	w.Members(small)
	w.EndObject()
	w.EndObject()
}

func TestAllocations(t *testing.T) {
	const sum = 5 + 12 - 1 + 12 + 20 + 1 + 13 + 16
	reused := NewReader(nil)
	var w Writer
	buf, compact := make([]byte, 0, 2048), make([]byte, 0, 2048)
	escaped := []byte(`"Hello,\nworld"`)
	tests := []struct {
		name   string
		run    func()
		want   float64
		pooled bool
	}{
		{"reader", func() {
			reused.Reset(small)
			if got := readSmall(&reused); got != sum || reused.End() != nil {
				t.Fatalf("sum = %d, %v, want %d", got, reused.Err(), sum)
			}
		}, 0, false},
		{"reader made for the document", func() {
			r := NewReader(small)
			if r.Skip(); r.End() != nil {
				t.Fatal(r.Err())
			}
		}, 0, false},
		{"string with escapes", func() { r := NewReader(escaped); _ = r.String() }, 1, true},
		{"writer", func() { w.Reset(buf); writeSmall(&w) }, 0, false},
		{"valid", func() { Valid(small) }, 0, false},
		{"lookup", func() { Lookup(small, "modelVersion") }, 0, false},
		{"compact", func() { compact = Compact(compact[:0], small) }, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if raceEnabled && tt.pooled {
				t.Skip("the pool is not reliable under the race detector")
			}
			if got := testing.AllocsPerRun(100, tt.run); got > tt.want {
				t.Errorf("%v allocations, want %v", got, tt.want)
			}
		})
	}
	if !json.Valid(w.Bytes()) {
		t.Errorf("written: %s", w.Bytes())
	}
}

func longText() string {
	return strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 64<<10/45)
}

func BenchmarkReaderSmall(b *testing.B) {
	r := NewReader(nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(small)
		readSmall(&r)
	}
}

func BenchmarkReaderText64K(b *testing.B) {
	for name, text := range map[string]string{"plain": strings.ReplaceAll(longText(), "\n", " "), "escapes": longText()} {
		b.Run(name, func(b *testing.B) {
			var w Writer
			w.String(text)
			b.SetBytes(int64(w.Len()))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(w.Bytes())
				_ = r.String()
			}
		})
	}
}

func BenchmarkWriterSmall(b *testing.B) {
	buf := make([]byte, 0, 2048)
	b.ReportAllocs()
	for b.Loop() {
		var w Writer
		w.Reset(buf)
		writeSmall(&w)
	}
}

func BenchmarkWriterText64K(b *testing.B) {
	for name, text := range map[string]string{"plain": strings.ReplaceAll(longText(), "\n", " "), "escapes": longText()} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 256<<10)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var w Writer
				w.Reset(buf)
				w.String(text)
			}
		})
	}
}

func BenchmarkFloats(b *testing.B) {
	doc := []byte("[" + strings.Repeat("-0.06246861815452576,0.013168523,", 384) + "0]")
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(doc)
		for r.Array(); r.NextElem(); {
			r.Float()
		}
	}
}
