package engine

import "strings"

// notBase64 is 1 for each byte outside the standard and the URL-safe alphabet.
var notBase64 = base64Table()

func base64Table() (t [256]uint8) {
	for i := range t {
		t[i] = 1
	}
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		t[c] = 0
	}
	return t
}

const (
	wholeCheck = 64 << 10 // payloads up to this size are judged byte by byte
	endCheck   = 4 << 10  // of longer ones, this much of either end
	lookCheck  = 16 << 10 // and this much of the middle at once, which the nearest cache holds
)

// isBase64Text reports whether s is base64 in the standard or the URL-safe
// alphabet, with or without padding. Of a payload of megabytes it judges both
// ends, and looks in between only for what would break the request's JSON or
// betray base64 that is wrapped into lines: a full check would cost several
// times what the copy does.
func isBase64Text(s string) bool {
	pad := 0
	for ; pad < 2 && s != "" && s[len(s)-1] == '='; pad++ {
		s = s[:len(s)-1]
	}
	switch {
	case len(s)%4 == 1, pad > 0 && (len(s)+pad)%4 != 0:
		return false
	case len(s) <= wholeCheck:
		return isBase64Run(s)
	}
	return isBase64Run(s[:endCheck]) && isBase64Run(s[len(s)-endCheck:]) && isOneLine(s[endCheck:len(s)-endCheck])
}

// isOneLine reports whether s has no quote, backslash or line feed. It looks
// for the three in one piece after the other: megabytes come from memory once.
func isOneLine(s string) bool {
	for len(s) > 0 {
		piece := s[:min(len(s), lookCheck)]
		if strings.IndexByte(piece, '"') >= 0 || strings.IndexByte(piece, '\\') >= 0 || strings.IndexByte(piece, '\n') >= 0 {
			return false
		}
		s = s[len(piece):]
	}
	return true
}

// isBase64Run judges every byte, eight in a step.
func isBase64Run(s string) bool {
	var bad uint8
	for len(s) >= 8 {
		bad |= notBase64[s[0]] | notBase64[s[1]] | notBase64[s[2]] | notBase64[s[3]] |
			notBase64[s[4]] | notBase64[s[5]] | notBase64[s[6]] | notBase64[s[7]]
		s = s[8:]
	}
	for i := range len(s) {
		bad |= notBase64[s[i]]
	}
	return bad == 0
}
