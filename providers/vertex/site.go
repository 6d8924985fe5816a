package vertex

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// site is the platform: its names, addresses and credentials.
type site struct {
	engine     *engine.Engine
	models     *catalog.Models
	publishers []publisher // Config.Publishers
	predictors map[string]*Predictor
	hosts      *hosts
}

var (
	_ engine.Site          = (*site)(nil)
	_ engine.Locator       = (*site)(nil)
	_ engine.EmbeddingSite = (*site)(nil)
	_ engine.CacheSite     = (*site)(nil)
)

func (*site) Name() string { return providerName }

// Model reads a model reference, and finds the predictor of an endpoint.
func (s *site) Model(ref string) (engine.Model, error) {
	m, err := parseModel(ref, s.models, s.publishers...)
	if m.Family == engine.FamilyEndpoint {
		m.Predictor = s.predictors[m.Name]
	}
	return m, err
}

// EmbeddingModel reads the reference of a model that embeds. Open models are
// found by their name, or as publisher/name; self-deployed ones are addressed as
// those that answer.
func (s *site) EmbeddingModel(ref string) (m engine.Model, named bool, err error) {
	for _, p := range endpointPrefixes {
		if name, ok := strings.CutPrefix(ref, p); ok {
			m, err = endpointModel(name)
			m.Predictor = s.predictors[m.Name]
			return m, true, err
		}
	}
	if m, err = splitModel(ref, slices.Concat(s.publishers, publishers), nil); err != nil {
		return m, false, err
	}
	if s.isServer(&m) {
		m.Publisher, m.Family, m.Predictor = endpointPublisher, engine.FamilyEndpoint, s.predictors[m.Name]
		return m, true, nil
	}
	named = m.Resource != "" || m.Name != strings.TrimPrefix(ref, "models/")
	if publisher, name, ok := strings.Cut(m.Name, "/"); ok && m.Resource == "" {
		m.Publisher, m.Name, named = publisher, name, true
	}
	if !isSegment(m.Name) || !isSegment(m.Publisher) {
		return m, false, badModel("a model name has letters, digits and . _ - @ only")
	}
	return m, named, nil
}

// isServer reports whether a full resource name is that of an endpoint with a
// server behind it: a row of the table of models, or a predictor, is about it.
// Without them it is a tuned model of google.
func (s *site) isServer(m *engine.Model) bool {
	if strings.Count(m.Resource, "/") != 5 || !strings.Contains(m.Resource, "/endpoints/") {
		return false
	}
	_, known := s.models.LookupEmbedding(endpointPublisher, m.Name)
	own := s.predictors[m.Name]
	return known || own != nil && own.EmbedRequest != nil
}

func (*site) URL(t *providers.Target, m *engine.Model, verb, query string) (*url.URL, error) {
	return endpoint(t, m, verb, query)
}

// Authorize sends an OAuth 2.0 access token, and names the project that pays
// where the credentials name one.
func (*site) Authorize(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (token string, err error) {
	h["X-Goog-Api-Client"] = h["User-Agent"]
	token, quota, err := engine.Bearer(ctx, t, h, slot)
	if quota != "" {
		h["X-Goog-User-Project"] = []string{quota}
	}
	return token, err
}
