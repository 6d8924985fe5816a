package vertex_test

import (
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// okMessage is the least that is an answer of a Claude model.
const okMessage = `{"id":"msg_vrtx_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"ok"}],` +
	`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`

// claudeSends returns what goes out to a Claude model for the request.
func claudeSends(t *testing.T, q *providers.ChatCompletionRequest) (*player, []providers.Warning, error) {
	t.Helper()
	rt := plays([]byte(okMessage))
	answer, err := newProvider(t, rt).ChatCompletion(t.Context(), target(q.Model), q)
	if err != nil {
		return rt, nil, err
	}
	return rt, answer.Meta.Warnings, nil
}
