package jsonx

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriter(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *Writer)
		want  string
	}{
		{"nothing", func(*Writer) {}, ""},
		{"empty object", func(w *Writer) { w.BeginObject(); w.EndObject() }, `{}`},
		{"empty array", func(w *Writer) { w.BeginArray(); w.EndArray() }, `[]`},
		{"scalars", func(w *Writer) {
			w.BeginArray()
			w.Null()
			w.Bool(true)
			w.Bool(false)
			w.Int(math.MinInt64)
			w.Float(0.5)
			w.String("a")
			w.StringBytes([]byte("b"))
			w.Raw([]byte("{}"))
			w.EndArray()
		}, `[null,true,false,-9223372036854775808,0.5,"a","b",{}]`},
		{"nesting", func(w *Writer) {
			w.BeginObject()
			w.Key("a")
			w.BeginArray()
			w.BeginObject()
			w.EndObject()
			w.BeginArray()
			w.EndArray()
			w.EndArray()
			w.AnyKey("b\"\n")
			w.BeginObject()
			w.Key("c")
			w.Int(1)
			w.EndObject()
			w.EndObject()
		}, `{"a":[{},[]],"b\"\n":{"c":1}}`},
		{"texts that end like structure", func(w *Writer) {
			w.BeginArray()
			for _, s := range []string{",", "[", "{", ":", ""} {
				w.String(s)
			}
			w.EndArray()
		}, `[",","[","{",":",""]`},
		{"verbatim", func(w *Writer) {
			w.BeginArray()
			w.Verbatim()
			w.Verbatim("data:", "image/png", ";base64,", "AAAA")
			w.EndArray()
		}, `["","data:image/png;base64,AAAA"]`},
		{"raw strings", func(w *Writer) { w.BeginArray(); w.RawString("[1]"); w.RawString(""); w.EndArray() }, `[[1],null]`},
		{"empty raw value", func(w *Writer) { w.BeginObject(); w.Key("a"); w.Raw(nil); w.EndObject() }, `{"a":null}`},
		{"members", func(w *Writer) {
			w.BeginObject()
			w.Members(nil)
			w.Members([]byte(" { } "))
			w.Members([]byte(` { "a": [1, 2] } `))
			w.Members([]byte(`{"b":2}`))
			w.Members([]byte(`{}`))
			w.Key("c")
			w.Int(3)
			w.EndObject()
		}, `{"a": [1, 2],"b":2,"c":3}`},
		{"truncate", func(w *Writer) {
			w.BeginArray()
			w.Int(1)
			n := w.Len()
			w.Int(2)
			w.Truncate(n)
			w.Int(3)
			w.Truncate(n + len(","))
			w.Int(4)
			w.EndArray()
		}, `[1,4]`},
		{"only the escapes JSON demands", func(w *Writer) { w.String("\x00\b\t\n\v\f\r\x1f \"\\/<>&'\x7f\u2028\u2029é😀") },
			`"\u0000\b\t\n\u000b\f\r\u001f \"\\/<>&'` + "\x7f\u2028\u2029é😀\""},
		{"invalid UTF-8", func(w *Writer) { w.String("a\xffb\n\xc3(\xe4\xb8") }, "\"a\ufffdb\\n\ufffd(\ufffd\ufffd\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			tt.write(&w)
			if diff := cmp.Diff(tt.want, string(w.Bytes())); diff != "" || w.Err() != nil {
				t.Errorf("error %v, output (-want +got):\n%s", w.Err(), diff)
			}
			if len(tt.want) > 0 && !json.Valid(w.Bytes()) {
				t.Error("output is not valid")
			}
		})
	}
}

func TestWriterReset(t *testing.T) {
	buf := append(make([]byte, 0, 64), "old"...)
	var w Writer
	w.Float(math.NaN())
	w.Reset(buf)
	w.Int(1)
	if string(w.Bytes()) != "1" || w.Err() != nil || &w.Bytes()[0] != &buf[0] {
		t.Errorf("after Reset: %q, %v, want a lone 1 in the buffer given", w.Bytes(), w.Err())
	}
	w.Grow(1000)
	if cap(w.Bytes()) < 1001 || w.Len() != 1 {
		t.Errorf("after Grow: length %d, capacity %d", w.Len(), cap(w.Bytes()))
	}
}

func TestWriterErrors(t *testing.T) {
	tests := []struct {
		name  string
		write func(w *Writer)
		err   error
		want  string
	}{
		{"NaN", func(w *Writer) { w.Float(math.NaN()); w.Members([]byte("1")) }, errNotFinite, "null"},
		{"infinity", func(w *Writer) { w.Float(math.Inf(-1)) }, errNotFinite, "null"},
		{"members of an array", func(w *Writer) { w.Members([]byte("[]")) }, errNotObject, ""},
		{"members of half an object", func(w *Writer) { w.Members([]byte("{")) }, errNotObject, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Writer
			tt.write(&w)
			if !errors.Is(w.Err(), tt.err) || string(w.Bytes()) != tt.want {
				t.Errorf("wrote %q, error %v, want %q, %v", w.Bytes(), w.Err(), tt.want, tt.err)
			}
		})
	}
}

func TestFloatIsWrittenAsByEncodingJSON(t *testing.T) {
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1.0 / 3, 1e20, 1e21, -1e21, 999999999999999868928, 1e-6, 9.99e-7, 1e-7, -1e-9, 1e-10, 1e-100,
		1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 123456789, 2.5e-8, 100,
	} {
		checkFloat(t, f)
	}
}

func checkFloat(t *testing.T, f float64) {
	t.Helper()
	want, err := json.Marshal(f)
	var w Writer
	w.Float(f)
	if err != nil {
		want = []byte("null")
	}
	if string(w.Bytes()) != string(want) || (w.Err() == nil) != (err == nil) {
		t.Errorf("Float wrote %s, %v, want %s, %v", w.Bytes(), w.Err(), want, err)
	}
}

func TestWrittenStringsReadAlike(t *testing.T) {
	for _, quoted := range quotedTexts {
		var text string
		if err := json.Unmarshal([]byte(quoted), &text); err != nil {
			continue
		}
		for pad := range 9 {
			checkWrittenText(t, strings.Repeat("p", pad)+text)
			checkWrittenText(t, strings.Repeat("p", pad)+quoted)
		}
	}
}

// checkWrittenText writes any bytes and reads them back with encoding/json.
func checkWrittenText(t *testing.T, text string) {
	t.Helper()
	want := string([]rune(text)) // each bad byte becomes U+FFFD
	var s, b, k Writer
	s.String(text)
	b.StringBytes([]byte(text))
	k.AnyKey(text)
	if string(s.Bytes()) != string(b.Bytes()) || string(s.Bytes())+":" != string(k.Bytes()) {
		t.Errorf("String, StringBytes and AnyKey differ: %s, %s, %s", s.Bytes(), b.Bytes(), k.Bytes())
	}
	var got string
	if err := json.Unmarshal(s.Bytes(), &got); err != nil || got != want {
		t.Errorf("%q was written as %s and read as %q, %v", text, s.Bytes(), got, err)
	}
}
