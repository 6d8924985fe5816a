package alike

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const longestWord = 32 // bytes of a word whose endings are looked at

// bases calls yield with the forms that an English word may be an ending of, until
// yield returns false. The rules are those of regular plurals and verbs. A word of
// one short syllable doubles its consonant before an ending, so "caring" is of
// "care" and never of "car".
func bases(text string, yield func([]byte) bool) {
	if len(text) < 4 || len(text) > longestWord {
		return
	}
	var room [longestWord + 1]byte
	w := append(room[:0], text...)
	n := len(w)
	switch {
	case strings.HasSuffix(text, "ies") && n > 4:
		if yield(w[:n-1]) {
			yield(append(w[:n-3], 'y'))
		}
	case strings.HasSuffix(text, "es") && strings.ContainsAny(text[n-3:n-2], "sxzoh") || strings.HasSuffix(text, "sses"):
		if yield(w[:n-2]) {
			yield(w[:n-1])
		}
	case text[n-1] == 's' && !strings.ContainsAny(text[n-2:n-1], "sui"):
		yield(w[:n-1])
	case strings.HasSuffix(text, "ied") && n > 4:
		yield(append(w[:n-3], 'y'))
	case strings.HasSuffix(text, "ed"):
		stems(w[:n-2], yield)
	case strings.HasSuffix(text, "ing") && n > 5:
		stems(w[:n-3], yield)
	}
}

// stems calls yield with the words that become w before "ed" or "ing".
func stems(w []byte, yield func([]byte) bool) {
	n := len(w)
	if n < 2 || !slices.ContainsFunc(w, vowel) {
		return
	}
	if n > 2 && w[n-1] == w[n-2] && !vowel(w[n-1]) {
		if yield(w[:n-1]) {
			yield(w)
		}
		return
	}
	short := n < 3 || !vowel(w[n-1]) && vowel(w[n-2]) && !slices.ContainsFunc(w[:n-2], vowel) && !strings.ContainsRune("wxy", rune(w[n-1]))
	if short || yield(w) {
		yield(append(w, 'e'))
	}
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

// sameWord reports whether two words that no table knows are forms of one.
func sameWord(l language, a, b string) bool {
	if l == english {
		return slices.ContainsFunc(forms(a), func(f string) bool { return slices.Contains(forms(b), f) })
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	for same > 0 && same < len(a) && !utf8.RuneStart(a[same]) {
		same--
	}
	if utf8.RuneCountInString(a[:same]) < 4 {
		return false
	}
	known := endings[l]
	return slices.Contains(known, a[same:]) && slices.Contains(known, b[same:])
}

// forms are a word and its base forms.
func forms(text string) []string {
	out := []string{text}
	bases(text, func(base []byte) bool {
		out = append(out, string(base))
		return true
	})
	return out
}

// endings of a language tell forms of one word apart, after four letters that
// are the same. Only those are here that rarely make another word.
var endings = [languages][]string{
	german:     {"", "e", "en", "er", "es", "em", "n", "s"},
	french:     {"", "s", "e", "es", "x"},
	spanish:    {"", "s", "es"},
	italian:    {"i", "o", "e"},
	portuguese: {"", "s", "es"},
	dutch:      {"", "e", "en", "s"},
	russian:    {"", "а", "у", "ы", "и", "е", "о", "ом", "ой", "ам", "ами", "ах", "ов", "ей", "ю", "я", "ь", "ем"},
}
