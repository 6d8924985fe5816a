package providers

import (
	"bytes"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// malformed reports whether the text is neither a JSON object nor nothing. What
// was decoded never is; what was written by hand may be, and its members would
// be passed over without a word.
func (e Extra) malformed() bool {
	if len(e) == 0 {
		return false
	}
	text := bytes.TrimSpace(e)
	return len(text) > 0 && string(text) != "null" && (text[0] != '{' || !jsonx.Valid(text))
}

func badExtra(path string) error {
	return Invalid(path, "the extra members are not the text of one JSON object")
}

// validateExtras checks the extra members of the request and of what is in it.
func (q *ChatCompletionRequest) validateExtras() error {
	if q.Extra.malformed() {
		return badExtra("extra")
	}
	switch f := q.ResponseFormat; {
	case q.Thinking != nil && q.Thinking.Extra.malformed():
		return badExtra("thinking")
	case q.StreamOptions != nil && q.StreamOptions.Extra.malformed():
		return badExtra("stream_options")
	case q.ToolChoice != nil && q.ToolChoice.Extra.malformed():
		return badExtra("tool_choice")
	case f != nil && (f.Extra.malformed() || f.JSONSchema != nil && f.JSONSchema.Extra.malformed()):
		return badExtra("response_format")
	}
	return nil
}

// extras checks the extra members of a message.
func (m *Message) extras(i int) error {
	if m.Extra.malformed() {
		return badExtra("messages[" + strconv.Itoa(i) + "]")
	}
	if err := partExtras(i, "content", m.Content.parts); err != nil {
		return err
	}
	if err := partExtras(i, "content_blocks", m.ContentBlocks); err != nil {
		return err
	}
	for j := range m.ToolCalls {
		if c := &m.ToolCalls[j]; c.Extra.malformed() || c.Function.Extra.malformed() {
			return badExtra(at(i, "tool_calls["+strconv.Itoa(j)+"]"))
		}
	}
	return nil
}

func partExtras(i int, list string, parts []ContentPart) error {
	for j := range parts {
		p := &parts[j]
		if p.Extra.malformed() ||
			p.ImageURL != nil && p.ImageURL.Extra.malformed() ||
			p.InputAudio != nil && p.InputAudio.Extra.malformed() ||
			p.File != nil && p.File.Extra.malformed() {
			return badExtra(at(i, list+"["+strconv.Itoa(j)+"]"))
		}
	}
	return nil
}
