package engine

import (
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
			*s = strings.ReplaceAll(*s, secret, redacted)
		}
		if strings.Contains(string(e.Details), secret) {
			e.Details = []byte(strings.ReplaceAll(string(e.Details), secret, redacted))
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
