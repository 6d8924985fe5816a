package engine

import (
	"crypto/rand"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/gemini"
	"github.com/b650d4bf/gateway/providers"
)

// finishReasons maps the platform's finish reasons; STOP and every word that is
// not here is "stop", or "tool_calls" when there is a call.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason
var finishReasons = map[string]string{
	"MAX_TOKENS":               providers.FinishLength,
	"CONTINUATION":             providers.FinishLength,
	"SAFETY":                   providers.FinishContentFilter,
	"RECITATION":               providers.FinishContentFilter,
	"BLOCKLIST":                providers.FinishContentFilter,
	"PROHIBITED_CONTENT":       providers.FinishContentFilter,
	"SPII":                     providers.FinishContentFilter,
	"MODEL_ARMOR":              providers.FinishContentFilter,
	"IMAGE_SAFETY":             providers.FinishContentFilter,
	"IMAGE_PROHIBITED_CONTENT": providers.FinishContentFilter,
	"IMAGE_RECITATION":         providers.FinishContentFilter,
	"LANGUAGE":                 providers.FinishContentFilter,
}

// finish ends the answer: one chunk with the finish reasons and one with the
// usage; a whole answer has both in its only chunk.
func (d *geminiDecoder) finish() ([]*providers.ChatCompletionChunk, error) {
	d.out = d.outRoom[:0]
	if len(d.choices) == 0 {
		return nil, d.nothing()
	}
	room := d.held
	if room == nil {
		room = d.chunk()
	}
	if err := d.failed(); err != nil {
		return nil, err
	}
	for i := range d.choices {
		s := &d.choices[i]
		s.end(room.choiceOf(s.index))
	}
	d.held = room
	d.emit()
	if d.usage.Counted {
		if !d.whole {
			room = d.chunk()
			d.out = append(d.out, &room.chunk)
		}
		room.chunk.Usage = usage(d.usageRoom(), &d.usage)
	}
	return d.out, nil
}

// failed returns what is wrong with an answer that is over, nil for nothing.
func (d *geminiDecoder) failed() error {
	if err := d.refused(); err != nil {
		return err
	}
	for i := range d.choices {
		s := &d.choices[i]
		if s.finish == "" && !d.whole {
			return cutError()
		}
		if s.brokeOff() {
			return brokenError("the model broke off within a tool call", providers.ErrBadResponse, s.finish)
		}
	}
	if reason := d.broken(); reason != "" {
		return brokenError("the model gave no answer", providers.ErrEmptyResponse, reason)
	}
	return nil
}

// refused returns the error for a prompt that was refused beside candidates, or
// behind them, that have nothing to show but thoughts.
func (d *geminiDecoder) refused() error {
	if d.block.BlockReason == "" || slices.ContainsFunc(d.choices, func(s geminiChoice) bool { return s.visible || s.calls > 0 }) {
		return nil
	}
	return blocked(&d.block)
}

// brokenReasons are the finish reasons of a model that failed at what it was
// about to say. A further try often succeeds.
var brokenReasons = []string{
	"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS",
}

// broken returns the finish reason when every choice broke off with nothing to
// show but thoughts, else "".
func (d *geminiDecoder) broken() string {
	for i := range d.choices {
		s := &d.choices[i]
		if s.visible || s.calls > 0 || !slices.Contains(brokenReasons, s.finish) {
			return ""
		}
	}
	return d.choices[0].finish
}

// brokeOff reports whether the answer ended within a call, and not by a limit
// that the finish reason tells of: the call would look as if it was whole.
func (s *geminiChoice) brokeOff() bool {
	if s.pending == nil {
		return false
	}
	_, told := finishReasons[s.finish]
	return !told && s.finish != "STOP" && s.finish != ""
}

func brokenError(message string, code providers.Code, reason string) error {
	e := answerError(code, message+": "+reason)
	e.NativeStatus = reason
	return e
}

func badArguments() error {
	return answerError(providers.ErrBadResponse, "the streamed arguments of a call can't be put together")
}

// choiceOf returns the chunk's choice with the index, adding it if need be.
func (room *chunkRoom) choiceOf(index int) *providers.ChunkChoice {
	for i := range room.chunk.Choices {
		if c := &room.chunk.Choices[i]; c.Index == index {
			return c
		}
	}
	return room.addChoice(index)
}

// end writes what ends a choice.
func (s *geminiChoice) end(c *providers.ChunkChoice) {
	s.flush(&c.Delta)
	if !s.started {
		s.started = true
		c.Delta.Role = providers.RoleAssistant
	}
	c.FinishReason = s.finishReason()
	c.NativeFinishReason = s.finish
	c.Extra = s.native()
	c.Delta.Annotations = s.annotations(c.Delta.Content)
}

// nothing is the error for an answer without any candidate.
func (d *geminiDecoder) nothing() error {
	switch {
	case !d.whole:
		return cutError()
	case d.known:
		return answerError(providers.ErrEmptyResponse, "the platform answered without a candidate")
	}
	return answerError(providers.ErrBadResponse, "the answer is not one of generateContent")
}

func cutError() error {
	return answerError(providers.ErrStreamCut, "the stream ended before the answer had a finish reason")
}

func (s *geminiChoice) finishReason() string {
	if f, ok := finishReasons[s.finish]; ok {
		return f
	}
	if s.calls > 0 {
		return providers.FinishToolCalls
	}
	return providers.FinishStop
}

// native returns the members in the platform's own form.
func (s *geminiChoice) native() providers.Extra {
	var extra providers.Extra
	for i, raw := range s.extra {
		if len(raw) > 0 {
			extra = jsonx.AppendMember(extra, nativeMembers[i], raw)
		}
	}
	if s.message != "" {
		var w jsonx.Writer
		w.String(s.message)
		extra = jsonx.AppendMember(extra, "finish_message", w.Bytes())
	}
	return extra
}

// counted returns the usage so far, which newer models tell from the start.
func (d *geminiDecoder) counted() *providers.Usage {
	if !d.usage.Counted {
		return nil
	}
	return usage(new(providers.Usage), &d.usage)
}

// usageRoom is where the usage goes: that of a whole answer is folded at once, and
// that of a stream belongs to the caller.
func (d *geminiDecoder) usageRoom() *providers.Usage {
	if d.from != nil {
		return &d.from.usage
	}
	return new(providers.Usage)
}

// usage counts as the OpenAI schema does: the prompt includes what was cached
// and what server-side tools fed back, the completion includes the thoughts. It fills
// out, which is empty, and returns it.
func usage(out *providers.Usage, u *gemini.Usage) *providers.Usage {
	out.PromptTokens = u.Prompt + u.ToolUsePrompt
	out.CompletionTokens = u.Candidates + u.Thoughts
	if out.TotalTokens = u.Total; !u.HasTotal {
		out.TotalTokens = out.PromptTokens + out.CompletionTokens
	}
	out.PromptTokensDetails.CachedTokens = u.Cached
	out.PromptTokensDetails.AudioTokens = u.PromptDetails.Audio
	out.PromptTokensDetails.Extra = modalityExtra(&u.PromptDetails)
	out.CompletionTokensDetails.ReasoningTokens = u.Thoughts
	out.CompletionTokensDetails.AudioTokens = u.CandidatesDetails.Audio
	out.CompletionTokensDetails.Extra = modalityExtra(&u.CandidatesDetails)
	out.Extra = usageExtra(u)
	return out
}

// onDemand is the usual traffic type's member, and standard that of the usual
// class of service. They are shared: an Extra is never changed in place.
var (
	onDemand = providers.Extra(`{"traffic_type":"ON_DEMAND"}`)
	standard = providers.Extra(`{"service_tier":"standard"}`)
)

// usageExtra holds what the schema has no counter for: how the call was served,
// and the part of the prompt that server-side tools fed back.
func usageExtra(u *gemini.Usage) providers.Extra {
	switch {
	case u.ToolUsePrompt != 0:
	case u.TrafficType == "" && u.ServiceTier == "":
		return nil
	case u.TrafficType == "ON_DEMAND" && u.ServiceTier == "":
		return slices.Clip(onDemand)
	case u.TrafficType == "" && u.ServiceTier == "standard":
		return slices.Clip(standard)
	}
	var w jsonx.Writer
	w.BeginObject()
	if u.TrafficType != "" {
		w.Key("traffic_type")
		w.String(u.TrafficType)
	}
	if u.ServiceTier != "" {
		w.Key("service_tier")
		w.String(u.ServiceTier)
	}
	count(&w, "tool_use_prompt_tokens", u.ToolUsePrompt)
	w.EndObject()
	return w.Bytes()
}

// modalityExtra holds the tokens of modalities that the schema has no counter
// for. Of text alone there is nothing to say: it is all the rest.
func modalityExtra(m *gemini.Modalities) providers.Extra {
	if m.Image+m.Video+m.Document == 0 {
		return nil
	}
	var w jsonx.Writer
	w.BeginObject()
	count(&w, "text_tokens", m.Text)
	count(&w, "image_tokens", m.Image)
	count(&w, "video_tokens", m.Video)
	count(&w, "document_tokens", m.Document)
	w.EndObject()
	return w.Bytes()
}

// count writes a counter, unless nothing was counted.
func count(w *jsonx.Writer, name string, n int64) {
	if n != 0 {
		w.Key(name)
		w.Int(n)
	}
}

// decodeLogprobs reads logprobsResult, or returns nil when there is none.
func decodeLogprobs(raw []byte) *providers.Logprobs {
	if len(raw) == 0 {
		return nil
	}
	out := &providers.Logprobs{}
	var tops [][]providers.TokenLogprob
	r := jsonx.NewReader(raw)
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "chosenCandidates":
			out.Content = tokenList(&r)
		case "topCandidates":
			for r.Array(); r.NextElem(); {
				var top []providers.TokenLogprob
				for r.Object(); r.NextKey(); {
					if string(r.Key()) == "candidates" {
						top = tokenList(&r)
					} else {
						r.Skip()
					}
				}
				tops = append(tops, top)
			}
		default:
			r.Skip()
		}
	}
	for i := range min(len(tops), len(out.Content)) {
		out.Content[i].TopLogprobs = tops[i]
	}
	return out
}

func tokenList(r *jsonx.Reader) []providers.TokenLogprob {
	var list []providers.TokenLogprob
	for r.Array(); r.NextElem(); {
		var t providers.TokenLogprob
		for r.Object(); r.NextKey(); {
			switch string(r.Key()) {
			case "token":
				t.Token = r.String()
			case "logProbability":
				t.Logprob = r.Float()
			default:
				r.Skip()
			}
		}
		list = append(list, t)
	}
	return list
}

// idAlphabet has 62 characters, so that an id is short and needs no escaping.
const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// randomID returns 24 random characters.
func randomID() string {
	var id [24]byte
	for n := 0; n < len(id); {
		var raw [32]byte
		_, _ = rand.Read(raw[:]) // never fails
		for _, b := range raw {
			if b < 248 && n < len(id) { // 4 × 62: no character is likelier
				id[n] = idAlphabet[b%62]
				n++
			}
		}
	}
	return string(id[:])
}

// snake turns lowerCamelCase into snake_case.
func snake(s string) string {
	var b strings.Builder
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
