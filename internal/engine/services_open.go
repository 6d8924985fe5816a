package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Requests for images, speech and reranking to servers that speak the same
// schemas: they go as they are, with the server's name for the model.
//
// Source: https://platform.openai.com/docs/api-reference/images/create,
// https://platform.openai.com/docs/api-reference/audio/createSpeech and
// https://docs.cohere.com/reference/rerank

// isOpen reports whether the model is of such a server.
func (m *Model) isOpen() bool {
	return m.Own && (m.Family == FamilyOpenAI || m.Family == FamilyEndpoint)
}

// openModel returns the model of a target, and whether it is of a server that speaks
// the schema itself.
func (p *Engine) openModel(t *providers.Target) (Model, bool) {
	m, err := p.site.Model(t.Model)
	return m, err == nil && m.isOpen()
}

// pass sends a request as it is and returns the call with its answer, which the
// caller closes.
func (p *Engine) pass(ctx context.Context, t *providers.Target, m Model, path string, stream bool, encode func() ([]byte, error)) (*call, error) {
	c := &call{in: request{target: t, model: m, site: p.site, stream: stream}}
	u, err := p.site.URL(t, &c.in.model, path, "")
	if err != nil {
		return nil, err
	}
	body, err := encode()
	if err != nil {
		return nil, err
	}
	var w jsonx.Writer
	if err := c.write(&w, func() error { w.Raw(body); return w.Err() }); err != nil {
		return nil, err
	}
	c.res, err = p.send(ctx, c, u)
	return c, err
}

// passWhole is pass for an answer that is one JSON object.
func (p *Engine) passWhole(ctx context.Context, t *providers.Target, m Model, path string, encode func() ([]byte, error), decode func([]byte) error) error {
	c, err := p.pass(ctx, t, m, path, false, encode)
	if err != nil {
		return err
	}
	defer func() { _ = c.res.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := c.res.ReadInto(buf, p.limit); err != nil {
		return c.named(err)
	}
	if r := jsonx.NewReader(buf.B); r.Kind() != jsonx.Object {
		return c.named(unreadable(http.StatusOK, buf.B))
	}
	if raw, ok := errorMember(buf.B); ok {
		return c.named(rawError(http.StatusOK, raw))
	}
	if err := decode(buf.B); err != nil {
		e := answerError(providers.ErrBadResponse, "the server's answer can't be understood")
		e.Err = err
		return c.named(e)
	}
	return nil
}

// imagesOpen passes a request for images on.
func (p *Engine) imagesOpen(ctx context.Context, t *providers.Target, m Model, req *providers.ImageRequest) (*providers.ImageResponse, error) {
	if len(req.Images) > 0 {
		return nil, providers.Invalid("image", "edits are not passed on to this provider: use a model of Vertex AI")
	}
	own := *req
	own.Model = m.Name
	var rest remarks
	if own.Labels != nil {
		own.Labels = nil
		rest.add(labelsWarning())
	}
	out := new(providers.ImageResponse)
	if err := p.passWhole(ctx, t, m, "/images/generations", own.MarshalJSON, out.UnmarshalJSON); err != nil {
		return nil, err
	}
	out.Provider, out.Meta.Warnings = p.site.Name(), rest.warnings
	return out, nil
}

// rerankOpen passes a request for reranking on.
func (p *Engine) rerankOpen(ctx context.Context, t *providers.Target, m Model, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	own := *req
	own.Model = m.Name
	var rest remarks
	if own.Labels != nil {
		own.Labels = nil
		rest.add(labelsWarning())
	}
	out := new(providers.RerankResponse)
	if err := p.passWhole(ctx, t, m, "/rerank", own.MarshalJSON, out.UnmarshalJSON); err != nil {
		return nil, err
	}
	for _, r := range out.Results {
		if r.Index < 0 || r.Index >= len(req.Documents) {
			e := answerError(providers.ErrBadResponse, "the answer has a score for a document that was not asked about")
			e.Provider = p.site.Name()
			return nil, e
		}
	}
	out.Model, out.Provider, out.Meta.Warnings = req.Model, p.site.Name(), rest.warnings
	return out, nil
}

// speechOpen passes a request for speech on.
func (p *Engine) speechOpen(ctx context.Context, t *providers.Target, m Model, req *providers.SpeechRequest, stream bool) (*openSpeech, error) {
	own := *req
	own.Model = m.Name
	out := new(openSpeech)
	if own.Labels != nil {
		own.Labels = nil
		out.warnings = []providers.Warning{labelsWarning()}
	}
	if own.StreamFormat == "sse" {
		return nil, providers.Invalid("stream_format", `speech comes as bytes, not as events: use "audio", or leave it out`)
	}
	var err error
	out.call, err = p.pass(ctx, t, m, "/audio/speech", stream, own.MarshalJSON)
	return out, err
}

// openSpeech is speech as the server gives it.
type openSpeech struct {
	call     *call
	warnings []providers.Warning
	begun    bool
	err      error
}

// whole reads all of it.
func (s *openSpeech) whole(limit int) (*providers.SpeechResponse, error) {
	defer func() { _ = s.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := s.call.res.ReadInto(buf, limit); err != nil {
		return nil, s.call.named(err)
	}
	if len(buf.B) == 0 {
		return nil, s.call.named(answerError(providers.ErrEmptyResponse, "the answer has no audio"))
	}
	out := &providers.SpeechResponse{Data: bytes.Clone(buf.B), ContentType: s.call.res.Header.Get("Content-Type"), Provider: s.call.in.site.Name()}
	out.Meta.Warnings = s.warnings
	return out, nil
}

// Recv returns the next bytes.
func (s *openSpeech) Recv() (*providers.SpeechChunk, error) {
	if s.err != nil {
		return nil, s.err
	}
	const most = 32 << 10
	data := make([]byte, most)
	n := 0
	for n == 0 && s.err == nil {
		n, s.err = s.call.res.Read(data)
	}
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		s.err = s.call.named(s.err)
	}
	if n == 0 {
		return nil, s.err
	}
	out := &providers.SpeechChunk{Data: data[:n]}
	if !s.begun {
		s.begun = true
		out.ContentType, out.Warnings = s.call.res.Header.Get("Content-Type"), s.warnings
	}
	return out, nil
}

// Close ends the stream.
func (s *openSpeech) Close() error { return s.call.res.Close() }
