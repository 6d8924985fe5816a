package messages

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// stopReasons maps finish reasons to those of the schema.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
var stopReasons = map[string]string{
	providers.FinishStop:          "end_turn",
	providers.FinishLength:        "max_tokens",
	providers.FinishToolCalls:     "tool_use",
	providers.FinishContentFilter: "refusal",
}

// nativeReasons are words that go as they are: a Claude model gave them.
var nativeReasons = []string{
	"end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded", "compaction",
}

// stopMembers are the members of an answer's end that a Claude model gives
// beside its reason.
var stopMembers = []string{"stop_details", "container", "context_management"}

func (a *answer) stopReason() string {
	if len(a.refusal) > 0 {
		return "refusal"
	}
	if slices.Contains(nativeReasons, a.native) {
		return a.native
	}
	if reason := stopReasons[a.finish]; reason != "" {
		return reason
	}
	return "end_turn"
}

// writeStop writes why the answer ended.
func (a *answer) writeStop(w *jsonx.Writer) {
	w.Key("stop_reason")
	w.String(a.stopReason())
	w.Key("stop_sequence")
	sequence, _ := a.extra.Get("stop_sequence")
	w.Raw(sequence)
	for _, name := range stopMembers {
		if raw, ok := a.extra.Get(name); ok {
			w.Key(name)
			w.Raw(raw)
		}
	}
}

// nativeUsage are counters that go as they are: a Claude model gave them.
var nativeUsage = []string{"cache_creation", "output_tokens_details", "server_tool_use", "service_tier", "inference_geo", "speed", "iterations"}

// writeUsage writes the tokens. The schema counts the prompt without what came
// from a cache or went there.
func writeUsage(w *jsonx.Writer, u *providers.Usage) {
	if u == nil {
		u = new(providers.Usage)
	}
	var created int64
	if raw, ok := u.Extra.Get("cache_creation_input_tokens"); ok {
		r := jsonx.NewReader(raw)
		created = r.Int()
	}
	w.BeginObject()
	w.Key("input_tokens")
	w.Int(max(0, u.PromptTokens-u.PromptTokensDetails.CachedTokens-created))
	w.Key("cache_creation_input_tokens")
	w.Int(created)
	w.Key("cache_read_input_tokens")
	w.Int(u.PromptTokensDetails.CachedTokens)
	w.Key("output_tokens")
	w.Int(u.CompletionTokens)
	detailed := false
	for _, name := range nativeUsage {
		if raw, ok := u.Extra.Get(name); ok {
			w.Key(name)
			w.Raw(raw)
			detailed = detailed || name == "output_tokens_details"
		}
	}
	if n := u.CompletionTokensDetails.ReasoningTokens; n > 0 && !detailed {
		w.Key("output_tokens_details")
		w.BeginObject()
		w.Key("thinking_tokens")
		w.Int(n)
		w.EndObject()
	}
	w.EndObject()
}
