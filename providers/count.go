package providers

import "context"

// TokenCounter is the ability to count tokens. A [Provider] that has it
// implements this too.
type TokenCounter interface {
	// CountTokens counts the tokens of req's prompt without asking a model for
	// an answer. The provider must not keep or change req.
	CountTokens(ctx context.Context, t *Target, req *ChatCompletionRequest) (*TokenCount, error)
}

// TokenCount is the size of a prompt.
type TokenCount struct {
	// TotalTokens is the size of the whole prompt: messages, tools and what the
	// platform adds for them.
	TotalTokens int64
	// BillableCharacters is the number of characters that models priced by the
	// character bill; 0 for the others.
	BillableCharacters int64
	// ByModality splits the tokens by what they come from, such as "text",
	// "image", "video", "audio" or "document"; nil when the platform does not
	// say.
	ByModality map[string]int64
	// Meta says what the gateway did. Its warnings name what was not counted.
	Meta Meta
}
