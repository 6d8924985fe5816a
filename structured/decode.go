package structured

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers"
)

// Decode returns the T that the answer's first choice holds. It takes whole
// texts alone: an answer that was cut, held back, or calls tools is an error,
// whatever text it has. The package documentation lists the errors.
func (s *Shape[T]) Decode(answer *gateway.ChatCompletion) (T, error) {
	var none T
	if answer == nil {
		return none, invalid("answer", "the answer is nil")
	}
	value := none
	text, err := answerText(answer)
	if err == nil {
		value, err = s.DecodeText(text)
	}
	if e, ok := errors.AsType[*gateway.Error](err); ok && e.Sent {
		e.Provider, e.RequestID = answer.Provider, answer.Meta.RequestID
	}
	return value, err
}

// answerText returns the text of an answer that ended well.
func answerText(answer *gateway.ChatCompletion) (string, error) {
	if len(answer.Choices) == 0 {
		return "", failed(gateway.ErrEmptyResponse, "the answer has no choice")
	}
	choice := &answer.Choices[0]
	switch {
	case choice.FinishReason == providers.FinishContentFilter:
		return "", failed(gateway.ErrContentFilter, "the platform held the answer back")
	case choice.FinishReason == providers.FinishLength:
		return "", failed(gateway.ErrBadResponse, "the answer was cut at the token limit: raise max_completion_tokens, which thinking counts against too")
	case len(choice.Message.ToolCalls) > 0:
		return "", failed(gateway.ErrBadResponse, "the model calls tools and has not answered yet: send their results first")
	}
	text := choice.Message.Content.Text()
	if text == "" {
		return "", failed(gateway.ErrEmptyResponse, "the answer has no text")
	}
	return text, nil
}

// DecodeText returns the T that the JSON text holds. Only white space may
// surround the value.
func (s *Shape[T]) DecodeText(text string) (T, error) {
	var none, value T
	if s.ready == nil {
		return none, unmade()
	}
	raw := []byte(text)
	if m := s.check(raw); m != nil {
		return none, m.failure()
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return none, misfit(reflect.TypeFor[T](), raw, "").failure()
	}
	return value, nil
}

// Arguments returns the arguments of a call; none at all are {}.
func (s *Shape[T]) Arguments(call gateway.ToolCall) (T, error) {
	text := call.Function.Arguments
	if text == "" {
		text = "{}"
	}
	return s.DecodeText(text)
}

// check holds the text against the schema.
func (s *Shape[T]) check(raw []byte) *MismatchError {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		problem := "has a number that is too large"
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			problem = "is not JSON: see byte " + strconv.FormatInt(e.Offset, 10) + " of " + strconv.Itoa(len(raw))
		}
		return &MismatchError{Problem: problem}
	}
	if s.ready.Validate(value) == nil {
		return nil
	}
	return locate(s.root, value, "")
}

// failed returns an error about an answer, which was paid for.
func failed(code gateway.Code, message string) error {
	return &gateway.Error{Code: code, Message: message, Sent: true}
}
