package engine

import "testing"

func TestClaudeFinishReasons(t *testing.T) {
	for word, want := range map[string][2]string{ // without a call and with one
		"":                              {"stop", "tool_calls"},
		"end_turn":                      {"stop", "tool_calls"},
		"tool_use":                      {"stop", "tool_calls"},
		"stop_sequence":                 {"stop", "tool_calls"},
		"pause_turn":                    {"stop", "tool_calls"},
		"compaction":                    {"stop", "tool_calls"},
		"max_tokens":                    {"length", "length"},
		"model_context_window_exceeded": {"length", "length"},
		"refusal":                       {"content_filter", "content_filter"},
		"a_reason_of_tomorrow":          {"stop", "stop"},
	} {
		for calls := range 2 {
			d := claudeDecoder{calls: calls, stop: claudeStop{reason: word}}
			if got := d.finishReason(); got != want[calls] {
				t.Errorf("%q with %d calls is %q, want %q", word, calls, got, want[calls])
			}
		}
	}
}
