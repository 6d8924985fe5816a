package anthropic

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

// prefixes may stand before a name, as on platforms with models of several
// publishers.
var prefixes = []string{"anthropic.", "anthropic/", "publishers/anthropic/models/"}

// platformNames are the names of other platforms that follow no rule.
//
// Source: https://platform.claude.com/docs/en/about-claude/models/overview
var platformNames = map[string]string{
	"claude-3-5-sonnet-v2":          "claude-3-5-sonnet-20241022",
	"claude-3-5-sonnet-v2@20241022": "claude-3-5-sonnet-20241022",
}

// maxName bounds a model's name, which is a dozen words at most.
const maxName = 200

// parseModel reads a model reference without its slug:
//
//	claude-sonnet-4-5-20250929               a model
//	claude-opus-4-6, claude-sonnet-4-5       an alias
//	anthropic.claude-opus-4-6                with its publisher
//	anthropic/claude-opus-4-6                likewise
//	claude-sonnet-4-5@20250929               as Vertex AI spells it
//	claude-sonnet-4-5@default                likewise
func parseModel(ref string) (engine.Model, error) {
	name := ref
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(ref, p); ok {
			name = rest
			break
		}
	}
	if own, ok := platformNames[name]; ok {
		name = own
	}
	if stem, version, ok := strings.Cut(name, "@"); ok {
		if name = stem + "-" + version; version == "default" {
			name = stem
		}
	}
	if !isName(name) {
		return engine.Model{}, providers.Invalid("model", "a model name has letters, digits and . _ - only, such as claude-opus-4-6")
	}
	return engine.Model{Publisher: "anthropic", Name: name, Family: engine.FamilyClaude, Own: true}, nil
}

func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && i < len(s)-1 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxName
}
