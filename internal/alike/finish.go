package alike

import (
	"slices"
	"sync"
	"unicode/utf8"
)

// finish settles what only the whole text tells.
func (r *reducer) finish() {
	asks := func(key string) bool {
		return slices.ContainsFunc(r.atoms, func(a atom) bool { return a.class == ask && a.key == key })
	}
	has := func(key string) bool {
		return slices.ContainsFunc(r.atoms, func(a atom) bool { return a.key == key })
	}
	// How to do it is asked with can, do and should alike, where to find it too.
	plain := asks("how") || asks("where")
	// What it costs is asked with how much.
	priced := has("cost")
	// Another question takes the place of one for yes or no: is it known why?
	r.whether = r.whether && !slices.ContainsFunc(r.atoms, func(a atom) bool { return a.class == ask })
	r.atoms = slices.DeleteFunc(r.atoms, func(a atom) bool {
		return plain && a.class == modal && (a.key == "can" || a.key == "should") && r.negations == 0 ||
			priced && a.class == ask && (a.key == "how much" || a.key == "how many")
	})
	r.fails()
}

// fails says of what does not work that it fails.
func (r *reducer) fails() {
	if r.negations != 1 || len(r.denied) > 1 || len(r.denied) == 1 && r.denied[0] != "work" {
		return
	}
	for i := range r.atoms {
		if r.atoms[i].key == "work" {
			r.atoms[i].key, r.atoms[i].class = "fail", polar
			r.negations, r.denied = 0, nil
			return
		}
	}
}

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
