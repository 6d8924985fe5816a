package answers

import "github.com/b650d4bf/gateway/providers"

// EncodeChat returns the kept form of an answer: all of it, the rich members
// included, but for the Meta.
func EncodeChat(k *Kept, c *providers.ChatCompletion) []byte {
	w := newWriter(kindChat, k)
	w.str(c.ID)
	w.int(c.Created)
	w.str(c.Model)
	w.str(c.Provider)
	w.raw(c.Extra)
	if w.has(c.Usage != nil) {
		w.usage(c.Usage)
	}
	w.int(int64(len(c.Choices)))
	for i := range c.Choices {
		w.choice(&c.Choices[i])
	}
	return w.b
}

// DecodeChat reads what [EncodeChat] wrote. The answer belongs to the caller; its
// texts share the memory of body, which must never change. The error is, or wraps,
// cache.ErrCorrupt.
func DecodeChat(body []byte) (*providers.ChatCompletion, Kept, error) {
	var k Kept
	r, err := newReader(kindChat, body, &k)
	if err != nil {
		return nil, k, err
	}
	room := new(struct { // what the usual answer holds, in one allocation
		answer providers.ChatCompletion
		usage  providers.Usage
		choice [1]providers.Choice
		block  [1]providers.ContentPart
		extra  [extraRoom]byte
	})
	r.room = room.extra[:]
	c := &room.answer
	r.strTo(&c.ID)
	r.intTo(&c.Created)
	r.strTo(&c.Model)
	r.strTo(&c.Provider)
	r.rawTo(&c.Extra)
	if r.has() {
		c.Usage = &room.usage
		r.usage(c.Usage)
	}
	if n := r.count(minChoice); n <= 1 {
		c.Choices = room.choice[:n]
	} else {
		c.Choices = make([]providers.Choice, n)
	}
	for i := range c.Choices {
		r.choice(&c.Choices[i], room.block[:])
	}
	return c, k, r.end()
}

// extraRoom is for the members beyond the schema that the usual answer has. It
// fits into what the allocation of the rest is rounded up to.
const extraRoom = 64

// minChoice is the least number of bytes that a choice takes, minPart that of a
// part, and so on.
const (
	minChoice = 10
	minPart   = 7
	minCall   = 7
	minNote   = 3
	minToken  = 10
)

func (w *writer) usage(u *providers.Usage) {
	w.int(u.PromptTokens)
	w.int(u.CompletionTokens)
	w.int(u.TotalTokens)
	w.int(u.PromptTokensDetails.CachedTokens)
	w.int(u.PromptTokensDetails.AudioTokens)
	w.raw(u.PromptTokensDetails.Extra)
	w.int(u.CompletionTokensDetails.ReasoningTokens)
	w.int(u.CompletionTokensDetails.AudioTokens)
	w.raw(u.CompletionTokensDetails.Extra)
	w.raw(u.Extra)
}

func (r *reader) usage(u *providers.Usage) {
	r.intTo(&u.PromptTokens)
	r.intTo(&u.CompletionTokens)
	r.intTo(&u.TotalTokens)
	r.intTo(&u.PromptTokensDetails.CachedTokens)
	r.intTo(&u.PromptTokensDetails.AudioTokens)
	r.rawTo(&u.PromptTokensDetails.Extra)
	r.intTo(&u.CompletionTokensDetails.ReasoningTokens)
	r.intTo(&u.CompletionTokensDetails.AudioTokens)
	r.rawTo(&u.CompletionTokensDetails.Extra)
	r.rawTo(&u.Extra)
}

func (w *writer) choice(c *providers.Choice) {
	w.int(int64(c.Index))
	w.str(c.FinishReason)
	w.str(c.NativeFinishReason)
	w.raw(c.Extra)
	if w.has(c.Logprobs != nil) {
		w.raw(c.Logprobs.Extra)
		w.tokens(c.Logprobs.Content)
	}
	m := &c.Message
	w.str(m.Role)
	w.content(m.Content)
	w.str(m.Name)
	w.str(m.ToolCallID)
	w.raw(m.Extra)
	w.int(int64(len(m.ToolCalls)))
	for i := range m.ToolCalls {
		w.call(&m.ToolCalls[i])
	}
	w.parts(m.ContentBlocks)
	if w.has(m.Audio != nil) {
		a := m.Audio
		w.str(a.ID)
		w.str(a.Data)
		w.int(a.ExpiresAt)
		w.str(a.Transcript)
		w.str(a.MimeType)
		w.raw(a.Extra)
	}
	w.int(int64(len(m.Annotations)))
	for i := range m.Annotations {
		w.annotation(&m.Annotations[i])
	}
}

func (r *reader) choice(c *providers.Choice, room []providers.ContentPart) {
	c.Index = int(r.int())
	r.strTo(&c.FinishReason)
	r.strTo(&c.NativeFinishReason)
	r.rawTo(&c.Extra)
	if r.has() {
		c.Logprobs = &providers.Logprobs{Extra: r.raw(), Content: r.tokens(0)}
	}
	m := &c.Message
	r.strTo(&m.Role)
	m.Content = r.content()
	r.strTo(&m.Name)
	r.strTo(&m.ToolCallID)
	r.rawTo(&m.Extra)
	if n := r.count(minCall); n > 0 {
		m.ToolCalls = make([]providers.ToolCall, n)
	}
	for i := range m.ToolCalls {
		r.call(&m.ToolCalls[i])
	}
	m.ContentBlocks = r.parts(room)
	if r.has() {
		m.Audio = &providers.Audio{ID: r.str(), Data: r.str(), ExpiresAt: r.int(), Transcript: r.str(), MimeType: r.str(), Extra: r.raw()}
	}
	if n := r.count(minNote); n > 0 {
		m.Annotations = make([]providers.Annotation, n)
	}
	for i := range m.Annotations {
		r.annotation(&m.Annotations[i])
	}
}

// The forms of a content.
const (
	formAbsent = iota
	formText
	formParts
)

func (w *writer) content(c providers.Content) {
	switch {
	case c.IsAbsent():
		w.int(formAbsent)
	case c.Parts() != nil:
		w.int(formParts)
		w.parts(c.Parts())
	default:
		w.int(formText)
		w.str(c.Text())
	}
}

func (r *reader) content() providers.Content {
	switch r.int() {
	case formAbsent:
	case formText:
		return providers.TextContent(r.str())
	case formParts:
		if parts := r.parts(nil); len(parts) > 0 { // none are written as text
			return providers.PartsContent(parts...)
		}
		r.fail()
	default:
		r.fail()
	}
	return providers.Content{}
}

func (w *writer) parts(list []providers.ContentPart) {
	w.int(int64(len(list)))
	for i := range list {
		p := &list[i]
		w.str(p.Type)
		w.str(p.Text)
		w.str(p.Thinking)
		w.str(p.Signature)
		w.str(p.Data)
		w.raw(p.Extra)
		if w.has(p.ImageURL != nil || p.InputAudio != nil || p.File != nil) {
			w.media(p)
		}
	}
}

func (w *writer) media(p *providers.ContentPart) {
	if u := p.ImageURL; w.has(u != nil) {
		w.str(u.URL)
		w.str(u.Detail)
		w.str(u.MimeType)
		w.raw(u.Extra)
	}
	if a := p.InputAudio; w.has(a != nil) {
		w.str(a.Data)
		w.str(a.Format)
		w.raw(a.Extra)
	}
	if f := p.File; w.has(f != nil) {
		w.str(f.FileData)
		w.str(f.FileID)
		w.str(f.FileURL)
		w.str(f.Filename)
		w.str(f.MimeType)
		w.raw(f.Extra)
	}
}

// parts reads parts, into room when they fit.
func (r *reader) parts(room []providers.ContentPart) []providers.ContentPart {
	n := r.count(minPart)
	if n == 0 {
		return nil
	}
	var list []providers.ContentPart
	if n <= len(room) && room[0].Type == "" {
		list = room[:n:n]
	} else {
		list = make([]providers.ContentPart, n)
	}
	for i := range list {
		p := &list[i]
		r.strTo(&p.Type)
		r.strTo(&p.Text)
		r.strTo(&p.Thinking)
		r.strTo(&p.Signature)
		r.strTo(&p.Data)
		r.rawTo(&p.Extra)
		if r.has() {
			r.media(p)
		}
	}
	return list
}

func (r *reader) media(p *providers.ContentPart) {
	if r.has() {
		p.ImageURL = &providers.ImageURL{URL: r.str(), Detail: r.str(), MimeType: r.str(), Extra: r.raw()}
	}
	if r.has() {
		p.InputAudio = &providers.InputAudio{Data: r.str(), Format: r.str(), Extra: r.raw()}
	}
	if r.has() {
		p.File = &providers.File{
			FileData: r.str(), FileID: r.str(), FileURL: r.str(), Filename: r.str(), MimeType: r.str(), Extra: r.raw(),
		}
	}
}

func (w *writer) call(c *providers.ToolCall) {
	w.str(c.ID)
	w.str(c.Type)
	w.raw(c.Extra)
	w.str(c.Function.Name)
	w.str(c.Function.Arguments)
	w.str(c.Function.ThoughtSignature)
	w.raw(c.Function.Extra)
}

func (r *reader) call(c *providers.ToolCall) {
	c.ID, c.Type, c.Extra = r.str(), r.str(), r.raw()
	c.Function = providers.FunctionCall{Name: r.str(), Arguments: r.str(), ThoughtSignature: r.str(), Extra: r.raw()}
}

func (w *writer) annotation(a *providers.Annotation) {
	w.str(a.Type)
	w.raw(a.Extra)
	if c := a.URLCitation; w.has(c != nil) {
		w.int(int64(c.StartIndex))
		w.int(int64(c.EndIndex))
		w.str(c.URL)
		w.str(c.Title)
		w.raw(c.Extra)
	}
}

func (r *reader) annotation(a *providers.Annotation) {
	a.Type, a.Extra = r.str(), r.raw()
	if r.has() {
		a.URLCitation = &providers.URLCitation{
			StartIndex: int(r.int()), EndIndex: int(r.int()), URL: r.str(), Title: r.str(), Extra: r.raw(),
		}
	}
}

func (w *writer) tokens(list []providers.TokenLogprob) {
	w.int(int64(len(list)))
	for i := range list {
		w.str(list[i].Token)
		w.float(list[i].Logprob)
		w.tokens(list[i].TopLogprobs)
	}
}

// maxTokenDepth bounds how deep alternatives of tokens go; the schema has one
// level.
const maxTokenDepth = 4

func (r *reader) tokens(depth int) []providers.TokenLogprob {
	n := r.count(minToken)
	if n == 0 {
		return nil
	}
	if depth > maxTokenDepth {
		r.fail()
		return nil
	}
	list := make([]providers.TokenLogprob, n)
	for i := range list {
		list[i] = providers.TokenLogprob{Token: r.str(), Logprob: r.float(), TopLogprobs: r.tokens(depth + 1)}
	}
	return list
}
