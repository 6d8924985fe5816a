package providers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/b650d4bf/gateway/providers"
)

// An answer's pieces fold into the whole, calls and all.
func ExampleAccumulator() {
	var acc providers.Accumulator
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"Twenty "}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"degrees."}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
	} {
		var c providers.ChatCompletionChunk
		if err := c.UnmarshalJSON([]byte(data)); err != nil {
			fmt.Println(err)
			return
		}
		if err := acc.Add(&c); err != nil {
			fmt.Println(err)
			return
		}
	}
	out := acc.Completion()
	fmt.Println(out.Text(), out.Choices[0].FinishReason)
	// Output: Twenty degrees. stop
}

// Members that the schema does not name are kept as they are.
func ExampleExtra() {
	var m providers.Message
	if err := m.UnmarshalJSON([]byte(`{"role":"user","content":"Hi","cache_control":{"type":"ephemeral", "ttl":1.0}}`)); err != nil {
		fmt.Println(err)
		return
	}
	if err := m.Extra.Set("priority", []byte(`7`)); err != nil {
		fmt.Println(err)
		return
	}
	data, err := m.MarshalJSON()
	fmt.Println(string(data), err)
	// Output: {"role":"user","content":"Hi","cache_control":{"type":"ephemeral", "ttl":1.0},"priority":7} <nil>
}

// A code is an error to ask for, and so is the cause.
func ExampleError() {
	err := fmt.Errorf("question 7: %w", &providers.Error{
		Code: providers.ErrTimeout, Message: "no answer within 2s", Provider: "vertex-ai", Sent: true, Err: context.DeadlineExceeded,
	})
	fmt.Println(errors.Is(err, providers.ErrTimeout), errors.Is(err, context.DeadlineExceeded))
	if e, ok := errors.AsType[*providers.Error](err); ok {
		fmt.Println(e.Retryable(), e.HTTPStatus())
	}
	fmt.Println(err)
	// Output:
	// true true
	// true 504
	// question 7: timeout: vertex-ai: no answer within 2s: context deadline exceeded
}

// Mistakes are found before anything is sent.
func ExampleChatCompletionRequest_Validate() {
	req := providers.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []providers.Message{
		providers.UserMessage("What is the weather in Paris?"),
		providers.ToolMessage("call_1", `{"celsius":20}`),
	}}
	fmt.Println(req.Validate())
	// Output: invalid_request: messages[1].tool_call_id: no tool call of the assistant message before has this id: repeat the id as it was given
}
