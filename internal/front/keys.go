package front

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// keyring holds the digests of the API keys.
type keyring struct {
	on   bool
	sums [][sha256.Size]byte
}

func newKeyring(keys []string) keyring {
	k := keyring{on: len(keys) > 0}
	for _, key := range keys {
		if key != "" {
			k.sums = append(k.sums, sha256.Sum256([]byte(key)))
		}
	}
	return k
}

// with returns the ring with further keys, which do not turn it on.
func (k keyring) with(keys []string) keyring {
	k.sums = append(k.sums, newKeyring(keys).sums...)
	return k
}

// match reports whether key is one of the ring. The time it takes depends on
// the length of key and the number of keys, not on how much of one is right.
func (k *keyring) match(key string) bool {
	sum := sha256.Sum256([]byte(key))
	found := 0
	for i := range k.sums {
		found |= subtle.ConstantTimeCompare(k.sums[i][:], sum[:])
	}
	return found == 1
}

// admit checks the API key and returns the platform token. A key that came as
// Authorization, as the OpenAI clients send it, is never a token. Anthropic's
// clients may send it as x-api-key.
//
// id is the digest of the key that let the client in.
func (k *keyring) admit(in http.Header, anthropic bool) (token, id string, err error) {
	token, err = bearer(in["Authorization"])
	if !k.on {
		if k.match(token) { // which must not go on to a platform
			token = ""
		}
		return token, "", err
	}
	isKey := k.match(token)
	ok, key := isKey, token
	if given, has := in[headerAnthropicKey]; has && anthropic && !ok && len(given) == 1 {
		ok, key = k.match(given[0]), given[0]
	}
	if given, has := in[headerAPIKey]; has {
		if ok = len(given) == 1 && k.match(given[0]); ok {
			key = given[0]
		}
	}
	switch {
	case !ok:
		return "", "", errUnauthorized(anthropic)
	case isKey:
		return "", keyID(key), nil
	}
	return token, keyID(key), err
}

// keyID returns half of a key's digest: enough that no two keys share one.
func keyID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:sha256.Size/2])
}

// bearer returns the token of an Authorization header. A bare "Bearer" is what
// clients send whose key is not set.
func bearer(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", badHeader(authorization, "given more than once")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || strings.ContainsFunc(token, notToken) {
		return "", badHeader(authorization, `must be "Bearer TOKEN"`)
	}
	return token, nil
}

// notToken reports whether c can't be part of a bearer token.
func notToken(c rune) bool { return c <= ' ' || c >= 0x7f }
