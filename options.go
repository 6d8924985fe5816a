package gateway

import (
	"maps"
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

// WithMaxInlineBytes bounds the media that one request carries inline, in bytes
// decoded, in place of the limits that the platform documents: 20 MB in all, 7 MB
// for an image or a text, 50 MB for a PDF. More is refused before anything is
// sent; larger media goes by gs:// URL.
func WithMaxInlineBytes(n int) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if n <= 0 {
			return invalidOption("max_inline_bytes", "must be positive")
		}
		cfg.maxInline = n
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

// WithBetaFeatures says under which name a beta feature of Claude models is sent
// on, by its name with its date or without; an empty one is not sent. What is
// given here goes before the gateway's own table, and features in neither are
// sent as they are. Several of these options add up.
func WithBetaFeatures(names map[string]string) ClientOption {
	return clientOption(func(cfg *clientConfig) error {
		if cfg.beta == nil {
			cfg.beta = make(map[string]string, len(names))
		}
		maps.Copy(cfg.beta, names)
		return nil
	})
}
