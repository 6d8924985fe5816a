package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/providers/anthropic"
	"github.com/b650d4bf/gateway/providers/google"
	"github.com/b650d4bf/gateway/providers/openai"
)

// The publishers of the model table that stand for models of OpenAI's own API,
// of other servers that speak its schema, and of self-deployed endpoints.
const (
	openaiPublisher     = "openai-api"
	compatiblePublisher = openai.CompatibleName
	endpointPublisher   = "endpoints"
)

// Models lists the models of the table: for each catalog entry those that its
// provider may have, by its slug, and by their bare names those of the platform
// when calls may go without a slug.
func (b backend) Models(context.Context) ([]front.Model, error) {
	var list []front.Model
	if cat := b.c.settings.Catalog; cat != nil {
		for _, slug := range cat.Slugs() {
			if entry, err := cat.Lookup(slug); err == nil {
				list = b.c.appendModels(list, "@"+slug+"/", entry.Provider)
			}
		}
	}
	if b.c.settings.Direct() {
		list = b.c.appendModels(list, "", b.c.platform.Name())
	}
	return list, nil
}

// appendModels lists the models that a provider may have.
func (c *Client) appendModels(list []front.Model, prefix, provider string) []front.Model {
	own := provider == c.platform.Name()
	for _, m := range c.models.All() {
		if !m.Family && c.has(provider, m.Publisher) && (own || m.Wire == "") {
			list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: ownerOf(m.Publisher), Facts: chatFacts(&m, provider)})
		}
	}
	for _, m := range c.models.Embeddings() {
		if !m.Family && c.has(provider, m.Publisher) && (provider != google.Name || m.Own) {
			list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: ownerOf(m.Publisher), Facts: embeddingFacts(&m, provider)})
		}
	}
	if own {
		list = c.appendServices(list, prefix, provider)
	}
	return list
}

// appendServices lists the models of the platform that draw and those that order
// documents, but for those that the table of models has too.
func (c *Client) appendServices(list []front.Model, prefix, provider string) []front.Model {
	for _, m := range c.models.Images() {
		if row, known := c.models.Lookup(m.Publisher, m.Name); m.Family || known && row.Name == m.Name {
			continue
		}
		list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: m.Publisher, Facts: &front.ModelFacts{
			Type: "image", Provider: provider, Family: m.Publisher, InputModalities: []string{"text"}, OutputModalities: []string{"image"},
		}})
	}
	for _, m := range c.models.Rankers() {
		list = append(list, front.Model{ID: prefix + m.Name, OwnedBy: "google", Facts: &front.ModelFacts{
			Type: "rerank", Provider: provider, Family: "google", InputModalities: []string{"text"},
		}})
	}
	return list
}

// has reports whether the provider has models of the publisher.
func (c *Client) has(provider, publisher string) bool {
	switch provider {
	case c.platform.Name():
		return !slices.Contains([]string{openaiPublisher, compatiblePublisher, endpointPublisher}, publisher)
	case google.Name, anthropic.Name, compatiblePublisher:
		return publisher == provider
	case openai.Name:
		return publisher == openaiPublisher
	}
	return false
}

// ownerOf is who made the models of a publisher.
func ownerOf(publisher string) string {
	if publisher == openaiPublisher {
		return "openai"
	}
	return publisher
}

// The modalities that all models of a vendor read, but for those that speak only.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/models and
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude
var inputModalities = map[string][]string{
	"google":    {"text", "image", "audio", "video", "file"},
	"anthropic": {"text", "image", "file"},
}

// chatFacts tells what the table knows of a model that answers.
func chatFacts(m *catalog.Model, provider string) *front.ModelFacts {
	f := &front.ModelFacts{
		Type: "chat", Provider: provider, Family: m.Publisher, ContextWindow: m.ContextTokens, MaxOutputTokens: m.OutputTokens,
		OutputModalities: []string{"text"}, Thinking: thinkingFacts(m),
	}
	if m.Outputs != nil {
		f.OutputModalities = nil
		for _, word := range m.Outputs {
			f.OutputModalities = append(f.OutputModalities, strings.ToLower(word))
		}
	}
	if m.Wire != "" {
		f.Family = m.Wire
		return f // what the others of the publisher can says nothing
	}
	switch f.InputModalities = inputModalities[m.Publisher]; {
	case m.SpeaksOnly():
		f.InputModalities, f.Tools = []string{"text"}, new(false)
	case f.InputModalities != nil && !m.Gives("IMAGE"):
		f.Tools = new(true)
	}
	return f
}

// thinkingFacts tells how reasoning is steered, nil where nothing is known to.
func thinkingFacts(m *catalog.Model) *front.ThinkingFacts {
	t := &m.Thinking
	if t.MaxBudget == 0 && len(t.Levels) == 0 && len(t.Efforts) == 0 && !t.Adaptive {
		return nil
	}
	out := &front.ThinkingFacts{MinBudget: t.MinBudget, MaxBudget: t.MaxBudget, Efforts: t.Efforts, CanDisable: t.CanDisable || t.Off == "disabled"}
	for _, level := range t.Levels {
		out.Efforts = append(slices.Clip(out.Efforts), strings.ToLower(level))
	}
	return out
}

// embeddingFacts tells what the table knows of a model that embeds.
func embeddingFacts(m *catalog.EmbeddingModel, provider string) *front.ModelFacts {
	return &front.ModelFacts{
		Type: "embedding", Provider: provider, Family: m.Publisher, MaxInputTokens: m.InputTokens, MaxInputs: m.MaxInputs,
		InputModalities: append([]string{"text"}, m.Media...), OutputModalities: []string{"embedding"},
		Dimensions: m.Dimensions, MinDimensions: m.MinDimensions, Sizes: m.Sizes,
	}
}
