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
	c.setRequestID()
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}

// Model is one entry of GET /v1/models.
type Model struct {
	// ID is the reference to ask for the model with; it may contain slashes.
	ID string
	// OwnedBy is who made the model.
	OwnedBy string
	// Created is in Unix seconds.
	Created int64
	// Facts is what is known of it; nil for nothing.
	Facts *ModelFacts
}

// ModelFacts is what a model can do, in members beside the schema's own. A zero
// member is not known, and left out.
type ModelFacts struct {
	// Type is "chat", "embedding", "image" or "rerank".
	Type string
	// Provider is the id of the provider, and Family how the model is spoken to.
	Provider, Family string
	// ContextWindow and MaxOutputTokens are limits in tokens. MaxInputTokens is
	// that of one input of a model that embeds, and MaxInputs how many one request
	// of it takes.
	ContextWindow, MaxOutputTokens, MaxInputTokens, MaxInputs int
	// InputModalities and OutputModalities are words such as "text" and "image".
	InputModalities, OutputModalities []string
	// Tools says whether the model calls functions; nil when that is not known.
	Tools *bool
	// Thinking says how reasoning is steered; nil for a model without, or where
	// that is not known.
	Thinking *ThinkingFacts
	// Dimensions is the length of vectors, MinDimensions the least that can be
	// asked for, and Sizes lists the lengths where not all between are there.
	Dimensions, MinDimensions int
	Sizes                     []int
}

// ThinkingFacts says how a model's reasoning is steered.
type ThinkingFacts struct {
	// MinBudget and MaxBudget bound budget_tokens; both are 0 where there is none.
	MinBudget, MaxBudget int
	// Efforts are the words that reasoning_effort has for the model.
	Efforts []string
	// CanDisable says that it can be turned off.
	CanDisable bool
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
	if m.Facts != nil {
		m.Facts.encode(w)
	}
	w.EndObject()
}

// encode writes the members.
func (f *ModelFacts) encode(w *jsonx.Writer) {
	putText(w, "type", f.Type)
	putText(w, "provider", f.Provider)
	putText(w, "family", f.Family)
	putCount(w, "context_window", f.ContextWindow)
	putCount(w, "max_output_tokens", f.MaxOutputTokens)
	putCount(w, "max_input_tokens", f.MaxInputTokens)
	putCount(w, "max_inputs", f.MaxInputs)
	putWords(w, "input_modalities", f.InputModalities)
	putWords(w, "output_modalities", f.OutputModalities)
	if f.Tools != nil {
		w.Key("supports_tools")
		w.Bool(*f.Tools)
	}
	if t := f.Thinking; t != nil {
		w.Key("thinking")
		w.BeginObject()
		putCount(w, "min_budget_tokens", t.MinBudget)
		putCount(w, "max_budget_tokens", t.MaxBudget)
		putWords(w, "efforts", t.Efforts)
		w.Key("can_disable")
		w.Bool(t.CanDisable)
		w.EndObject()
	}
	putCount(w, "dimensions", f.Dimensions)
	putCount(w, "min_dimensions", f.MinDimensions)
	if len(f.Sizes) > 0 {
		w.Key("dimension_sizes")
		w.BeginArray()
		for _, n := range f.Sizes {
			w.Int(int64(n))
		}
		w.EndArray()
	}
}

func putText(w *jsonx.Writer, key, text string) {
	if text != "" {
		w.Key(key)
		w.String(text)
	}
}

func putCount(w *jsonx.Writer, key string, n int) {
	if n != 0 {
		w.Key(key)
		w.Int(int64(n))
	}
}

func putWords(w *jsonx.Writer, key string, words []string) {
	if len(words) == 0 {
		return
	}
	w.Key(key)
	w.BeginArray()
	for _, word := range words {
		w.String(word)
	}
	w.EndArray()
}
