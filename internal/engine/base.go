package engine

import (
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// BaseURL reads the base URL that a target has in place of a site's own address:
// its path is a prefix, without the last slash.
func BaseURL(base string) (*url.URL, error) {
	p, err := url.Parse(base)
	if err != nil || p.Host == "" || p.Scheme != "https" && p.Scheme != "http" || p.User != nil ||
		p.RawQuery != "" || p.ForceQuery || p.Fragment != "" || p.RawPath != "" {
		return nil, &providers.Error{
			Code: providers.ErrInvalidConfig, Param: "base_url",
			Message: "the base URL must be absolute, such as https://example.com, without user, query and fragment",
		}
	}
	return &url.URL{Scheme: p.Scheme, Host: p.Host, Path: strings.TrimRight(p.Path, "/")}, nil
}
