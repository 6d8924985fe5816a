package engine

import (
	"bytes"
	"net/http"
)

// minSecret is the length of a value from which on it is looked for, in bytes:
// shorter ones are also parts of words.
const minSecret = 8

// hide takes the token, and the values of headers that were sent along, out of an
// error body: proxies and small servers repeat what they were asked, and the
// error goes to logs and to clients. The names of beta features are no secrets,
// and errors are about them.
func hide(body []byte, token string, sent http.Header) []byte {
	body = without(body, token)
	for name, values := range sent {
		if name == betaHeader {
			continue
		}
		for _, v := range values {
			body = without(body, v)
		}
	}
	return body
}

func without(body []byte, secret string) []byte {
	if len(secret) < minSecret || !bytes.Contains(body, []byte(secret)) {
		return body
	}
	return bytes.ReplaceAll(body, []byte(secret), []byte("[redacted]"))
}
