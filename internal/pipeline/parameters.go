package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/providers"
)

// observed reports whether anybody is told of the call. What is for observers
// alone is not made without them.
func (r *recorder) observed() bool { return len(r.observers[0])+len(r.observers[1]) > 0 }

// noted has the server noted that the requests of the context go to; the note is
// nil when nobody is told.
func (r *recorder) noted(ctx context.Context) (context.Context, *served.Note) {
	if !r.observed() {
		return ctx, nil
	}
	return served.With(ctx)
}

// pacing is what is known of the pace of a stream.
type pacing struct {
	observers []providers.ChunkObserver
	first     bool      // the first chunk was given out
	at        time.Time // when the latest chunk came
}

// paced begins to watch the pace of a stream, if anybody wants that. The first
// chunk is there.
func (r *recorder) paced() {
	if !r.observed() {
		return
	}
	for _, list := range r.observers {
		for _, o := range list {
			if c, ok := o.(providers.ChunkObserver); ok {
				r.pace.observers = append(r.pace.observers, c)
			}
		}
	}
	r.pace.at = time.Now()
}

// pulled tells of a chunk.
func (r *recorder) pulled() {
	p := &r.pace
	if len(p.observers) == 0 {
		return
	}
	if !p.first {
		p.first = true
		return
	}
	now := time.Now()
	since := now.Sub(p.at)
	p.at = now
	for _, o := range p.observers {
		o.ChunkReceived(r.ctx, &r.record, since)
	}
}

// maxReasons bounds the choices whose finish reasons are noted.
const maxReasons = 128

// finished notes the finish reason of a choice that is not the only one.
func (r *recorder) finished(index int, reason string) {
	m := &r.record
	if index <= 0 && m.FinishReasons == nil || index < 0 || index >= maxReasons || !r.observed() {
		return
	}
	if m.FinishReasons == nil {
		m.FinishReasons = []string{m.FinishReason}
	}
	for len(m.FinishReasons) <= index {
		m.FinishReasons = append(m.FinishReasons, "")
	}
	m.FinishReasons[index] = reason
}

// asksChat notes the parameters of a chat completion.
func (r *recorder) asksChat(call *Settings, q *providers.ChatCompletionRequest) {
	if !r.observed() {
		return
	}
	p := &providers.Parameters{
		Schema:    call.Schema,
		MaxTokens: given(q.MaxTokens), TopK: given(q.TopK), Choices: given(q.N),
		Temperature: copied(q.Temperature), TopP: copied(q.TopP),
		PresencePenalty: copied(q.PresencePenalty), FrequencyPenalty: copied(q.FrequencyPenalty),
		Seed: copied(q.Seed), Stop: slices.Clone(q.Stop), ReasoningEffort: q.ReasoningEffort, OutputType: outputOf(q),
	}
	if q.MaxCompletionTokens != nil {
		p.MaxTokens = *q.MaxCompletionTokens
	}
	r.record.Parameters = p
}

// outputOf is what a chat completion is asked to put out.
func outputOf(q *providers.ChatCompletionRequest) string {
	switch {
	case slices.Contains(q.Modalities, "image"):
		return "image"
	case slices.Contains(q.Modalities, "audio"):
		return "speech"
	case q.ResponseFormat == nil:
		return ""
	case q.ResponseFormat.Type == "json_object", q.ResponseFormat.Type == "json_schema":
		return "json"
	case q.ResponseFormat.Type == "text":
		return "text"
	}
	return ""
}

// asksVectors notes the parameters of a request for embeddings.
func (r *recorder) asksVectors(q *providers.EmbeddingRequest) {
	if r.observed() {
		r.record.Parameters = &providers.Parameters{Dimensions: given(q.Dimensions), EncodingFormat: q.EncodingFormat}
	}
}

func imageParameters(q *providers.ImageRequest) *providers.Parameters {
	return &providers.Parameters{Choices: given(q.N), OutputType: "image"}
}

func speechParameters(*providers.SpeechRequest) *providers.Parameters {
	return &providers.Parameters{OutputType: "speech"}
}

// given is the value of a number that zero is no value of.
func given(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// copied is a number that stays as it is when the caller changes the request.
func copied[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}
