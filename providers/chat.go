package providers

import "encoding/json"

// ChatCompletionRequest is the body of POST /v1/chat/completions. A nil pointer
// or an empty value is "not given". Members that it does not name are kept in
// Extra and go to the platform where it knows them.
//
// Source: https://platform.openai.com/docs/api-reference/chat/create, extended
// by the members marked below.
type ChatCompletionRequest struct {
	// Model is a model reference: "@slug/model", "model", "publisher.model" or
	// a full resource name.
	Model string
	// Messages is the conversation, oldest first; at least one.
	Messages []Message
	// MaxTokens caps the answer's tokens, thinking included.
	MaxTokens *int
	// MaxCompletionTokens is the newer name of MaxTokens and wins over it.
	MaxCompletionTokens *int
	// Temperature is the sampling temperature, 0 to 2.
	Temperature *float64
	// TopP is the nucleus sampling mass, 0 to 1.
	TopP *float64
	// TopK limits sampling to the K most likely tokens (extension).
	TopK *int
	// N is the number of choices, default 1.
	N *int
	// Stop holds up to five sequences that end the answer.
	Stop Stop
	// Seed makes sampling repeatable as far as the model can.
	Seed *int64
	// PresencePenalty and FrequencyPenalty are -2 to 2.
	PresencePenalty, FrequencyPenalty *float64
	// Logprobs asks for token log probabilities, TopLogprobs for that many
	// alternatives of each token.
	Logprobs    *bool
	TopLogprobs *int
	// Stream is set by CreateStream; over HTTP it chooses the form.
	Stream bool
	// StreamOptions holds what is asked of a stream.
	StreamOptions *StreamOptions
	// Tools lists the functions the model may call.
	Tools []Tool
	// ToolChoice says whether and which tool must be called.
	ToolChoice *ToolChoice
	// ParallelToolCalls allows several calls in one answer, default true.
	ParallelToolCalls *bool
	// ResponseFormat asks for JSON, free or by a schema.
	ResponseFormat *ResponseFormat
	// ReasoningEffort is none, minimal, low, medium, high, xhigh or max.
	ReasoningEffort string
	// Thinking is the reasoning budget (extension); it wins over
	// ReasoningEffort.
	Thinking *Thinking
	// Modalities lists the wanted outputs, such as "text" and "image".
	Modalities []string
	// Labels are cost-attribution labels for the platform (extension).
	Labels map[string]string
	// User is the end user's id.
	User string
	// Metadata is attached to the call for observers and logs, like that of
	// WithMetadata, whose entries win. It is not sent.
	Metadata map[string]string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// Stop is a list of stop sequences. Its JSON is a string or an array.
type Stop []string

// StreamOptions is the stream_options member.
type StreamOptions struct {
	// IncludeUsage asks for one last chunk that carries the usage.
	IncludeUsage bool
	Extra        Extra
}

// Thinking is the reasoning setting.
type Thinking struct {
	// Type is "enabled", "disabled" or "adaptive".
	Type string
	// BudgetTokens caps the reasoning tokens. nil leaves the amount to the
	// model, 0 turns thinking off.
	BudgetTokens *int
	Extra        Extra
}

// ResponseFormat is the response_format member.
type ResponseFormat struct {
	// Type is "text", "json_object" or "json_schema".
	Type string
	// JSONSchema is given with the type json_schema.
	JSONSchema *JSONSchema
	Extra      Extra
}

// JSONSchema is a named JSON Schema for a structured answer.
type JSONSchema struct {
	Name        string
	Description string
	// Schema is the raw JSON Schema; its key order is the answer's.
	Schema json.RawMessage
	Strict *bool
	Extra  Extra
}

// Message is one turn of a conversation, in requests and in answers alike: an
// answer's message can be appended to the next request as it is.
type Message struct {
	// Role is system, developer, user, assistant or tool.
	Role string
	// Content is a string or a list of parts; absent beside tool calls.
	Content Content
	// Name is the participant's name, or a tool message's function name.
	Name string
	// ToolCalls are the functions an assistant turn calls.
	ToolCalls []ToolCall
	// ToolCallID names the call that a tool message answers.
	ToolCallID string
	// ContentBlocks holds the answer's parts with their thinking and
	// signatures, in the order the model produced them (extension, given when
	// strict compliance is off).
	ContentBlocks []ContentPart
	// Audio is what the model spoke, nil when it did not.
	Audio *Audio
	// Annotations say which sources the text rests on (given when strict
	// compliance is off).
	Annotations []Annotation
	Extra       Extra
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleDeveloper = "developer"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// ChatCompletion is the whole answer.
//
// Source: https://platform.openai.com/docs/api-reference/chat/object.
type ChatCompletion struct {
	// ID is the platform's response id, or one made by the gateway.
	ID string
	// Created is in Unix seconds.
	Created int64
	// Model is the model version that answered.
	Model string
	// Choices has one element for each answer asked for.
	Choices []Choice
	// Usage is nil when the platform gave none.
	Usage *Usage
	// Provider is the provider id (extension).
	Provider string
	Extra    Extra
	// Meta says what the gateway did; it is no part of the JSON.
	Meta Meta
}

// Text returns the first choice's text, or "" when there is none.
func (c *ChatCompletion) Text() string {
	if len(c.Choices) == 0 {
		return ""
	}
	return c.Choices[0].Message.Content.Text()
}

// Choice is one answer.
type Choice struct {
	Index   int
	Message Message
	// FinishReason is stop, length, tool_calls or content_filter.
	FinishReason string
	Logprobs     *Logprobs
	// NativeFinishReason is the platform's own word (extension).
	NativeFinishReason string
	// Extra carries what strict compliance hides: safetyRatings,
	// groundingMetadata, citations.
	Extra Extra
}

// The finish reasons.
const (
	FinishStop          = "stop"
	FinishLength        = "length"
	FinishToolCalls     = "tool_calls"
	FinishContentFilter = "content_filter"
)

// Logprobs holds the log probabilities of an answer's tokens.
type Logprobs struct {
	Content []TokenLogprob
	Extra   Extra
}

// TokenLogprob is one token with its log probability.
type TokenLogprob struct {
	Token   string
	Logprob float64
	// TopLogprobs are the alternatives at this place, without their own.
	TopLogprobs []TokenLogprob
}

// ChatCompletionChunk is one piece of a streamed answer.
//
// Source: https://platform.openai.com/docs/api-reference/chat-streaming.
type ChatCompletionChunk struct {
	ID       string
	Created  int64
	Model    string
	Choices  []ChunkChoice
	Usage    *Usage
	Provider string
	Extra    Extra
	// Meta is set on a stream's first chunk by the provider; it is no part of
	// the JSON.
	Meta *Meta
	// PromptUsage is set on a stream's first chunk when the platform has counted
	// the prompt by then and strict compliance is off; it is no part of the JSON.
	// The usage at the end is the one that counts.
	PromptUsage *Usage
}

// ChunkChoice is one choice's piece.
type ChunkChoice struct {
	Index int
	Delta Delta
	// FinishReason is empty, null on the wire, until the choice's last chunk.
	FinishReason       string
	Logprobs           *Logprobs
	NativeFinishReason string
	Extra              Extra
}

// Delta is what a chunk adds to a choice's message.
type Delta struct {
	// Role is set on the first delta of a choice.
	Role string
	// Content is appended to the message's text. Of a model that gives its
	// thoughts as text before the answer, it has both, with CR LF CR LF in
	// between, when strict compliance is off.
	Content string
	// ToolCalls are appended by their index.
	ToolCalls []ToolCallDelta
	// ContentBlocks are appended by their index (extension).
	ContentBlocks []ContentBlockDelta
	// Audio is a piece of what the model speaks: its data is base64 by itself
	// and follows that of the piece before.
	Audio *Audio
	// Annotations are appended; they come with the choice's last delta.
	Annotations []Annotation
	Extra       Extra
}

// ContentBlockDelta is a piece of the content block at Index; the index runs
// over the whole stream.
type ContentBlockDelta struct {
	Index int
	// Delta holds only the piece: its Type is empty for a piece that carries
	// nothing but a signature.
	Delta ContentPart
}

// Usage counts tokens. Prompt includes cached tokens and completion includes
// reasoning; the details say how much of each.
type Usage struct {
	PromptTokens            int64
	CompletionTokens        int64
	TotalTokens             int64
	PromptTokensDetails     PromptTokensDetails
	CompletionTokensDetails CompletionTokensDetails
	Extra                   Extra
}

// PromptTokensDetails breaks the prompt's tokens down.
type PromptTokensDetails struct {
	CachedTokens int64
	AudioTokens  int64
	Extra        Extra
}

// CompletionTokensDetails breaks the completion's tokens down.
type CompletionTokensDetails struct {
	ReasoningTokens int64
	AudioTokens     int64
	Extra           Extra
}
