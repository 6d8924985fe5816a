package gcpauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"cloud.google.com/go/auth"
)

// Environment variables of application default credentials.
const (
	envCredentials = "GOOGLE_APPLICATION_CREDENTIALS"
	envProject     = "GOOGLE_CLOUD_PROJECT"
	envQuota       = "GOOGLE_CLOUD_QUOTA_PROJECT"
)

// defaultOrigin finds application default credentials when they are first needed:
// in the file an environment variable names, in the file gcloud writes, or at the
// metadata server. A file keeps being read again, so a new login is picked up; a
// search that found nothing is repeated.
// [Search order]: https://cloud.google.com/docs/authentication/application-default-credentials
type defaultOrigin struct {
	loader *loader

	mu    sync.Mutex
	found origin
}

// find returns the origin to use. It reads files but doesn't touch the network.
func (o *defaultOrigin) find() (origin, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.found != nil {
		return o.found, nil
	}
	var err error
	if path := os.Getenv(envCredentials); path != "" {
		o.found, err = o.file(path)
		if err != nil {
			return nil, permanentError{fmt.Errorf("the file that %s names: %w", envCredentials, sanitize(err))}
		}
		return o.found, nil
	}
	path := wellKnownFile()
	found, err := o.file(path)
	switch {
	case err == nil:
		o.found = found
		return found, nil
	case path != "" && !errors.Is(err, os.ErrNotExist):
		return nil, permanentError{fmt.Errorf("%s: %w", path, sanitize(err))}
	}
	// Not kept: a later login is found at the next search.
	return &metadataOrigin{client: o.loader.client}, nil
}

// file returns the origin for a credential file, and never a typed nil.
func (o *defaultOrigin) file(path string) (origin, error) {
	found, err := newJSONOrigin(o.loader, func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (o *defaultOrigin) exchange(ctx context.Context) (*auth.Token, error) {
	found, err := o.find()
	if err != nil {
		return nil, err
	}
	t, err := found.exchange(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.found = found
	o.mu.Unlock()
	return t, nil
}

// fact lets the environment speak where the credentials don't, and before the
// metadata server is asked.
func (o *defaultOrigin) fact(ctx context.Context, f fact) (string, error) {
	env := map[fact]string{projectID: os.Getenv(envProject), quotaProject: os.Getenv(envQuota)}[f]
	found, err := o.find()
	if err != nil {
		return "", err
	}
	_, remote := found.(*metadataOrigin)
	if env != "" && (remote || f == quotaProject) {
		return env, nil
	}
	v, err := found.fact(ctx, f)
	if v == "" && err == nil {
		v = env
	}
	return v, err
}

// wellKnownFile returns where gcloud keeps application default credentials, or ""
// if there is no home.
func wellKnownFile() string {
	const name = "application_default_credentials.json"
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "gcloud", name)
		}
		return ""
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "gcloud", name)
}
