package front

import (
	"context"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// RerankBackend orders documents.
type RerankBackend interface {
	// Rerank returns the most relevant documents first.
	Rerank(ctx context.Context, req *providers.RerankRequest, o *Overrides) (*providers.RerankResponse, error)
}

// answer is what can be written as JSON.
type answer interface {
	AppendJSON(dst []byte) ([]byte, error)
}

// writeAnswer answers with JSON and what the gateway did.
func (c *call) writeAnswer(out answer, meta *providers.Meta) error {
	buf := jsonx.GetBuffer()
	defer buf.Free()
	var err error
	if buf.B, err = out.AppendJSON(buf.B); err != nil {
		return err
	}
	setMeta(c.w.Header(), meta)
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}

// rerank serves POST /v1/rerank.
func (c *call) rerank() error {
	req := new(providers.RerankRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	out, err := c.backend.Rerank(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return c.writeAnswer(out, &out.Meta)
}
