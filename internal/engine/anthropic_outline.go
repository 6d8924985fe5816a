package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// outline tells of an assistant message, as it is sent, whether it begins with
// thinking and whether it holds anything. The platform takes none that ends in
// thinking, such as an answer that was cut off, so that such thinking is not sent.
func (e *claudeEncoder) outline(m *providers.Message) (thinks, says bool) {
	own := ownBlocks(m)
	blocks := m.ContentBlocks
	says = len(m.ToolCalls) > 0 || lastSpoken(blocks, own) >= 0 || !own && saysMore(&m.Content)
	if !says || e.in.distrust || isGemini(m) {
		return false, says
	}
	for j := range blocks {
		switch p := &blocks[j]; {
		case isSigned(*p):
			return true, true
		case isSpoken(p) && (own || p.Type != providers.PartText):
			return false, true
		}
	}
	return !own && slices.ContainsFunc(m.Content.Parts(), isSigned), true
}

// lastSpoken returns the index of the last part that is sent and is no thinking,
// or -1. Without texts, those do not count.
func lastSpoken(parts []providers.ContentPart, texts bool) int {
	for j := len(parts) - 1; j >= 0; j-- {
		if p := &parts[j]; isSpoken(p) && (texts || p.Type != providers.PartText) {
			return j
		}
	}
	return -1
}

// saysMore reports whether an assistant's content comes to anything but thinking.
func saysMore(c *providers.Content) bool {
	if parts := c.Parts(); parts != nil {
		return lastSpoken(parts, true) >= 0
	}
	return strings.TrimSpace(c.Text()) != ""
}

// ownBlocks reports whether the content blocks say what the message does. Where
// the caller has changed the text beside them, they don't.
func ownBlocks(m *providers.Message) bool {
	return len(m.ContentBlocks) > 0 && (m.Content.IsAbsent() || sameText(m))
}

// isSpoken reports whether a part of an assistant message is sent and is no
// thinking.
func isSpoken(p *providers.ContentPart) bool {
	switch p.Type {
	case providers.PartText:
		return strings.TrimSpace(p.Text) != ""
	case providers.PartThinking, providers.PartRedactedThinking, providers.PartImageURL, providers.PartInputAudio, providers.PartFile:
		return false
	}
	return !slices.Contains(googleBlocks, p.Type)
}

// lostThinking reports whether the turn that goes on does not begin with signed
// thinking, as thinking by budget demands. Its later steps may come without: the
// model thinks between calls only when told to.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks
func (e *claudeEncoder) lostThinking() bool {
	msgs := e.q.Messages
	says := func(m *providers.Message) bool {
		_, says := e.outline(m)
		return says
	}
	for i := currentTurn(msgs, says) + 1; i < len(msgs); i++ {
		if msgs[i].Role != providers.RoleAssistant {
			continue
		}
		if thinks, says := e.outline(&msgs[i]); says {
			return !thinks
		}
	}
	return false
}

// isSigned reports whether a part is thinking that can be sent back.
func isSigned(p providers.ContentPart) bool {
	return p.Type == providers.PartThinking && p.Signature != "" || p.Type == providers.PartRedactedThinking && p.Data != ""
}
