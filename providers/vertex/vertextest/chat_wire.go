package vertextest

import (
	"bytes"
	"encoding/json"
)

// sharedEndpoint is the endpoint of all models that the platform serves in
// OpenAI's language; chatVerb is what is called there.
const (
	sharedEndpoint = "openapi"
	chatVerb       = "chat/completions"
)

// chatCall is a body of a chat completion, as far as rules and answers need it.
type chatCall struct {
	Model               string        `json:"model"`
	Messages            []chatMessage `json:"messages"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	Temperature         *float64      `json:"temperature"`
	TopP                *float64      `json:"top_p"`
	PresencePenalty     *float64      `json:"presence_penalty"`
	FrequencyPenalty    *float64      `json:"frequency_penalty"`
	N                   *int          `json:"n"`
	Stop                chatStop      `json:"stop"`
	Seed                *int          `json:"seed"`
	RandomSeed          *int          `json:"random_seed"`
	Stream              bool          `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools             []chatTool `json:"tools"`
	ToolChoice        chatChoice `json:"tool_choice"`
	ParallelToolCalls *bool      `json:"parallel_tool_calls"`
	ReasoningEffort   string     `json:"reasoning_effort"`
	ResponseFormat    *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`

	facts  chatFacts
	served string // the model's name in answers
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    chatContent    `json:"content"`
	ToolCalls  []chatToolCall `json:"tool_calls"`
	ToolCallID string         `json:"tool_call_id"`
	Name       string         `json:"name"`
	Prefix     bool           `json:"prefix"`
}

type chatPart struct {
	Type     string  `json:"type"`
	Text     string  `json:"text"`
	ImageURL chatURL `json:"image_url"`
}

// chatURL is an address, bare or in an object.
type chatURL string

// UnmarshalJSON takes both forms.
func (u *chatURL) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(u))
	}
	var v struct{ URL string }
	err := json.Unmarshal(b, &v)
	*u = chatURL(v.URL)
	return err
}

// chatContent is a list of parts; a bare text stands for one.
type chatContent []chatPart

// UnmarshalJSON takes a string, a list or null.
func (c *chatContent) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		var text string
		err := json.Unmarshal(b, &text)
		*c = chatContent{{Type: "text", Text: text}}
		return err
	}
	return json.Unmarshal(b, (*[]chatPart)(c))
}

// chatStop is one stop sequence or several.
type chatStop []string

// UnmarshalJSON takes a string, a list or null.
func (s *chatStop) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		var one string
		err := json.Unmarshal(b, &one)
		*s = chatStop{one}
		return err
	}
	return json.Unmarshal(b, (*[]string)(s))
}

// chatChoice is a mode, or function and a name.
type chatChoice struct{ mode, name string }

// UnmarshalJSON takes a string, an object or null.
func (c *chatChoice) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.mode)
	}
	var v struct {
		Type     string
		Function struct{ Name string }
	}
	err := json.Unmarshal(b, &v)
	c.mode, c.name = v.Type, v.Function.Name
	return err
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatToolCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// Members of the response.

type chatResponse struct {
	ID                string       `json:"id"`
	Object            string       `json:"object"`
	Created           int64        `json:"created"`
	Model             string       `json:"model"`
	SystemFingerprint *string      `json:"system_fingerprint,omitempty"`
	Choices           []chatOption `json:"choices"`
	Usage             *chatUsage   `json:"usage,omitempty"`
}

// chatOption is one choice, whole or as a delta.
type chatOption struct {
	Index        int         `json:"index"`
	Message      *chatAnswer `json:"message,omitempty"`
	Delta        *chatAnswer `json:"delta,omitempty"`
	FinishReason *string     `json:"finish_reason"`
	Logprobs     *struct{}   `json:"logprobs"`
}

type chatAnswer struct {
	Role             string         `json:"role,omitempty"`
	Content          *string        `json:"content,omitempty"`
	ReasoningContent *string        `json:"reasoning_content,omitempty"`
	ToolCalls        []chatToolCall `json:"tool_calls,omitempty"`
}

type chatUsage struct {
	PromptTokens     int                    `json:"prompt_tokens"`
	CompletionTokens int                    `json:"completion_tokens"`
	TotalTokens      int                    `json:"total_tokens"`
	Details          *chatUsageDetails      `json:"completion_tokens_details,omitempty"`
	Extra            map[string]chatTraffic `json:"extra_properties,omitempty"`
}

type chatUsageDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

type chatTraffic struct {
	TrafficType string `json:"traffic_type"`
}

type chatError struct {
	Error chatFault `json:"error"`
}

type chatFault struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

type mistralError struct {
	Object  string  `json:"object"`
	Message any     `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}
