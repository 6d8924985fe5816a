package front

import (
	"net/http"

	"github.com/b650d4bf/gateway/providers"
)

// KeyCheck checks the API keys of whoever asks for the log on a page beside the
// handler, as the handler of the same [Config] does. It is safe for concurrent use.
type KeyCheck struct{ keys, admin keyring }

// NewKeyCheck returns the check of the config's keys.
func NewKeyCheck(cfg Config) *KeyCheck {
	return &KeyCheck{newKeyring(cfg.Keys).with(cfg.AdminKeys), newKeyring(cfg.AdminKeys)}
}

// Admit returns the digest of the only key whose records may be seen, nil for all.
// Its error is for the client. Where no key is needed, whatever comes as
// Authorization has no part in it.
func (k *KeyCheck) Admit(in http.Header) (keyID *string, err error) {
	if k.admin.on {
		_, _, err := k.admin.admit(in, false)
		if err == nil {
			return nil, nil //nolint:nilnil // all records
		}
		if _, _, other := k.keys.admit(in, false); k.keys.on && other == nil {
			return nil, errAdmin()
		}
		return nil, err
	}
	if !k.keys.on {
		return nil, nil //nolint:nilnil // all records
	}
	_, id, err := k.keys.admit(in, false)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// errAdmin refuses a key that is one, but not for the log.
func errAdmin() error {
	return &providers.Error{Code: providers.ErrPermission, Message: "the log is for the gateway's admin keys alone"}
}
