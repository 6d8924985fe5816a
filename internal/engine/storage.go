package engine

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/transport"
	"github.com/b650d4bf/gateway/internal/wire/storage"
	"github.com/b650d4bf/gateway/providers"
)

var _ providers.ObjectStore = (*Engine)(nil)

// maxTries is how often a request to the store is made that may succeed later,
// and firstPause how long the first pause between two is; each doubles.
const (
	maxTries   = 4
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
)

// transfer is one request to the store.
type transfer struct {
	method, path, query string
	header              http.Header   // beside the usual one; nil for none
	body                *jsonx.Buffer // nil for none; the transport has it from then on
	stream, resume      bool
	secret              bool // the address says by itself who may
}

// transfer sends one request. An answer that is no refusal is the caller's to
// close.
func (p *Engine) transfer(ctx context.Context, t *providers.Target, x *transfer) (*transport.Response, error) {
	site, ok := p.site.(StorageSite)
	if !ok {
		return nil, badSetting("provider", p.site.Name()+" keeps no files")
	}
	c := callOf(p.site, t, x.method)
	if x.body != nil {
		c.hold(x.body)
		defer c.payload.Release()
	}
	for attempt := 0; ; attempt++ {
		u, err := site.StorageURL(t, x.path, x.query)
		if err != nil {
			return nil, err
		}
		header, token, err := p.storeHeader(ctx, t, c, x)
		if err != nil {
			return nil, err
		}
		c.payload.Retain()
		res, err := p.client.Do(ctx, &transport.Request{
			Method: x.method, URL: u, Header: header, Body: c.payload, Stream: x.stream, Resume: x.resume, Timeouts: t.Timeouts,
		})
		if err != nil {
			return nil, c.named(err)
		}
		switch {
		case res.Status < 300, res.Status == http.StatusPermanentRedirect:
			return res, nil
		case res.Status == http.StatusUnauthorized && attempt == 0 && renew(t, token):
			res.Drain()
			continue
		}
		return nil, c.named(storeRefusal(res))
	}
}

// renew gives a refused token up, and reports whether another can be had.
func renew(t *providers.Target, token string) bool {
	src, ok := t.Token.(providers.TokenRenewer)
	if !ok || token == "" || !src.Refreshable() {
		return false
	}
	src.Invalidate(token)
	return true
}

func (p *Engine) storeHeader(ctx context.Context, t *providers.Target, c *call, x *transfer) (http.Header, string, error) {
	header, token := p.requestHeader(t), ""
	if !x.secret {
		var err error
		if token, err = p.site.Authorize(ctx, t, header, &c.bearer); err != nil {
			return nil, "", err
		}
	}
	maps.Copy(header, x.header)
	return header, token, nil
}

// storeRefusal reads the store's error, whose text may be no JSON.
func storeRefusal(res *transport.Response) error {
	status := res.Status
	err := refusal(res, false)
	e, ok := errors.AsType[*providers.Error](err)
	if !ok {
		return err
	}
	switch status {
	case http.StatusNotFound, http.StatusGone:
		e.Code = providers.ErrFileNotFound
		if e.NativeStatus == "" && e.Message == "" {
			e.Message = "there is no such object"
		}
	case http.StatusBadGateway:
		e.Code = providers.ErrUnavailable
	}
	return e
}

// again makes a request until it succeeds or fails for good. The target's limit on
// the whole bounds the pauses too. The error says that something was sent when any
// try was.
func again(ctx context.Context, t *providers.Target, try func() error) error {
	pauses := ctx
	if total := t.Timeouts.Total; total > 0 {
		limited, cancel := context.WithTimeout(ctx, total)
		defer cancel()
		pauses = limited
	}
	pause, sent := firstPause, false
	for n := 1; ; n++ {
		err := try()
		e, ok := failure(err)
		if err == nil || !ok || !e.Retryable() || n == maxTries {
			return spent(err, sent)
		}
		sent = sent || e.Sent
		if err := rest(pauses, max(pause, min(e.RetryAfter, maxPause)), e); err != nil {
			return spent(err, sent)
		}
		pause *= 2
	}
}

// rest waits before another try, or fails when the context ends first: as sent as
// the try before, which failed with after.
func rest(ctx context.Context, d time.Duration, after *providers.Error) error {
	if ctx.Err() != nil && after.Code == providers.ErrTimeout { // which says it better
		return after
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	}
	err := transport.ContextError(ctx, after.Sent)
	if e, ok := failure(err); ok {
		e.Provider = after.Provider
		e.Message += ", in the pause before another try, after " + string(after.Code)
	}
	return err
}

// remaining returns the target with what is left of the limit on the whole of a
// call that began then: the target itself when there is no limit.
func remaining(t *providers.Target, begun time.Time) *providers.Target {
	spent := time.Since(begun)
	if t.Timeouts.Total <= 0 || spent <= 0 {
		return t
	}
	own := *t
	own.Timeouts.Total = max(own.Timeouts.Total-spent, 1)
	return &own
}

func objectPath(at providers.ObjectName) string {
	return "/storage/v1/b/" + url.PathEscape(at.Bucket) + "/o/" + url.PathEscape(at.Name)
}

// GetObject returns the bytes of an object from an offset on.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/get
func (p *Engine) GetObject(ctx context.Context, t *providers.Target, at providers.ObjectName, offset int64) (io.ReadCloser, error) {
	x := transfer{method: http.MethodGet, path: objectPath(at), query: "alt=media" + generation(at), stream: true}
	if offset > 0 {
		x.header = http.Header{"Range": {"bytes=" + strconv.FormatInt(offset, 10) + "-"}}
	}
	var res *transport.Response
	begun := time.Now()
	err := again(ctx, t, func() (err error) {
		res, err = p.transfer(ctx, remaining(t, begun), &x)
		return err
	})
	e, refused := errors.AsType[*providers.Error](err)
	switch {
	case refused && e.StatusCode == http.StatusRequestedRangeNotSatisfiable && offset > 0:
		return http.NoBody, nil // it ends there
	case err != nil:
		return nil, err
	case offset > 0 && res.Status != http.StatusPartialContent:
		_ = res.Close()
		return nil, callOf(p.site, t, "").named(answerError(providers.ErrBadResponse, "the store gave the whole of an object in place of its rest"))
	}
	return res, nil
}

func generation(at providers.ObjectName) string {
	if at.Generation == 0 {
		return ""
	}
	return "&generation=" + strconv.FormatInt(at.Generation, 10)
}

// StatObject returns what is known of an object.
func (p *Engine) StatObject(ctx context.Context, t *providers.Target, at providers.ObjectName) (*providers.Object, error) {
	var wire storage.Object
	err := p.storeJSON(ctx, t, &transfer{method: http.MethodGet, path: objectPath(at)}, wire.Decode)
	if err != nil {
		return nil, err
	}
	return objectOf(&wire)
}

// ListObjects returns one page of objects, in the order of their names.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/list
func (p *Engine) ListObjects(ctx context.Context, t *providers.Target, q *providers.ObjectQuery) (*providers.ObjectList, error) {
	query := url.Values{"prefix": {q.Prefix}}
	if q.From != "" {
		query.Set("startOffset", q.From)
	}
	if q.PageToken != "" {
		query.Set("pageToken", q.PageToken)
	}
	if q.Limit > 0 {
		query.Set("maxResults", strconv.Itoa(q.Limit))
	}
	var wire storage.List
	x := transfer{method: http.MethodGet, path: "/storage/v1/b/" + url.PathEscape(q.Bucket) + "/o", query: query.Encode()}
	if err := p.storeJSON(ctx, t, &x, wire.Decode); err != nil {
		return nil, err
	}
	out := &providers.ObjectList{NextPageToken: wire.NextPageToken}
	for i := range wire.Items {
		o, err := objectOf(&wire.Items[i])
		if err != nil {
			return nil, callOf(p.site, t, "").named(err)
		}
		out.Objects = append(out.Objects, o)
	}
	return out, nil
}

// AnnotateObject replaces what is noted beside an object.
//
// Source: https://cloud.google.com/storage/docs/json_api/v1/objects/patch
func (p *Engine) AnnotateObject(ctx context.Context, t *providers.Target, at providers.ObjectName, o *providers.ObjectOptions) (*providers.Object, error) {
	var wire storage.Object
	err := again(ctx, t, func() error {
		buf := jsonx.GetBuffer()
		buf.B = objectResource(buf.B, providers.ObjectName{}, o)
		res, err := p.transfer(ctx, t, &transfer{method: http.MethodPatch, path: objectPath(at), body: buf})
		if err != nil {
			return err
		}
		return p.storeAnswer(t, res, wire.Decode)
	})
	if err != nil {
		return nil, err
	}
	return objectOf(&wire)
}

// DeleteObject removes an object.
func (p *Engine) DeleteObject(ctx context.Context, t *providers.Target, at providers.ObjectName) error {
	return again(ctx, t, func() error {
		res, err := p.transfer(ctx, t, &transfer{method: http.MethodDelete, path: objectPath(at), query: "prettyPrint=false" + generation(at)})
		if err == nil {
			res.Drain()
		}
		return err
	})
}

// storeJSON makes a request whose answer is a JSON object, as often as it takes.
func (p *Engine) storeJSON(ctx context.Context, t *providers.Target, x *transfer, decode func(*jsonx.Reader)) error {
	return again(ctx, t, func() error {
		res, err := p.transfer(ctx, t, x)
		if err != nil {
			return err
		}
		return p.storeAnswer(t, res, decode)
	})
}

// storeAnswer reads an answer and closes it.
func (p *Engine) storeAnswer(t *providers.Target, res *transport.Response, decode func(*jsonx.Reader)) error {
	c := callOf(p.site, t, "")
	c.res = res
	return c.named(p.readObject(c, decode))
}

// objectOf gives the store's answer its types.
func objectOf(w *storage.Object) (*providers.Object, error) {
	if w.Name == "" || w.Bucket == "" {
		return nil, answerError(providers.ErrBadResponse, "the store's answer is no object")
	}
	o := &providers.Object{
		ObjectName: providers.ObjectName{Bucket: w.Bucket, Name: w.Name, Generation: w.Generation},
		Size:       w.Size, ContentType: w.ContentType, Metadata: w.Metadata,
	}
	for _, m := range []struct {
		text string
		to   *time.Time
	}{{w.TimeCreated, &o.Created}, {w.Updated, &o.Updated}} {
		if m.text == "" {
			continue
		}
		var err error
		if *m.to, err = time.Parse(time.RFC3339Nano, m.text); err != nil {
			return nil, answerError(providers.ErrBadResponse, "a time of the store's is no RFC 3339 time")
		}
	}
	return o, nil
}
