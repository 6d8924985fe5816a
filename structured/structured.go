package structured

import (
	"context"
	"encoding/json"

	"github.com/b650d4bf/gateway"
)

// Schema returns the JSON Schema of T.
func Schema[T any]() (json.RawMessage, error) {
	s, err := Of[T]()
	if err != nil {
		return nil, err
	}
	return s.Schema(), nil
}

// Tool declares a function whose arguments are a T, a struct or a map. See
// [Shape.Tool].
func Tool[T any](name, description string) (gateway.Tool, error) {
	s, err := Of[T]()
	if err != nil {
		return gateway.Tool{}, err
	}
	return s.Tool(name, description)
}

// Format returns the response format that asks for a T. See [Shape.Format].
func Format[T any](name string) (*gateway.ResponseFormat, error) {
	s, err := Of[T]()
	if err != nil {
		return nil, err
	}
	return s.Format(name), nil
}

// Create asks for a T and decodes the answer. See [Shape.Create].
func Create[T any](ctx context.Context, client *gateway.Client, req *gateway.ChatCompletionRequest, opts ...gateway.RequestOption) (T, *gateway.ChatCompletion, error) {
	s, err := Of[T]()
	if err != nil {
		var none T
		return none, nil, err
	}
	return s.Create(ctx, client, req, opts...)
}

// Decode returns the T that the answer's first choice holds. See [Shape.Decode].
func Decode[T any](answer *gateway.ChatCompletion) (T, error) {
	s, err := Of[T]()
	if err != nil {
		var none T
		return none, err
	}
	return s.Decode(answer)
}

// DecodeText returns the T that the JSON text holds. See [Shape.DecodeText].
func DecodeText[T any](text string) (T, error) {
	s, err := Of[T]()
	if err != nil {
		var none T
		return none, err
	}
	return s.DecodeText(text)
}

// Arguments returns the arguments of a call. See [Shape.Arguments].
func Arguments[T any](call gateway.ToolCall) (T, error) {
	s, err := Of[T]()
	if err != nil {
		var none T
		return none, err
	}
	return s.Arguments(call)
}
