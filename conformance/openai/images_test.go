package openai_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	drawn4   = "@vx/imagen-4.0-generate-001"
	edited3  = "@vx/imagen-3.0-capability-001"
	drawn25  = "@vx/gemini-2.5-flash-image"
	spoken25 = "@vx/gemini-2.5-flash-tts"
)

// inRegion asks where Imagen is.
func inRegion() option.RequestOption {
	return option.WithHeader("x-gateway-vertex-region", "us-central1")
}

// decodePNG returns the picture of an answer.
func decodePNG(t *testing.T, b64 string) image.Image {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestImages(t *testing.T) {
	for _, model := range []string{drawn4, drawn25} {
		t.Run(model, func(t *testing.T) {
			s := start(t)
			got, err := s.Images.Generate(t.Context(), openai.ImageGenerateParams{
				Model: model, Prompt: "A red kite", N: openai.Int(2), Size: openai.ImageGenerateParamsSize1792x1024,
				Quality: openai.ImageGenerateParamsQualityAuto, OutputFormat: openai.ImageGenerateParamsOutputFormatPNG,
				ResponseFormat: openai.ImageGenerateParamsResponseFormatB64JSON, User: openai.String("u"),
			}, inRegion())
			if err != nil {
				t.Fatal(explain(err))
			}
			if len(got.Data) != 2 || got.Created == 0 || got.OutputFormat != openai.ImagesResponseOutputFormatPNG {
				t.Fatalf("%d images, %+v", len(got.Data), got.OutputFormat)
			}
			for _, i := range got.Data {
				if size := decodePNG(t, i.B64JSON).Bounds().Size(); size.X <= size.Y {
					t.Errorf("the picture is %v", size)
				}
			}
			if counted := got.Usage.TotalTokens > 0; counted != (model == drawn25) {
				t.Errorf("%s used %d tokens", model, got.Usage.TotalTokens)
			}
		})
	}
}

func TestEditedImages(t *testing.T) {
	var picture, mask bytes.Buffer
	for _, b := range []*bytes.Buffer{&picture, &mask} {
		if err := png.Encode(b, image.NewNRGBA(image.Rect(0, 0, 8, 4))); err != nil {
			t.Fatal(err)
		}
	}
	for _, model := range []string{edited3, drawn25} {
		t.Run(model, func(t *testing.T) {
			s := start(t)
			params := openai.ImageEditParams{
				Model: model, Prompt: "Add a hat",
				Image: openai.ImageEditParamsImageUnion{OfFile: openai.File(bytes.NewReader(picture.Bytes()), "a.png", "image/png")},
			}
			if model == edited3 {
				params.Mask = openai.File(bytes.NewReader(mask.Bytes()), "mask.png", "image/png")
			} else {
				params.Image = openai.ImageEditParamsImageUnion{OfFileArray: []io.Reader{
					bytes.NewReader(picture.Bytes()), openai.File(bytes.NewReader(picture.Bytes()), "b.png", "image/png"),
				}}
			}
			got, err := s.Images.Edit(t.Context(), params, inRegion())
			if err != nil {
				t.Fatal(explain(err))
			}
			if len(got.Data) != 1 {
				t.Fatalf("%d images", len(got.Data))
			}
			decodePNG(t, got.Data[0].B64JSON)
			asked := string(s.platform.Requests()[0].Body)
			want := `"referenceType":"REFERENCE_TYPE_MASK"`
			if model == drawn25 {
				want = `"inlineData":{"mimeType":"image/png"`
			}
			if !strings.Contains(asked, want) {
				t.Errorf("the platform was asked %s", asked)
			}
		})
	}
}

func TestImagesThatAreRefused(t *testing.T) {
	s := start(t)
	for name, tt := range map[string]struct {
		params openai.ImageGenerateParams
		param  string
	}{
		"a format that is not given": {openai.ImageGenerateParams{Model: drawn4, Prompt: "p", OutputFormat: openai.ImageGenerateParamsOutputFormatWebP}, "output_format"},
		"a model that draws nothing": {openai.ImageGenerateParams{Model: flash25, Prompt: "p"}, "model"},
		"too many":                   {openai.ImageGenerateParams{Model: drawn4, Prompt: "p", N: openai.Int(20)}, "n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Images.Generate(t.Context(), tt.params, inRegion())
			var e *openai.Error
			if !errors.As(err, &e) || e.StatusCode != 400 || e.Param != tt.param {
				t.Errorf("%v, want it to be about %s", explain(err), tt.param)
			}
		})
	}
	stream := s.Images.GenerateStreaming(t.Context(), openai.ImageGenerateParams{Model: drawn4, Prompt: "p", PartialImages: openai.Int(1)}, inRegion())
	for stream.Next() {
		t.Errorf("an event: %s", stream.Current().RawJSON())
	}
	var e *openai.Error
	if err := stream.Err(); !errors.As(err, &e) || e.Param != "stream" {
		t.Errorf("%v", explain(err))
	}
}

func TestSpeech(t *testing.T) {
	s := start(t)
	params := openai.AudioSpeechNewParams{
		Model: spoken25, Input: "One two three", Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
		Instructions: openai.String("Speak slowly."), ResponseFormat: openai.AudioSpeechNewParamsResponseFormatWAV,
	}
	wav := spoken(t, s, params, "audio/wav")
	params.ResponseFormat = openai.AudioSpeechNewParamsResponseFormatPCM
	pcm := spoken(t, s, params, "audio/pcm; rate=24000")
	if !bytes.HasPrefix(wav, []byte("RIFF")) || !bytes.Equal(wav[44:], pcm) {
		t.Errorf("%d bytes of a file, %d samples", len(wav), len(pcm)/2)
	}
	params.ResponseFormat = openai.AudioSpeechNewParamsResponseFormatMP3
	var e *openai.Error
	if _, err := s.Audio.Speech.New(t.Context(), params); !errors.As(err, &e) || e.StatusCode != 400 || e.Param != "response_format" {
		t.Errorf("%v", explain(err))
	}
}

// spoken returns the bytes of speech.
func spoken(t *testing.T, s *stage, params openai.AudioSpeechNewParams, kind string) []byte {
	t.Helper()
	res, err := s.Audio.Speech.New(t.Context(), params)
	if err != nil {
		t.Fatal(explain(err))
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.Header.Get("Content-Type") != kind || !strings.Contains(res.Header.Get("x-gateway-warnings"), `"voice"`) {
		t.Errorf("%v, %v", err, res.Header)
	}
	return data
}
