package answers

import (
	"maps"
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// CloneChat returns a copy that shares nothing with the request but texts, for
// work that may outlive the call: the caller may change its request by then.
func CloneChat(q *providers.ChatCompletionRequest) *providers.ChatCompletionRequest {
	own := *q
	own.Messages = slices.Clone(q.Messages)
	for i := range own.Messages {
		cloneMessage(&own.Messages[i])
	}
	own.MaxTokens, own.MaxCompletionTokens, own.TopK, own.N, own.TopLogprobs = cloned(q.MaxTokens), cloned(q.MaxCompletionTokens), cloned(q.TopK), cloned(q.N), cloned(q.TopLogprobs)
	own.Temperature, own.TopP = cloned(q.Temperature), cloned(q.TopP)
	own.PresencePenalty, own.FrequencyPenalty = cloned(q.PresencePenalty), cloned(q.FrequencyPenalty)
	own.Stop, own.Modalities = slices.Clone(q.Stop), slices.Clone(q.Modalities)
	own.Seed, own.Logprobs, own.ParallelToolCalls = cloned(q.Seed), cloned(q.Logprobs), cloned(q.ParallelToolCalls)
	if own.StreamOptions = cloned(q.StreamOptions); own.StreamOptions != nil {
		own.StreamOptions.Extra = slices.Clone(own.StreamOptions.Extra)
	}
	own.Tools = slices.Clone(q.Tools)
	for i := range own.Tools {
		t := &own.Tools[i]
		t.Extra = slices.Clone(t.Extra)
		f := &t.Function
		f.Parameters, f.Strict, f.Extra = slices.Clone(f.Parameters), cloned(f.Strict), slices.Clone(f.Extra)
	}
	if c := cloned(q.ToolChoice); c != nil {
		c.Allowed, c.Extra = slices.Clone(c.Allowed), slices.Clone(c.Extra)
		own.ToolChoice = c
	}
	if f := cloned(q.ResponseFormat); f != nil {
		f.Extra = slices.Clone(f.Extra)
		if f.JSONSchema = cloned(f.JSONSchema); f.JSONSchema != nil {
			s := f.JSONSchema
			s.Schema, s.Strict, s.Extra = slices.Clone(s.Schema), cloned(s.Strict), slices.Clone(s.Extra)
		}
		own.ResponseFormat = f
	}
	if t := cloned(q.Thinking); t != nil {
		t.BudgetTokens, t.Extra = cloned(t.BudgetTokens), slices.Clone(t.Extra)
		own.Thinking = t
	}
	own.Labels, own.Metadata, own.Extra = maps.Clone(q.Labels), maps.Clone(q.Metadata), slices.Clone(q.Extra)
	return &own
}

func cloneMessage(m *providers.Message) {
	if parts := m.Content.Parts(); parts != nil {
		m.Content = providers.PartsContent(cloneParts(parts)...)
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		c.Extra, c.Function.Extra = slices.Clone(c.Extra), slices.Clone(c.Function.Extra)
	}
	m.ContentBlocks = cloneParts(m.ContentBlocks)
	if m.Audio = cloned(m.Audio); m.Audio != nil {
		m.Audio.Extra = slices.Clone(m.Audio.Extra)
	}
	m.Annotations = slices.Clone(m.Annotations)
	for i := range m.Annotations {
		a := &m.Annotations[i]
		a.Extra = slices.Clone(a.Extra)
		if a.URLCitation = cloned(a.URLCitation); a.URLCitation != nil {
			a.URLCitation.Extra = slices.Clone(a.URLCitation.Extra)
		}
	}
	m.Extra = slices.Clone(m.Extra)
}

func cloneParts(list []providers.ContentPart) []providers.ContentPart {
	out := slices.Clone(list)
	for i := range out {
		p := &out[i]
		p.Extra = slices.Clone(p.Extra)
		if p.ImageURL = cloned(p.ImageURL); p.ImageURL != nil {
			p.ImageURL.Extra = slices.Clone(p.ImageURL.Extra)
		}
		if p.InputAudio = cloned(p.InputAudio); p.InputAudio != nil {
			p.InputAudio.Extra = slices.Clone(p.InputAudio.Extra)
		}
		if p.File = cloned(p.File); p.File != nil {
			p.File.Extra = slices.Clone(p.File.Extra)
		}
	}
	return out
}

// CloneEmbedding does the same with an embedding request.
func CloneEmbedding(q *providers.EmbeddingRequest) *providers.EmbeddingRequest {
	own := *q
	own.Input.Items = slices.Clone(q.Input.Items)
	for i := range own.Input.Items {
		it := &own.Input.Items[i]
		it.Tokens, it.Extra = slices.Clone(it.Tokens), slices.Clone(it.Extra)
		for _, m := range []**providers.EmbeddingMedia{&it.Image, &it.Video, &it.Audio, &it.File} {
			if *m = cloned(*m); *m != nil {
				c := *m
				c.StartOffset, c.EndOffset, c.Interval = cloned(c.StartOffset), cloned(c.EndOffset), cloned(c.Interval)
				c.Extra = slices.Clone(c.Extra)
			}
		}
	}
	own.Dimensions, own.AutoTruncate = cloned(q.Dimensions), cloned(q.AutoTruncate)
	own.Labels, own.Extra = maps.Clone(q.Labels), slices.Clone(q.Extra)
	return &own
}
