package jsonx

import (
	"strings"
	"testing"
)

// TestScanPlainLooksAtEachByte puts a byte at each place of texts of each length, behind
// text beyond ASCII and without, and compares with what each byte says by itself.
func TestScanPlainLooksAtEachByte(t *testing.T) {
	for size := range 40 {
		for at := range size + 1 {
			for _, c := range []string{"", `"`, `\`, "\x00", "\x1f", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xff"} {
				for _, before := range []string{"", "\u00e9"} {
					text := []byte(before + strings.Repeat("a", at) + c + strings.Repeat("~", size-at))
					for from := range min(len(text), 9) + 1 {
						wantEnd, wantWide := scanBytes(text, from)
						end, wide := scanPlain(text, from)
						if end != wantEnd || wantWide && !wide {
							t.Fatalf("%q from %d: %d, %v, want %d, %v", text, from, end, wide, wantEnd, wantWide)
						}
					}
				}
			}
		}
	}
}

// scanBytes is scanPlain byte by byte.
func scanBytes(data []byte, i int) (end int, wide bool) {
	for ; i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\'; i++ {
		wide = wide || data[i] >= 0x80
	}
	return i, wide
}

// TestKeysOfEachLength reads keys with each kind of byte at each place, with the end of
// the input near and far: the same as a decoder that looks at each byte.
func TestKeysOfEachLength(t *testing.T) {
	for size := range 40 {
		for at := range size + 1 {
			for _, c := range []string{"", "\u00e9", `\n`, `\u0041`, "\x80", "\x01", `"`} {
				key := strings.Repeat("k", at) + c + strings.Repeat("y", size-at)
				for _, tail := range []string{`:1}`, ` : 1}`, `:1,"b":"` + strings.Repeat("x", 40) + `"}`, ``} {
					doc := []byte(`{"` + key + `"` + tail)
					r := NewReader(doc)
					got, n := "", 0
					for r.Object(); r.NextKey(); n++ {
						if n == 0 {
							got = string(r.Key())
						}
						r.Skip()
					}
					if ok := r.End() == nil; ok != Valid(doc) {
						t.Fatalf("%q is read: %v", doc, ok)
					} else if want := plainKey(doc); ok && got != want {
						t.Fatalf("%q has the key %q, want %q", doc, got, want)
					}
				}
			}
		}
	}
}

// plainKey is the first key of a valid object as the general reader has it.
func plainKey(doc []byte) string {
	key, _, _ := unescape(nil, doc, 2)
	return string(key)
}
