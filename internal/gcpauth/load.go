package gcpauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
)

// newOrigin returns where the tokens of a valid cfg come from.
func newOrigin(cfg *Config, client *http.Client) (origin, error) {
	l := &loader{
		client: client, private: cfg.HTTPClient == nil, universe: cfg.UniverseDomain, declared: cfg.Kind.jsonType(),
		hosts: hosts{universe: cfg.UniverseDomain, extra: cfg.AllowedHosts},
	}
	switch cfg.Kind {
	case None, AccessToken:
		return staticOrigin{}, nil
	case TokenSource:
		return sourceOrigin(cfg.TokenSource), nil
	case Credentials:
		return credentialsOrigin(cfg.Credentials), nil
	case ApplicationDefault:
		l.trusted = true
		return &defaultOrigin{loader: l}, nil
	case ServiceAccountFile:
		file := cfg.File
		return newJSONOrigin(l, func() ([]byte, error) { return os.ReadFile(file) })
	}
	data := bytes.Clone(cfg.JSON)
	return newJSONOrigin(l, func() ([]byte, error) { return data, nil })
}

// staticOrigin has no tokens but the one in the Source, and knows nothing.
type staticOrigin struct{}

func (staticOrigin) exchange(context.Context) (*auth.Token, error) {
	return nil, errors.New("there is no other token")
}

func (staticOrigin) fact(context.Context, fact) (string, error) { return "", nil }

// loader builds credentials from JSON.
type loader struct {
	client   *http.Client
	private  bool   // client isn't the caller's
	universe string // override, or ""
	declared string // the type the JSON must have, "" for any
	trusted  bool   // addresses in the JSON aren't checked
	hosts    hosts
}

// load checks data and builds credentials, without touching the network. The
// library's own cache is kept from ever serving: it doesn't try again after a
// failed refresh, and holds a lock across the exchange.
func (l *loader) load(data []byte) (*document, *auth.Credentials, error) {
	doc, err := l.parse(data)
	if err != nil {
		return nil, nil, err
	}
	options := &credentials.DetectOptions{
		Scopes:              []string{Scope},
		DisableAsyncRefresh: true,
		EarlyTokenRefresh:   100 * 365 * 24 * time.Hour,
		Client:              l.client,
		UniverseDomain:      l.universe,
		// Without a logger the library obeys an environment variable and prints
		// tokens.
		Logger: slog.New(slog.DiscardHandler),
	}
	if l.private && doc.ownCertificate() {
		// The library presents the client certificate only in a client it makes.
		options.Client = nil
	}
	creds, err := credentials.NewCredentialsFromJSON(credentials.CredType(doc.Type), data, options)
	if err != nil {
		return nil, nil, err
	}
	return doc, creds, nil
}

// jsonOrigin gets tokens with credential JSON. It reads the JSON again before each
// exchange, so that a key replaced in its file is picked up; what can't be read or
// used is ignored as long as the old one is at hand.
type jsonOrigin struct {
	loader *loader
	read   func() ([]byte, error)

	mu    sync.Mutex
	data  []byte
	doc   *document
	creds *auth.Credentials
	spent bool // creds would repeat a token without expiry for ever
}

func newJSONOrigin(l *loader, read func() ([]byte, error)) (*jsonOrigin, error) {
	o := &jsonOrigin{loader: l, read: read}
	if err := o.refresh(); err != nil {
		return nil, err
	}
	return o, nil
}

// refresh loads the JSON if it has changed.
func (o *jsonOrigin) refresh() error {
	data, err := o.read()
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.creds != nil && !o.spent && bytes.Equal(data, o.data) {
		return nil
	}
	doc, creds, err := o.loader.load(data)
	if err != nil {
		return err
	}
	o.data, o.doc, o.creds, o.spent = data, doc, creds, false
	return nil
}

func (o *jsonOrigin) exchange(ctx context.Context) (*auth.Token, error) {
	_ = o.refresh() // the old key serves until it is refused
	o.mu.Lock()
	creds := o.creds
	o.mu.Unlock()
	t, err := creds.Token(ctx)
	if err == nil && t.Expiry.IsZero() {
		o.mu.Lock()
		o.spent = true
		o.mu.Unlock()
	}
	return t, err
}

func (o *jsonOrigin) fact(_ context.Context, f fact) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch f {
	case projectID:
		return o.doc.project(), nil
	case quotaProject:
		return o.doc.QuotaProject, nil
	case universeDomain:
		return o.doc.Universe, nil
	}
	return "", fmt.Errorf("unknown fact %d", f)
}
