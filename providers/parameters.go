package providers

import (
	"context"
	"time"
)

// Parameters is what a request asked for beside its content, for observers. It is
// what the caller gave: a config may change it for a target, and a warning says
// where a model can't take it. A zero or nil member was not given.
type Parameters struct {
	// Schema says that the request came in another schema than that of its
	// operation: one of SchemaTextCompletion and the others.
	Schema string
	// MaxTokens caps the answer, TopK limits sampling, Choices is the number of
	// answers that were asked for, and Dimensions the length of vectors.
	MaxTokens, TopK, Choices, Dimensions int
	// Temperature, TopP and the penalties are those of sampling.
	Temperature, TopP, PresencePenalty, FrequencyPenalty *float64
	// Seed makes sampling repeatable.
	Seed *int64
	// Stop holds the sequences that end the answer.
	Stop []string
	// ReasoningEffort is the word for how much the model thinks.
	ReasoningEffort string
	// OutputType is what was asked for: "text", "json", "image" or "speech".
	OutputType string
	// EncodingFormat is that of vectors.
	EncodingFormat string
}

// The schemas that requests are told apart by where their operation does not.
const (
	SchemaTextCompletion  = "text_completion"  // POST /v1/completions, asked as a chat
	SchemaGenerateContent = "generate_content" // the Gemini API's own, passed through
)

// ChunkObserver is an [Observer] that is told of the chunks of streams too.
type ChunkObserver interface {
	Observer
	// ChunkReceived is told of each chunk after the first one, with the time since
	// the one before it. The time that the caller took between them is part of it,
	// since nothing is read ahead. The record is what is known by then, and must not
	// be kept.
	ChunkReceived(ctx context.Context, r *Record, since time.Duration)
}
