package alike

import (
	"slices"
	"strings"
)

// most bounds the words of one text only that are looked at: texts with more of
// them differ whatever they are.
const most = 8

// compare returns what two digests differ in, or nothing.
func compare(a, b *digest) Reason {
	if len(a.atoms) == 0 || len(b.atoms) == 0 {
		return Term // greetings, and what else has no content: the tokens differ
	}
	onlyA, onlyB := differ(a.atoms, b.atoms)
	onlyA, onlyB = pair(a.in, onlyA, onlyB, b)
	switch {
	case len(onlyA)+len(onlyB) > 0:
		return worst(onlyA, onlyB)
	case a.negations != b.negations || apart(a.denied, b.denied):
		return Polarity
	case a.whether != b.whether:
		return Question
	case a.conditions != b.conditions || a.ors != b.ors && a.ands != b.ands || otherTime(a, b) || otherTime(b, a):
		return Quantity
	case a.persons != b.persons && personal(a, b):
		return Entity
	case parted(a.atoms, b.atoms) || !sameOrder(a, b):
		return Order
	}
	return ""
}

// otherTime reports whether a is about the past, or asks about the future, where b
// is about the present.
func otherTime(a, b *digest) bool {
	return a.past && !b.past && (b.now || b.will) || a.whether && a.will && b.now && !b.will
}

// differ returns the atoms that only one has, as far as they count.
func differ(a, b []atom) (onlyA, onlyB []atom) {
	count := make(map[string]int, len(a))
	for i := range a {
		count[a[i].key]++
	}
	for i := range b {
		count[b[i].key]--
	}
	left := func(list []atom, sign int) (out []atom) {
		for i := len(list) - 1; i >= 0 && len(out) <= most; i-- {
			if n := count[list[i].key]; n*sign > 0 {
				count[list[i].key] -= sign
				out = append(out, list[i])
			}
		}
		return out
	}
	onlyA = left(a, 1)
	return onlyA, left(b, -1)
}

// pair takes out words that are forms of one, and gives those of the second
// digest the names of the first.
func pair(in language, onlyA, onlyB []atom, b *digest) (restA, restB []atom) {
	if len(onlyA) != len(onlyB) || len(onlyA) > most {
		return onlyA, onlyB
	}
	restB = slices.Clone(onlyB)
	for _, x := range onlyA {
		i := slices.IndexFunc(restB, func(y atom) bool { return wordy(x.class) && wordy(y.class) && sameWord(in, x.key, y.key) })
		if i < 0 {
			restA = append(restA, x)
			continue
		}
		for j := range b.atoms {
			if b.atoms[j].key == restB[i].key {
				b.atoms[j].key = x.key
			}
		}
		if j := slices.Index(b.denied, restB[i].key); j >= 0 {
			b.denied[j] = x.key
		}
		restB = slices.Delete(restB, i, i+1)
	}
	return restA, restB
}

func wordy(c class) bool { return c == unknown || c == noun || c == verb || c == name }

// ranks orders the reasons: the surest first.
var ranks = []Reason{Polarity, Number, Identifier, Language, Question, Quantity, Entity, Term}

// worst is the reason that says most about words that only one text has.
func worst(a, b []atom) Reason {
	for _, x := range a {
		for _, y := range b {
			if denies(x.key, y.key) || denies(y.key, x.key) {
				return Polarity
			}
		}
	}
	best := len(ranks) - 1
	for _, x := range append(slices.Clone(a), b...) {
		best = min(best, slices.Index(ranks, reasons[x.class]))
	}
	return ranks[best]
}

// prefixes make the opposite of a word.
var prefixes = []string{"un", "dis", "non", "in", "im", "il", "ir", "de", "mis", "anti", "dés", "des", "не"}

// denies reports whether b is the opposite of a by a prefix.
func denies(a, b string) bool {
	head, ok := strings.CutSuffix(b, a)
	return ok && slices.Contains(prefixes, head)
}

// apart reports whether each of two lists has what the other lacks.
func apart(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return lacks(a, b) && lacks(b, a)
}

// lacks reports whether a list lacks one of the others.
func lacks(list, others []string) bool {
	if len(list) <= most {
		return slices.ContainsFunc(others, func(s string) bool { return !slices.Contains(list, s) })
	}
	has := make(map[string]bool, len(list))
	for _, s := range list {
		has[s] = true
	}
	return slices.ContainsFunc(others, func(s string) bool { return !has[s] })
}

// personal reports whether it matters who asks whom: where both are named in
// another order, where one text has only you and the other only me, and where
// nearly nothing else is said.
func personal(a, b *digest) bool {
	x, y := a.persons, b.persons
	if len(a.atoms) < 2 {
		return true
	}
	if x.me && x.you && y.me && y.you {
		return x.first != y.first
	}
	return !a.anybody && (x.me && !x.you && y.you && !y.me || x.you && !x.me && y.me && !y.you)
}
