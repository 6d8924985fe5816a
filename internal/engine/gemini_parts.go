package engine

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

// thoughtEnd stands between thought and answer in the content of models whose
// thoughts come as text before the answer.
const thoughtEnd = "\r\n\r\n"

// chain marks the thoughts of a chained model that does not mark them itself:
// of several texts in a whole answer, all but the last.
func (s *geminiChoice) chain(parts []gemini.Part) {
	if !s.d.chained || !s.d.whole {
		return
	}
	last := -1
	for i := range parts {
		switch p := &parts[i]; {
		case p.Thought:
			return
		case p.Kind == gemini.KindText && p.Text != "":
			last = i
		}
	}
	for i := range max(0, last) {
		parts[i].Thought = parts[i].Kind == gemini.KindText
	}
}

func (s *geminiChoice) part(delta *providers.Delta, p *gemini.Part) {
	switch p.Kind {
	case gemini.KindText, gemini.KindEmpty:
		s.say(delta, p)
	case gemini.KindFunctionCall:
		s.open = ""
		s.call(delta, p)
	case gemini.KindInlineData, gemini.KindFileData:
		s.open = ""
		s.visible = s.visible || !p.Thought
		if p.Kind == gemini.KindInlineData && !p.Thought && isAudio(p.MimeType) {
			s.sound(delta, p)
			return
		}
		s.addBlock(delta, mediaBlock(p))
	default:
		s.open = ""
		s.visible = s.visible || !p.Thought
		s.addBlock(delta, nativeBlock(p))
	}
}

// say adds text or a thought. It continues the open block, but a signed part
// stays by itself: merging would break its signature.
func (s *geminiChoice) say(delta *providers.Delta, p *gemini.Part) {
	if p.Text == "" && p.Signature == "" {
		return
	}
	kind := providers.PartText
	if p.Thought {
		kind = providers.PartThinking
	}
	fresh := s.open != kind || p.Signature != ""
	if fresh {
		s.blocks++
	}
	if s.open = kind; p.Signature != "" {
		s.open = ""
	}
	block := piece(delta, s.blocks-1)
	block.Type, block.Signature = kind, p.Signature
	if p.Thought {
		block.Thinking = p.Text
		if s.d.chained && p.Text != "" {
			s.thought = true
			s.write(delta, p.Text)
		}
		return
	}
	if block.Text = p.Text; p.Text == "" {
		return
	}
	if s.thought {
		s.thought = false
		s.write(delta, thoughtEnd)
		s.text.base = s.text.bytes
	}
	if fresh || s.d.whole {
		s.text.begin(s)
	}
	s.write(delta, p.Text)
	s.visible = true
}

// write adds to the content.
func (s *geminiChoice) write(delta *providers.Delta, text string) {
	if delta.Content == "" {
		delta.Content = text
	} else {
		delta.Content += text
	}
	s.text.add(text, !s.d.whole)
}

// piece adds an empty piece of the block with the index.
func piece(delta *providers.Delta, index int) *providers.ContentPart {
	list := append(delta.ContentBlocks, providers.ContentBlockDelta{})
	delta.ContentBlocks = list
	last := &list[len(list)-1]
	last.Index = index
	return &last.Delta
}

// addBlock adds a block that is whole.
func (s *geminiChoice) addBlock(delta *providers.Delta, block providers.ContentPart) {
	s.open = ""
	*piece(delta, s.blocks) = block
	s.blocks++
}

// mediaBlock is an image or other data as a data URI, or by reference. A draft
// that belongs to the thoughts is kept apart from the answer.
func mediaBlock(p *gemini.Part) providers.ContentPart {
	var uri, mime string
	if p.Kind == gemini.KindInlineData {
		uri = "data:" + p.MimeType + ";base64," + string(p.Data)
	} else {
		uri, mime = string(p.Data), p.MimeType
	}
	if !p.Thought {
		return providers.ContentPart{
			Type: providers.PartImageURL, ImageURL: &providers.ImageURL{URL: uri, MimeType: mime}, Signature: p.Signature,
		}
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key(thoughtMember(p.MimeType))
	w.BeginObject()
	w.Key("url")
	w.String(uri)
	w.EndObject()
	w.EndObject()
	return providers.ContentPart{Type: providers.PartThinking, Signature: p.Signature, Extra: w.Bytes()}
}

// thoughtMember names what a thought shows.
func thoughtMember(mime string) string {
	if isAudio(mime) {
		return "thought_audio"
	}
	return "thought_image"
}

func isAudio(mime string) bool { return strings.HasPrefix(mime, "audio/") }

// nativeBlock keeps a part that has no counterpart in the schema, such as code
// that the platform ran, under its own name.
func nativeBlock(p *gemini.Part) providers.ContentPart {
	extra := jsonx.AppendMember(nil, p.Name, p.Raw)
	if p.Thought {
		extra = jsonx.AppendMember(extra, "thought", []byte("true"))
	}
	return providers.ContentPart{Type: snake(p.Name), Signature: p.Signature, Extra: extra}
}

// pendingCall is a tool call whose arguments are still coming.
type pendingCall struct {
	call providers.ToolCall // its arguments only for who asks for signed calls
	at   int
	args argWriter
	text strings.Builder
}

// call gives out a whole call, or the next piece of one that is streamed.
func (s *geminiChoice) call(delta *providers.Delta, p *gemini.Part) {
	f := &p.Call
	if f.Name != "" {
		s.flush(delta)
		if !f.WillContinue && len(f.PartialArgs) == 0 {
			s.wholeCall(delta, p)
			return
		}
		s.pending = &pendingCall{at: s.calls}
		s.begin(delta, &s.pending.call, p)
	}
	c := s.pending
	if c == nil {
		return // a piece of no call
	}
	if p.Signature != "" && c.call.Function.ThoughtSignature == "" {
		c.call.Function.ThoughtSignature = p.Signature
		delta.ToolCalls = append(delta.ToolCalls, providers.ToolCallDelta{
			Index: c.at, Function: providers.FunctionCall{ThoughtSignature: p.Signature},
		})
	}
	if len(f.Args) > 0 && !c.args.seed(f.Args) || len(f.PartialArgs) > 0 && !c.args.apply(f.PartialArgs) {
		s.fault = badArguments()
		return
	}
	if !f.WillContinue {
		s.flush(delta)
		return
	}
	s.arguments(delta, c.args.more(false))
}

// begin gives out the head of a call.
func (s *geminiChoice) begin(delta *providers.Delta, c *providers.ToolCall, p *gemini.Part) {
	c.ID, c.Type = p.Call.ID, "function"
	if c.ID == "" {
		c.ID = "call_" + randomID()
	}
	c.Function.Name, c.Function.ThoughtSignature = p.Call.Name, p.Signature
	delta.ToolCalls = append(delta.ToolCalls, providers.ToolCallDelta{
		Index: s.calls, ID: c.ID, Type: c.Type, Function: c.Function,
	})
	s.calls++
}

func (s *geminiChoice) wholeCall(delta *providers.Delta, p *gemini.Part) {
	var c providers.ToolCall
	if c.Function.Arguments = "{}"; len(p.Call.Args) > 0 {
		c.Function.Arguments = string(jsonx.Compact(nil, p.Call.Args))
	}
	s.begin(delta, &c, p)
	s.tell(&c)
}

// arguments gives out the next piece of the pending call's arguments.
func (s *geminiChoice) arguments(delta *providers.Delta, text string) {
	if text == "" {
		return
	}
	c := s.pending
	if s.d.signed != nil {
		c.text.WriteString(text)
	}
	if n := len(delta.ToolCalls); n > 0 {
		if last := &delta.ToolCalls[n-1]; last.Index == c.at && last.Function.Arguments == "" {
			last.Function.Arguments = text
			return
		}
	}
	delta.ToolCalls = append(delta.ToolCalls, providers.ToolCallDelta{
		Index: c.at, Function: providers.FunctionCall{Arguments: text},
	})
}

// flush ends the pending call.
func (s *geminiChoice) flush(delta *providers.Delta) {
	c := s.pending
	if c == nil {
		return
	}
	s.arguments(delta, c.args.more(true))
	s.pending = nil
	c.call.Function.Arguments = c.text.String()
	s.tell(&c.call)
}

// tell hands a signed call to who asks for them.
func (s *geminiChoice) tell(c *providers.ToolCall) {
	if s.d.signed != nil && c.Function.ThoughtSignature != "" {
		s.d.signed.remember(c)
	}
}

// speech is a spoken answer in the making.
type speech struct {
	id     string
	begun  bool     // a piece was given out
	mime   string   // of the pieces
	pieces [][]byte // of the event that is being read, in base64
}

// sound notes a piece of a spoken answer. Its signature has a block to itself.
func (s *geminiChoice) sound(delta *providers.Delta, p *gemini.Part) {
	if s.speech == nil {
		s.speech = &speech{id: "audio_" + randomID()}
	}
	s.speech.mime = p.MimeType
	if len(p.Data) > 0 {
		s.speech.pieces = append(s.speech.pieces, p.Data)
	}
	if p.Signature != "" {
		s.addBlock(delta, providers.ContentPart{Type: "audio", Signature: p.Signature})
	}
}
