package gateway

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers/vertex"
)

// WithMetadataLabels sends the call's metadata along as labels, which the
// platform's billing can be broken down by: each key with the prefix, such as
// "app_". Keys and values are fitted to what the platform allows. Labels of the
// request win. The default sends none.
func WithMetadataLabels(prefix string) Option {
	return option(func(s *pipeline.Settings) error {
		if !isLabelPrefix(prefix) {
			return invalidOption("metadata_labels", "a prefix is a lower-case letter and up to 30 more, digits, _ and -")
		}
		s.LabelPrefix = &prefix
		return nil
	})
}

// SignatureMemory bounds what a client remembers of thought signatures.
type SignatureMemory = vertex.SignatureMemory

// SignatureStats counts what became of thought signatures.
type SignatureStats = vertex.SignatureStats

// WithSignatureMemory bounds the memory from which a tool call gets its thought
// signature again, when the conversation comes back without it: many OpenAI
// clients drop members that they do not know, and strict compliance hides them.
// It is on by default.
func WithSignatureMemory(m SignatureMemory) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if m.Entries < 0 || m.Bytes < 0 || m.TTL < 0 {
			return invalidOption("signature_memory", "a limit must not be negative: Off switches the memory off")
		}
		cfg.signatures = m
		return nil
	})
}

// SignatureStats returns the counts of the client's memory of thought
// signatures. Views of a client share it.
func (c *Client) SignatureStats() SignatureStats { return c.platform.SignatureStats() }

func isLabelPrefix(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= 31 && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789_-") == ""
}

// WithToolCheck refuses, before anything is sent, a request whose tools the
// model does not take together, with [ErrOneToolOnly]. By default the platform
// refuses it with the same code.
func WithToolCheck() ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		cfg.checkTools = true
		return nil
	})
}

// Publisher is a publisher of models beyond those that the platform provider
// knows.
type Publisher = vertex.Publisher

// Wire says how the models of a publisher are spoken to.
type Wire = vertex.Wire

// The wires of published models.
const (
	WireOpenAI  = vertex.WireOpenAI
	WireMistral = vertex.WireMistral
	WireGemini  = vertex.WireGemini
)

// WithPublishers adds publishers of models, or replaces those that are known by
// the same name. Facts about their models belong into WithModels.
func WithPublishers(list ...Publisher) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		for i := range list {
			if err := list[i].Validate(); err != nil {
				return err
			}
		}
		cfg.publishers = append(cfg.publishers, list...)
		return nil
	})
}

// Predictor speaks to a self-deployed endpoint that has predict and no chat
// completions.
type Predictor = vertex.Predictor

// Prediction is an answer of a [Predictor].
type Prediction = vertex.Prediction

// WithPredictor sets how to speak to the self-deployed endpoint of that name.
// Endpoints without a predictor are spoken to in the OpenAI schema.
func WithPredictor(endpoint string, p Predictor) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if endpoint == "" || p.Request == nil || p.Answer == nil {
			return invalidOption("predictor", "the endpoint's name and both functions, Request and Answer, are required")
		}
		if cfg.predictors == nil {
			cfg.predictors = map[string]Predictor{}
		}
		cfg.predictors[endpoint] = p
		return nil
	})
}
