package vertex

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

// isBase64Text reports whether s is base64 in the standard or the URL-safe
// alphabet, with or without padding. It reads eight bytes a step, since images
// are megabytes.
func isBase64Text(s string) bool {
	for pad := 0; pad < 2 && s != "" && s[len(s)-1] == '='; pad++ {
		s = s[:len(s)-1]
	}
	if len(s)%4 == 1 {
		return false
	}
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
