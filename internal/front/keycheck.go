package front

import "net/http"

// KeyCheck checks API keys for pages beside the handler, as the handler of the same
// [Config] does. It is safe for concurrent use.
type KeyCheck struct{ keys keyring }

// NewKeyCheck returns the check of the config's keys.
func NewKeyCheck(cfg Config) *KeyCheck { return &KeyCheck{newKeyring(cfg.Keys)} }

// Admit returns the digest of the key that lets a request in, which is empty where
// none is needed. Its error is for the client.
func (k *KeyCheck) Admit(in http.Header) (keyID string, err error) {
	if !k.keys.on {
		return "", nil // a token of the platform has no part in it
	}
	_, keyID, err = k.keys.admit(in, false)
	return keyID, err
}
