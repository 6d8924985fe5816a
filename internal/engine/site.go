package engine

import (
	"context"
	"net/http"
	"net/url"

	"github.com/b650d4bf/gateway/providers"
)

// Site is where models are: a platform, or a vendor's own service. It says what
// an [Engine] can't know by itself. Its methods are safe for concurrent use.
type Site interface {
	// Name is the provider's id in a catalog. Answers and errors carry it.
	Name() string
	// Model reads a model reference without its slug.
	Model(ref string) (Model, error)
	// URL is the address of a method of the model. A verb that begins with a
	// slash is a path below it.
	URL(t *providers.Target, m *Model, verb, query string) (*url.URL, error)
	// Authorize puts the caller's credentials into the header and returns the
	// token among them, "" for none. slot is room for one value.
	Authorize(ctx context.Context, t *providers.Target, h http.Header, slot *[1]string) (token string, err error)
}

// Locator is a site whose endpoints may have addresses that only the site finds.
type Locator interface {
	// Locate makes the tries that a request to an endpoint takes, at the address
	// given or at others.
	Locate(ctx context.Context, t *providers.Target, m *Model, u *url.URL, try func(*url.URL) error) error
}

// Remedier is a site that knows what helps against refusals.
type Remedier interface {
	// Remedy says what helps where the platform's sentence does not, "" for
	// nothing. The error is one that the platform has a name for.
	Remedy(e *providers.Error) string
}

// EmbeddingSite is a site with models that embed.
type EmbeddingSite interface {
	// EmbeddingModel reads the reference of a model that embeds, and reports
	// whether it names the publisher.
	EmbeddingModel(ref string) (m Model, named bool, err error)
}

// CacheSite is a site that keeps contents for Gemini models.
type CacheSite interface {
	// CachesURL is where contents for the model are kept, or, for nil, those of
	// the target.
	CachesURL(t *providers.Target, m *Model, query string) (*url.URL, error)
	// CacheURL is where one content is, by its name.
	CacheURL(t *providers.Target, name string) (*url.URL, error)
	// CacheName is the full name of a content that the model goes on from.
	CacheName(t *providers.Target, m *Model, name string) (string, error)
	// ModelName is the full name of the model.
	ModelName(t *providers.Target, m *Model) string
}

// StorageSite is a site that keeps objects in buckets.
type StorageSite interface {
	// StorageURL is the address of a path of the store, whose segments are escaped.
	StorageURL(t *providers.Target, path, query string) (*url.URL, error)
}

// BatchSite is a site that runs batches.
type BatchSite interface {
	// BatchesURL is the list of jobs in the place of the target.
	BatchesURL(t *providers.Target, query string) (*url.URL, error)
	// BatchURL is one job, by its full name, with a verb or "".
	BatchURL(t *providers.Target, name, verb string) (*url.URL, error)
	// BatchModel is the name that a job has for the model.
	BatchModel(t *providers.Target, m *Model) (string, error)
}
