package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

const (
	// host is where the service is.
	//
	// Source: https://platform.claude.com/docs/en/api/overview
	host = "api.anthropic.com"
	// version is that of the API. The next one takes no temperature, top_p and
	// top_k, whatever the model.
	//
	// Source: https://platform.claude.com/docs/en/api/versioning
	version = "2023-06-01"

	keyHeader     = "X-Api-Key"
	versionHeader = "Anthropic-Version"
)

// versions is the value of the version's header. It is never changed.
var versions = []string{version}

// site is the vendor's own service: its names, addresses and keys.
type site struct{}

var (
	_ engine.Site     = site{}
	_ engine.Remedier = site{}
)

func (site) Name() string { return Name }

// Model reads a model reference.
func (site) Model(ref string) (engine.Model, error) { return parseModel(ref) }

// URL is the address of a method, such as https://api.anthropic.com/v1/messages.
// The model is in the body.
func (site) URL(t *providers.Target, _ *engine.Model, verb, query string) (*url.URL, error) {
	u := &url.URL{Scheme: "https", Host: host}
	if t.BaseURL != "" {
		var err error
		if u, err = engine.BaseURL(t.BaseURL); err != nil {
			return nil, err
		}
	}
	u.RawQuery = query
	u.Path += "/v1/" + verb
	return u, nil
}

// Authorize sends the API key and the version of the API. No other credentials
// go with a key.
func (site) Authorize(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (token string, err error) {
	key, err := engine.Key(ctx, t)
	if err != nil {
		return "", err
	}
	delete(h, keyHeader)
	h[versionHeader] = versions
	if key != "" {
		delete(h, "Authorization")
		slot[0] = key
		h[keyHeader] = slot[:]
	}
	return key, nil
}

// Remedy says where a key comes from, and what is not found.
//
// Source: https://platform.claude.com/docs/en/api/errors
func (site) Remedy(e *providers.Error) string {
	switch {
	case e.Code == providers.ErrAuthentication:
		return "check the catalog entry's api_key"
	case e.StatusCode == http.StatusNotFound:
		return "check the model's name, and the ids of files and containers, which belong to the key's workspace"
	}
	return ""
}
