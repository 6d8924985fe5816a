package messages

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// AppendMessage appends the answer as a Message. own says that thinking goes out
// with the signature that it came with, as a Claude model's does; that of other
// models goes out without. The warnings tell of what the schema can't hold.
func AppendMessage(dst []byte, c *providers.ChatCompletion, own bool) ([]byte, []providers.Warning, error) {
	var content jsonx.Writer
	to := wholeSink{w: &content}
	a := answer{to: &to, own: own}
	content.BeginArray()
	chunk := chunkOf(c)
	if err := a.add(&chunk); err != nil {
		return dst, nil, err
	}
	if err := a.close(); err != nil {
		return dst, nil, err
	}
	content.EndArray()

	var w jsonx.Writer
	w.Reset(dst[len(dst):])
	w.BeginObject()
	a.writeIdentity(&w)
	w.Key("content")
	w.Raw(content.Bytes())
	a.writeStop(&w)
	w.Key("usage")
	writeUsage(&w, a.usage)
	w.EndObject()
	return append(dst, w.Bytes()...), to.warnings, w.Err()
}

func (a *answer) writeIdentity(w *jsonx.Writer) {
	w.Key("id")
	w.String(a.identity())
	w.Key("type")
	w.String("message")
	w.Key("role")
	w.String(providers.RoleAssistant)
	w.Key("model")
	w.String(a.model)
}

// chunkOf is the answer as the one chunk of a stream.
func chunkOf(c *providers.ChatCompletion) providers.ChatCompletionChunk {
	out := providers.ChatCompletionChunk{ID: c.ID, Model: c.Model, Usage: c.Usage}
	if len(c.Choices) == 0 {
		return out
	}
	choice := &c.Choices[0]
	m := &choice.Message
	d := providers.Delta{Content: m.Content.Text(), Audio: m.Audio, Annotations: m.Annotations, Extra: m.Extra}
	for i := range m.ContentBlocks {
		d.ContentBlocks = append(d.ContentBlocks, providers.ContentBlockDelta{Index: i, Delta: m.ContentBlocks[i]})
	}
	for i := range m.ToolCalls {
		call := &m.ToolCalls[i]
		d.ToolCalls = append(d.ToolCalls, providers.ToolCallDelta{
			Index: i, ID: call.ID, Type: call.Type, Function: call.Function, Extra: call.Extra,
		})
	}
	out.Choices = []providers.ChunkChoice{{
		Delta: d, FinishReason: choice.FinishReason, NativeFinishReason: choice.NativeFinishReason, Extra: choice.Extra,
	}}
	return out
}

// wholeSink writes blocks as elements of an array.
type wholeSink struct {
	w     *jsonx.Writer
	kind  string
	text  [4]strings.Builder // by the kind of piece
	cites bool               // a citation was written
	sums  jsonx.Writer       // the citations

	blocks   int // that have ended
	warnings []providers.Warning
}

func (s *wholeSink) begin(h *head) {
	s.w.BeginObject()
	h.write(s.w)
	s.kind = h.kind
}

func (s *wholeSink) piece(d delta, text string) { s.text[d].WriteString(text) }

func (s *wholeSink) cite(citation []byte) {
	if !s.cites {
		s.cites = true
		s.sums.Reset(nil)
		s.sums.BeginArray()
	}
	s.sums.Raw(citation)
}

func (s *wholeSink) end() error {
	w := s.w
	switch s.kind {
	case providers.PartText:
		w.Key("text")
		w.String(s.text[textDelta].String())
		if s.cites {
			s.sums.EndArray()
			w.Key("citations")
			w.Raw(s.sums.Bytes())
		}
	case providers.PartThinking:
		w.Key("thinking")
		w.String(s.text[thinkingDelta].String())
		w.Key("signature")
		w.String(s.text[signatureDelta].String())
	}
	if input := s.text[inputDelta].String(); input != "" {
		w.Key("input")
		w.RawString(s.object(input))
	}
	w.EndObject()
	s.blocks++
	for i := range s.text {
		s.text[i].Reset()
	}
	s.cites = false
	return nil
}

// object returns the input of a call, which the schema has as an object: an empty
// one in the place of what is none, such as arguments that max_tokens cut.
func (s *wholeSink) object(input string) string {
	if strings.HasPrefix(strings.TrimLeft(input, " \t\r\n"), "{") && jsonx.ValidString(input) {
		return input
	}
	s.warnings = append(s.warnings, providers.Warning{
		Code: providers.WarnDroppedBlock, Param: "content[" + strconv.Itoa(s.blocks) + "].input",
		Message: "empty: the arguments of the answer's tool call are no JSON object",
	})
	return "{}"
}
