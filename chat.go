package gateway

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// ChatService groups the chat operations.
type ChatService struct {
	// Completions makes chat completions.
	Completions CompletionsService
}

// CompletionsService makes chat completions. It is safe for concurrent use.
type CompletionsService struct{ client *Client }

// Create sends the conversation and returns the whole answer. The caller keeps
// req, which is not changed. A request with Stream set is refused: use
// CreateStream.
func (s *CompletionsService) Create(ctx context.Context, req *ChatCompletionRequest, opts ...RequestOption) (*ChatCompletion, error) {
	call, err := s.prepare(req, opts)
	if err != nil {
		return nil, err
	}
	if req.Stream {
		return nil, providers.Invalid("stream", "Create returns the whole answer: use CreateStream for a stream")
	}
	return s.client.engine.Chat(ctx, s.client.settings, call, req)
}

// CreateStream sends the conversation and returns once the answer has begun, so
// that a refusal is an error here and not in the stream. The stream must be
// read to its end or closed. The caller keeps req, which is not changed.
func (s *CompletionsService) CreateStream(ctx context.Context, req *ChatCompletionRequest, opts ...RequestOption) (*ChatStream, error) {
	call, err := s.prepare(req, opts)
	if err != nil {
		return nil, err
	}
	stream, err := s.client.engine.ChatStream(ctx, s.client.settings, call, req)
	if err != nil {
		return nil, err
	}
	return &ChatStream{stream: stream}, nil
}

// CountTokens counts the tokens of the prompt that req makes, without asking for
// an answer. The Meta's warnings name what was not counted. The caller keeps
// req, which is not changed; Stream does not matter.
func (s *CompletionsService) CountTokens(ctx context.Context, req *ChatCompletionRequest, opts ...RequestOption) (*TokenCount, error) {
	call, err := s.prepare(req, opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.CountTokens(ctx, s.client.settings, call, req)
}

func (s *CompletionsService) prepare(req *ChatCompletionRequest, opts []RequestOption) (*pipeline.Settings, error) {
	switch {
	case s.client == nil:
		return nil, errNoClient()
	case req == nil:
		return nil, providers.Invalid("request", "the request is nil")
	}
	return s.client.call(opts)
}

func errNoClient() error {
	return invalidOption("client", "the service belongs to no client: use gateway.New")
}

// ChatStream is a streamed answer. Range over Chunks, or pull with Recv, or take
// the whole with Collect. It belongs to one goroutine at a time; only Close may
// be called from any.
type ChatStream struct {
	stream *pipeline.Stream
}

// Recv returns the next chunk, io.EOF after the last one of a whole answer, or
// an *[Error]. After the first error each further call repeats it.
func (s *ChatStream) Recv() (*ChatCompletionChunk, error) { return s.stream.Recv() }

// Chunks returns the chunks for a range loop. It can be ranged over once. An
// error is the last element; leaving the loop closes the stream.
//
//	for chunk, err := range stream.Chunks() {
//		if err != nil { … }
//	}
func (s *ChatStream) Chunks() iter.Seq2[*ChatCompletionChunk, error] {
	return func(yield func(*ChatCompletionChunk, error) bool) {
		defer func() { _ = s.Close() }()
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Collect reads the stream to its end and returns the whole answer, the same
// that Create would have returned.
func (s *ChatStream) Collect() (*ChatCompletion, error) { return s.stream.Collect() }

// Meta says what the gateway did for the answer. It is complete at the stream's
// end; the warnings are there from the beginning, but for those of guards that
// observe the answer.
func (s *ChatStream) Meta() Meta { return s.stream.Meta() }

// Close ends the stream and releases its connection. It is idempotent, and
// needed only when the stream was not read to its end.
func (s *ChatStream) Close() error { return s.stream.Close() }

// The schema, documented in package providers.
type (
	// ChatCompletionRequest is the body of a chat completion.
	ChatCompletionRequest = providers.ChatCompletionRequest
	// ChatCompletion is the whole answer.
	ChatCompletion = providers.ChatCompletion
	// ChatCompletionChunk is a piece of a streamed answer.
	ChatCompletionChunk = providers.ChatCompletionChunk
	// Choice is one answer of a [ChatCompletion].
	Choice = providers.Choice
	// ChunkChoice is one choice's piece of a [ChatCompletionChunk].
	ChunkChoice = providers.ChunkChoice
	// Delta is what a chunk adds to a message.
	Delta = providers.Delta
	// Message is one turn of a conversation.
	Message = providers.Message
	// Content is a message's content: absent, a string or parts.
	Content = providers.Content
	// ContentPart is one part of a content, or one block of an answer.
	ContentPart = providers.ContentPart
	// ImageURL points to media.
	ImageURL = providers.ImageURL
	// InputAudio is inline audio.
	InputAudio = providers.InputAudio
	// File is a document.
	File = providers.File
	// VideoClip says which part of a video is looked at.
	VideoClip = providers.VideoClip
	// Accumulator folds the chunks of a stream into the whole answer.
	Accumulator = providers.Accumulator
	// ContentBlockDelta is a piece of a content block.
	ContentBlockDelta = providers.ContentBlockDelta
	// Audio is a spoken answer.
	Audio = providers.Audio
	// Annotation is a remark on a message's text.
	Annotation = providers.Annotation
	// URLCitation names the source of a stretch of text.
	URLCitation = providers.URLCitation
	// Logprobs holds the log probabilities of an answer's tokens.
	Logprobs = providers.Logprobs
	// TokenLogprob is the log probability of one token.
	TokenLogprob = providers.TokenLogprob
	// Tool is a function that the model may call, or a tool of the platform.
	Tool = providers.Tool
	// FunctionDefinition declares the function of a [Tool].
	FunctionDefinition = providers.FunctionDefinition
	// ToolCall is a function call of an assistant turn.
	ToolCall = providers.ToolCall
	// FunctionCall is the called function with its arguments.
	FunctionCall = providers.FunctionCall
	// ToolCallDelta is a piece of a tool call.
	ToolCallDelta = providers.ToolCallDelta
	// ToolChoice says whether and which tool must be called.
	ToolChoice = providers.ToolChoice
	// Thinking is the reasoning setting.
	Thinking = providers.Thinking
	// Stop is a list of stop sequences.
	Stop = providers.Stop
	// StreamOptions holds what is asked of a stream.
	StreamOptions = providers.StreamOptions
	// ResponseFormat asks for JSON.
	ResponseFormat = providers.ResponseFormat
	// JSONSchema is a named JSON Schema.
	JSONSchema = providers.JSONSchema
	// Usage counts tokens.
	Usage = providers.Usage
	// Extra keeps members that the schema does not model.
	Extra = providers.Extra
)

// What the gateway says of an answer.
type (
	// Meta says what the gateway did for one answer.
	Meta = providers.Meta
	// Warning is one thing that was changed or left out.
	Warning = providers.Warning
	// Attempt is one request to one target.
	Attempt = providers.Attempt
	// Error is the one type of failure.
	Error = providers.Error
	// Code is the kind of an [Error].
	Code = providers.Code
	// Timeouts bound the phases of a call.
	Timeouts = providers.Timeouts
	// Observer is told of every call.
	Observer = providers.Observer
	// Call is what an [Observer] knows when a call starts.
	Call = providers.Call
	// Record is what an [Observer] knows when a call has ended.
	Record = providers.Record
	// Provider is what a platform of one's own implements.
	Provider = providers.Provider
)

// The kinds of errors, for errors.Is.
const (
	ErrInvalidRequest   = providers.ErrInvalidRequest
	ErrInvalidConfig    = providers.ErrInvalidConfig
	ErrProviderNotFound = providers.ErrProviderNotFound
	ErrModelNotFound    = providers.ErrModelNotFound
	ErrCacheNotFound    = providers.ErrCacheNotFound
	ErrPromptNotFound   = providers.ErrPromptNotFound
	ErrFileNotFound     = providers.ErrFileNotFound
	ErrBatchNotFound    = providers.ErrBatchNotFound
	ErrNotFound         = providers.ErrNotFound
	ErrTooLarge         = providers.ErrTooLarge
	ErrContextLength    = providers.ErrContextLength
	ErrOneToolOnly      = providers.ErrOneToolOnly
	ErrContentFilter    = providers.ErrContentFilter
	ErrGuardDenied      = providers.ErrGuardDenied
	ErrAuthentication   = providers.ErrAuthentication
	ErrPermission       = providers.ErrPermission
	ErrRateLimited      = providers.ErrRateLimited
	ErrQuotaExceeded    = providers.ErrQuotaExceeded
	ErrTimeout          = providers.ErrTimeout
	ErrCanceled         = providers.ErrCanceled
	ErrUnavailable      = providers.ErrUnavailable
	ErrServer           = providers.ErrServer
	ErrConnection       = providers.ErrConnection
	ErrStreamCut        = providers.ErrStreamCut
	ErrBadResponse      = providers.ErrBadResponse
	ErrEmptyResponse    = providers.ErrEmptyResponse
	ErrClosed           = providers.ErrClosed
)

// The roles of messages.
const (
	RoleSystem    = providers.RoleSystem
	RoleDeveloper = providers.RoleDeveloper
	RoleUser      = providers.RoleUser
	RoleAssistant = providers.RoleAssistant
	RoleTool      = providers.RoleTool
)

// The types of content parts and content blocks.
const (
	PartText             = providers.PartText
	PartImageURL         = providers.PartImageURL
	PartInputAudio       = providers.PartInputAudio
	PartFile             = providers.PartFile
	PartThinking         = providers.PartThinking
	PartRedactedThinking = providers.PartRedactedThinking
)

// The finish reasons of choices.
const (
	FinishStop          = providers.FinishStop
	FinishLength        = providers.FinishLength
	FinishToolCalls     = providers.FinishToolCalls
	FinishContentFilter = providers.FinishContentFilter
)

// The codes of warnings.
const (
	WarnUnsupported   = providers.WarnUnsupported
	WarnAdjusted      = providers.WarnAdjusted
	WarnUnknown       = providers.WarnUnknown
	WarnConflict      = providers.WarnConflict
	WarnUnknownModel  = providers.WarnUnknownModel
	WarnSignature     = providers.WarnSignature
	WarnDroppedBlock  = providers.WarnDroppedBlock
	WarnSchemaChanged = providers.WarnSchemaChanged
	WarnGuard         = providers.WarnGuard
)

// SystemMessage is a system turn; its content is a string or a list of parts.
func SystemMessage[T string | []ContentPart](content T) Message {
	return providers.SystemMessage(content)
}

// UserMessage is a user turn; its content is a string or a list of parts.
func UserMessage[T string | []ContentPart](content T) Message {
	return providers.UserMessage(content)
}

// AssistantMessage is an assistant turn; its content is a string or a list of
// parts.
func AssistantMessage[T string | []ContentPart](content T) Message {
	return providers.AssistantMessage(content)
}

// ToolMessage answers the tool call with the given id.
func ToolMessage[T string | []ContentPart](toolCallID string, result T) Message {
	return providers.ToolMessage(toolCallID, result)
}

// TextPart is a part with text.
func TextPart(text string) ContentPart { return providers.TextPart(text) }

// ImagePart is a part with media by URL: gs://, https or a data URI.
func ImagePart(url string) ContentPart { return providers.ImagePart(url) }

// MediaPart is a part with media that is sent along: an image, PDF, video, audio
// or text, with a type such as "image/png".
func MediaPart(mimeType string, data []byte) ContentPart { return providers.MediaPart(mimeType, data) }

// AudioPart is a part with audio that is sent along; the format is a short name
// such as "wav" or "mp3".
func AudioPart(format string, data []byte) ContentPart { return providers.AudioPart(format, data) }

// FilePart is a part with a document by URL: gs://, https or a data URI.
func FilePart(url string) ContentPart { return providers.FilePart(url) }

// VideoPart is a part with a video by URL: gs://, https, YouTube or a data URI.
func VideoPart(url string, clip VideoClip) ContentPart { return providers.VideoPart(url, clip) }

// FunctionTool declares a function; parameters is a JSON Schema of type object,
// or nil.
func FunctionTool(name, description string, parameters []byte) Tool {
	return providers.FunctionTool(name, description, parameters)
}

// PlatformTool is a tool that the platform runs itself, by its name: web_search,
// google_maps, url_context, code_execution and others. The options are a JSON
// object, or nil for none.
func PlatformTool(name string, options []byte) Tool { return providers.PlatformTool(name, options) }

// ChooseFunction is the tool choice that demands a call of the named function.
func ChooseFunction(name string) *ToolChoice { return providers.ChooseFunction(name) }
