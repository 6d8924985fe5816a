package google_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestImagesAndSpeechOfTheService(t *testing.T) {
	srv := vertextest.New(vertextest.WithToken("key"))
	defer srv.Close()
	p := newProvider(t, srv.Transport())
	drawn, err := p.Images(t.Context(), target("gemini-2.5-flash-image"), &providers.ImageRequest{
		Model: "gemini-2.5-flash-image", Prompt: "A red kite", Size: "1536x1024", OutputFormat: "jpeg",
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, w := range drawn.Meta.Warnings {
		told = append(told, w.Param)
	}
	if len(drawn.Data) != 1 || drawn.OutputFormat != "png" || strings.Join(told, " ") != "size output_format" { // which the service does not choose
		t.Errorf("%d images, %s, %v", len(drawn.Data), drawn.OutputFormat, drawn.Meta.Warnings)
	}
	speech := &providers.SpeechRequest{Model: "gemini-2.5-flash-preview-tts", Input: "One two", Voice: "Kore", ResponseFormat: "pcm"}
	spoken, err := p.Speech(t.Context(), target(speech.Model), speech)
	if err != nil || len(spoken.Data) == 0 || spoken.Provider != "google" {
		t.Fatalf("%+v, %v", spoken, err)
	}
	stream, err := p.SpeechStream(t.Context(), target(speech.Model), speech)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		total += len(chunk.Data)
	}
	if total != len(spoken.Data) {
		t.Errorf("%d bytes streamed of %d", total, len(spoken.Data))
	}
	for _, model := range []string{"imagen-4.0-generate-001", "gemini-2.5-flash"} {
		_, err := p.Images(t.Context(), target(model), &providers.ImageRequest{Model: model, Prompt: "p"})
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Param != "model" || e.Sent {
			t.Errorf("%s: %v", model, err)
		}
	}
}
