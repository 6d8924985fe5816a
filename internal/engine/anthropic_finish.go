package engine

import (
	"bytes"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/anthropic"
	"github.com/b650d4bf/gateway/providers"
)

// claudeReasons maps the platform's stop reasons; every word that is not here is
// "stop". Where it is "", the answer ended well: that is "tool_calls" when there is
// a call, else "stop".
//
// Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
var claudeReasons = map[string]string{
	"":                              "",
	"end_turn":                      "",
	"tool_use":                      "",
	"stop_sequence":                 "",
	"pause_turn":                    "",
	"compaction":                    "",
	"max_tokens":                    providers.FinishLength,
	"model_context_window_exceeded": providers.FinishLength,
	"refusal":                       providers.FinishContentFilter,
}

// claudeStop is what is given out at the end.
type claudeStop struct {
	reason string
	native [4][]byte // by stopMembers
}

// stopMembers are the members that ride along in the platform's own form.
var stopMembers = [4]string{"stop_sequence", "stop_details", "container", "context_management"}

// note keeps what was said of the end.
func (s *claudeStop) note(from *anthropic.Stop) {
	if from.Reason != "" {
		s.reason = from.Reason
	}
	for i, raw := range [4][]byte{from.Sequence, from.Details, from.Container, from.ContextManagement} {
		if len(raw) > 0 {
			s.native[i] = jsonx.Compact(s.native[i][:0], raw)
		}
	}
}

func (s *claudeStop) extra() providers.Extra {
	var extra providers.Extra
	for i, raw := range s.native {
		if len(raw) > 0 {
			extra = jsonx.AppendMember(extra, stopMembers[i], raw)
		}
	}
	return extra
}

// end gives out the finish reason, after what is left of open blocks.
func (d *claudeDecoder) end() error {
	if !d.known {
		return answerError(providers.ErrEmptyResponse, "the platform answered with nothing")
	}
	for len(d.open) > 0 {
		d.endBlock(&d.open[0])
	}
	c := d.choice()
	c.FinishReason = d.finishReason()
	c.NativeFinishReason = d.stop.reason
	c.Extra = d.stop.extra()
	d.done = true
	return nil
}

func (d *claudeDecoder) finishReason() string {
	f, known := claudeReasons[d.stop.reason]
	switch {
	case f != "":
		return f
	case known && d.calls > 0:
		return providers.FinishToolCalls
	}
	return providers.FinishStop
}

// count adds the usage: to the only chunk of a whole answer, or as a last chunk
// of its own.
func (d *claudeDecoder) count() {
	if !d.usage.Counted {
		return
	}
	d.usage.Counted = false // once
	if !d.whole {
		d.out = append(d.out, &d.chunk().chunk)
	}
	d.out[len(d.out)-1].Usage = claudeUsage(&d.usage)
}

// counted returns the usage that the message began with.
func (d *claudeDecoder) counted() *providers.Usage {
	if !d.usage.Counted {
		return nil
	}
	return claudeUsage(&d.usage)
}

// finish ends the answer. A stream that has told its stop reason is whole: what
// would follow says nothing more.
func (d *claudeDecoder) finish() ([]*providers.ChatCompletionChunk, error) {
	d.out = d.outRoom[:0]
	if d.done {
		return nil, nil
	}
	if d.whole {
		return nil, answerError(providers.ErrBadResponse, "the answer is not a Message")
	}
	if d.stop.reason == "" {
		return nil, cutError()
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	d.out = append(d.out, &d.now.chunk)
	d.now = nil
	d.count()
	return d.out, nil
}

// claudeUsage counts as the OpenAI schema does: the prompt includes what was
// read from the cache and written to it.
func claudeUsage(u *anthropic.Usage) *providers.Usage {
	out := &providers.Usage{
		PromptTokens:     u.Input + u.CacheRead + u.CacheCreation,
		CompletionTokens: u.Output,
	}
	out.TotalTokens = out.PromptTokens + out.CompletionTokens
	out.PromptTokensDetails.CachedTokens = u.CacheRead
	out.CompletionTokensDetails.ReasoningTokens = u.Thinking
	for i, raw := range u.Native {
		if len(raw) > 0 && !bytes.Equal(raw, []byte("0")) {
			out.Extra = jsonx.AppendMember(out.Extra, anthropic.NativeUsage[i], jsonx.Compact(nil, raw))
		}
	}
	return out
}
