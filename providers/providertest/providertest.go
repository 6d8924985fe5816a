// Package providertest is the suite that every provider must pass. A provider's
// own tests run it against a stub of its platform:
//
//	func TestProvider(t *testing.T) {
//		providertest.Run(t, func(t *testing.T) (providers.Provider, *providers.Target) {
//			stub := newStub(t)
//			return myprovider.New(stub), &providers.Target{Provider: "mine", Model: "model-1"}
//		})
//	}
//
// # The platform behind
//
// The suite asks little of the stub, and nothing that a platform would not do:
//
//   - A question is answered with text.
//   - A request whose tool choice demands a call is answered with at least one
//     call of the function that it declares, [ToolName].
//   - Results of these calls are answered with text. A platform that signs its
//     calls should refuse them when a signature is missing or altered.
//   - The model [UnknownModel] is refused.
//   - Requests that are the same are answered in the same shape.
package providertest

import (
	"context"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

const (
	// ToolName is the function that the suite declares. It takes one string,
	// "city".
	ToolName = "get_weather"
	// UnknownModel is a model that no platform has.
	UnknownModel = "no-such-model-1"
)

// Factory makes the provider that is tested and the target to test it with,
// whose Model must be one that can call tools. It is called once for each test
// of the suite, and cleans up with t.Cleanup.
type Factory func(t *testing.T) (providers.Provider, *providers.Target)

// Run runs the suite. Each of its tests is a subtest of t.
func Run(t *testing.T, newProvider Factory) {
	t.Helper()
	for _, check := range []struct {
		name string
		run  func(*subject)
	}{
		{"a question is answered with text", (*subject).text},
		{"a stream is well formed", (*subject).stream},
		{"a stream has the shape of the whole answer", (*subject).sameShape},
		{"tools round trip through stored messages", (*subject).tools},
		{"streamed tools round trip through stored messages", (*subject).streamedTools},
		{"a refusal is an error that says who refused", (*subject).refusal},
		{"a request that is not for sending is refused", (*subject).canceledBefore},
		{"a deadline that has passed is a timeout", (*subject).deadline},
		{"leaving a stream ends it", (*subject).canceledWithin},
		{"a stream closes twice", (*subject).closedTwice},
		{"request and target stay as they were", (*subject).untouched},
		{"calls run side by side", (*subject).concurrent},
	} {
		t.Run(check.name, func(t *testing.T) {
			p, target := newProvider(t)
			check.run(&subject{T: t, provider: p, target: target})
		})
	}
}

// subject is the provider in one test.
type subject struct {
	*testing.T

	provider providers.Provider
	target   *providers.Target
}

// question is a request for text.
func (s *subject) question() *providers.ChatCompletionRequest {
	return &providers.ChatCompletionRequest{
		Model: s.target.Model,
		Messages: []providers.Message{
			providers.SystemMessage("Answer in one sentence."),
			providers.UserMessage("Is anybody there?"),
		},
	}
}

// errand is a request that demands a call.
func (s *subject) errand() *providers.ChatCompletionRequest {
	return &providers.ChatCompletionRequest{
		Model:    s.target.Model,
		Messages: []providers.Message{providers.UserMessage("What is the weather in Paris?")},
		Tools: []providers.Tool{providers.FunctionTool(ToolName, "Returns the weather in a city.",
			[]byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`))},
		ToolChoice: &providers.ToolChoice{Mode: "required"},
	}
}

// whole asks for the whole answer, which must come.
func (s *subject) whole(req *providers.ChatCompletionRequest) *providers.ChatCompletion {
	s.Helper()
	out, err := s.provider.ChatCompletion(s.Context(), s.target, req)
	if err != nil {
		s.Fatalf("ChatCompletion: %v", err)
	}
	return out
}

// open opens a stream, which must begin.
func (s *subject) open(ctx context.Context, req *providers.ChatCompletionRequest) providers.ChunkReader {
	s.Helper()
	r, err := s.provider.ChatCompletionStream(ctx, s.target, req)
	if err != nil {
		s.Fatalf("ChatCompletionStream: %v", err)
	}
	s.Cleanup(func() { _ = r.Close() })
	return r
}

// folded streams an answer and returns its fold.
func (s *subject) folded(req *providers.ChatCompletionRequest) *providers.ChatCompletion {
	s.Helper()
	var acc providers.Accumulator
	for _, c := range s.read(s.open(s.Context(), req)) {
		if err := acc.Add(c); err != nil {
			s.Fatalf("the chunks do not fold: %v", err)
		}
	}
	return acc.Completion()
}
