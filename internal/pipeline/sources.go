package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/gcpauth"
	"github.com/b650d4bf/gateway/providers"
)

// Sources keeps one token source for each credential, so that all calls share
// its token. It is safe for concurrent use.
type Sources struct {
	mu     sync.Mutex
	closed bool
	slugs  map[string]slugSource
	owned  []*gcpauth.Source

	fallback *gcpauth.Source // set before the first call
}

// slugSource is the source made for a catalog entry as it was.
type slugSource struct {
	made credentials
	src  *gcpauth.Source
}

// credentials are the members of an entry that a source is made of.
type credentials struct {
	file, auth, quota, universe string
	json, token, key            catalog.Secret
}

func credentialsOf(e *catalog.Entry) credentials {
	return credentials{
		file: e.ServiceAccountFile, auth: e.Auth, quota: e.QuotaProject, universe: e.UniverseDomain,
		json: e.ServiceAccountJSON, token: e.AccessToken, key: e.APIKey,
	}
}

func (c credentials) given() bool {
	return c.file != "" || c.auth != "" || c.json != "" || c.token != "" || c.key != ""
}

// config says how the source of an entry is made.
func (c credentials) config() gcpauth.Config {
	cfg := gcpauth.Config{QuotaProject: c.quota, UniverseDomain: c.universe}
	switch {
	case c.file != "":
		cfg.Kind, cfg.File = gcpauth.ServiceAccountFile, c.file
	case c.json != "":
		cfg.Kind, cfg.JSON = gcpauth.ServiceAccountJSON, []byte(c.json.Reveal())
	case c.token != "":
		cfg.Kind, cfg.AccessToken = gcpauth.AccessToken, c.token.Reveal()
	case c.key != "":
		cfg.Kind, cfg.AccessToken = gcpauth.AccessToken, c.key.Reveal()
	case c.auth == catalog.AuthDefault:
		cfg.Kind = gcpauth.ApplicationDefault
	default:
		cfg.Kind = gcpauth.None
	}
	return cfg
}

// Add makes a source that lives as long as the Sources.
func (s *Sources) Add(cfg gcpauth.Config) (*gcpauth.Source, error) {
	src, err := gcpauth.New(cfg)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.Join(errClosed(), src.Close())
	}
	s.owned = append(s.owned, src)
	return src, nil
}

// entry returns the source of a catalog entry, or nil when the entry has no
// credentials of its own. A source whose entry has changed is replaced.
func (s *Sources) entry(e *catalog.Entry) (auth.TokenProvider, error) {
	if e.Slug == "" {
		return nil, nil //nolint:nilnil // the client's own settings, which have none
	}
	want := credentialsOf(e)
	if !want.given() {
		return nil, nil //nolint:nilnil // no credentials, and that is no error
	}
	s.mu.Lock()
	have, ok := s.slugs[e.Slug]
	s.mu.Unlock()
	if ok && have.made == want {
		return have.src, nil
	}
	src, err := s.Add(want.config())
	if err != nil {
		return nil, err
	}
	return s.install(e.Slug, slugSource{made: want, src: src}), nil
}

// install makes a new source the slug's. Calls under way finish with the one
// that it replaces, which is then forgotten.
func (s *Sources) install(slug string, made slugSource) *gcpauth.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.slugs[slug]
	if ok && have.made == made.made { // another call was faster
		s.forget(made.src)
		return have.src
	}
	if ok {
		s.forget(have.src)
	}
	if s.slugs == nil {
		s.slugs = map[string]slugSource{}
	}
	s.slugs[slug] = made
	return made.src
}

// forget leaves the end of a source to itself: none is under way for longer
// than one exchange. The caller holds s.mu.
func (s *Sources) forget(src *gcpauth.Source) {
	s.owned = slices.DeleteFunc(s.owned, func(o *gcpauth.Source) bool { return o == src })
}

// SetDefault makes the source for calls that nothing else has credentials for.
func (s *Sources) SetDefault(cfg gcpauth.Config) error {
	src, err := s.Add(cfg)
	if err != nil {
		return err
	}
	s.fallback = src
	return nil
}

// byDefault returns the source of the process's own credentials.
func (s *Sources) byDefault() (auth.TokenProvider, error) {
	if s.fallback == nil {
		return nil, &providers.Error{Code: providers.ErrAuthentication, Message: "no credentials are set"}
	}
	return s.fallback, nil
}

// Close ends every background refresh. Sources that calls under way have go on with
// the token that they hold. It is idempotent.
func (s *Sources) Close() error {
	s.mu.Lock()
	owned := s.owned
	s.owned, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, src := range owned {
		errs = append(errs, src.Close())
	}
	return errors.Join(errs...)
}

// StaticToken is a ready token that is never renewed. Unlike a gcpauth.Source
// it has nothing to close, so that one can be made for a single call.
type StaticToken struct{ header, quota string }

// NewStaticToken returns a source of the one token.
func NewStaticToken(token string) *StaticToken { return &StaticToken{header: "Bearer " + token} }

// WithQuota returns a source that also names the project to bill quota to.
func (t *StaticToken) WithQuota(project string) *StaticToken {
	return &StaticToken{header: t.header, quota: project}
}

// Token returns the token.
func (t *StaticToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: strings.TrimPrefix(t.header, "Bearer "), Type: "Bearer"}, nil
}

// Header returns the authorization header.
func (t *StaticToken) Header(context.Context) (authorization, quotaProject string, err error) {
	return t.header, t.quota, nil
}

// Format hides the token from every verb.
func (*StaticToken) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

func errClosed() error {
	return &providers.Error{Code: providers.ErrClosed, Message: "the client was closed"}
}
