package google

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// keyHeader is the header that the key is sent in.
//
// Source: https://ai.google.dev/gemini-api/docs/api-key
const keyHeader = "X-Goog-Api-Key"

// host is the service's, and version the path that all of its methods are below.
//
// Source: https://ai.google.dev/api
const (
	host    = "generativelanguage.googleapis.com"
	version = "/v1beta/"
)

// site is the service: its names, addresses and credentials.
type site struct{}

var (
	_ engine.Site          = site{}
	_ engine.EmbeddingSite = site{}
	_ engine.CacheSite     = site{}
	_ engine.Remedier      = site{}
)

func (site) Name() string { return Name }

// Model reads a model reference without its slug:
//
//	gemini-3.5-flash            a model
//	models/gemini-3.5-flash     likewise
//	google.gemini-3.5-flash     with its publisher
//	google/gemini-3.5-flash     likewise
//	tunedModels/ID              a tuned model
func (site) Model(ref string) (engine.Model, error) {
	m := engine.Model{Publisher: "google", Family: engine.FamilyGemini, Own: true}
	if id, ok := strings.CutPrefix(ref, "tunedModels/"); ok {
		m.Name, m.Resource = id, ref
	} else {
		m.Name = strings.TrimPrefix(ref, "models/")
		for _, prefix := range [...]string{"google.", "google/"} {
			if rest, ok := strings.CutPrefix(m.Name, prefix); ok {
				m.Name = rest
				break
			}
		}
	}
	switch {
	case isSegment(m.Name):
		return m, nil
	case strings.HasPrefix(ref, "projects/"), strings.HasPrefix(ref, "publishers/"):
		return engine.Model{}, providers.Invalid("model", "a full resource name is one of Vertex AI: give the model's name, such as gemini-3.5-flash, or tunedModels/ID")
	}
	return engine.Model{}, providers.Invalid("model", "a model name has letters, digits and . _ - only, such as gemini-3.5-flash")
}

// EmbeddingModel reads the reference of a model that embeds. The publisher is
// always known.
func (s site) EmbeddingModel(ref string) (engine.Model, bool, error) {
	m, err := s.Model(ref)
	return m, true, err
}

// URL is the address of a method, such as
// https://HOST/v1beta/models/NAME:generateContent.
func (site) URL(t *providers.Target, m *engine.Model, verb, query string) (*url.URL, error) {
	return address(t, modelName(m)+":"+verb, query)
}

// Authorize sends the API key, which the token source gives, unless the header
// has one already.
func (site) Authorize(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (key string, err error) {
	h["X-Goog-Api-Client"] = h["User-Agent"]
	if t.Token == nil && h.Get(keyHeader) != "" {
		return "", nil
	}
	if key, err = engine.Key(ctx, t); key != "" {
		slot[0] = key
		h[keyHeader] = slot[:]
	}
	return key, err
}

// Remedy says what an API key may lack, and what the service has instead of
// regions and locations.
//
// Source: https://ai.google.dev/gemini-api/docs/generate-content/api-errors
func (site) Remedy(e *providers.Error) string {
	switch {
	case e.Code == providers.ErrAuthentication:
		return "check the catalog entry's api_key"
	case e.Code == providers.ErrCacheNotFound:
		return "it may have expired, or belong to the project of another key: create it again"
	case e.Code == providers.ErrPermission && !bytes.Contains(e.Details, []byte("SERVICE_DISABLED")):
		return "the key's project may not do that: files, caches and tuned models belong to one project, and a key may be restricted"
	case e.Code == providers.ErrModelNotFound:
		return "check the model's name: the service has not all the models of Vertex AI, and keeps files and caches for a time"
	}
	return ""
}

// modelName is the model's resource name.
func modelName(m *engine.Model) string {
	if m.Resource != "" {
		return m.Resource
	}
	return "models/" + m.Name
}

// address is that of a resource. A base URL replaces the service's host, and its
// path comes first.
func address(t *providers.Target, resource, query string) (*url.URL, error) {
	u := &url.URL{Scheme: "https", Host: host}
	if t.BaseURL != "" {
		var err error
		if u, err = engine.BaseURL(t.BaseURL); err != nil {
			return nil, err
		}
	}
	u.RawQuery = query
	u.Path += version + resource
	return u, nil
}

// CachesURL is the list of cached contents.
func (site) CachesURL(t *providers.Target, _ *engine.Model, query string) (*url.URL, error) {
	return address(t, "cachedContents", query)
}

// CacheURL is the address of a cached content.
func (s site) CacheURL(t *providers.Target, name string) (*url.URL, error) {
	full, err := s.CacheName(t, nil, name)
	if err != nil {
		return nil, err
	}
	return address(t, full, "")
}

// CacheName is the full name of a cached content.
func (site) CacheName(_ *providers.Target, _ *engine.Model, name string) (string, error) {
	id := strings.TrimPrefix(name, "cachedContents/")
	if !isSegment(id) {
		return "", providers.Invalid("name", "the name of a cached content is cachedContents/ID or ID")
	}
	return "cachedContents/" + id, nil
}

// ModelName is the model's resource name.
func (site) ModelName(_ *providers.Target, m *engine.Model) string { return modelName(m) }

// isSegment reports whether s is one safe path segment: no dot segment, no
// escape, no query, and no colon, which would begin a verb.
func isSegment(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}
