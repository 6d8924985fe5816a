package pipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/gcpauth"
	"github.com/b650d4bf/gateway/providers"
)

// route is where a call goes.
type route struct {
	provider providers.Provider
	target   providers.Target
}

// resolve finds the provider and the target of a model reference. The slug in
// the model wins over the call's provider, and that one over the client's.
func (e *Engine) resolve(ctx context.Context, client, call *Settings, model string, r *route) error {
	slug, model, err := splitSlug(model)
	if err != nil {
		return err
	}
	if err := hosted(call, slug); err != nil {
		return err
	}
	var entry catalog.Entry
	if err := e.entry(client, call, slug, &entry); err != nil {
		return err
	}
	p, ok := e.providers[entry.Provider]
	if !ok {
		return unknownProvider(&entry)
	}
	r.provider = p
	if _, keyed := p.(providers.Keyed); keyed {
		return e.resolveKeyed(client, call, model, &entry, &r.target)
	}
	t := &r.target // which is set by its members, since it is large to be copied
	*t = providers.Target{}
	t.Slug, t.Provider, t.Model = entry.Slug, entry.Provider, model
	t.Region = first(call.Region, entry.Region, call.PathRegion, client.Region)
	t.ProjectID = first(call.ProjectID, entry.ProjectID, call.PathProjectID, client.ProjectID)
	t.BaseURL = first(call.BaseURL, call.CustomHost, entry.BaseURL, client.BaseURL)
	t.Bucket = first(call.Bucket, entry.Bucket, client.Bucket)
	t.StorageURL = first(call.StorageURL, entry.StorageURL, client.StorageURL)
	t.UniverseDomain = first(call.UniverseDomain, entry.UniverseDomain, client.UniverseDomain)
	t.Header = headers(client.Header, entry.Headers, call.Header)
	t.Timeouts = timeouts(client.Timeouts, call.Timeouts)
	if t.Token, err = e.token(client, call, &entry); err != nil {
		return err
	}
	return e.place(ctx, t)
}

// resolveKeyed makes the target of a provider that is asked with an API key. Of
// the client's and the call's settings it has those alone that tell nothing of
// another platform: of their headers none that are for credentials.
func (e *Engine) resolveKeyed(client, call *Settings, model string, entry *catalog.Entry, t *providers.Target) error {
	src, err := e.entryToken(entry)
	if err != nil {
		return err
	}
	*t = providers.Target{
		Slug: entry.Slug, Provider: entry.Provider, Model: model, BaseURL: first(call.CustomHost, entry.BaseURL), APIVersion: entry.APIVersion,
		Token: src, Header: headers(public(client.Header, false), entry.Headers, public(call.Header, true)), Timeouts: timeouts(client.Timeouts, call.Timeouts),
	}
	return nil
}

// splitSlug splits @slug/model at the first slash.
func splitSlug(ref string) (slug, model string, err error) {
	if !strings.HasPrefix(ref, "@") {
		return "", ref, nil
	}
	slug, model, ok := strings.Cut(ref[1:], "/")
	if !ok || slug == "" || model == "" {
		return "", "", providers.Invalid("model", `a model reference with a slug is "@slug/model"`)
	}
	return slug, model, nil
}

// bare is a slug without its sign.
func bare(slug string) string { return strings.TrimPrefix(slug, "@") }

// hosted refuses a provider that a model or a call names in place of the one that
// a config's host is for: the credentials of another entry would go there.
func hosted(call *Settings, slug string) error {
	name := first(slug, bare(call.Provider))
	if call.CustomHost == "" || name == bare(call.HostOf) {
		return nil
	}
	param := "provider"
	if slug != "" {
		param = "model"
	}
	return providers.Invalid(param, "the config's target has a custom_host, which is for its own provider: leave @"+name+
		` out, or set "provider":"@`+name+`" beside custom_host`)
}

// entry finds the catalog entry, or makes one for the client's own settings. It
// sets out, which is the zero entry.
func (e *Engine) entry(client, call *Settings, slug string, out *catalog.Entry) error {
	name := first(slug, bare(call.Provider), bare(client.Provider))
	if name == "" {
		if !client.Direct() && !call.Direct() {
			return &providers.Error{
				Code: providers.ErrInvalidConfig, Param: "provider",
				Message: `no provider is set: use "@slug/model" as the model, WithProvider or the header x-gateway-provider, or WithProjectID and WithRegion`,
			}
		}
		out.Provider = e.fallback
		return nil
	}
	source := call.Catalog
	if source == nil {
		source = client.Catalog
	}
	if source != nil {
		entry, err := source.Lookup(name)
		if err == nil {
			*out = entry
			return nil
		}
		if _, own := e.providers[name]; !own || slug != "" || !errors.Is(err, catalog.ErrNotFound) {
			return lookupError(err, slug)
		}
	}
	if _, own := e.providers[name]; own && slug == "" {
		out.Provider = name
		return nil
	}
	return lookupError(&catalog.NotFoundError{Slug: name}, slug)
}

// Direct reports whether the settings say by themselves where to go.
func (s *Settings) Direct() bool {
	return s.ProjectID != "" || s.Region != "" || s.PathProjectID != "" || s.BaseURL != "" || s.Token != nil
}

// lookupError says whether the catalog does not have the entry or could not be
// asked. slug is the model's, if the name came from there.
func lookupError(err error, slug string) error {
	e := &providers.Error{Code: providers.ErrInvalidConfig, Param: "provider", Message: "the catalog could not be asked", Err: err}
	if slug != "" {
		e.Param = "model"
	}
	if errors.Is(err, catalog.ErrNotFound) {
		e.Code, e.Message = providers.ErrProviderNotFound, err.Error()
	}
	return e
}

// token finds the credentials: the call's, the entry's, the client's, what came
// along, or else the application-default ones.
func (e *Engine) token(client, call *Settings, entry *catalog.Entry) (auth.TokenProvider, error) {
	if call.Token != nil {
		return call.Token, nil
	}
	src, err := e.entryToken(entry)
	switch {
	case err != nil:
		return nil, err
	case src != nil:
		return src, nil
	case client.Token != nil:
		return client.Token, nil
	case call.FallbackToken != nil && call.CustomHost == "": // it is for the platform's hosts
		return call.FallbackToken, nil
	}
	return e.sources.byDefault()
}

// entryToken returns the entry's own credentials, nil when it has none.
func (e *Engine) entryToken(entry *catalog.Entry) (auth.TokenProvider, error) {
	src, err := e.sources.entry(entry)
	if err != nil && !errors.Is(err, providers.ErrClosed) {
		err = &providers.Error{Code: providers.ErrInvalidConfig, Param: "provider", Message: "the catalog entry's credentials can't be used", Err: err}
	}
	return src, err
}

// placer is a token source that knows a project and a universe.
type placer interface {
	ProjectID(ctx context.Context) (string, error)
	UniverseDomain(ctx context.Context) (string, error)
}

var _ placer = (*gcpauth.Source)(nil)

// place fills what the credentials know and the settings do not say. A base URL
// names the host, so that the universe does not matter then.
func (e *Engine) place(ctx context.Context, t *providers.Target) error {
	src, ok := t.Token.(placer)
	if !ok {
		return nil
	}
	if t.ProjectID == "" && !strings.HasPrefix(t.Model, "projects/") {
		project, err := src.ProjectID(ctx)
		if err != nil {
			return credentialsError(ctx, err)
		}
		t.ProjectID = project
	}
	if t.UniverseDomain == "" && t.BaseURL == "" {
		universe, err := src.UniverseDomain(ctx)
		if err != nil {
			return credentialsError(ctx, err)
		}
		t.UniverseDomain = universe
	}
	return nil
}

// credentialsError says that the credentials do not tell where they belong,
// unless it is the caller who stopped waiting.
func credentialsError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &providers.Error{Code: codeOf(ctx.Err()), Message: "the call ended before its credentials were there", Err: ctx.Err()}
	}
	return &providers.Error{Code: providers.ErrAuthentication, Message: "the credentials can't be used", Err: err}
}

// Overlay lays limits over others: a zero one keeps what is below.
func Overlay(below, above providers.Timeouts) providers.Timeouts {
	out := below
	if above.Connect != 0 {
		out.Connect = above.Connect
	}
	if above.FirstByte != 0 {
		out.FirstByte = above.FirstByte
	}
	if above.Idle != 0 {
		out.Idle = above.Idle
	}
	if above.Total != 0 {
		out.Total = above.Total
	}
	return out
}

// timeouts lays the call's limits over the client's. A negative one is none.
func timeouts(client, call providers.Timeouts) providers.Timeouts {
	t := Overlay(client, call)
	return providers.Timeouts{
		Connect: max(t.Connect, 0), FirstByte: max(t.FirstByte, 0),
		Idle: max(t.Idle, 0), Total: max(t.Total, 0),
	}
}

// headers merges what is sent along; the later layer wins.
func headers(client http.Header, entry map[string]catalog.Secret, call http.Header) http.Header {
	if len(client) == 0 && len(entry) == 0 && len(call) == 0 {
		return nil
	}
	out := make(http.Header, len(client)+len(entry)+len(call))
	for k, v := range client {
		out[http.CanonicalHeaderKey(k)] = v
	}
	for k, v := range entry {
		out.Set(k, v.Reveal())
	}
	for k, v := range call {
		out[http.CanonicalHeaderKey(k)] = v
	}
	return out
}

// public returns the headers of a layer that may go to any service. What is set
// for one call is meant for it, but for the names that services have for keys.
func public(h http.Header, call bool) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		if !isKey(name) && (call || !soundsSecret(name)) {
			out[name] = values
		}
	}
	return out
}

// isKey reports whether a header is one that services take credentials in.
func isKey(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "x-api-key", "x-goog-api-key", "api-key":
		return true
	}
	return false
}

// secretWords are in the names of headers such as X-Serverless-Authorization and
// X-Proxy-Token.
var secretWords = []string{"authorization", "auth", "cookie", "key", "apikey", "token", "secret", "password", "credential", "credentials"}

func soundsSecret(name string) bool {
	for word := range strings.SplitSeq(strings.ToLower(name), "-") {
		if slices.Contains(secretWords, word) {
			return true
		}
	}
	return false
}
