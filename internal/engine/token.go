package engine

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/providers"
)

// headerSource is a token source that has the authorization header ready.
type headerSource interface {
	Header(ctx context.Context) (authorization, quotaProject string, err error)
}

// Bearer puts the target's token into the authorization header, by slot, and
// returns it with the project that pays for the request, if the credentials name
// one. A target without a token source sends none.
func Bearer(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (token, quotaProject string, err error) {
	if t.Token == nil {
		return "", "", nil
	}
	authorization, quota, err := authorize(ctx, t.Token)
	if err != nil {
		return "", "", authError(ctx, err)
	}
	if authorization != "" {
		slot[0] = authorization
		h["Authorization"] = slot[:]
	}
	return strings.TrimPrefix(authorization, "Bearer "), quota, nil
}

func authorize(ctx context.Context, src auth.TokenProvider) (authorization, quotaProject string, err error) {
	if s, ok := src.(headerSource); ok {
		return s.Header(ctx)
	}
	token, err := src.Token(ctx)
	if err != nil || token == nil || token.Value == "" {
		return "", "", err
	}
	return "Bearer " + token.Value, "", nil
}

// closedSource is an error of a token source that was closed with its client.
type closedSource interface {
	error
	SourceClosed() bool
}

// authError says that there is no token. The cause comes from the token source,
// which keeps secrets out of it.
func authError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return transport.ContextError(ctx, false)
	}
	if _, ok := errors.AsType[*providers.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[closedSource](err); ok && e.SourceClosed() {
		return &providers.Error{Code: providers.ErrClosed, Message: "the client was closed, and the call needs another access token", Err: err}
	}
	return &providers.Error{Code: providers.ErrAuthentication, Message: "no access token could be had", Err: err}
}
