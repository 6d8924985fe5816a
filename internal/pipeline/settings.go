// Package pipeline is the way of a call through the gateway: settings are
// resolved to a target, the provider is asked, the call is recorded and the
// answer is projected to what the caller's compliance setting shows. Each stage
// has a file of its own.
package pipeline

import (
	"maps"
	"net/http"
	"slices"

	"cloud.google.com/go/auth"
	"go.uber.org/zap"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/internal/answers"
	"github.com/b650d4bf/gateway/providers"
)

// Settings are what options set. There is one for the client and one for the
// call; a member that is not set leaves the choice to the layer below. The
// order is: the call, the catalog entry, the client.
type Settings struct {
	// Provider is a slug, with or without its @, or a provider id.
	Provider string
	// Catalog resolves slugs.
	Catalog catalog.Catalog
	// Region, ProjectID, BaseURL and UniverseDomain say where.
	Region, ProjectID, BaseURL, UniverseDomain string
	// PathProjectID and PathRegion say where, but for what a target of a config or
	// the catalog entry says: they are of a path, which has to name some.
	PathProjectID, PathRegion string
	// Bucket is where files are kept, as gs://bucket/prefix, and StorageURL where
	// the store of buckets is, if not at the platform's own address.
	Bucket, StorageURL string
	// Token says as whom.
	Token auth.TokenProvider
	// FallbackToken is used when nothing else has a token: what an HTTP client
	// sent along.
	FallbackToken auth.TokenProvider
	// Strict is the compliance setting; the default is true.
	Strict *bool
	// Metadata is attached to the call for observers.
	Metadata map[string]string
	// LabelPrefix makes labels for the platform from the metadata, each key with
	// the prefix; nil makes none.
	LabelPrefix *string
	// Header is sent along.
	Header http.Header
	// CustomHost is the address that a config gives a target. Unlike BaseURL it is
	// about the target alone, whatever its provider.
	CustomHost string
	// HostOf is the provider that CustomHost is for.
	HostOf string
	// Incoming is the header that an HTTP client sent, of which a config may send
	// some on, and which its conditions see.
	Incoming http.Header
	// Plan decides where a call goes, and what happens when that fails; nil asks
	// the one target that the other settings make.
	Plan *Plan
	// Config is what to make a plan of for this call alone, and ConfigID names one
	// of the catalog. A layer has one of the three at most.
	Config   *config.Config
	ConfigID string
	// Timeouts bound the phases of the call; see providers.Timeouts. A negative
	// member means no limit.
	Timeouts providers.Timeouts
	// Schema is that of the request where its operation does not say it; see
	// [providers.Parameters].
	Schema string
	// RequestID replaces the generated id.
	RequestID string
	// Prompt is the stored prompt that made the request of the call, or nil.
	Prompt *providers.RenderedPrompt
	// Progress is told of inputs that have their vectors; nil tells nobody.
	Progress func(done, total int)
	// Cache switches the response cache on, where no config says anything; nil is
	// off. CacheRules say which answers are kept.
	Cache      *config.Cache
	CacheRules *answers.Rules
	// CacheNamespace takes the place of metadata and headers as what parts the
	// cache.
	CacheNamespace string
	// CacheRefresh has a new answer made and kept.
	CacheRefresh bool
	// Debug false keeps the call out of the cache; nil is true.
	Debug *bool
	// StrictContext has the first message count for semantic hits, and Coalesce
	// lets equal calls share one request; nil is false for the one and true for
	// the other.
	StrictContext, Coalesce *bool
	// Surface is where the call came in; empty is the client's own methods.
	Surface string
	// KeyID is the digest of the API key of an HTTP client.
	KeyID string
	// Guards judge the request and the answer, in order.
	Guards []providers.Guard
	// Observers are told of the call.
	Observers []providers.Observer
	// Logger gets one entry for each call; nil logs nothing.
	Logger *zap.Logger
}

// Clone returns a copy whose maps and lists can be changed.
func (s *Settings) Clone() *Settings {
	out := *s
	out.Metadata = maps.Clone(s.Metadata)
	out.Header = s.Header.Clone()
	out.Guards = slices.Clone(s.Guards)
	out.Observers = append([]providers.Observer(nil), s.Observers...)
	return &out
}

// first returns the first that is not empty.
func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
