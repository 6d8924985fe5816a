package alike

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// votes has the languages that a small word is of, a bit for each.
var votes = sync.OnceValue(func() map[string]uint32 {
	out := map[string]uint32{}
	for l, rows := range tables {
		for _, r := range rows {
			if r.class == polar || r.class == noun || r.class == verb || r.class == unit || r.class == name || r.class == tongue || r.class == halfday || r.class == month {
				continue
			}
			for _, phrase := range phrasesOf(language(l), &r) {
				out[phrase] |= 1 << l
			}
		}
	}
	return out
})

// phrasesOf returns the phrases of a row that are one word.
func phrasesOf(l language, r *row) []string {
	var out []string
	if l == chinese || l == japanese {
		return nil
	}
	at := node{}
	at.add(l, r)
	for text, n := range at.next {
		if n.here != nil {
			out = append(out, text)
		}
	}
	return out
}

// guess returns the language of a text, and whether the text shows it. Letters
// count where they are of few languages, else the small words.
func guess(tokens []token) (language, bool) {
	var count [languages]int
	known := votes()
	for i := range tokens {
		if tokens[i].kind != word || tokens[i].quoted {
			continue
		}
		first, _ := utf8.DecodeRuneInString(tokens[i].text)
		if l, ok := script(first); ok {
			count[l]++
			continue
		}
		for l, bits := language(0), known[tokens[i].text]; bits != 0; l, bits = l+1, bits>>1 {
			count[l] += int(bits & 1)
		}
	}
	if count[japanese] > 0 && count[chinese] > 0 {
		count[japanese] += count[chinese] // which Japanese writes too
	}
	best, second := english, -1
	for l := german; l < languages; l++ {
		if count[l] > count[best] {
			best = l
		}
	}
	for l := range languages {
		if l != best {
			second = max(second, count[l])
		}
	}
	return best, count[best] > second
}

// script guesses the language of a letter that few languages write.
func script(r rune) (language, bool) {
	switch {
	case r < 0x0400:
		return 0, false
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return japanese, true
	case unicode.Is(unicode.Han, r):
		return chinese, true
	case unicode.Is(unicode.Cyrillic, r):
		return russian, true
	case unicode.Is(unicode.Arabic, r):
		return arabic, true
	}
	return 0, false
}
