package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	llama4   = "@vx/meta.llama-4-maverick-17b-128e-instruct-maas"
	mistral3 = "@vx/mistralai.mistral-medium-3"
)

// tour is who takes the turns of a conversation.
var tour = []string{flash38, opus46, flash38, llama4, mistral3, haiku45, flash38, opus46}

// turn asks a model, runs the tool for each city, and has it sum up.
func (s *stage) turn(t *testing.T, streamed bool, params *anthropic.MessageNewParams, model, cities string) {
	t.Helper()
	params.Model = model
	params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather in "+cities+"?")))
	for i := range 2 {
		got, warnings := s.answer(t, streamed, *params)
		if model == opus46 || model == haiku45 {
			if diff := cmp.Diff(thinkingOf(params.Messages), s.thinking(t)); diff != "" {
				t.Errorf("%s: thinking (-want +got):\n%s", model, diff)
			}
		}
		if n := len(callsOf(got)); (n > 0) != (i == 0) || strings.Contains(warnings, "signature_missing") {
			t.Fatalf("%s: answer %d has %d calls, warnings %s", model, i+1, n, warnings)
		}
		params.Messages = append(params.Messages, got.ToParam())
		if results := resultsFor(got); results != nil {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
		}
	}
}

// resultsFor answers the calls of a message.
func resultsFor(m *anthropic.Message) (results []anthropic.ContentBlockParamUnion) {
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			results = append(results, anthropic.NewToolResultBlock(b.ID, "sunny", false))
		}
	}
	return results
}

// One conversation goes through all families. What the client sends back as it
// came is enough for each of them to find its own signatures again, though the
// gateway remembers none.
func TestFamiliesTakeTurns(t *testing.T) {
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t, gateway.WithSignatureMemory(gateway.SignatureMemory{Off: true}))
		params := askWeather("", "")
		params.Messages, params.Thinking = nil, byBudget()
		var want []string
		for i, model := range tour {
			cities := []string{"Paris", "Rome"}[:1+i%2]
			s.turn(t, streamed, &params, model, strings.Join(cities, " and "))
			for j, what := range append(cities, "text") {
				if model == flash38 && (j == 0 || what == "text") { // of parallel calls, the first is signed
					what += " signed"
				}
				want = append(want, what)
			}
		}
		params.Model = flash38
		params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock("Thank you.")))
		s.answer(t, streamed, params)
		if diff := cmp.Diff(want, unsplit(s.signatures(t))); diff != "" {
			t.Errorf("signatures (-want +got):\n%s", diff)
		}
		if n := s.platform.SentinelUses(); n != 0 {
			t.Errorf("%d sentinels, want none", n)
		}
	})
}

// thinkingOf lists the thinking of Claude models in the client's conversation.
// That of other models has no signature, or one with a mark of the gateway's.
func thinkingOf(list []anthropic.MessageParam) (thoughts []string) {
	for _, m := range list {
		for _, b := range m.Content {
			if b.OfThinking != nil && b.OfThinking.Signature == vertextest.ClaudeSignature(b.OfThinking.Thinking) {
				thoughts = append(thoughts, b.OfThinking.Thinking+" "+b.OfThinking.Signature)
			}
		}
	}
	return thoughts
}

// thinking lists the thinking that a Claude model was sent last.
func (s *stage) thinking(t *testing.T) (thoughts []string) {
	t.Helper()
	var body struct {
		Messages []struct {
			Content []struct{ Type, Thinking, Signature string }
		}
	}
	s.sent(t, &body)
	for _, m := range body.Messages {
		for _, b := range m.Content {
			if b.Type == "thinking" {
				thoughts = append(thoughts, b.Thinking+" "+b.Signature)
			}
		}
	}
	return thoughts
}

// A turn that one family begins is ended by another. A call that no Gemini made
// is signed by the sentinel, and nothing is refused.
func TestFamiliesTakeOverWithinATurn(t *testing.T) {
	bothWays(t, func(t *testing.T, streamed bool) {
		s := start(t)
		params := askWeather("", "What is the weather?")
		params.Thinking = byBudget()
		for i := range 2 * len(tour) {
			params.Model = tour[i%len(tour)]
			s.platform.Script(step{cities: []string{fmt.Sprint("City ", i), "Rome"}}.reply())
			got, _ := s.answer(t, streamed, params)
			if calls := callsOf(got); len(calls) != 2 || !json.Valid([]byte(strings.TrimPrefix(calls[0], "get_weather "))) {
				t.Fatalf("%s calls %q", params.Model, calls)
			}
			params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(resultsFor(got)...))
		}
		if n := len(s.platform.Requests()); n != 2*len(tour) {
			t.Errorf("%d requests, want %d", n, 2*len(tour))
		}
	})
}
