package engine

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// minSecret is the length of a value from which on it is looked for, in bytes:
// shorter ones are also parts of words.
const minSecret = 8

// hide takes the token, and the values of headers that were sent along, out of an
// error: proxies and small servers repeat what they were asked, and the error goes
// to logs and to clients. The names of beta features are no secrets, and errors
// are about them.
func (c *call) hide(e *providers.Error) {
	out := func(secret string) {
		if len(secret) < minSecret {
			return
		}
		for _, s := range []*string{&e.Message, &e.Param, &e.NativeStatus} {
			*s = without(*s, secret)
		}
		if bare := without(string(e.Details), secret); bare != string(e.Details) {
			e.Details = []byte(bare)
		}
	}
	out(strings.TrimPrefix(c.bearer[0], "Bearer "))
	for name, values := range c.in.target.Header {
		for _, v := range values {
			if name != betaHeader {
				out(v)
			}
		}
	}
}

const redacted = "[redacted]"

// without is a text with a secret taken out, as it is or escaped: JSON writes signs in
// several ways, once more for JSON within a string, and URLs in percent.
func without(text, secret string) string {
	text = strings.ReplaceAll(text, secret, redacted)
	if !strings.ContainsAny(text, `\%`) {
		return text
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if n := escapedAt(text[i:], secret); n > 0 {
			b.WriteString(text[from:i] + redacted)
			from, i = i+n, i+n-1
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// maxSlashes is how many backslashes stand for one sign at most: JSON within JSON
// doubles them each time.
const maxSlashes = 64

// escapedAt returns how long the secret is at the beginning of the text, with escapes
// anywhere in it; 0 where it is not.
func escapedAt(text, secret string) int {
	at := 0
	for i := 0; i < len(secret); i++ {
		c := secret[i]
		near := text[at:min(len(text), at+maxSlashes)]
		slashes := len(near) - len(strings.TrimLeft(near, `\`))
		if c == '\\' && slashes > 0 {
			at += slashes
			for i+1 < len(secret) && secret[i+1] == '\\' {
				i++
			}
			continue
		}
		rest := text[at+slashes:]
		switch {
		case rest == "":
			return 0
		case slashes == 0 && rest[0] == '%' && isHex(rest[1:], c, 2):
			at += 3
		case rest[0] == c:
			at += slashes + 1
		case slashes > 0 && rest[0] == 'u' && isHex(rest[1:], c, 4):
			at += slashes + 5
		default:
			return 0
		}
	}
	return at
}

// isHex reports whether the text begins with the byte as that many hexadecimal digits.
func isHex(text string, c byte, digits int) bool {
	if len(text) < digits {
		return false
	}
	v, err := strconv.ParseUint(text[:digits], 16, 16)
	return err == nil && v == uint64(c)
}

// maxMemberPath is the longest path of a member that is taken from a platform, in bytes.
const maxMemberPath = 256

// memberPath is the path of a member as a platform gives it; empty for what cannot be
// one. It goes to logs that keep no sentence of the platform, which may quote the
// request.
func memberPath(path string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`{}()<>:;,=&%\+`, r) }
	if len(path) > maxMemberPath || strings.ContainsFunc(path, odd) {
		return ""
	}
	return path
}
