package jsonx

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// malformed holds documents with the error that both walking and skipping find.
var malformed = []struct{ in, want string }{
	{``, `unexpected end of input (offset 0)`},
	{` `, `unexpected end of input (offset 1)`},
	{`x`, `expected a value (offset 0)`},
	{`{`, `unexpected end of input (offset 1)`},
	{`{"a"`, `a: unexpected end of input (offset 4)`},
	{`{"a":`, `a: unexpected end of input (offset 5)`},
	{`{"a":1`, `a: unexpected end of input (offset 6)`},
	{`{"a":1,`, `unexpected end of input (offset 7)`},
	{`{"a":1,}`, `unexpected comma before the end (offset 7)`},
	{`{,}`, `expected a quoted key (offset 1)`},
	{`{a:1}`, `expected a quoted key (offset 1)`},
	{`{1:1}`, `expected a quoted key (offset 1)`},
	{`{"a" 1}`, `a: expected ':' after the key (offset 5)`},
	{`{"a"::1}`, `a: expected a value (offset 5)`},
	{`{"a":}`, `a: expected a value (offset 5)`},
	{`{"a":1 "b":2}`, `a: expected ',' or '}' (offset 7)`},
	{`{"a":1]`, `expected ',' or '}' (offset 6)`},
	{`[`, `[0]: unexpected end of input (offset 1)`},
	{`[1`, `[0]: unexpected end of input (offset 2)`},
	{`[1,`, `[1]: unexpected end of input (offset 3)`},
	{`[1,]`, `unexpected comma before the end (offset 3)`},
	{`[,1]`, `[0]: expected a value (offset 1)`},
	{`[1 2]`, `[0]: expected ',' or ']' (offset 3)`},
	{`[1,,2]`, `[1]: expected a value (offset 3)`},
	{`[1}`, `expected ',' or ']' (offset 2)`},
	{`[01]`, `[0]: expected ',' or ']' (offset 2)`},
	{`[-]`, `[0]: invalid number (offset 1)`},
	{`[+1]`, `[0]: expected a value (offset 1)`},
	{`[.5]`, `[0]: expected a value (offset 1)`},
	{`[1.]`, `[0]: invalid number (offset 1)`},
	{`[1.e1]`, `[0]: invalid number (offset 1)`},
	{`[1e]`, `[0]: invalid number (offset 1)`},
	{`[1e+]`, `[0]: invalid number (offset 1)`},
	{`[nul]`, `[0]: invalid literal (offset 1)`},
	{`[tru`, `[0]: invalid literal (offset 1)`},
	{`[falsy]`, `[0]: invalid literal (offset 1)`},
	{`[nullx]`, `[0]: expected ',' or ']' (offset 5)`},
	{`["a`, `[0]: unexpected end of input (offset 3)`},
	{`["a\`, `[0]: unexpected end of input (offset 4)`},
	{`["\u12`, `[0]: unexpected end of input (offset 6)`},
	{`["\x"]`, `[0]: invalid escape in string (offset 2)`},
	{`["\u12"]`, `[0]: invalid escape in string (offset 2)`},
	{`["\u12g4"]`, `[0]: invalid escape in string (offset 2)`},
	{"[\"a\nb\"]", `[0]: control character in string (offset 3)`},
	{"[\"12345678\x00\"]", `[0]: control character in string (offset 10)`},
	{`{"a":1} x`, `unexpected text after the value (offset 8)`},
	{`1 2`, `unexpected text after the value (offset 2)`},
	{"\ufeff{}", `expected a value (offset 0)`},
}

func TestMalformedDocuments(t *testing.T) {
	for _, tt := range malformed {
		t.Run(tt.in, func(t *testing.T) {
			if Valid([]byte(tt.in)) || json.Valid([]byte(tt.in)) {
				t.Errorf("Valid = true")
			}
			walk := NewReader([]byte(tt.in))
			if build(&walk); strings.TrimSpace(tt.in) == "" {
				walk.Skip() // there is nothing to walk
			}
			skip := NewReader([]byte(tt.in))
			skip.Skip()
			for name, r := range map[string]*Reader{"walked": &walk, "skipped": &skip} {
				err := r.End()
				if err == nil {
					t.Fatalf("%s: no error", name)
				}
				if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestErrorPath(t *testing.T) {
	key := strings.Repeat("k", 70)
	tests := []struct{ in, want string }{
		{`1`, `expected string, got number (offset 0)`},
		{`{"a":1}`, `a: expected string, got number (offset 5)`},
		{`{"messages":[{},{"role":"x"},{"role":"y","content":{"a":[]}}]}`, `messages[2].content.a: expected string, got array (offset 56)`},
		{`[["x"],["y",[null,true]]]`, `[1][1][1]: expected string, got boolean (offset 18)`},
		{`{"a b":{"":{"9":{"x-1":{"$r_e":false}}}}}`, `["a b"][""]["9"].x-1.$r_e: expected string, got boolean (offset 31)`},
		{`{"x":"{[,:]}","k\"\n\u00e9":0}`, `["k\"\né"]: expected string, got number (offset 28)`},
		{`{"` + key + `":0}`, `["` + key[:64] + `..."]: expected string, got number (offset 74)`},
		{strings.Repeat("[", 40) + "0", strings.Repeat("[0]", 32) + "...: expected string, got number (offset 40)"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			r := NewReader([]byte(tt.in))
			stringsOnly(&r)
			if err := r.Err(); err == nil || err.Error() != tt.want {
				t.Errorf("error = %v\n       want %s", err, tt.want)
			}
		})
	}
}

// stringsOnly reads a document all of whose leaves must be strings.
func stringsOnly(r *Reader) {
	switch r.Kind() {
	case Object:
		for r.Object(); r.NextKey(); {
			if string(r.Key()) == "a" && r.Kind() == Array {
				_ = r.String()
			}
			stringsOnly(r)
		}
	case Array:
		for r.Array(); r.NextElem(); {
			stringsOnly(r)
		}
	default:
		_ = r.String()
	}
}

func TestWrongKinds(t *testing.T) {
	reads := map[string]func(*Reader){
		"string":  func(r *Reader) { _ = r.String() },
		"number":  func(r *Reader) { r.Int() },
		"boolean": func(r *Reader) { r.Bool() },
		"object":  (*Reader).Object,
		"array":   (*Reader).Array,
	}
	values := map[string]string{"string": `"secret"`, "number": "12", "boolean": "true", "object": "{}", "array": "[]"}
	reads["bytes"] = func(r *Reader) { r.Bytes() }
	reads["intern"] = func(r *Reader) { r.Intern("") }
	reads["float"] = func(r *Reader) { r.Float() }
	names := map[string]string{"bytes": "string", "intern": "string", "float": "number"}
	for want, read := range reads {
		if name, ok := names[want]; ok {
			want = name
		}
		for got, value := range values {
			if got == want {
				continue
			}
			r := NewReader([]byte(`{"x":` + value + `}`))
			r.Object()
			r.NextKey()
			read(&r)
			text := "x: expected " + want + ", got " + got + " (offset 5)"
			if err := r.Err(); err == nil || err.Error() != text {
				t.Errorf("error = %v, want %s", err, text)
			}
		}
	}
}

func TestErrorsAreSticky(t *testing.T) {
	r := NewReader([]byte(`{"a":tru,"b":[1],"c":"x"}`))
	r.Object()
	r.NextKey()
	r.Bool()
	first := r.Err()
	r.Object()
	r.Array()
	r.Failf("later")
	got := []any{r.NextKey(), r.NextElem(), r.Kind(), len(r.Key()), r.String(), len(r.Bytes()), r.Intern("x"), r.Int(), r.LooseInt(), r.Float(), r.Bool(), len(r.Raw()), r.Null()}
	want := []any{false, false, Invalid, 0, "", 0, "", int64(0), int64(0), float64(0), false, 0, false}
	r.Skip()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values after an error (-want +got):\n%s", diff)
	}
	if first == nil || r.End() != first {
		t.Errorf("End = %v, want the first error %v", r.End(), first)
	}
}

func TestFailf(t *testing.T) {
	const doc = `{"a":[{"b":"x"},7]}`
	tests := []struct {
		name string
		read func(r *Reader)
		want string
	}{
		{"before the document", func(r *Reader) { r.Failf("no %s", "good") }, "no good (offset 0)"},
		{"before a value", func(r *Reader) { r.Object(); r.NextKey(); r.Failf("no") }, "a: no (offset 5)"},
		{"after a look at the kind", func(r *Reader) { r.Object(); r.NextKey(); r.Kind(); r.Failf("no") }, "a: no (offset 5)"},
		{"after entering", func(r *Reader) { r.Object(); r.NextKey(); r.Array(); r.Failf("no") }, "a: no (offset 5)"},
		{"after a scalar", func(r *Reader) {
			for r.Object(); r.NextKey(); {
				for r.Array(); r.NextElem(); {
					if r.Kind() == Number && r.Int() == 7 {
						r.Failf("no")
					}
				}
			}
		}, "a[1]: no (offset 16)"},
		{"after an object", func(r *Reader) {
			r.Object()
			r.NextKey()
			r.Array()
			r.NextElem()
			for r.Object(); r.NextKey(); {
				r.Skip()
			}
			r.Failf("no")
		}, "a[0]: no (offset 14)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader([]byte(doc))
			tt.read(&r)
			var e *Error
			if err := r.Err(); !errors.As(err, &e) || err.Error() != tt.want {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
		})
	}
}
