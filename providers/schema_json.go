package providers

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// The parts of requests and answers encode by themselves as they do inside
// them, so that a caller can log or store a part.

// MarshalJSON returns the members as an object, or null when there are none.
func (e Extra) MarshalJSON() ([]byte, error) {
	if len(e) == 0 {
		return []byte("null"), nil
	}
	return e, nil
}

// UnmarshalJSON keeps the members of an object; a null keeps none.
func (e *Extra) UnmarshalJSON(data []byte) error {
	*e = nil
	r := jsonx.NewReader(data)
	if r.Null() {
		return r.End()
	}
	for r.Object(); r.NextKey(); {
		r.Skip()
	}
	if err := r.End(); err != nil {
		return err
	}
	*e = slices.Clone(data)
	return nil
}

// MarshalJSON encodes the media reference.
func (u ImageURL) MarshalJSON() ([]byte, error) { return encode(u.encode) }

// UnmarshalJSON decodes the media reference.
func (u *ImageURL) UnmarshalJSON(data []byte) error {
	*u = ImageURL{}
	return decode(data, u.decode)
}

// MarshalJSON encodes the audio.
func (a InputAudio) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes the audio.
func (a *InputAudio) UnmarshalJSON(data []byte) error {
	*a = InputAudio{}
	return decode(data, a.decode)
}

// MarshalJSON encodes the document.
func (f File) MarshalJSON() ([]byte, error) { return encode(f.encode) }

// UnmarshalJSON decodes the document.
func (f *File) UnmarshalJSON(data []byte) error {
	*f = File{}
	return decode(data, f.decode)
}

// MarshalJSON encodes the declaration.
func (f FunctionDefinition) MarshalJSON() ([]byte, error) { return encode(f.encode) }

// UnmarshalJSON decodes the declaration.
func (f *FunctionDefinition) UnmarshalJSON(data []byte) error {
	*f = FunctionDefinition{}
	return decode(data, f.decode)
}

// MarshalJSON encodes the called function.
func (f FunctionCall) MarshalJSON() ([]byte, error) { return encode(f.encode) }

// UnmarshalJSON decodes the called function.
func (f *FunctionCall) UnmarshalJSON(data []byte) error {
	*f = FunctionCall{}
	return decode(data, f.decode)
}

// MarshalJSON encodes the piece of a tool call.
func (d ToolCallDelta) MarshalJSON() ([]byte, error) { return encode(d.encode) }

// UnmarshalJSON decodes the piece of a tool call.
func (d *ToolCallDelta) UnmarshalJSON(data []byte) error {
	*d = ToolCallDelta{}
	return decode(data, d.decode)
}

// MarshalJSON encodes the options.
func (o StreamOptions) MarshalJSON() ([]byte, error) { return encode(o.encode) }

// UnmarshalJSON decodes the options.
func (o *StreamOptions) UnmarshalJSON(data []byte) error {
	*o = StreamOptions{}
	return decode(data, o.decode)
}

// MarshalJSON encodes the setting.
func (t Thinking) MarshalJSON() ([]byte, error) { return encode(t.encode) }

// UnmarshalJSON decodes the setting.
func (t *Thinking) UnmarshalJSON(data []byte) error {
	*t = Thinking{}
	return decode(data, t.decode)
}

// MarshalJSON encodes the format.
func (f ResponseFormat) MarshalJSON() ([]byte, error) { return encode(f.encode) }

// UnmarshalJSON decodes the format.
func (f *ResponseFormat) UnmarshalJSON(data []byte) error {
	*f = ResponseFormat{}
	return decode(data, f.decode)
}

// MarshalJSON encodes the named schema.
func (s JSONSchema) MarshalJSON() ([]byte, error) { return encode(s.encode) }

// UnmarshalJSON decodes the named schema.
func (s *JSONSchema) UnmarshalJSON(data []byte) error {
	*s = JSONSchema{}
	return decode(data, s.decode)
}

// MarshalJSON encodes the choice.
func (c Choice) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes the choice.
func (c *Choice) UnmarshalJSON(data []byte) error {
	*c = Choice{}
	return decode(data, c.decode)
}

// MarshalJSON encodes the log probabilities.
func (l Logprobs) MarshalJSON() ([]byte, error) { return encode(l.encode) }

// UnmarshalJSON decodes the log probabilities.
func (l *Logprobs) UnmarshalJSON(data []byte) error {
	*l = Logprobs{}
	return decode(data, l.decode)
}

// MarshalJSON encodes the token.
func (t TokenLogprob) MarshalJSON() ([]byte, error) { return encode(t.encode) }

// UnmarshalJSON decodes the token.
func (t *TokenLogprob) UnmarshalJSON(data []byte) error {
	*t = TokenLogprob{}
	return decode(data, t.decode)
}

// MarshalJSON encodes the piece of a choice.
func (c ChunkChoice) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes the piece of a choice.
func (c *ChunkChoice) UnmarshalJSON(data []byte) error {
	*c = ChunkChoice{}
	return decode(data, c.decode)
}

// MarshalJSON encodes the piece of a message.
func (d Delta) MarshalJSON() ([]byte, error) { return encode(d.encode) }

// UnmarshalJSON decodes the piece of a message.
func (d *Delta) UnmarshalJSON(data []byte) error {
	*d = Delta{}
	return decode(data, d.decode)
}

// MarshalJSON encodes the piece of a block.
func (b ContentBlockDelta) MarshalJSON() ([]byte, error) { return encode(b.encode) }

// UnmarshalJSON decodes the piece of a block.
func (b *ContentBlockDelta) UnmarshalJSON(data []byte) error {
	*b = ContentBlockDelta{}
	return decode(data, b.decode)
}

// MarshalJSON encodes the counts.
func (u Usage) MarshalJSON() ([]byte, error) { return encode(u.encode) }

// UnmarshalJSON decodes the counts.
func (u *Usage) UnmarshalJSON(data []byte) error {
	*u = Usage{}
	return decode(data, u.decode)
}

// MarshalJSON encodes the counts.
func (d PromptTokensDetails) MarshalJSON() ([]byte, error) { return encode(d.encode) }

// UnmarshalJSON decodes the counts.
func (d *PromptTokensDetails) UnmarshalJSON(data []byte) error {
	*d = PromptTokensDetails{}
	return decode(data, d.decode)
}

// MarshalJSON encodes the counts.
func (d CompletionTokensDetails) MarshalJSON() ([]byte, error) { return encode(d.encode) }

// UnmarshalJSON decodes the counts.
func (d *CompletionTokensDetails) UnmarshalJSON(data []byte) error {
	*d = CompletionTokensDetails{}
	return decode(data, d.decode)
}
