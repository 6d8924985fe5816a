package vertextest_test

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// decodePicture returns size and format of a picture.
func decodePicture(t *testing.T, p messagePart) (image.Point, string) {
	t.Helper()
	if p.InlineData == nil {
		t.Fatalf("no picture: %+v", p)
	}
	raw, err := base64.StdEncoding.DecodeString(p.InlineData.Data)
	if err != nil {
		t.Fatal(err)
	}
	img, format, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return img.Bounds().Size(), format
}

func TestPicturesHaveTheShapeAskedFor(t *testing.T) {
	for _, tc := range []struct {
		name, config, format string
		want                 image.Point
	}{
		{"by default", "", "png", image.Pt(256, 256)},
		{"wide", `,"imageConfig":{"aspectRatio":"16:9"}`, "png", image.Pt(256, 144)},
		{"tall", `,"imageConfig":{"aspectRatio":"2:3","imageSize":"2K"}`, "png", image.Pt(170, 256)},
		{"JPEG", `,"imageConfig":{"imageOutputOptions":{"mimeType":"image/jpeg","compressionQuality":80}}`, "jpeg", image.Pt(256, 256)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := unary(t, vertextest.New(), "gemini-2.5-flash-image", say("a cat", config(`"responseModalities":["IMAGE"]`+tc.config))).decode(t)
			size, format := decodePicture(t, m.parts()[0])
			if size != tc.want || format != tc.format {
				t.Errorf("%s of %v, want %s of %v", format, size, tc.format, tc.want)
			}
		})
	}
}

func TestImageModelsThinkDrawAndEdit(t *testing.T) {
	s := vertextest.New()
	const model = "gemini-3-pro-image"
	thinking := config(`"thinkingConfig":{"includeThoughts":true}`)
	parts := unary(t, s, model, say("a cat", thinking)).decode(t).parts()
	if len(parts) != 4 {
		t.Fatalf("%d parts, want a thought, a draft, a text and a picture", len(parts))
	}
	for i, p := range parts {
		if p.Thought != (i < 2) || (p.ThoughtSignature != "") != (i >= 2) {
			t.Errorf("part %d: thought %t, signature %q", i, p.Thought, p.ThoughtSignature)
		}
	}
	decodePicture(t, parts[1])
	drawn := parts[3].InlineData.Data
	other := unary(t, s, model, say("a dog", thinking)).decode(t).parts()[3].InlineData.Data
	edit := `{"contents":[{"role":"user","parts":[{"text":"a dog"}]},{"role":"model","parts":[{"inlineData":{"mimeType":"image/png","data":"` + drawn +
		`"}}]},{"role":"user","parts":[{"text":"a cat"}]}]}`
	edited := unary(t, s, model, edit).decode(t).parts()
	if again := unary(t, s, model, say("a cat")).decode(t).parts(); again[1].InlineData.Data != drawn {
		t.Error("the same prompt is drawn differently")
	}
	if drawn == other || edited[1].InlineData.Data == drawn {
		t.Error("another prompt or an edit is drawn the same")
	}
}

func TestSpeech(t *testing.T) {
	s := vertextest.New()
	speak := func(voice string) string {
		return say("one two three", config(`"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"`+voice+`"}}}`))
	}
	whole := unary(t, s, "gemini-2.5-flash-tts", speak("Kore")).decode(t)
	sound := whole.parts()[0].InlineData
	if sound == nil || sound.MimeType != "audio/L16;codec=pcm;rate=24000" {
		t.Fatalf("got %+v", whole.parts())
	}
	pcm, err := base64.StdEncoding.DecodeString(sound.Data)
	if err != nil || len(pcm) != 3*4800 || strings.Count(string(pcm), "\x00") > len(pcm)/2 {
		t.Fatalf("%d bytes, error %v", len(pcm), err)
	}
	if other := unary(t, s, "gemini-2.5-flash-tts", speak("Puck")).decode(t); other.parts()[0].InlineData.Data == sound.Data {
		t.Error("two voices sound the same")
	}
	details := whole.UsageMetadata.CandidatesTokensDetails
	if len(details) != 1 || details[0].Modality != "AUDIO" || details[0].TokenCount != whole.UsageMetadata.CandidatesTokenCount {
		t.Errorf("usage %+v", whole.UsageMetadata)
	}
	var streamed []byte
	events := stream(t, s, "gemini-2.5-flash-tts", speak("Kore")).events(t)
	for _, e := range events {
		piece, err := base64.StdEncoding.DecodeString(e.parts()[0].InlineData.Data)
		if err != nil {
			t.Fatal(err)
		}
		streamed = append(streamed, piece...)
	}
	if len(events) != 3 || !bytes.Equal(streamed, pcm) {
		t.Errorf("%d events, the same sound: %t", len(events), bytes.Equal(streamed, pcm))
	}
}

func TestChainOfThoughtComesFirst(t *testing.T) {
	parts := unary(t, vertextest.New(), "gemini-2.0-flash-thinking-exp-01-21", say("Why?")).decode(t).parts()
	if len(parts) != 2 || !parts[0].Thought || parts[0].Text == "" || parts[1].Thought {
		t.Fatalf("parts %+v", parts)
	}
	if diff := cmp.Diff(`You said: "Why?".`, parts[1].Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
