package gateway

import (
	"context"

	"github.com/b650d4bf/gateway/internal/front"
	"github.com/b650d4bf/gateway/internal/pipeline"
	"github.com/b650d4bf/gateway/providers"
)

// AudioService holds what is about sound.
type AudioService struct {
	// Speech turns texts into speech.
	Speech SpeechService
}

// SpeechService turns texts into speech. It is safe for concurrent use.
type SpeechService struct{ client *Client }

// Create returns the spoken input as a file. The caller keeps req, which is not
// changed.
func (s *SpeechService) Create(ctx context.Context, req *SpeechRequest, opts ...RequestOption) (*SpeechResponse, error) {
	call, err := s.client.begin(req == nil, opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.Speech(ctx, s.client.settings, call, req)
}

// CreateStream returns the spoken input as it comes, once its first sound is
// there. The header of a WAV file that is streamed has no length: pcm suits
// streams better.
func (s *SpeechService) CreateStream(ctx context.Context, req *SpeechRequest, opts ...RequestOption) (*SpeechStream, error) {
	call, err := s.client.begin(req == nil, opts)
	if err != nil {
		return nil, err
	}
	return s.client.engine.SpeechStream(ctx, s.client.settings, call, req)
}

// Speech serves the HTTP front.
func (b backend) Speech(ctx context.Context, req *SpeechRequest, o *front.Overrides) (*SpeechResponse, error) {
	return b.c.engine.Speech(ctx, b.c.settings, callSettings(o), req)
}

// SpeechStream serves the HTTP front.
func (b backend) SpeechStream(ctx context.Context, req *SpeechRequest, o *front.Overrides) (front.SpeechStream, error) {
	s, err := b.c.engine.SpeechStream(ctx, b.c.settings, callSettings(o), req)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Speech, documented in package providers.
type (
	// SpeechStream is speech as an [io.ReadCloser]. It belongs to one goroutine at a
	// time, but its Close may be called from any. One that is neither read to its
	// end nor closed keeps its connection.
	SpeechStream = pipeline.SpeechStream
	// SpeechRequest is the body of a speech request.
	SpeechRequest = providers.SpeechRequest
	// SpeechResponse is a spoken answer.
	SpeechResponse = providers.SpeechResponse
	// SpeechSynthesizer is the ability of a [Provider] to speak.
	SpeechSynthesizer = providers.SpeechSynthesizer
	// SpeechReader yields a spoken answer in pieces.
	SpeechReader = providers.SpeechReader
	// SpeechChunk is a piece of a spoken answer.
	SpeechChunk = providers.SpeechChunk
)
