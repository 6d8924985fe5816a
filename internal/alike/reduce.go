package alike

import (
	"strings"
	"unicode/utf8"
)

// atom is a word that an answer turns on.
type atom struct {
	key    string
	class  class
	role   string // the preposition before it, possess for an owner, empty without
	lead   bool   // a preposition or a word that asks begins a phrase here
	joined bool   // an "and" or an "or" stands before it
	owner  bool
}

// digest is what stays of a text.
type digest struct {
	in         language
	atoms      []atom
	denied     []string // what the negations stand before, as far as it is certain
	negations  int
	ands, ors  int
	conditions int
	past, now  bool
	will       bool
	whether    bool // asks for yes or no
	helped     bool // who or what is followed by an auxiliary: the next noun acts
	persons    persons
	anybody    bool // asks how or where: you and I are the same there
}

// persons are those that a text names by pronouns alone: who speaks, who is spoken
// to, and which of them comes first.
type persons struct {
	me, you bool
	first   class
}

// reducer makes a digest of tokens.
type reducer struct {
	digest
	tokens  []token
	at      int
	role    string
	joined  bool
	fresh   bool // nothing of the sentence was kept yet
	deny    bool // the next word is denied
	settled bool // the word before goes with "not": auxiliaries and pronouns
	asked   bool // the word before asks for a noun
	loose   bool // the word before is a preposition
	half    bool // a negation of two words has begun
}

// reduce takes away what does not matter.
func reduce(tokens []token, in language) *digest {
	r := reducer{digest: digest{in: in, atoms: make([]atom, 0, len(tokens))}, tokens: tokens, fresh: true}
	for r.at < len(tokens) {
		r.step()
	}
	r.strand()
	r.finish()
	return &r.digest
}

// step reads one phrase.
func (r *reducer) step() {
	t := &r.tokens[r.at]
	switch t.kind {
	case stop:
		r.strand()
		r.fresh, r.joined, r.role, r.settled = true, false, "", false
	case pause:
	case possess:
		if n := len(r.atoms); n > 0 {
			r.atoms[n-1].owner = true
		}
	case digits:
		r.number()
		return
	case place:
		r.at++
		r.keep("#"+t.text, number)
		r.day()
		return
	case clock, date:
		r.keep(t.text, number)
	case code:
		if t.text[0] >= '0' && t.text[0] <= '9' {
			r.unversion()
		}
		r.keep(t.text, identifier)
	case word:
		r.word(t)
		return
	}
	r.at++
}

// strand keeps a preposition that a sentence ends with: who is it for?
func (r *reducer) strand() {
	if role := r.role; r.loose && role != "" {
		r.role = ""
		r.keep(role, noun)
	}
}

// keep adds an atom.
func (r *reducer) keep(key string, c class) {
	r.atoms = append(r.atoms, atom{key: key, class: c, role: r.role, joined: r.joined, lead: r.role != "" || c == ask})
	if r.deny {
		r.denied = append(r.denied, key)
	}
	r.role, r.joined, r.deny, r.fresh, r.settled, r.asked, r.loose = "", false, false, false, false, false, false
}

// word reads a word, or the phrase that begins with it.
func (r *reducer) word(t *token) {
	if t.quoted {
		r.at++
		r.keep(t.text, identifier)
		return
	}
	if t.text == "a" && t.capital && r.variable() {
		r.at++
		r.keep(t.text, name)
		return
	}
	if t.caps && (t.text == "us" || t.text == "it" || t.text == "who") {
		r.at++
		r.keep(map[string]string{"us": "usa", "it": "information technology", "who": "world health organization"}[t.text], name)
		return
	}
	m, n := find(r.in, r.tokens[r.at:])
	if m == nil {
		r.strange(t)
		return
	}
	switch {
	case m.class == numeral || m.class == scale:
		r.number()
		return
	case t.text == "may" && n == 1 && r.in == english && r.isMay(t):
		m = &meaning{month, "5"}
	}
	r.at += n
	r.mean(m, t)
}

// variable reports whether a single capital letter is a name and no article: it
// stands within a sentence that is not all in capitals.
func (r *reducer) variable() bool {
	after := r.peek(1)
	return r.at > 0 && r.tokens[r.at-1].kind != stop && (after == nil || !after.caps)
}

// isMay reports whether a "may" is the month.
func (r *reducer) isMay(t *token) bool {
	after, before := r.peek(0+1), r.last()
	return after != nil && (after.kind == digits || after.kind == place) || t.capital && !r.fresh || before != nil && before.class == number && len(before.key) < 4
}

// peek is the token n places on, or nil.
func (r *reducer) peek(n int) *token {
	if r.at+n < len(r.tokens) {
		return &r.tokens[r.at+n]
	}
	return nil
}

// last is the atom that was kept last, or nil.
func (r *reducer) last() *atom {
	if len(r.atoms) == 0 {
		return nil
	}
	return &r.atoms[len(r.atoms)-1]
}

// strange keeps a word that is in no table.
func (r *reducer) strange(t *token) {
	c := unknown
	if t.caps || t.capital && !r.fresh && r.in != german {
		c = name
	}
	key := t.text
	if r.in == arabic && utf8.RuneCountInString(key) > 4 {
		key = strings.TrimPrefix(key, "ال")
	}
	r.at++
	r.keep(key, c)
}

// mean does what a phrase asks for. The token is its first.
func (r *reducer) mean(m *meaning, t *token) {
	r.loose = false
	switch m.class {
	case polite:
	case skip:
		r.settled, r.fresh = false, false
		r.asked = r.in == english && (t.text == "what" || t.text == "which")
	case me, you:
		r.person(m.class)
		r.settled, r.fresh = true, false
	case neg:
		if m.key == "ne" { // of French, whose other half counts
			r.half = true
			break
		}
		r.negations++
		r.deny = !r.settled
	case mark:
		r.role, r.loose = m.key, true
		if m.key == "if" {
			r.conditions++
		}
	case and:
		r.ands, r.joined = r.ands+1, true
	case or:
		r.ors, r.joined = r.ors+1, true
	case aux, auxPast, auxNow, auxWill:
		r.auxiliary(m.class, t.text)
	case modal:
		r.whether = r.whether || r.fresh
		r.keep(m.key, modal)
		r.settled = true
	case ask:
		r.question(m)
	case month:
		r.keep("m"+m.key, month)
		r.day()
	case ordinal:
		r.ordinal(m, t)
	case halfday:
		r.halfDay(m.key)
	case verb:
		if key := r.particle(t); key != "" {
			r.keep(key, polar)
			return
		}
		r.keep(m.key, verb)
	default:
		r.keep(m.key, m.class)
	}
}

// person notes a pronoun.
func (r *reducer) person(c class) {
	r.persons.me, r.persons.you = r.persons.me || c == me, r.persons.you || c == you
	if r.persons.first == unknown {
		r.persons.first = c
	}
}

// auxiliary notes what an auxiliary says about time, and that it asks where it
// begins a sentence.
func (r *reducer) auxiliary(c class, text string) {
	r.past, r.now, r.will = r.past || c == auxPast, r.now || c == auxNow, r.will || c == auxWill
	r.helped = r.helped || r.asked && (text == "do" || text == "does" || text == "did")
	r.whether = r.whether || r.fresh
	r.settled, r.fresh = true, false
}

// question keeps the kind of a question. A "when" inside a sentence is a
// condition.
func (r *reducer) question(m *meaning) {
	if m.key == "whether" {
		r.whether, r.fresh = true, false
		return
	}
	if m.key == "when" && !r.fresh && r.in == english {
		if last := r.last(); last != nil && last.class != ask && last.class != verb {
			r.role = "if"
			r.conditions++
			return
		}
	}
	r.keep(m.key, ask)
	r.asked = m.key == "who"
}

// ordinal keeps a number that counts. After a number, a second is a unit.
func (r *reducer) ordinal(m *meaning, t *token) {
	if last := r.last(); t.text == "second" && last != nil && last.class == number {
		r.keep("sec", unit)
		return
	}
	r.keep("#"+m.key, number)
	r.day()
}

// particle finds the "on" or the "off" of a verb that stands some words later:
// turn the light off.
func (r *reducer) particle(t *token) string {
	if t.text != "turn" && t.text != "switch" || r.in != english {
		return ""
	}
	for i := range 5 {
		p := r.peek(i)
		if p == nil || p.kind != word {
			return ""
		}
		if p.text == "off" || p.text == "on" {
			p.kind = pause
			return map[string]string{"on": "enable", "off": "disable"}[p.text]
		}
	}
	return ""
}
