package engine

import (
	"bytes"
	"context"
	"net/http"
	"net/url"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// write fills the call's payload with what body writes through w.
func (c *call) write(w *jsonx.Writer, body func() error) error {
	buf := jsonx.GetBuffer()
	w.Reset(buf.B)
	err := body()
	buf.B = w.Bytes()
	c.hold(buf)
	if err != nil {
		c.payload.Release()
	}
	return err
}

// exchange sends the call's payload and decodes the JSON object that answers it.
func (p *Engine) exchange(ctx context.Context, u *url.URL, c *call, decode func(*jsonx.Reader)) error {
	var err error
	if c.res, err = p.send(ctx, c, u); err != nil {
		return err
	}
	return c.named(p.readObject(c, decode))
}

// Get asks for the JSON object at u, and decodes it.
func (p *Engine) Get(ctx context.Context, t *providers.Target, u *url.URL, decode func(*jsonx.Reader)) error {
	return p.exchange(ctx, u, callOf(p.site, t, http.MethodGet), decode)
}

// readObject reads the call's answer.
func (p *Engine) readObject(c *call, decode func(*jsonx.Reader)) error {
	defer func() { _ = c.res.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := c.res.ReadInto(buf, p.limit); err != nil {
		return err
	}
	if c.method == http.MethodDelete && len(bytes.TrimSpace(buf.B)) == 0 {
		return nil // it is gone, and there is nothing to say
	}
	r := jsonx.NewReader(buf.B)
	if r.Kind() != jsonx.Object {
		return unreadable(http.StatusOK, buf.B)
	}
	if raw, ok := errorMember(buf.B); ok && !c.faulty {
		return rawError(http.StatusOK, raw)
	}
	if decode(&r); r.End() != nil {
		e := answerError(providers.ErrBadResponse, "the platform's answer can't be understood")
		e.Err = r.Err()
		return e
	}
	return nil
}
