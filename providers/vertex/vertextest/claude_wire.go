package vertextest

import (
	"bytes"
	"encoding/json"
)

// claudeCall is a body of the Messages API, as far as rules and answers need it.
// Its shape has been checked before it is decoded.
type claudeCall struct {
	AnthropicVersion  string              `json:"anthropic_version"`
	AnthropicBeta     []string            `json:"anthropic_beta"`
	Model             string              `json:"model"`
	Messages          []claudeMessage     `json:"messages"`
	System            claudeContent       `json:"system"`
	MaxTokens         int                 `json:"max_tokens"`
	StopSequences     []string            `json:"stop_sequences"`
	Stream            bool                `json:"stream"`
	Temperature       *float64            `json:"temperature"`
	TopP              *float64            `json:"top_p"`
	TopK              *int                `json:"top_k"`
	Tools             []claudeTool        `json:"tools"`
	ToolChoice        claudeChoice        `json:"tool_choice"`
	Thinking          claudeThinking      `json:"thinking"`
	OutputConfig      claudeOutput        `json:"output_config"`
	CacheControl      *claudeCacheControl `json:"cache_control"`
	ContextManagement json.RawMessage     `json:"context_management"`

	facts claudeFacts
}

type claudeMessage struct {
	Role    string        `json:"role"`
	Content claudeContent `json:"content"`
}

// claudeContent is a list of blocks; a bare text stands for one, or for none when
// it is empty.
type claudeContent []claudeBlock

// UnmarshalJSON takes a string or a list.
func (c *claudeContent) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		*c = claudeContent{}
		if text != "" {
			*c = claudeContent{{Type: "text", Text: text}}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]claudeBlock)(c))
}

type claudeBlock struct {
	Type         string              `json:"type"`
	Text         string              `json:"text"`
	Source       claudeSource        `json:"source"`
	Thinking     string              `json:"thinking"`
	Signature    string              `json:"signature"`
	Data         string              `json:"data"`
	ID           string              `json:"id"`
	Name         string              `json:"name"`
	Input        json.RawMessage     `json:"input"`
	ToolUseID    string              `json:"tool_use_id"`
	Content      json.RawMessage     `json:"content"`
	Citations    json.RawMessage     `json:"citations"`
	CacheControl *claudeCacheControl `json:"cache_control"`
}

type claudeSource struct {
	Type      string          `json:"type"`
	MediaType string          `json:"media_type"`
	Data      string          `json:"data"`
	Content   json.RawMessage `json:"content"`
}

// UnmarshalJSON takes an object. A search result has the name of its source.
func (s *claudeSource) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		return nil
	}
	type plain claudeSource
	return json.Unmarshal(b, (*plain)(s))
}

type claudeCacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type claudeTool struct {
	Type         string              `json:"type"`
	Name         string              `json:"name"`
	Description  string              `json:"description"`
	InputSchema  json.RawMessage     `json:"input_schema"`
	Strict       bool                `json:"strict"`
	DeferLoading bool                `json:"defer_loading"`
	Blocked      []string            `json:"blocked_domains"`
	Allowed      []string            `json:"allowed_domains"`
	CacheControl *claudeCacheControl `json:"cache_control"`
}

type claudeChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

type claudeThinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens"`
	Display      string `json:"display"`
}

type claudeOutput struct {
	Effort string `json:"effort"`
	Format *struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

// resultContent returns the blocks of a tool result.
func (b claudeBlock) resultContent() claudeContent {
	var c claudeContent
	if len(b.Content) > 0 && json.Unmarshal(b.Content, &c) != nil {
		return nil // the shape has been checked, so this can't be
	}
	return c
}

// Members of the response are declared in the order the platform sends them.

type claudeResponse struct {
	Model        string         `json:"model"`
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Content      []any          `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	StopDetails  *claudeRefusal `json:"stop_details,omitempty"`
	Usage        claudeUsage    `json:"usage"`
}

type claudeRefusal struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation string  `json:"explanation"`
}

type claudeUsage struct {
	InputTokens              int                  `json:"input_tokens"`
	CacheCreationInputTokens int                  `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int                  `json:"cache_read_input_tokens"`
	CacheCreation            *claudeCacheCreation `json:"cache_creation,omitempty"`
	OutputTokens             int                  `json:"output_tokens"`
	OutputTokensDetails      *claudeOutputDetails `json:"output_tokens_details,omitempty"`
	ServerToolUse            *claudeServerUse     `json:"server_tool_use,omitempty"`
}

type claudeCacheCreation struct {
	Ephemeral5m int `json:"ephemeral_5m_input_tokens"`
	Ephemeral1h int `json:"ephemeral_1h_input_tokens"`
}

type claudeOutputDetails struct {
	ThinkingTokens int `json:"thinking_tokens"`
}

type claudeServerUse struct {
	WebSearchRequests int `json:"web_search_requests"`
}

// Blocks of an answer. Each also starts a block of a stream, then empty.

type claudeTextOut struct {
	Citations *[]claudeCitation `json:"citations,omitempty"`
	Type      string            `json:"type"`
	Text      string            `json:"text"`
}

type claudeCitation struct {
	Type           string `json:"type"`
	CitedText      string `json:"cited_text"`
	URL            string `json:"url"`
	Title          string `json:"title"`
	EncryptedIndex string `json:"encrypted_index"`
}

type claudeThinkingOut struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type claudeRedactedOut struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type claudeToolOut struct {
	Type   string            `json:"type"`
	ID     string            `json:"id"`
	Name   string            `json:"name"`
	Input  json.RawMessage   `json:"input"`
	Caller map[string]string `json:"caller"`
}

type claudeFoundOut struct {
	Type      string            `json:"type"`
	ToolUseID string            `json:"tool_use_id"`
	Content   []claudeFoundPage `json:"content"`
}

type claudeFoundPage struct {
	Type             string  `json:"type"`
	Title            string  `json:"title"`
	URL              string  `json:"url"`
	EncryptedContent string  `json:"encrypted_content"`
	PageAge          *string `json:"page_age"`
}

type claudeError struct {
	Type      string      `json:"type"`
	Error     claudeFault `json:"error"`
	RequestID string      `json:"request_id"`
}

type claudeFault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}
