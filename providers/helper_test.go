package providers_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// coder is a pointer to a schema type.
type coder[T any] interface {
	*T
	json.Unmarshaler
}

// recode decodes a T and encodes it again, without encoding/json in between,
// which would compact what must stay byte for byte.
func recode[T json.Marshaler, P coder[T]](data []byte) ([]byte, error) {
	var v T
	if err := P(&v).UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return v.MarshalJSON()
}

// recoder is recode for one type.
type recoder func([]byte) ([]byte, error)

// recoders has every schema type by the name of its Go type.
func recoders() map[string]recoder {
	return map[string]recoder{
		"ChatCompletionRequest":   recode[providers.ChatCompletionRequest],
		"StreamOptions":           recode[providers.StreamOptions],
		"Thinking":                recode[providers.Thinking],
		"ResponseFormat":          recode[providers.ResponseFormat],
		"JSONSchema":              recode[providers.JSONSchema],
		"Message":                 recode[providers.Message],
		"Content":                 recode[providers.Content],
		"ContentPart":             recode[providers.ContentPart],
		"ImageURL":                recode[providers.ImageURL],
		"InputAudio":              recode[providers.InputAudio],
		"File":                    recode[providers.File],
		"Tool":                    recode[providers.Tool],
		"FunctionDefinition":      recode[providers.FunctionDefinition],
		"ToolCall":                recode[providers.ToolCall],
		"FunctionCall":            recode[providers.FunctionCall],
		"ToolCallDelta":           recode[providers.ToolCallDelta],
		"ToolChoice":              recode[providers.ToolChoice],
		"ChatCompletion":          recode[providers.ChatCompletion],
		"Choice":                  recode[providers.Choice],
		"Logprobs":                recode[providers.Logprobs],
		"TokenLogprob":            recode[providers.TokenLogprob],
		"ChatCompletionChunk":     recode[providers.ChatCompletionChunk],
		"ChunkChoice":             recode[providers.ChunkChoice],
		"Delta":                   recode[providers.Delta],
		"ContentBlockDelta":       recode[providers.ContentBlockDelta],
		"Audio":                   recode[providers.Audio],
		"Annotation":              recode[providers.Annotation],
		"URLCitation":             recode[providers.URLCitation],
		"Usage":                   recode[providers.Usage],
		"PromptTokensDetails":     recode[providers.PromptTokensDetails],
		"CompletionTokensDetails": recode[providers.CompletionTokensDetails],
		"EmbeddingRequest":        recode[providers.EmbeddingRequest],
		"EmbeddingInput":          recode[providers.EmbeddingInput],
		"EmbeddingItem":           recode[providers.EmbeddingItem],
		"EmbeddingMedia":          recode[providers.EmbeddingMedia],
		"EmbeddingResponse":       recode[providers.EmbeddingResponse],
		"EmbeddingUsage":          recode[providers.EmbeddingUsage],
		"ImageRequest":            recode[providers.ImageRequest],
		"ImageInput":              recode[providers.ImageInput],
		"ImageResponse":           recode[providers.ImageResponse],
		"Image":                   recode[providers.Image],
		"ImageUsage":              recode[providers.ImageUsage],
		"SpeechRequest":           recode[providers.SpeechRequest],
		"RerankRequest":           recode[providers.RerankRequest],
		"RerankDocument":          recode[providers.RerankDocument],
		"RerankResponse":          recode[providers.RerankResponse],
		"RerankResult":            recode[providers.RerankResult],
	}
}

func decode[T any, P coder[T]](t *testing.T, data string) T {
	t.Helper()
	var v T
	if err := P(&v).UnmarshalJSON([]byte(data)); err != nil {
		t.Fatalf("decode %s: %v", data, err)
	}
	return v
}

func encode(t *testing.T, v json.Marshaler) string {
	t.Helper()
	data, err := v.MarshalJSON()
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(data)
}

func wantEqual(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Short names for what the tests decode most.
type (
	request    = providers.ChatCompletionRequest
	message    = providers.Message
	completion = providers.ChatCompletion
	chunk      = providers.ChatCompletionChunk
)
