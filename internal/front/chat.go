package front

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// chat serves POST /v1/chat/completions, in the form the body asks for.
func (c *call) chat() error {
	req := new(providers.ChatCompletionRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	if req.Stream {
		return c.chatStream(req)
	}
	out, err := c.backend.Chat(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return c.writeCompletion(out)
}

// writeCompletion answers with a whole answer.
func (c *call) writeCompletion(out *providers.ChatCompletion) error {
	buf := jsonx.GetBuffer()
	defer buf.Free()
	var err error
	if buf.B, err = out.AppendJSON(buf.B); err != nil {
		return err
	}
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}
