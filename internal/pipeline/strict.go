package pipeline

import "github.com/b650d4bf/gateway/providers"

// strict returns the compliance setting: the call's, the client's, or true.
func strict(client, call *Settings) bool {
	switch {
	case call.Strict != nil:
		return *call.Strict
	case client.Strict != nil:
		return *client.Strict
	}
	return true
}

// projectCompletion takes out of an answer what the OpenAI schema does not
// have.
func projectCompletion(c *providers.ChatCompletion) {
	projectUsage(c.Usage)
	for i := range c.Choices {
		choice := &c.Choices[i]
		choice.NativeFinishReason, choice.Extra = "", nil
		choice.Message.ContentBlocks = nil
		for j := range choice.Message.ToolCalls {
			choice.Message.ToolCalls[j].Function.ThoughtSignature = ""
			choice.Message.ToolCalls[j].Extra = nil
		}
	}
}

// projectUsage takes the platform's own counters out.
func projectUsage(u *providers.Usage) {
	if u != nil {
		u.Extra, u.PromptTokensDetails.Extra, u.CompletionTokensDetails.Extra = nil, nil, nil
	}
}

// projectChunk does the same with a chunk, and reports whether anything is left
// to show. The usage is shown when it was asked for.
func projectChunk(c *providers.ChatCompletionChunk, usage bool) bool {
	show := len(c.Choices) == 0 && (usage || c.Usage == nil)
	if projectUsage(c.Usage); !usage {
		c.Usage = nil
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		choice.NativeFinishReason, choice.Extra = "", nil
		choice.Delta.ContentBlocks = nil
		for j := range choice.Delta.ToolCalls {
			choice.Delta.ToolCalls[j].Function.ThoughtSignature = ""
			choice.Delta.ToolCalls[j].Extra = nil
		}
		show = show || isShown(choice)
	}
	return show
}

// isShown reports whether a projected piece says anything.
func isShown(c *providers.ChunkChoice) bool {
	d := &c.Delta
	return d.Role != "" || d.Content != "" || len(d.ToolCalls) > 0 || len(d.Extra) > 0 ||
		c.FinishReason != "" || c.Logprobs != nil
}
