package completions

import (
	"github.com/b650d4bf/gateway/providers"
)

// Action is what happens to a member of a request.
type Action string

// The actions.
const (
	Forwarded  Action = "as it is"
	Translated Action = "translated"
	UsedHere   Action = "used here"
	Warned     Action = "warned"
	Refused    Action = "refused"
)

// Param is one row of the table of text completions.
type Param struct {
	// Name is the member's.
	Name   string
	Action Action
	// Chat is the member of the chat completion that it becomes; "" for none.
	Chat string
	Note string
}

// Page is where the schema is documented.
const Page = "https://platform.openai.com/docs/api-reference/completions/create"

// Params returns the table of text completions. Members that it does not name
// are those of a chat completion, and what becomes of them is that table's to
// say.
func Params() []Param {
	return []Param{
		{"model", Forwarded, "model", ""},
		{"prompt", Translated, "messages", "one user message; several prompts are as many chat completions, up to eight at a time and 128 in all; tokens are refused"},
		{"suffix", Translated, "messages", "an instruction to fill the gap, with a warning: chat models have no parameter for it"},
		{"max_tokens", Forwarded, "max_tokens", "without it the model's own limit counts, and not the older API's 16: that would leave nothing of an answer after the thoughts"},
		{"temperature", Forwarded, "temperature", ""},
		{"top_p", Forwarded, "top_p", ""},
		{"n", Forwarded, "n", "choices of each prompt; the index is the prompt's times n, and the choice's"},
		{"best_of", Warned, "", "n choices are made, and none is picked; less than n is refused"},
		{"stop", Forwarded, "stop", ""},
		{"seed", Forwarded, "seed", ""},
		{"presence_penalty", Forwarded, "presence_penalty", ""},
		{"frequency_penalty", Forwarded, "frequency_penalty", ""},
		{"logprobs", Translated, "logprobs, top_logprobs", "answered in the older form; offsets are in characters"},
		{"echo", UsedHere, "", "the prompt stands before the text; its tokens have no log probabilities"},
		{"stream", UsedHere, "", "chooses the form"},
		{"stream_options", UsedHere, "", "include_usage: the sum over all prompts, in a last piece without choices"},
		{"user", Forwarded, "user", ""},
		{"logit_bias", Forwarded, "logit_bias", "what becomes of it depends on the model: most have no such parameter, and a warning says so"},
		{"messages", Refused, "", "belongs to /v1/chat/completions"},
		{"tools, tool_choice", Refused, "", "calls have no place in a text; likewise functions and function_call"},
		{"modalities, audio", Refused, "", "the answer is text"},
	}
}

// warnings says what can't be done as it was asked.
func warnings(q *providers.CompletionRequest) []providers.Warning {
	var list []providers.Warning
	n := 1
	if q.N != nil {
		n = *q.N
	}
	if q.BestOf != nil && *q.BestOf > n {
		list = append(list, providers.Warning{
			Code: providers.WarnUnsupported, Param: "best_of", Message: "left out: nothing ranks the choices, so n of them are made",
		})
	}
	if q.Suffix != "" {
		list = append(list, providers.Warning{
			Code: providers.WarnAdjusted, Param: "suffix", Message: "chat models have no such parameter: an instruction to fill the gap stands in for it",
		})
	}
	if q.Echo && q.Logprobs != nil {
		list = append(list, providers.Warning{
			Code: providers.WarnUnsupported, Param: "logprobs", Message: "the tokens of the echoed prompt have none",
		})
	}
	return list
}

// chat makes the chat completion that those of all prompts have in common.
// Members that the older schema lacks are read as those of a chat completion.
func chat(q *providers.CompletionRequest) (*providers.ChatCompletionRequest, error) {
	c := new(providers.ChatCompletionRequest)
	if len(q.Extra) > 0 {
		if err := c.UnmarshalJSON(q.Extra); err != nil {
			return nil, invalid(err)
		}
	}
	c.Model, c.N, c.Stop, c.Seed, c.User = q.Model, q.N, q.Stop, q.Seed, q.User
	c.Temperature, c.TopP, c.PresencePenalty, c.FrequencyPenalty = q.Temperature, q.TopP, q.PresencePenalty, q.FrequencyPenalty
	c.Messages, c.Stream, c.StreamOptions = nil, false, nil
	if q.MaxTokens != nil {
		c.MaxTokens = q.MaxTokens
	}
	c.Logprobs, c.TopLogprobs = nil, nil
	if q.Logprobs != nil {
		c.Logprobs = new(true)
		if *q.Logprobs > 0 {
			c.TopLogprobs = q.Logprobs
		}
	}
	return c, nil
}

// fillIn says what a gap is filled with.
const fillIn = "Fill the gap in a text. What comes before the gap stands between <prefix> and </prefix>, what comes after it between <suffix> and </suffix>. " +
	"Answer with what belongs into the gap and nothing else: no tags, no quotes, no code fence, no remarks, and nothing of what is there already."

// conversation is the prompt as messages.
func conversation(prompt, suffix string) []providers.Message {
	if suffix == "" {
		return []providers.Message{{Role: providers.RoleUser, Content: providers.TextContent(prompt)}}
	}
	return []providers.Message{
		{Role: providers.RoleSystem, Content: providers.TextContent(fillIn)},
		{Role: providers.RoleUser, Content: providers.TextContent("<prefix>" + prompt + "</prefix>\n<suffix>" + suffix + "</suffix>")},
	}
}
