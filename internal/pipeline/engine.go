package pipeline

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

// Engine runs calls. It is safe for concurrent use, and its parts are shared by
// every view of a client.
type Engine struct {
	providers map[string]providers.Provider
	fallback  string // the provider of settings that name none
	sources   Sources
	router    *routing.Router
	plans     sync.Map                    // of *Plan, by the id of the config
	guards    map[string]*providers.Guard // that configs name
	cache     responses
	recorders sync.Pool // of *recorder, to be used again
	closed    atomic.Bool
}

// New returns an engine with the given providers; the first one serves settings
// that name none.
func New(list ...providers.Provider) *Engine {
	e := &Engine{providers: make(map[string]providers.Provider, len(list)), router: routing.New(routing.Config{}), guards: map[string]*providers.Guard{}}
	for _, p := range list {
		if e.fallback == "" {
			e.fallback = p.Name()
		}
		e.providers[p.Name()] = p
	}
	return e
}

// CheckCatalog reports every entry whose provider the engine does not have.
func (e *Engine) CheckCatalog(c catalog.Catalog) error {
	var errs []error
	for _, slug := range c.Slugs() {
		entry, err := c.Lookup(slug)
		if err == nil {
			err = e.checkEntry(&entry)
		}
		if err != nil && !errors.Is(err, catalog.ErrNotFound) { // it may have gone meanwhile
			errs = append(errs, err)
		}
	}
	if list, ok := c.(catalog.Configs); ok {
		for _, id := range list.Configs() {
			if one, err := list.Config(id); err == nil {
				errs = append(errs, e.checkTargets("configs."+id, c, one), e.checkGuards("configs."+id, one))
			}
		}
	}
	return errors.Join(errs...)
}

// checkTargets finds targets of a config that lead nowhere.
func (e *Engine) checkTargets(path string, c catalog.Catalog, one *config.Config) error {
	var errs []error
	for at, t := range one.All() {
		if t.Provider == "" {
			continue
		}
		name := bare(t.Provider)
		_, err := c.Lookup(name)
		if _, own := e.providers[t.Provider]; err == nil || own {
			continue
		}
		if at != "" {
			at = "." + at
		}
		errs = append(errs, &providers.Error{Code: providers.ErrInvalidConfig, Param: path + at + ".provider", Message: err.Error()})
	}
	return errors.Join(errs...)
}

// checkEntry finds what is wrong with an entry for its provider.
func (e *Engine) checkEntry(entry *catalog.Entry) error {
	p := e.providers[entry.Provider]
	if p == nil {
		return unknownProvider(entry)
	}
	bad := func(member, message string) error {
		return &providers.Error{Code: providers.ErrInvalidConfig, Param: "providers." + entry.Slug + "." + member, Message: message}
	}
	_, keyed := p.(providers.Keyed)
	switch {
	case !keyed && entry.APIKey != "":
		return bad("api_key", "the provider "+entry.Provider+" takes no API key: use service_account_file, service_account_json, access_token or auth")
	case !keyed && entry.APIVersion != "":
		return bad("api_version", "the provider "+entry.Provider+" has one version")
	case keyed && entry.Auth == catalog.AuthDefault, keyed && entry.ServiceAccountFile != "", keyed && entry.ServiceAccountJSON != "":
		return bad("api_key", "the provider "+entry.Provider+" is asked with an API key, and not with credentials of Google")
	case keyed && !credentialsOf(entry).given():
		return bad("api_key", "is required for the provider "+entry.Provider+`; a server that wants none has "auth": "none"`)
	}
	return nil
}

func unknownProvider(entry *catalog.Entry) error {
	return &providers.Error{
		Code: providers.ErrInvalidConfig, Param: "providers." + entry.Slug + ".provider",
		Message: fmt.Sprintf("the provider %q is none that this client has", entry.Provider),
	}
}

// Sources returns the token sources, which end with the engine.
func (e *Engine) Sources() *Sources { return &e.sources }

// SignatureStats adds up what the providers tell of thought signatures.
func (e *Engine) SignatureStats() providers.SignatureStats {
	var sum providers.SignatureStats
	for _, p := range e.providers {
		signer, ok := p.(interface {
			SignatureStats() providers.SignatureStats
		})
		if !ok {
			continue
		}
		s := signer.SignatureStats()
		sum.Entries += s.Entries
		sum.Bytes += s.Bytes
		sum.Stored += s.Stored
		sum.Evicted += s.Evicted
		sum.Expired += s.Expired
		sum.Restored += s.Restored
		sum.Missed += s.Missed
		sum.Sentinels += s.Sentinels
	}
	return sum
}

// Close refuses further calls and releases what the engine keeps. Calls under
// way go on, with the tokens that there are. It is idempotent.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	errs := []error{e.sources.Close(), e.cache.close()}
	for _, p := range e.providers {
		if c, ok := p.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
