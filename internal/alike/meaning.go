package alike

import (
	"strings"
	"sync"
)

// class is what a word or a phrase does in a text.
type class uint8

const (
	unknown class = iota // in no table
	skip                 // says nothing about the answer
	polite               // the same, before a sentence as well
	noun                 // a thing or a quality
	verb                 // what is done
	polar                // one of two opposites
	amount               // how much or how many of it
	ask                  // kind of question
	tongue               // a language
	name                 // a name that people write without capitals too
	month                // key: its number
	unit                 // of a number
	neg                  // denies
	mark                 // key: what the next word is to the rest
	and                  // joins
	or                   // joins alternatives
	aux                  // an auxiliary verb; first in a sentence, it asks
	auxPast              // the same, about the past
	auxNow               // the same, about the present
	auxWill              // the same, about the future
	modal                // the same, with a meaning of its own
	me                   // who speaks
	you                  // who is spoken to
	numeral              // key: its value
	scale                // key: the zeros that it adds
	ordinal              // key: its value
	halfday              // am or pm

	// The classes of what is written otherwise than in words.
	number
	identifier
)

// reasons are what differing words of a class are reported as.
var reasons = map[class]Reason{
	unknown: Term, noun: Term, verb: Term, polar: Polarity, neg: Polarity, amount: Quantity, modal: Quantity, ask: Question, tongue: Language,
	name: Entity, month: Number, unit: Number, number: Number, identifier: Identifier,
}

// row gives phrases, separated by bars, one class and one key. Phrases of the same
// key count as the same word. Without a key, each phrase is its own.
type row struct {
	class   class
	key     string
	phrases string
}

// language is one whose words are in tables.
type language uint8

const (
	english language = iota
	german
	french
	spanish
	italian
	portuguese
	dutch
	russian
	arabic
	chinese
	japanese
	languages
)

// meaning is what a phrase stands for.
type meaning struct {
	class class
	key   string
}

// node is a step through phrases, word by word.
type node struct {
	next map[string]*node
	here *meaning // the phrase that ends here, if one does
}

// lexicon is all tables, indexed when they are first asked for: users without a
// semantic cache do not pay for them.
var lexicon = sync.OnceValue(func() *[languages]*node {
	all := &[languages]*node{}
	for l, rows := range tables {
		root := &node{next: map[string]*node{}}
		for i := range rows {
			root.add(language(l), &rows[i])
		}
		all[l] = root
	}
	return all
})

// tables are the words of each language.
var tables = [languages][]row{
	english: concat(englishGrammar, englishWords, englishNames, shared), german: concat(germanWords, shared), french: concat(frenchWords, shared),
	spanish: concat(spanishWords, shared), italian: concat(italianWords, shared), portuguese: concat(portugueseWords, shared),
	dutch: concat(dutchWords, shared), russian: concat(russianWords, shared), arabic: concat(arabicWords, shared), chinese: concat(chineseWords, shared),
	japanese: concat(japaneseWords, shared),
}

func concat(lists ...[]row) []row {
	var out []row
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// add enters the phrases of a row. What a former row said stays.
func (n *node) add(l language, r *row) {
	for phrase := range strings.SplitSeq(r.phrases, "|") {
		key := r.key
		if key == "" {
			key = phrase
		}
		at := n
		for _, word := range pieces(l, phrase) {
			if at.next == nil {
				at.next = map[string]*node{}
			}
			if at.next[word] == nil {
				at.next[word] = &node{}
			}
			at = at.next[word]
		}
		if at.here == nil {
			at.here = &meaning{class: r.class, key: key}
		}
	}
}

// pieces cuts a phrase of a table as the scanner cuts a text: at spaces, and
// where nobody writes spaces, between all letters.
func pieces(l language, phrase string) []string {
	if l == chinese || l == japanese {
		if dense([]rune(phrase)[0]) {
			return strings.Split(phrase, "")
		}
	}
	return strings.Fields(phrase)
}

// find returns the meaning of the longest phrase that the tokens begin with, and
// how many tokens it has.
func find(l language, tokens []token) (*meaning, int) {
	at := lexicon()[l]
	var found *meaning
	length := 0
	for i := range tokens {
		t := &tokens[i]
		if t.kind != word || t.quoted {
			break
		}
		next := at.next[t.text]
		if next == nil && l == english {
			next = at.inflected(t.text)
		}
		if next == nil {
			break
		}
		at = next
		if at.here != nil {
			found, length = at.here, i+1
		}
	}
	return found, length
}

// inflected finds an English word by one of its base forms.
func (n *node) inflected(text string) *node {
	if len(n.next) == 0 {
		return nil
	}
	var found *node
	bases(text, func(base []byte) bool {
		next := n.next[string(base)]
		if next != nil && (next.here == nil || inflects(next.here.class)) {
			found = next
		}
		return found == nil
	})
	return found
}

// inflects reports whether words of a class have endings.
func inflects(c class) bool {
	return c == noun || c == verb || c == polar || c == unit || c == name || c == amount
}
