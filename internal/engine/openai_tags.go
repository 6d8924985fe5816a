package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// The marks of thoughts that stand in the content of some models.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/maas/capabilities/thinking
const (
	thoughtOpen  = "<think>"
	thoughtClose = "</think>"
)

// tagState says where in such a content a choice is.
type tagState uint8

const (
	tagNone    tagState = iota // no marks are looked for
	tagAwaited                 // the opening mark may come first
	tagInside                  // among the thoughts
	tagAfter                   // among the space before the answer
)

// text adds a piece of the content, less the marks of thoughts. What may be the
// beginning of a mark is held until the next piece.
func (s *openChoice) text(delta *providers.Delta, piece string) {
	text := s.held + piece
	s.held = ""
	if s.tags == tagAwaited {
		begun := strings.TrimLeft(text, " \r\n\t")
		switch {
		case strings.HasPrefix(begun, thoughtOpen):
			text, s.tags = begun[len(thoughtOpen):], tagInside
		case strings.HasPrefix(thoughtOpen, begun):
			s.held = text
			return
		default:
			s.tags = tagNone
		}
	}
	if s.tags == tagInside {
		thought, rest, found := strings.Cut(text, thoughtClose)
		if !found {
			cut := len(thought) - begunAtEnd(thought, thoughtClose)
			thought, s.held = thought[:cut], thought[cut:]
		}
		s.say(delta, providers.PartThinking, thought)
		if !found {
			return
		}
		text, s.tags = rest, tagAfter
	}
	if s.tags == tagAfter {
		if text = strings.TrimLeft(text, " \r\n\t"); text == "" {
			return
		}
		s.tags = tagNone
	}
	s.say(delta, providers.PartText, text)
}

// begunAtEnd returns how much of the mark the text ends with.
func begunAtEnd(text, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// flush adds what is still held, which was no mark after all.
func (s *openChoice) flush(delta *providers.Delta) {
	text := s.held
	s.held = ""
	if s.tags == tagInside {
		s.say(delta, providers.PartThinking, text)
	} else {
		s.say(delta, providers.PartText, text)
	}
}
