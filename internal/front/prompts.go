package front

import (
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// prompts serves POST /v1/prompts/{id}/completions, in the form the body asks
// for, and POST /v1/prompts/{id}/render. An id has no slash.
func (c *call) prompts() error {
	id, operation, _ := strings.Cut(c.rest, "/")
	if id == "" || operation != "completions" && operation != "render" {
		return errNoRoute()
	}
	req, err := c.readPrompt(id)
	switch {
	case err != nil:
		return err
	case operation == "render":
		return c.renderPrompt(req)
	case req.Overrides.Stream:
		s, err := c.backend.PromptStream(c.r.Context(), req, &c.o)
		if err != nil {
			return err
		}
		return c.writeStream(s)
	}
	out, err := c.backend.PromptChat(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return c.writeCompletion(out)
}

// readPrompt reads the body: the variables, beside members of a chat completion
// that are to differ from the stored ones.
func (c *call) readPrompt(id string) (*providers.PromptCompletionRequest, error) {
	req := &providers.PromptCompletionRequest{ID: id}
	if err := c.readRequest((*overrides)(&req.Overrides)); err != nil {
		return nil, err
	}
	raw, ok := req.Overrides.Extra.Get("variables")
	if !ok {
		return req, nil
	}
	req.Overrides.Extra.Delete("variables")
	r := jsonx.NewReader(raw)
	switch r.Kind() {
	case jsonx.Null:
		return req, nil
	case jsonx.Object:
	default:
		return nil, providers.Invalid("variables", "must be an object, with the prompt's variables by their names")
	}
	req.Variables = make(map[string]any)
	for name, value := range providers.Extra(raw).All() {
		req.Variables[name] = value
	}
	return req, nil
}

// overrides is a chat completion of which a list that is given but empty is told
// apart from one that is not given: it takes the stored one away.
type overrides providers.ChatCompletionRequest

// UnmarshalJSON decodes the body.
func (o *overrides) UnmarshalJSON(data []byte) error {
	req := (*providers.ChatCompletionRequest)(o)
	if err := req.UnmarshalJSON(data); err != nil {
		return err
	}
	if isEmptyList(data, "messages") {
		req.Messages = []providers.Message{}
	}
	if isEmptyList(data, "tools") {
		req.Tools = []providers.Tool{}
	}
	if isEmptyList(data, "stop") {
		req.Stop = providers.Stop{}
	}
	if isEmptyList(data, "modalities") {
		req.Modalities = []string{}
	}
	return nil
}

// isEmptyList reports whether the member is there and has no elements.
func isEmptyList(data []byte, name string) bool {
	raw, ok := jsonx.Lookup(data, name)
	if !ok {
		return false
	}
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Array {
		return false
	}
	r.Array()
	return !r.NextElem()
}

// renderPrompt answers with the request that the prompt makes.
func (c *call) renderPrompt(req *providers.PromptCompletionRequest) error {
	out, err := c.backend.PromptRender(c.r.Context(), req)
	if err != nil {
		return err
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	buf.B = append(buf.B, `{"success":true,"data":`...)
	if buf.B, err = out.Request.AppendJSON(buf.B); err != nil {
		return err
	}
	buf.B = append(buf.B, '}')
	h := c.w.Header()
	h.Set(headerPrompt, headerText(out.ID+"@"+out.Version))
	if c.o.RequestID != "" {
		h.Set(headerRequestID, headerText(c.o.RequestID))
	}
	if len(out.Warnings) > 0 {
		h.Set(headerWarnings, warningsText(out.Warnings))
	}
	writeJSON(c.w, http.StatusOK, buf.B)
	return nil
}
