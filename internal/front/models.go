package front

import (
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// listModels serves GET /v1/models.
func (c *call) listModels() error {
	models, err := c.backend.Models(c.r.Context())
	if err != nil {
		return err
	}
	return c.writeModels(func(w *jsonx.Writer) {
		w.BeginObject()
		w.Key("object")
		w.String("list")
		w.Key("data")
		w.BeginArray()
		for i := range models {
			models[i].encode(w)
		}
		w.EndArray()
		w.EndObject()
	})
}

// showModel serves GET /v1/models/{id}; the id is all of the path that follows.
func (c *call) showModel() error {
	models, err := c.backend.Models(c.r.Context())
	if err != nil {
		return err
	}
	for i := range models {
		if models[i].ID == c.rest {
			return c.writeModels(models[i].encode)
		}
	}
	return &providers.Error{
		Code: providers.ErrModelNotFound, Param: "model",
		Message: "no such model: GET /v1/models lists those that are known by name",
	}
}

func (c *call) writeModels(encode func(*jsonx.Writer)) error {
	buf := jsonx.GetBuffer()
	defer buf.Free()
	var w jsonx.Writer
	w.Reset(buf.B)
	encode(&w)
	buf.B = w.Bytes()
	if c.o.RequestID != "" {
		c.w.Header().Set(headerRequestID, c.o.RequestID)
	}
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}

// encode writes the model as the OpenAI schema has it.
//
// Source: https://platform.openai.com/docs/api-reference/models/object.
func (m *Model) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("id")
	w.String(m.ID)
	w.Key("object")
	w.String("model")
	w.Key("created")
	w.Int(m.Created)
	w.Key("owned_by")
	w.String(m.OwnedBy)
	w.EndObject()
}
