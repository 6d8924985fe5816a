package vertex

import (
	"context"
	"io"
	"net/url"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// PutObject writes what body has as one object of Cloud Storage: in one request
// if it is small, else as a resumable upload, of which one chunk at a time is in
// memory.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/insert
func (p *Provider) PutObject(ctx context.Context, t *providers.Target, at providers.ObjectName, body io.Reader, o *providers.ObjectOptions) (*providers.Object, error) {
	return p.engine.PutObject(ctx, t, at, body, o)
}

// GetObject returns the bytes of an object from an offset on.
func (p *Provider) GetObject(ctx context.Context, t *providers.Target, at providers.ObjectName, offset int64) (io.ReadCloser, error) {
	return p.engine.GetObject(ctx, t, at, offset)
}

// StatObject returns what is known of an object.
func (p *Provider) StatObject(ctx context.Context, t *providers.Target, at providers.ObjectName) (*providers.Object, error) {
	return p.engine.StatObject(ctx, t, at)
}

// ListObjects returns one page of objects, in the order of their names.
func (p *Provider) ListObjects(ctx context.Context, t *providers.Target, q *providers.ObjectQuery) (*providers.ObjectList, error) {
	return p.engine.ListObjects(ctx, t, q)
}

// AnnotateObject replaces what is noted beside an object.
func (p *Provider) AnnotateObject(ctx context.Context, t *providers.Target, at providers.ObjectName, o *providers.ObjectOptions) (*providers.Object, error) {
	return p.engine.AnnotateObject(ctx, t, at, o)
}

// DeleteObject removes an object.
func (p *Provider) DeleteObject(ctx context.Context, t *providers.Target, at providers.ObjectName) error {
	return p.engine.DeleteObject(ctx, t, at)
}

// StorageURL is the address of a path of Cloud Storage.
//
// Source: https://cloud.google.com/storage/docs/request-endpoints
func (*site) StorageURL(t *providers.Target, path, query string) (*url.URL, error) {
	u := &url.URL{Scheme: "https", RawQuery: query}
	var host strings.Builder
	if t.StorageURL != "" {
		if err := writeBase(&host, u, t.StorageURL); err != nil {
			return nil, err
		}
	} else {
		universe := t.UniverseDomain
		if universe == "" {
			universe = publicUniverse
		}
		u.Host = "storage." + universe
	}
	prefix := u.EscapedPath()
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, providers.Invalid("name", "an object's name can't be one")
	}
	u.Path, u.RawPath = u.Path+plain, prefix+path
	return u, nil
}
