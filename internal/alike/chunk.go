package alike

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// chunk reads up to the next space and adds what it is: an identifier, a number
// with its unit, or words.
func (s *scanner) chunk() {
	if n := plainWord(s.text[s.at:]); n > 0 {
		s.single(s.text[s.at : s.at+n])
		s.at += n
		return
	}
	end := len(s.text)
	for i, r := range s.text[s.at:] {
		if i > 0 && (r == ' ' || r == '"' || r == '`' || unicode.IsSpace(r) || dense(r) || strings.ContainsRune("。、，「」『』“”„«»؟،", r)) {
			end = s.at + i
			break
		}
	}
	whole := s.text[s.at:end]
	s.at = end
	core := strings.TrimRight(whole, ".,;:!?()[]{}>'…*_")
	if core == "" {
		core = whole
	}
	s.core(core)
	switch tail := whole[len(core):]; {
	case strings.ContainsAny(tail, ".!?…"):
		s.mark(stop)
	case strings.ContainsAny(tail, ",;:)"):
		s.mark(pause)
	}
}

// plainWord is the length of a word of ASCII letters at the beginning of a text,
// or 0 where anything but a space or a mark and a space follows.
func plainWord(text string) int {
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	mark := n
	if mark < len(text) && strings.IndexByte(",.;:?!", text[mark]) >= 0 {
		mark++
	}
	if mark < len(text) && text[mark] != ' ' {
		return 0
	}
	return n
}

// shape is what a chunk has in it.
type shape struct{ letters, digits, slashes, dots, ats, commas, others int }

func shapeOf(c string) (f shape) {
	for i, r := range c {
		switch {
		case unicode.IsLetter(r) || unicode.Is(unicode.M, r):
			f.letters++
		case r >= '0' && r <= '9':
			f.digits++
		case r == '/' || r == '\\':
			f.slashes++
		case r == '.':
			f.dots++
		case r == '@':
			f.ats++
		case r == ',' || r == ';' || r == '!' || r == '?':
			f.commas++
		case r == '\'', r == '-' && i > 0:
		default:
			f.others++
		}
	}
	return f
}

// core adds a chunk without the punctuation around it.
func (s *scanner) core(c string) {
	f := shapeOf(c)
	switch {
	case f.letters+f.digits == 0:
		s.symbols(c)
	case len(c) == 3 && written[strings.ToLower(c)] != "":
		s.put(word, written[strings.ToLower(c)])
	case strings.Contains(c, "://") || f.ats > 0 || f.slashes > 1 && f.letters+f.dots+f.others > 0 || f.slashes == 1 && (f.dots > 0 || f.others > 0 || strings.ContainsAny(c[:1], "/~\\")):
		s.identifier(c)
	case f.digits > 0:
		if !s.numeric(c) {
			s.identifier(c)
		}
	case c[0] == '-':
		s.exact(c)
	case initials(c):
		s.put(word, strings.ReplaceAll(c, ".", ""))
	case f.dots+f.others > 0:
		s.identifier(c)
	case f.slashes+f.commas > 0:
		for part := range strings.FieldsFuncSeq(c, func(r rune) bool { return strings.ContainsRune("/\\,;!?", r) }) {
			s.words(part)
			s.mark(pause)
		}
	default:
		s.words(c)
	}
}

// written are words of three signs that are not letters only.
var written = map[string]string{"w/o": "without", "k8s": "kubernetes"}

// initials reports whether c is letters with a dot after each, as in U.S.
func initials(c string) bool {
	if len(c) < 3 || strings.Count(c, ".") == 0 {
		return false
	}
	for part := range strings.SplitSeq(c, ".") {
		if utf8.RuneCountInString(part) != 1 {
			return false
		}
	}
	return true
}

// symbols adds signs that are no punctuation: operators, emoji, currency.
func (s *scanner) symbols(c string) {
	if strings.Trim(c, "-") == "" && (len(s.tokens) == 0 || s.tokens[len(s.tokens)-1].kind != digits) || strings.Trim(c, ".,;:!?()[]{}'*_") == "" {
		s.mark(pause)
		return
	}
	s.exact(c)
}

// identifier adds what must be the same to the letter. Case matters in paths and
// where it carries information; hosts, hashes and ticket numbers do without.
func (s *scanner) identifier(c string) {
	if bare := strings.TrimSuffix(strings.TrimPrefix(c, "https://"), "/"); bare != "" {
		c = bare
	}
	upper, lower, figures := false, false, false
	for _, r := range c {
		upper, lower, figures = upper || unicode.IsUpper(r), lower || unicode.IsLower(r), figures || unicode.IsDigit(r)
	}
	if upper && lower && (strings.ContainsAny(c, `/\_`) || figures && len(c) >= 8) {
		s.exact(c)
		return
	}
	s.put(code, c)
}

// words adds words that hyphens join.
func (s *scanner) words(c string) {
	for part := range strings.SplitSeq(c, "-") {
		if part == "" {
			continue
		}
		if head, tail, ok := strings.Cut(part, "'"); ok {
			s.apostrophe(head, tail)
			continue
		}
		s.single(part)
	}
}

// single adds one word, or the two that it is short for.
func (s *scanner) single(part string) {
	if n := len(part); n >= 4 && n <= 8 && part[n-1]|0x20 == 't' {
		if verb, ok := contracted[strings.ToLower(part)]; ok {
			s.put(word, verb)
			s.put(word, "not")
			return
		}
	}
	s.put(word, part)
}

// contracted are the auxiliaries of negations that are written without a space,
// nor an apostrophe.
var contracted = map[string]string{
	"cannot": "can", "cant": "can", "dont": "do", "doesnt": "does", "didnt": "did", "isnt": "is", "arent": "are", "wasnt": "was", "werent": "were",
	"couldnt": "could", "shouldnt": "should", "wouldnt": "would", "hasnt": "has", "havent": "have", "wont": "will",
}

// isFor are the words whose 's is short for is.
const isFor = "|what|where|who|how|why|when|which|it|that|there|here|he|she|let|"

// apostrophe adds a word with an apostrophe in it.
func (s *scanner) apostrophe(head, tail string) {
	low := strings.ToLower(tail)
	switch {
	case head == "":
		s.words(tail)
	case tail == "":
		s.put(word, head)
		s.mark(possess)
	case low == "t" && strings.HasSuffix(strings.ToLower(head), "n"):
		verb := head[:len(head)-1]
		switch strings.ToLower(verb) {
		case "ca":
			verb = "can"
		case "wo":
			verb = "will"
		case "ai":
			verb = "is"
		}
		s.put(word, verb)
		s.put(word, "not")
	case low == "s" && strings.Contains(isFor, "|"+strings.ToLower(head)+"|"):
		s.put(word, head)
		if !strings.EqualFold(head, "let") {
			s.put(word, "is")
		}
	case low == "s":
		s.put(word, head)
		s.mark(possess)
	case low == "m" || low == "re" || low == "ve" || low == "d" || low == "ll":
		s.put(word, head)
		if long := map[string]string{"m": "am", "re": "are", "ve": "have", "d": "would", "ll": "will"}[low]; head != "" {
			s.put(word, long)
		}
	default:
		s.put(word, head)
		s.words(strings.ReplaceAll(tail, "'", ""))
	}
}
