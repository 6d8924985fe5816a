package gatewayotel

import (
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// The modalities of tokens.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-token-metrics.md
const (
	modalityText    = "text"
	modalityAudio   = "audio"
	modalityImage   = "image"
	modalityUnknown = "unknown"
)

// split is a count of tokens by modality. Its members add up to the count.
type split struct{ text, audio, image, unknown int64 }

// splitOf breaks a count down, as far as the platform did. One that does not add up
// is not broken down.
func splitOf(total, audio int64, extra providers.Extra) split {
	s := split{text: member(extra, "text_tokens"), audio: audio, image: member(extra, "image_tokens")}
	s.unknown = total - s.text - s.audio - s.image
	if s.unknown < 0 || s.text < 0 || s.audio < 0 || s.image < 0 {
		return split{unknown: total}
	}
	return s
}

func inputOf(u *providers.Usage) split {
	return splitOf(u.PromptTokens, u.PromptTokensDetails.AudioTokens, u.PromptTokensDetails.Extra)
}

func outputOf(u *providers.Usage) split {
	return splitOf(u.CompletionTokens, u.CompletionTokensDetails.AudioTokens, u.CompletionTokensDetails.Extra)
}

// member is a counter of the platform's own, 0 when there is none.
func member(e providers.Extra, name string) int64 {
	raw, ok := e.Get(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// written are the tokens that went into the platform's context cache.
func written(u *providers.Usage) int64 { return member(u.Extra, "cache_creation_input_tokens") }

// usage adds what the answer cost.
func (o *Observer) usage(l *list, u *providers.Usage) {
	*l = append(*l, keyInputTokens.Int64(u.PromptTokens))
	if u.CompletionTokens > 0 || u.TotalTokens > u.PromptTokens {
		*l = append(*l, keyOutputTokens.Int64(u.CompletionTokens))
	}
	l.count(keyCacheRead, u.PromptTokensDetails.CachedTokens)
	if o.opts.Conventions.latest() {
		l.count(keyCacheWrite, written(u))
	}
	if o.opts.Conventions.former() {
		l.count(keyCacheCreation, written(u))
	}
	l.count(keyReasoningOut, u.CompletionTokensDetails.ReasoningTokens)
	in, out := inputOf(u), outputOf(u)
	l.count(keyTextInput, in.text)
	l.count(keyAudioInput, in.audio)
	l.count(keyImageInput, in.image)
	l.count(keyTextOutput, out.text)
	l.count(keyAudioOutput, out.audio)
	l.count(keyImageOutput, out.image)
}
