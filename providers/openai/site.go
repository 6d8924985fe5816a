package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// site is a server that speaks the OpenAI schema.
type site struct{ compatible bool }

var (
	_ engine.Site          = (*site)(nil)
	_ engine.EmbeddingSite = (*site)(nil)
)

func (s *site) Name() string {
	if s.compatible {
		return CompatibleName
	}
	return Name
}

// maxModel bounds the name of a model, in bytes.
const maxModel = 512

// Model takes a name as it is: it stands in the body, and servers have names
// such as meta-llama/Llama-3.3-70B-Instruct and llama3:8b.
func (s *site) Model(ref string) (engine.Model, error) {
	switch {
	case ref == "":
		return engine.Model{}, providers.Invalid("model", "is required: the name that the server has for it")
	case len(ref) > maxModel || !utf8.ValidString(ref) || strings.ContainsFunc(ref, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return engine.Model{}, providers.Invalid("model", "is no model name: it is too long, or has control characters")
	case strings.TrimSpace(ref) != ref:
		return engine.Model{}, providers.Invalid("model", "is no model name: it begins or ends with a space")
	}
	if s.compatible {
		return engine.Model{Publisher: CompatibleName, Name: ref, Family: engine.FamilyEndpoint, Own: true}, nil
	}
	return engine.Model{Publisher: "openai-api", Name: ref, Family: engine.FamilyOpenAI, Own: true}, nil
}

// EmbeddingModel reads the name of a model that embeds, which is as any other.
func (s *site) EmbeddingModel(ref string) (m engine.Model, named bool, err error) {
	m, err = s.Model(ref)
	return m, true, err
}

// URL is the path of the verb below the base URL, with the version in the query
// for servers that want one.
//
// Source: https://learn.microsoft.com/azure/ai-services/openai/reference
func (s *site) URL(t *providers.Target, _ *engine.Model, verb, query string) (*url.URL, error) {
	base := t.BaseURL
	if base == "" && s.compatible {
		return nil, badPlace("base_url", `no address is set: give the catalog entry a base_url, such as "http://localhost:11434/v1"`)
	}
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := engine.BaseURL(base)
	if err != nil {
		return nil, err
	}
	u.Path += verb
	if u.RawQuery = query; t.APIVersion != "" {
		u.RawQuery = "api-version=" + url.QueryEscape(t.APIVersion)
	}
	return u, nil
}

// Authorize sends the key as a bearer token. A server may want none.
func (s *site) Authorize(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (token string, err error) {
	token, _, err = engine.Bearer(ctx, t, h, slot)
	if err == nil && token == "" && !s.compatible && len(h["Authorization"]) == 0 {
		err = &providers.Error{
			Code: providers.ErrAuthentication, Param: "api_key",
			Message: "there is no API key: give the catalog entry an api_key",
		}
	}
	return token, err
}

func badPlace(param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: param, Message: message}
}
