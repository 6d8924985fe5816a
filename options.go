package gateway

import (
	"maps"
	"strings"

	"github.com/b650d4bf/gateway/internal/pipeline"
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

// WithBetaFeatures says under which name a beta feature of Claude models is sent
// on, by its name with its date or without; an empty one is not sent. What is
// given here goes before the gateway's own table, and features in neither are
// sent as they are. Several of these options add up.
func WithBetaFeatures(names map[string]string) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if cfg.betaFeatures == nil {
			cfg.betaFeatures = make(map[string]string, len(names))
		}
		maps.Copy(cfg.betaFeatures, names)
		return nil
	})
}
