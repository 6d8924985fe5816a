package engine

import (
	"context"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Key returns the target's API key, which its token source holds. A target
// without one has none, which only a proxy may know how to mend: that of a
// vendor's own host is missing.
func Key(ctx context.Context, t *providers.Target) (string, error) {
	if t.Token == nil {
		if t.BaseURL != "" {
			return "", nil
		}
		return "", noKey("no API key is set: give the catalog entry's api_key")
	}
	token, err := t.Token.Token(ctx)
	switch {
	case err != nil:
		return "", authError(ctx, err)
	case token == nil || token.Value == "":
		return "", noKey("the API key is empty: give the catalog entry's api_key")
	case strings.ContainsFunc(token.Value, func(c rune) bool { return c <= ' ' || c >= 0x7f }):
		return "", noKey("the API key can't be one: it has white space, or characters that are not ASCII")
	}
	return token.Value, nil
}

func noKey(message string) error {
	return &providers.Error{Code: providers.ErrAuthentication, Param: "api_key", Message: message}
}
