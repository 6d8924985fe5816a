package providers

import "context"

// PromptLibrary finds stored prompts and fills in their variables. It is safe
// for concurrent use.
type PromptLibrary interface {
	// Render returns the request that a stored prompt makes of the variables. The
	// reference is the prompt's id, "id@version" or "id@label". An unknown one is an
	// [ErrPromptNotFound], a missing variable an [ErrInvalidRequest] that names it.
	Render(ctx context.Context, ref string, variables map[string]any) (*RenderedPrompt, error)
}

// RenderedPrompt is a stored prompt with its variables filled in.
type RenderedPrompt struct {
	// ID and Version say which prompt it is; the id has no version or label.
	ID, Version string
	// Request is what the prompt asks. Whoever gets it changes a copy.
	Request *ChatCompletionRequest
	// Warnings says what was made of the variables other than as they were given.
	// Their paths begin with "variables".
	Warnings []Warning
}

// PromptCompletionRequest asks for a completion of a stored prompt.
type PromptCompletionRequest struct {
	// ID is the prompt's id: "welcome", or "welcome@3" and "welcome@production" for
	// a version and a label.
	ID string
	// Variables fill in the prompt. A value is anything that encoding/json encodes;
	// a json.RawMessage is taken as it is.
	Variables map[string]any
	// Overrides holds the members that are to differ from those stored with the
	// prompt, for this request only. A member that is given here wins as a whole:
	// lists and objects are not merged. One that is not given, or null over HTTP,
	// stays as stored. Messages can't be given: they are the prompt.
	Overrides ChatCompletionRequest
}

// Override lays the members that are given in q over those of req. Two names of
// one setting are one member: what is given under the one replaces the other.
func (q *PromptCompletionRequest) Override(req *ChatCompletionRequest) error {
	over := &q.Overrides
	if over.Extra.malformed() {
		return badExtra("extra")
	}
	if over.MaxTokens != nil || over.MaxCompletionTokens != nil {
		req.MaxTokens, req.MaxCompletionTokens = nil, nil
	}
	if over.Thinking != nil || over.ReasoningEffort != "" {
		req.Thinking, req.ReasoningEffort = nil, ""
	}
	overrideSampling(req, over)
	set(&req.Model, over.Model)
	set(&req.Stream, over.Stream)
	set(&req.StreamOptions, over.StreamOptions)
	setList(&req.Tools, over.Tools)
	set(&req.ToolChoice, over.ToolChoice)
	set(&req.ParallelToolCalls, over.ParallelToolCalls)
	set(&req.ResponseFormat, over.ResponseFormat)
	set(&req.ReasoningEffort, over.ReasoningEffort)
	set(&req.Thinking, over.Thinking)
	setList(&req.Modalities, over.Modalities)
	set(&req.User, over.User)
	if over.Labels != nil {
		req.Labels = over.Labels
	}
	if over.Metadata != nil {
		req.Metadata = over.Metadata
	}
	for name, value := range over.Extra.All() {
		if err := req.Extra.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// overrideSampling does it for the scalar parameters.
func overrideSampling(req, over *ChatCompletionRequest) {
	set(&req.MaxTokens, over.MaxTokens)
	set(&req.MaxCompletionTokens, over.MaxCompletionTokens)
	set(&req.Temperature, over.Temperature)
	set(&req.TopP, over.TopP)
	set(&req.TopK, over.TopK)
	set(&req.N, over.N)
	setList(&req.Stop, over.Stop)
	set(&req.Seed, over.Seed)
	set(&req.PresencePenalty, over.PresencePenalty)
	set(&req.FrequencyPenalty, over.FrequencyPenalty)
	set(&req.Logprobs, over.Logprobs)
	set(&req.TopLogprobs, over.TopLogprobs)
}

// set replaces a value by one that is given.
func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}

// setList replaces a list by one that is given; an empty one counts.
func setList[L ~[]E, E any](to *L, value L) {
	if value != nil {
		*to = value
	}
}
