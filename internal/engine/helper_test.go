package engine

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// testSite is a platform with models of some publishers, at one address.
type testSite struct{}

var testFamilies = map[string]Family{
	"google": FamilyGemini, "anthropic": FamilyClaude, "qwen": FamilyOpen, "openai": FamilyOpen, "deepseek-ai": FamilyOpen,
	"meta": FamilyOpen, "zai-org": FamilyOpen, "moonshotai": FamilyOpen, "minimaxai": FamilyOpen, "xai": FamilyOpen, "nvidia": FamilyOpen, "mistralai": FamilyMistral, "ai21": FamilyMistral,
	"endpoints": FamilyEndpoint,
}

func (testSite) Name() string { return "test" }

func (testSite) Model(ref string) (Model, error) {
	if name, own := strings.CutPrefix(ref, "api.openai."); own {
		return Model{Publisher: "openai-api", Name: name, Family: FamilyOpenAI, Own: true}, nil
	}
	publisher, name, ok := strings.Cut(ref, "/")
	if !ok {
		publisher, name, ok = strings.Cut(ref, ".")
	}
	if family, known := testFamilies[publisher]; ok && known {
		return Model{Publisher: publisher, Name: name, Family: family}, nil
	}
	return Model{Publisher: "google", Name: ref, Family: FamilyGemini}, nil
}

func (s testSite) EmbeddingModel(ref string) (Model, bool, error) {
	m, err := s.Model(ref)
	return m, m.Name != ref, err
}

func (testSite) URL(_ *providers.Target, _ *Model, verb, query string) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: "models.test", Path: "/" + verb, RawQuery: query}, nil
}

func (testSite) Authorize(context.Context, *providers.Target, http.Header, *[1]string) (string, error) {
	return "", nil
}

func parseModel(ref string) (Model, error) { return testSite{}.Model(ref) }

func (testSite) CachesURL(*providers.Target, *Model, string) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: "models.test", Path: "/cachedContents"}, nil
}

func (testSite) CacheURL(_ *providers.Target, name string) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: "models.test", Path: "/" + name}, nil
}

func (testSite) CacheName(_ *providers.Target, _ *Model, name string) (string, error) {
	if strings.HasPrefix(name, "projects/") {
		return name, nil
	}
	return "projects/p/locations/global/cachedContents/" + strings.TrimPrefix(name, "cachedContents/"), nil
}

func (testSite) ModelName(_ *providers.Target, m *Model) string { return "models/" + m.Name }
