// Package alike decides whether two texts that an embedding calls similar may
// share one cached answer. A vector hardly notices a "not", a number or a name
// that changed: reversals score above 0.9. This package reads the words.
//
// Two texts agree when the same words remain of both, after politeness, articles,
// inflection and known synonyms are taken away, in an order that means the same.
// Anything else is a conflict: when unsure, it says so, for a call too many costs
// money and a wrong answer costs trust.
//
// # Caveats
//
// It has tables for English, German, French, Spanish, Italian, Portuguese, Dutch,
// Russian, Arabic, Chinese and Japanese. Texts in other languages agree only with
// the same words, whatever their case and punctuation. It knows no facts: "the
// capital of France" and "Paris" are in conflict. Capitals alone do not make a name
// of a word, for many people write none: "Apple" agrees with "an apple". An "a" agrees
// with a "my". An accent in two code points is not the accent in one.
package alike

// Reason says in which way two texts differ.
type Reason string

// The reasons of conflicts.
const (
	Polarity   Reason = "polarity"   // one denies what the other says, or says its opposite
	Number     Reason = "number"     // numbers, dates or times differ
	Entity     Reason = "entity"     // a name of somebody or something is in one only
	Identifier Reason = "identifier" // addresses, codes, paths, quotations or symbols differ
	Order      Reason = "order"      // the same words, with other parts to play
	Quantity   Reason = "quantity"   // all or none, more or less, must or may
	Question   Reason = "question"   // another kind of question
	Language   Reason = "language"   // written in, or asking for, another language
	Term       Reason = "term"       // a word is in one only, and is no known synonym
	Length     Reason = "length"     // a text is above [MaxBytes], and was not compared
)

// MaxBytes bounds the texts that are compared. It is above what embedding models
// take, and keeps the time within milliseconds whatever a client sends.
const MaxBytes = 64 << 10

// Conflict reports whether a and b must not share an answer, and in which way
// they differ. The reason is the first of several that was found, and empty
// without a conflict. It is safe for concurrent use, takes time linear in the
// texts' lengths, and gives the same report for (b, a).
func Conflict(a, b string) (Reason, bool) {
	if a == b {
		return "", false
	}
	if max(len(a), len(b)) > MaxBytes {
		return Length, true
	}
	scanA, scanB := scan(a), scan(b)
	in, ok := sharedLanguage(scanA, scanB)
	if !ok {
		return Language, true
	}
	if sameTokens(scanA, scanB) {
		return "", false
	}
	reason := compare(reduce(scanA, in), reduce(scanB, in))
	return reason, reason != ""
}

// sharedLanguage is the language to read both texts in. A text that shows none
// is taken for one in the other's.
func sharedLanguage(a, b []token) (language, bool) {
	inA, sureA := guess(a)
	inB, sureB := guess(b)
	switch {
	case !sureA && !sureB:
		return english, true
	case inA == inB || !sureB:
		return inA, true
	case !sureA:
		return inB, true
	}
	return inA, false
}

// sameTokens reports whether two texts differ in nothing but case and spaces.
func sameTokens(a, b []token) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text || a[i].kind != b[i].kind || a[i].caps != b[i].caps {
			return false
		}
	}
	return true
}
