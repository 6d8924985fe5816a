package anthropic

import "github.com/b650d4bf/gateway/internal/jsonx"

// TokenCount is the answer of count-tokens.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens
type TokenCount struct {
	Input int64
	// HasInput says that the number was there at all.
	HasInput bool
}

// Decode reads one object. A member that is null counts as not given.
func (c *TokenCount) Decode(r *jsonx.Reader) {
	*c = TokenCount{}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "input_tokens":
			c.Input, c.HasInput = r.LooseInt(), true
		default:
			r.Skip()
		}
	}
}
