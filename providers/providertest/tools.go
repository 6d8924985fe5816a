package providertest

import (
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

func (s *subject) tools() { s.roundTrip(s.whole) }

func (s *subject) streamedTools() { s.roundTrip(s.folded) }

// roundTrip has a function called, stores the conversation as JSON and goes on
// from there, as an application with a database does. It goes around twice, so
// that the signatures of a former turn are sent too.
func (s *subject) roundTrip(ask func(*providers.ChatCompletionRequest) *providers.ChatCompletion) {
	s.Helper()
	errand := s.errand()
	var history []providers.Message
	for range 2 {
		req := *errand
		req.Messages = append(history, errand.Messages...)
		out := ask(&req)
		s.envelope(out)
		s.calls(out)
		req.Messages = append(req.Messages, s.stored(out.Choices[0].Message))
		for _, c := range out.Choices[0].Message.ToolCalls {
			req.Messages = append(req.Messages, s.stored(providers.ToolMessage(c.ID, `{"celsius":20}`)))
		}
		req.ToolChoice = nil
		if out = ask(&req); out.Text() == "" {
			s.Error("the results are not answered with text")
		}
		history = append(req.Messages, s.stored(out.Choices[0].Message))
	}
}

// calls checks the calls of an answer to an errand.
func (s *subject) calls(out *providers.ChatCompletion) {
	s.Helper()
	choice := &out.Choices[0]
	if len(choice.Message.ToolCalls) == 0 {
		s.Fatalf("no tool was called; the answer says %q", out.Text())
	}
	if choice.FinishReason != providers.FinishToolCalls {
		s.Errorf("finish reason %q, want tool_calls", choice.FinishReason)
	}
	var ids []string
	for i, c := range choice.Message.ToolCalls {
		if c.ID == "" || len(c.ID) > 64 || slices.Contains(ids, c.ID) {
			s.Errorf("call %d has the id %q, want one of its own with at most 64 characters", i, c.ID)
		}
		ids = append(ids, c.ID)
		if c.Type != "function" || c.Function.Name != ToolName {
			s.Errorf("call %d is of the %s %q, want %s", i, c.Type, c.Function.Name, ToolName)
		}
		var object providers.Extra
		if err := object.UnmarshalJSON([]byte(c.Function.Arguments)); err != nil || object == nil {
			s.Errorf("call %d has the arguments %q, want an object", i, c.Function.Arguments)
		}
	}
}

// stored returns the message after a way through JSON, which must not change it.
func (s *subject) stored(m providers.Message) providers.Message {
	s.Helper()
	first, err := m.MarshalJSON()
	if err != nil {
		s.Fatalf("store: %v", err)
	}
	var out providers.Message
	if err := out.UnmarshalJSON(first); err != nil {
		s.Fatalf("load: %v", err)
	}
	again, err := out.MarshalJSON()
	if err != nil || string(again) != string(first) {
		s.Errorf("storing changes the message, %v:\n%s\n%s", err, first, again)
	}
	return out
}
