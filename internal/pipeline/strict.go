package pipeline

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

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
	c.Extra = schemaMembers(c.Extra)
	for i := range c.Choices {
		choice := &c.Choices[i]
		choice.NativeFinishReason, choice.Extra = "", nil
		m := &choice.Message
		m.Extra = schemaMembers(m.Extra)
		if m.Content.Parts() == nil {
			if text := m.Content.Text(); hasMore(text, m.ContentBlocks, itself) {
				m.Content = providers.TextContent(withoutThoughts(text, m.ContentBlocks, itself))
			}
		}
		m.ContentBlocks, m.Annotations = nil, nil
		projectAudio(m.Audio)
		for j := range m.ToolCalls {
			c := &m.ToolCalls[j]
			c.Function.ThoughtSignature, c.Extra, c.Function.Extra = "", nil, nil
		}
	}
}

// schemaNames are the members of the OpenAI schema that the types keep in Extra.
var schemaNames = []string{"system_fingerprint", "service_tier", "refusal", "function_call"}

// schemaMembers returns the members of the OpenAI schema among those of extra.
func schemaMembers(extra providers.Extra) providers.Extra {
	if len(extra) == 0 {
		return extra
	}
	var kept providers.Extra
	for _, name := range schemaNames {
		if value, ok := extra.Get(name); ok {
			_ = kept.Set(name, value) // it was valid before
		}
	}
	return kept
}

// itself and pieceOf lead from an element of a message's blocks, and of a
// delta's, to the block.
func itself(p *providers.ContentPart) *providers.ContentPart        { return p }
func pieceOf(p *providers.ContentBlockDelta) *providers.ContentPart { return &p.Delta }

// hasMore reports whether a content holds more than the text of the blocks
// beside it. It is what an ordinary answer costs.
func hasMore[T any](content string, blocks []T, block func(*T) *providers.ContentPart) bool {
	text := 0
	for i := range blocks {
		text += len(block(&blocks[i]).Text)
	}
	return len(blocks) > 0 && text < len(content)
}

// thoughtEnd stands between thought and answer in the content of models whose
// thoughts are in it.
const thoughtEnd = "\r\n\r\n"

// withoutThoughts returns the text of the blocks when the content is that text
// with the blocks' thoughts before it, and else the content as it is.
func withoutThoughts[T any](content string, blocks []T, block func(*T) *providers.ContentPart) string {
	var answer strings.Builder
	rest := content
	for i := range blocks {
		p := block(&blocks[i])
		if p.Type == providers.PartText && strings.HasPrefix(rest, thoughtEnd+p.Text) {
			rest = rest[len(thoughtEnd):]
		}
		after, ok := strings.CutPrefix(rest, p.Thinking+p.Text) // a block has one of them
		if !ok {
			return content
		}
		rest = after
		answer.WriteString(p.Text)
	}
	if rest != "" {
		return content
	}
	return answer.String()
}

// projectAudio takes the platform's own word for the audio's type out.
func projectAudio(a *providers.Audio) {
	if a != nil {
		a.MimeType, a.Extra = "", nil
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
	c.PromptUsage = nil
	c.Extra = schemaMembers(c.Extra)
	for i := range c.Choices {
		choice := &c.Choices[i]
		choice.NativeFinishReason, choice.Extra = "", nil
		projectDelta(&choice.Delta)
		show = show || isShown(choice)
	}
	return show
}

func projectDelta(d *providers.Delta) {
	if d.Content != "" && hasMore(d.Content, d.ContentBlocks, pieceOf) {
		d.Content = withoutThoughts(d.Content, d.ContentBlocks, pieceOf)
	}
	d.ContentBlocks, d.Annotations = nil, nil
	projectAudio(d.Audio)
	d.Extra = schemaMembers(d.Extra)
	for j := range d.ToolCalls {
		c := &d.ToolCalls[j]
		c.Function.ThoughtSignature, c.Extra, c.Function.Extra = "", nil, nil
	}
}

// isShown reports whether a projected piece says anything.
func isShown(c *providers.ChunkChoice) bool {
	d := &c.Delta
	return d.Role != "" || d.Content != "" || len(d.ToolCalls) > 0 || d.Audio != nil || len(d.Extra) > 0 ||
		c.FinishReason != "" || c.Logprobs != nil
}
