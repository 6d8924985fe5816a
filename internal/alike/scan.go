package alike

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token looks like.
type kind uint8

const (
	word    kind = iota // a word, or one letter where words have no spaces between
	digits              // a number, in its shortest form
	place               // a number that counts: 3rd
	clock               // a time of day
	date                // a date with year, month and day
	code                // an identifier, a symbol or a quotation: what must be the same to the letter
	pause               // a comma or a bracket
	stop                // the end of a sentence
	possess             // the apostrophe of a possessor
)

// token is a piece of a text, folded so that writing it otherwise makes no
// difference.
type token struct {
	text     string
	from, to int // of text, among the letters of all tokens
	kind     kind
	capital  bool // begins with a capital letter
	caps     bool // has capital letters only, two at least
	quoted   bool // stands between quotation marks
}

// scanner cuts a text into tokens, in one pass.
type scanner struct {
	text   string
	at     int
	tokens []token
	room   []byte
	open   []string // quotation marks that are not closed any more
}

// scan returns the tokens of a text.
func scan(text string) []token {
	s := scanner{text: normal(text)}
	s.tokens = make([]token, 0, len(s.text)/4+4)
	s.room = make([]byte, 0, len(s.text)+8)
	for s.at < len(s.text) {
		s.next()
	}
	all := string(s.room)
	for i := range s.tokens {
		s.tokens[i].text = all[s.tokens[i].from:s.tokens[i].to]
	}
	return s.tokens
}

// normal returns a text with one writing for what has several: digits, spaces,
// apostrophes, hyphens, wide letters, and without what cannot be seen.
func normal(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return strings.Map(plain, text)
		}
	}
	return text
}

// plain maps one letter; see [normal].
func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case r >= 0xFF01 && r <= 0xFF5E: // wide forms of ASCII
		return r - 0xFEE0
	case r >= 0x0660 && r <= 0x0669, r >= 0x06F0 && r <= 0x06F9: // Arabic digits
		return '0' + r&0xF
	case r >= 0x064B && r <= 0x0652, r == 0x0640: // Arabic vowels and lengthening
		return -1
	case r == 'أ' || r == 'إ' || r == 'آ':
		return 'ا'
	case r == '’' || r == '‘' || r == 'ʼ' || r == '´':
		return '\''
	case r >= 0x2010 && r <= 0x2015, r == '−': // hyphens, dashes, minus
		return '-'
	case unicode.Is(unicode.Cf, r), r >= 0xFE00 && r <= 0xFE0F: // invisible
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// dense reports whether a script is written without spaces between words.
func dense(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// next reads what is at the current place.
func (s *scanner) next() {
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	after, _ := utf8.DecodeRuneInString(s.text[s.at+n:])
	switch {
	case r == '\n':
		s.mark(stop)
	case r == ' ' || unicode.IsSpace(r):
	case s.quotation(r, n):
		return
	case dense(r):
		s.put(word, s.text[s.at:s.at+n])
	case strings.ContainsRune(".?!…", r) && !unicode.IsLetter(after) && !unicode.IsDigit(after) && !strings.ContainsRune("/.=\\", after), r == '。' || r == '؟':
		s.mark(stop)
	case strings.ContainsRune(",;:、،؛()[]{}\"'`*_«»“”„「」『』¿¡·•|", r):
		s.mark(pause)
	case r == '<' && (unicode.IsLetter(after) || after == '/'):
		s.mark(pause)
	default:
		s.chunk()
		return
	}
	s.at += n
}

// mark adds a token without letters.
func (s *scanner) mark(k kind) {
	s.tokens = append(s.tokens, token{kind: k, from: len(s.room), to: len(s.room)})
}

// put adds a token in lower case.
func (s *scanner) put(k kind, text string) {
	t := token{kind: k, from: len(s.room)}
	upper, letters := 0, 0
	for i, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.IsUpper(r) {
			upper++
			t.capital = t.capital || i == 0
		}
		if r == 'ё' || r == 'Ё' {
			r = 'е'
		}
		s.room = utf8.AppendRune(s.room, unicode.ToLower(r))
	}
	t.caps, t.to = upper > 1 && upper == letters, len(s.room)
	s.tokens = append(s.tokens, t)
}

// exact adds a token whose case matters.
func (s *scanner) exact(text string) {
	t := token{kind: code, from: len(s.room)}
	s.room = append(s.room, text...)
	t.to = len(s.room)
	s.tokens = append(s.tokens, t)
}

// closers has the mark that closes a quotation, by the one that opens it.
var closers = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '„': "“", '«': "»", '「': "」", '『': "』"}

// quotation reads what stands between quotation marks. One word is a word, but
// counts whatever it is; more are taken to the letter.
func (s *scanner) quotation(r rune, n int) bool {
	mark, ok := closers[r]
	if !ok || slices.Contains(s.open, mark) {
		return false
	}
	if before, _ := utf8.DecodeLastRuneInString(s.text[:s.at]); unicode.IsLetter(before) && !dense(before) || unicode.IsDigit(before) {
		return false
	}
	if strings.HasPrefix(s.text[s.at:], "```") && !slices.Contains(s.open, "```") {
		mark, n = "```", 3
	}
	inside, rest, ok := strings.Cut(s.text[s.at+n:], mark)
	for ok && mark == "'" && rest != "" { // not an apostrophe
		if after, _ := utf8.DecodeRuneInString(rest); !unicode.IsLetter(after) && !unicode.IsDigit(after) {
			break
		}
		var more string
		more, rest, ok = strings.Cut(rest, mark)
		inside = s.text[s.at+n : s.at+n+len(inside)+1+len(more)]
	}
	if !ok {
		s.open = append(s.open, mark)
		return false
	}
	s.at += n + len(inside) + len(mark)
	s.quote(strings.TrimSpace(inside), mark)
	return true
}

// quote adds the inside of a quotation.
func (s *scanner) quote(inside, mark string) {
	if inside == "" {
		return
	}
	simple := mark[0] != '`' && utf8.RuneCountInString(inside) <= longestWord
	for _, r := range inside {
		simple = simple && unicode.IsLetter(r)
	}
	if !simple {
		s.exact(strings.Join(strings.Fields(inside), " "))
		return
	}
	s.put(word, inside)
	s.tokens[len(s.tokens)-1].quoted = true
}
