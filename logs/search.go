package logs

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SearchText is all that [Query].Search looks at in a record, folded: the fields of
// kind word, the error's message and the values of the metadata, a line for each. A
// store may keep it and look for Fold(search) in it.
func SearchText(r *Record) string {
	var b strings.Builder
	add := func(s string) {
		if s != "" {
			b.WriteString(Fold(s))
			b.WriteByte('\n')
		}
	}
	for _, f := range wordFields {
		if v, ok := f.Of(r); ok {
			add(v.Text)
		}
	}
	add(failure(r).Message)
	for _, key := range sortedKeys(r.Metadata) {
		add(r.Metadata[key])
	}
	return b.String()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// wordFields are the fields of kind word.
var wordFields = slices.DeleteFunc(Fields(), func(f Field) bool { return f.Kind != Word })

// Fold makes texts equal that differ in their case alone. Control characters become
// spaces, and bytes that are no UTF-8 U+FFFD, so that every store can hold it.
func Fold(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' || c >= 'a' && c <= 'z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r < ' ':
			return ' '
		case r < utf8.RuneSelf:
			return r
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
