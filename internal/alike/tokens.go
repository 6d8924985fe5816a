package alike

import "unicode/utf8"

// Tokens returns an upper bound of the tokens that a text has for an embedding
// model, without the marks that the model puts around a text itself.
//
// Tokenizers with bytes at their ground, all of those in use, never make more
// tokens than the text has bytes. Below that proof the count rests on what they
// have in common: a space joins the word after it, and lower-case words of Latin
// letters have pieces of two letters and more. So such a word counts half its
// letters and one more, and its space nothing; everything else (digits, signs,
// capitals in words, words without vowels, other scripts) counts every byte.
// English text comes out at about twice its real number. Of
// 19,000 words in the sources of Go, five without sense had a token or two more in
// cl100k_base or o200k_base, which words with sense make up for.
//
// Letters that compatibility forms are replaced for, as SentencePiece does before
// it counts, have the length of what replaces them: U+FDFA becomes 33 bytes.
func Tokens(text string) int {
	total := 0
	for i := 0; i < len(text); {
		if n := lowerWord(text[i:]); n > 0 {
			if total > 0 && i > 0 && text[i-1] == ' ' && (i < 2 || text[i-2] != ' ') {
				total-- // the space
			}
			total += wordTokens(text[i : i+n])
			i += n
			continue
		}
		if text[i] < utf8.RuneSelf {
			total++
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		total += max(n, expanded(r))
		i += n
	}
	return total
}

// Fits reports whether a text has limit tokens at most for certain; see [Tokens].
// False means that it was not proved. "Fewer than 8,191 tokens" is Fits(text, 8190);
// where the embedding model takes 2,048 and cuts off the rest in silence, that is
// the limit, or two texts that begin alike would have one vector.
func Fits(text string, limit int) bool {
	return Tokens(text) <= limit
}

// lowerWord is the length of the word in lower case that a text begins with, 0
// where there is none.
func lowerWord(text string) int {
	n := 0
	for n < len(text) && text[n] >= 'a' && text[n] <= 'z' {
		n++
	}
	return n
}

// wordTokens bounds the tokens of a word in lower case. A run of letters that no
// word has, four consonants and more, or one letter again and again, is no word.
func wordTokens(w string) int {
	switch w { // the commonest words are one everywhere
	case "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "with", "on", "be", "at", "by", "this", "you", "are", "or", "from", "have", "not", "was", "an",
		"can", "will", "if", "what", "how", "which", "when", "but", "all", "my", "we", "has", "more", "your", "would", "there", "their", "about", "they", "one":
		return 1
	}
	consonants, same := 0, 0
	for i := range len(w) {
		consonants++
		if vowel(w[i]) {
			consonants = 0
		}
		same++
		if i > 0 && w[i] != w[i-1] {
			same = 1
		}
		if consonants > 4 || same > 2 {
			return len(w)
		}
	}
	return len(w)/2 + 1
}

// expanded bounds the bytes of what replaces a letter of a block of compatibility
// forms.
//
// Source: https://www.unicode.org/Public/UCD/latest/ucd/DerivedNormalizationProps.txt, the longest NFKC form of each block.
func expanded(r rune) int {
	switch {
	case r >= 0xFB50 && r <= 0xFDFF:
		return 33
	case r >= 0x3200 && r <= 0x33FF, r >= 0x1F100 && r <= 0x1F2FF:
		return 18
	case r >= 0x00A8 && r <= 0x00BE, r >= 0x2000 && r <= 0x24FF, r >= 0x2A00 && r <= 0x2AFF:
		return 12
	case r == utf8.RuneError:
		return 3
	}
	return 0
}
