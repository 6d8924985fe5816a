package front

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// embeddings serves POST /v1/embeddings.
func (c *call) embeddings() error {
	req := new(providers.EmbeddingRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	out, err := c.backend.Embeddings(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if buf.B, err = out.AppendJSON(buf.B); err != nil {
		return err
	}
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}
