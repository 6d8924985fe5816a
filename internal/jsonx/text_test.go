package jsonx

import (
	"encoding/json"
	"strings"
	"testing"
)

var quotedTexts = []string{
	`""`, `"plain"`, `"exactly8"`, `"nine char"`, `"seven c\n"`, `"\n at the start"`,
	`"\"\\\/\b\f\n\r\t"`, `"\u0000\u001f\u0041\u00e9\u20ac\uffff"`, `"\uFFFD\uAbCd"`,
	`"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ud83d\"` + `x"`,
	`"grüße"`, `"世界 and a long ascii tail after it"`, `"😀"`, "\"\x7f\u2028\u2029<>&\"",
	"\"\xff\"", "\"a\xc3\"", "\"\xc3\\n\xa9\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\x98\"", "\"0123456\xff0123456\xfe\"", "\"\xe4\xb8\"",
}

func TestStringAgreesWithEncodingJSON(t *testing.T) {
	for _, quoted := range quotedTexts {
		for pad := range 9 { // move the text through the eight-byte words
			checkText(t, `"`+strings.Repeat("p", pad)+quoted[1:])
		}
	}
}

// checkText reads a string, valid or not, in all ways.
func checkText(t *testing.T, quoted string) {
	t.Helper()
	var want string
	wantErr := json.Unmarshal([]byte(quoted), &want)
	reads := map[string]func(*Reader) string{
		"String":     (*Reader).String,
		"Bytes":      func(r *Reader) string { return string(r.Bytes()) },
		"Intern":     func(r *Reader) string { return r.Intern("") },
		"Intern hit": func(r *Reader) string { return r.Intern(want) },
	}
	for name, read := range reads {
		r := NewReader([]byte(quoted))
		got := read(&r)
		if err := r.End(); (err == nil) != (wantErr == nil) {
			t.Errorf("%s of %q: error %v, encoding/json has %v", name, quoted, err, wantErr)
		} else if err == nil && got != want {
			t.Errorf("%s of %q = %q, want %q", name, quoted, got, want)
		}
	}
	r := NewReader([]byte("{" + quoted + ":0}"))
	if r.Object(); r.NextKey() && wantErr == nil && string(r.Key()) != want {
		t.Errorf("Key of %q = %q, want %q", quoted, r.Key(), want)
	}
}

func TestControlCharactersAreFoundAtEachPlace(t *testing.T) {
	for at := range 20 {
		for c := range byte(0x20) {
			text := []byte(`"` + strings.Repeat("x", 20) + `"`)
			text[1+at] = c
			r := NewReader(text)
			if r.Skip(); r.Err() == nil {
				t.Fatalf("control character %#x at %d was accepted", c, at)
			}
		}
	}
}

func TestBytesAliasTheInputWithoutEscapes(t *testing.T) {
	doc := []byte(`"grüße"`)
	r := NewReader(doc)
	if b := r.Bytes(); &b[0] != &doc[1] || cap(b) != len(b) {
		t.Errorf("Bytes = %q is a copy or has room to write into the input", b)
	}
}

func TestInternReturnsThePreviousString(t *testing.T) {
	doc := []byte(`"gemini\u002d2"`)
	prev := "gemini-2"
	r := NewReader(nil)
	allocs := testing.AllocsPerRun(100, func() {
		r.Reset(doc)
		if r.Intern(prev) != prev {
			t.Fatal("wrong text")
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func TestScanPlainFindsTheFirstStop(t *testing.T) {
	for n := range 24 {
		for _, stop := range []byte{'"', '\\', 0, 0x1f} {
			text := append([]byte(strings.Repeat("!#[]\x7f ~\xff", 3)[:n]), stop, '"', '\\', 0, '!', '#', '[', ']', 'x')
			if end, wide := scanPlain(text, 0); end != n || wide != (n >= 8) {
				t.Fatalf("scanPlain(%q) = %d, %v, want %d, %v", text, end, wide, n, n >= 8)
			}
		}
	}
}
