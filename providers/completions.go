package providers

import "strconv"

// CompletionRequest is the body of POST /v1/completions, the older way to ask
// for text. A nil pointer or an empty value is "not given". Members that it does
// not name are kept in Extra; they mean what they mean in a chat completion.
//
// Source: https://platform.openai.com/docs/api-reference/completions/create
type CompletionRequest struct {
	// Model is a model reference, as that of a chat completion.
	Model string
	// Prompt is the text to go on from, or several texts, each of which is
	// completed for itself.
	Prompt CompletionPrompt
	// Suffix is what comes after the text that is asked for.
	Suffix string
	// MaxTokens caps the tokens of each choice, thinking included. The older
	// API's default of 16 is not used: without it the model's own limit counts.
	MaxTokens *int
	// Temperature is the sampling temperature, 0 to 2.
	Temperature *float64
	// TopP is the nucleus sampling mass, 0 to 1.
	TopP *float64
	// N is the number of choices for each prompt, default 1.
	N *int
	// BestOf is how many choices would be made to take the N best from. Nothing
	// ranks them here: it must be at least N, and has no other effect.
	BestOf *int
	// Stop holds up to five sequences that end the text.
	Stop Stop
	// Seed makes sampling repeatable as far as the model can.
	Seed *int64
	// PresencePenalty and FrequencyPenalty are -2 to 2.
	PresencePenalty, FrequencyPenalty *float64
	// Logprobs asks for the log probabilities of the tokens, with that many
	// alternatives of each; 0 is the tokens alone, nil nothing.
	Logprobs *int
	// Echo begins each choice's text with its prompt.
	Echo bool
	// Stream is set by CreateStream; over HTTP it chooses the form.
	Stream bool
	// StreamOptions holds what is asked of a stream.
	StreamOptions *StreamOptions
	// User is the end user's id.
	User string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// CompletionPrompt is what to complete: one text or a list of them. The zero
// value is absent.
type CompletionPrompt struct {
	// Texts are the prompts.
	Texts []string
	// Single says that the only text stands by itself, without a list around it.
	// It makes no difference but in the JSON.
	Single bool
}

// PromptText is a prompt of one text.
func PromptText(text string) CompletionPrompt {
	return CompletionPrompt{Texts: []string{text}, Single: true}
}

// PromptTexts is a prompt of several texts, each of which is completed for
// itself.
func PromptTexts(texts ...string) CompletionPrompt { return CompletionPrompt{Texts: texts} }

// Completion is an answer of POST /v1/completions, and also a piece of a
// streamed one.
//
// Source: https://platform.openai.com/docs/api-reference/completions/object
type Completion struct {
	// ID is the platform's response id for the first prompt, or one made by the
	// gateway.
	ID string
	// Created is in Unix seconds.
	Created int64
	// Model is the model version that answered.
	Model string
	// Choices has those of the first prompt, then those of the next one.
	Choices []CompletionChoice
	// Usage is the sum over all prompts; nil when the platform gave none. In a
	// stream it comes with a last piece that has no choices.
	Usage *Usage
	// Provider is the provider id (extension).
	Provider string
	// Extra keeps the members that are not named above.
	Extra Extra
	// Meta says what the gateway did; it is no part of the JSON. Of several
	// prompts it has the attempts and the warnings of all. A streamed answer's is
	// that of its stream.
	Meta Meta
}

// Text returns the first choice's text, or "" when there is none.
func (c *Completion) Text() string {
	if len(c.Choices) == 0 {
		return ""
	}
	return c.Choices[0].Text
}

// CompletionChoice is one text, or a piece of one.
type CompletionChoice struct {
	// Text is what the model wrote, after the prompt if that was to be echoed.
	Text string
	// Index is the choice's place: the prompt's, times the number of choices for
	// each, and the place among these.
	Index int
	// Logprobs is nil unless asked for.
	Logprobs *CompletionLogprobs
	// FinishReason is stop, length or content_filter; empty, null on the wire, in
	// a piece that is not its choice's last.
	FinishReason string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// CompletionLogprobs holds the log probabilities of a text's tokens. Its lists
// have one element for each token.
type CompletionLogprobs struct {
	// Tokens are the tokens, TokenLogprobs their log probabilities.
	Tokens        []string
	TokenLogprobs []float64
	// TopLogprobs are the likeliest tokens at each place; nil when no
	// alternatives were asked for.
	TopLogprobs [][]CompletionAlternative
	// TextOffset is where each token begins in the choice's text, in characters.
	TextOffset []int
}

// CompletionAlternative is a token that could have been at a place.
type CompletionAlternative struct {
	Token   string
	Logprob float64
}

// maxPrompts bounds the prompts of a request: each is a request of its own to a
// model.
const maxPrompts = 128

// Validate checks what no model could answer: model and prompts are there, the
// counts are possible, and nothing is asked for that is no text. The error is an
// [ErrInvalidRequest] that names the member.
func (q *CompletionRequest) Validate() error {
	switch n := len(q.Prompt.Texts); {
	case q.Model == "":
		return Invalid("model", `a model is required, such as "gemini-2.5-flash" or "@slug/model"`)
	case n == 0:
		return Invalid("prompt", "something to complete is required: a text, or a list of texts")
	case n > maxPrompts:
		return Invalid("prompt", "there are "+strconv.Itoa(n)+" prompts, "+strconv.Itoa(maxPrompts)+" at most: send several requests")
	}
	for i, text := range q.Prompt.Texts {
		if text == "" {
			return Invalid(q.Prompt.path(i), "there is nothing to complete: give a text that is not empty")
		}
	}
	n := 1
	if q.N != nil {
		n = *q.N
	}
	switch {
	case n < 1:
		return Invalid("n", "must be 1 or more")
	case q.MaxTokens != nil && *q.MaxTokens < 1:
		return Invalid("max_tokens", "must be 1 or more: prompts alone are not rated")
	case q.Logprobs != nil && *q.Logprobs < 0:
		return Invalid("logprobs", "must be 0 or more")
	case q.BestOf != nil && *q.BestOf < n:
		return Invalid("best_of", "must not be less than n")
	}
	for _, name := range []string{"messages", "tools", "tool_choice", "functions", "function_call", "modalities", "audio"} {
		if value, ok := q.Extra.Get(name); ok && string(value) != "null" {
			return Invalid(name, "a text completion has a prompt, and text for an answer: use /v1/chat/completions")
		}
	}
	return nil
}

// path is where a prompt stands.
func (p *CompletionPrompt) path(i int) string {
	if p.Single && len(p.Texts) == 1 {
		return "prompt"
	}
	return "prompt[" + strconv.Itoa(i) + "]"
}

// PromptPath returns the path of the prompt, as errors and warnings name it.
func (q *CompletionRequest) PromptPath(i int) string { return q.Prompt.path(i) }
