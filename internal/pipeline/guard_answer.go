package pipeline

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// saying is what a choice said before a guard changed it. A message has its text
// up to three times: as content, in blocks and in log probabilities.
type saying struct {
	index           int
	content, blocks string
	logprobs        *providers.Logprobs
}

func sayings(out *providers.ChatCompletion) []saying {
	list := make([]saying, len(out.Choices))
	for i := range out.Choices {
		c := &out.Choices[i]
		list[i] = saying{c.Index, c.Message.Content.Text(), blockText(c.Message.ContentBlocks), c.Logprobs}
	}
	return list
}

// blockText is the text of the blocks, without their thinking.
func blockText(blocks []providers.ContentPart) string {
	var text strings.Builder
	for i := range blocks {
		if blocks[i].Type == providers.PartText {
			text.WriteString(blocks[i].Text)
		}
	}
	return text.String()
}

// replaced returns the answer of a guard in the place of out. What it cost and how
// it came about stay. No text that the guard took out of a content is left in the
// blocks and the log probabilities beside it.
func replaced(out, other *providers.ChatCompletion, before []saying) *providers.ChatCompletion {
	own := *other
	own.Meta = out.Meta
	if own.Usage == nil {
		own.Usage = out.Usage
	}
	own.Choices = slices.Clone(other.Choices)
	for i := range own.Choices {
		c := &own.Choices[i]
		at := slices.IndexFunc(before, func(s saying) bool { return s.index == c.Index })
		if at < 0 || before[at].content == c.Message.Content.Text() {
			continue
		}
		was := &before[at]
		if c.Logprobs == was.logprobs {
			c.Logprobs = nil
		}
		if blocks := c.Message.ContentBlocks; len(blocks) > 0 && blockText(blocks) == was.blocks {
			c.Message.ContentBlocks = retold(&c.Message, was.content != was.blocks)
		}
	}
	return &own
}

// retold returns the blocks of a message with its content as their text. thoughts
// says that the content may begin with those of the blocks.
func retold(m *providers.Message, thoughts bool) []providers.ContentPart {
	text := m.Content.Text()
	if thoughts {
		var thinking strings.Builder
		for i := range m.ContentBlocks {
			thinking.WriteString(m.ContentBlocks[i].Thinking)
		}
		if rest, ok := strings.CutPrefix(text, thinking.String()); ok && thinking.Len() > 0 {
			text = strings.TrimPrefix(rest, thoughtEnd)
		}
	}
	var list []providers.ContentPart
	for i := range m.ContentBlocks {
		switch b := &m.ContentBlocks[i]; {
		case b.Type != providers.PartText:
			list = append(list, *b)
		case text != "": // the signature is that of another text
			list, text = append(list, providers.TextPart(text)), ""
		}
	}
	if text != "" {
		list = append(list, providers.TextPart(text))
	}
	return list
}

// chunksOf returns the stream of a whole answer: for each choice what it says and
// how it ended, and then the usage.
func chunksOf(a *providers.ChatCompletion) []*providers.ChatCompletionChunk {
	var list []*providers.ChatCompletionChunk
	add := func(choices ...providers.ChunkChoice) *providers.ChatCompletionChunk {
		list = append(list, &providers.ChatCompletionChunk{
			ID: a.ID, Created: a.Created, Model: a.Model, Provider: a.Provider, Choices: choices,
		})
		return list[len(list)-1]
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		add(providers.ChunkChoice{Index: c.Index, Delta: deltaOf(&c.Message), Logprobs: c.Logprobs})
	}
	list[0].Extra, list[0].Meta = a.Extra, &a.Meta
	for i := range a.Choices {
		c := &a.Choices[i]
		add(providers.ChunkChoice{Index: c.Index, FinishReason: c.FinishReason, NativeFinishReason: c.NativeFinishReason, Extra: c.Extra})
	}
	if a.Usage != nil {
		add().Usage = a.Usage
	}
	return list
}

func deltaOf(m *providers.Message) providers.Delta {
	d := providers.Delta{
		Role: providers.RoleAssistant, Content: m.Content.Text(), Audio: m.Audio, Annotations: m.Annotations, Extra: m.Extra,
	}
	for i := range m.ContentBlocks {
		d.ContentBlocks = append(d.ContentBlocks, providers.ContentBlockDelta{Index: i, Delta: m.ContentBlocks[i]})
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		d.ToolCalls = append(d.ToolCalls, providers.ToolCallDelta{Index: i, ID: c.ID, Type: c.Type, Function: c.Function, Extra: c.Extra})
	}
	return d
}
