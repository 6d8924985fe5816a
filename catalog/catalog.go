// Package catalog names the providers a client may call: a slug stands for a
// provider, the project and region to use there, and the credentials to use it
// with. A request then says "@slug/model" and carries no secret.
//
// A catalog is read from JSON ([Parse], [Open]) or built from values ([New]):
//
//	{"providers": {
//	  "vx": {"provider": "vertex-ai", "region": "europe-west4", "service_account_file": "key.json"}
//	}}
//
// A file may also have stored prompts, in prompts and partials, which the module
// github.com/b650d4bf/gateway/prompts reads.
//
// # File format
//
// Decoding is strict. An unknown or repeated member, a wrong type, and a value
// that breaks a rule are errors that name their path, such as
// `providers.vx.regoin: unknown member (did you mean "region"?)`; all of them are
// reported at once. Each member is documented on [Entry].
//
// # Caveats
//
// Secrets are of type [Secret] and print as "[redacted]". That covers every fmt
// verb, JSON and slog as long as the value is reachable; fmt doesn't call methods
// on unexported struct fields, so don't store an Entry in one and print the
// struct.
//
// A catalog doesn't open the files it names: service_account_file is read when
// credentials are built from the entry.
package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/b650d4bf/gateway/config"
)

// Entry is one named provider.
type Entry struct {
	// Slug is the name of the entry: letters, digits, '-', '_' and '.'. It is
	// the key in the file.
	Slug string
	// Provider is the kind of provider, such as "vertex-ai": lower-case letters,
	// digits and '-'. Required. Which kinds exist is decided by the caller.
	Provider string
	// ProjectID is the project to bill and call, by id or number. Empty means the
	// credentials' own project.
	ProjectID string
	// Region is the location to call, such as "europe-west4" or "global".
	Region string
	// Bucket is where files and batches are kept, as gs://bucket/prefix.
	Bucket string
	// StorageURL replaces scheme and host of Cloud Storage, where the bucket is, as
	// BaseURL does those of the provider, under the same rules. The access token
	// goes there.
	StorageURL string
	// BaseURL replaces the provider's own address. It must be absolute, without
	// user info, query or fragment, and https unless its host is this machine.
	BaseURL string
	// UniverseDomain replaces "googleapis.com" for sovereign clouds.
	UniverseDomain string
	// QuotaProject is the project that quota is charged to.
	QuotaProject string
	// Headers are sent with every request to the provider. Authorization isn't
	// among them: credentials have members of their own.
	Headers map[string]Secret

	// APIVersion is the version that an openai-compatible server is asked for in
	// the query, as "api-version", for those that want one.
	APIVersion string

	// At most one of the following five is set. None means that each request
	// brings its own access token, unless the provider is one with an API key.

	// APIKey is the key of a provider that is asked with one, such as "anthropic".
	APIKey Secret

	// ServiceAccountFile is the path of a service account key. [Open] resolves a
	// relative one against the folder of the catalog file.
	ServiceAccountFile string
	// ServiceAccountJSON is the text of a service account key.
	ServiceAccountJSON Secret
	// AccessToken is a ready OAuth 2.0 access token, without "Bearer".
	AccessToken Secret
	// Auth selects credentials that need no secret here: [AuthDefault] or
	// [AuthNone].
	Auth string
}

// The values of [Entry.Auth].
const (
	// AuthDefault uses the application default credentials of the process.
	AuthDefault = "application_default"
	// AuthNone sends no credentials, for a proxy that adds them.
	AuthNone = "none"
)

// Configs is a catalog that has configs too.
type Configs interface {
	// Config returns the config of that id, which must not be changed. It is the
	// same one until the catalog changes. The error for an unknown id matches
	// [ErrNotFound].
	Config(id string) (*config.Config, error)
	// Configs returns the ids of all configs in ascending order. The caller owns
	// the slice.
	Configs() []string
}

// Catalog finds entries by slug. Implementations are safe for concurrent use.
type Catalog interface {
	// Lookup returns the entry named slug, with or without one leading '@'. The
	// error for an unknown slug matches [ErrNotFound].
	Lookup(slug string) (Entry, error)
	// Slugs returns every slug in ascending order. The caller owns the slice.
	Slugs() []string
}

// ErrNotFound matches the error of a lookup of an unknown slug or id.
var ErrNotFound = errors.New("catalog: not found")

// NotFoundError says which slug, or id of a config, is unknown and which known
// ones resemble it.
type NotFoundError struct {
	Slug string
	// Near lists similar ones, the most similar first.
	Near []string

	kind string // "" is a provider
}

// Error names the slug and the similar ones.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("catalog: %s %s not found", cmp.Or(e.kind, "provider"), quote(e.Slug))
	if len(e.Near) == 0 {
		return text
	}
	names := make([]string, len(e.Near))
	for i, n := range e.Near {
		names[i] = quote(n)
	}
	return text + " (did you mean " + strings.Join(names, " or ") + "?)"
}

// Is reports whether target is [ErrNotFound].
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }
