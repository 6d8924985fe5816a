package front

import (
	"context"

	"github.com/b650d4bf/gateway/providers"
)

// fakeServices is what a fake answers with beside texts.
type fakeServices struct {
	drawn   *providers.ImageResponse
	spoken  *providers.SpeechResponse
	speech  SpeechStream
	ranked  *providers.RerankResponse
	failure error

	image     *providers.ImageRequest
	utterance *providers.SpeechRequest
	ranking   *providers.RerankRequest
}

func (f *fakeServices) Images(_ context.Context, req *providers.ImageRequest, _ *Overrides) (*providers.ImageResponse, error) {
	f.image = req
	return f.drawn, f.failure
}

func (f *fakeServices) Speech(_ context.Context, req *providers.SpeechRequest, _ *Overrides) (*providers.SpeechResponse, error) {
	f.utterance = req
	return f.spoken, f.failure
}

func (f *fakeServices) SpeechStream(_ context.Context, req *providers.SpeechRequest, _ *Overrides) (SpeechStream, error) {
	f.utterance = req
	return f.speech, f.failure
}

func (f *fakeServices) Rerank(_ context.Context, req *providers.RerankRequest, _ *Overrides) (*providers.RerankResponse, error) {
	f.ranking = req
	return f.ranked, f.failure
}
