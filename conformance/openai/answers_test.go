package openai_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// A model that gives one answer to a request is asked several times for several.
func TestSeveralChoices(t *testing.T) {
	s := start(t)
	params := ask(flash3, "Tell me.")
	params.N = openai.Int(3)
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	streamed, _, err := accumulate(s.Chat.Completions.NewStreaming(t.Context(), params))
	if err != nil {
		t.Fatal(explain(err))
	}
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	got, err := s.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(explain(err))
	}
	for name, c := range map[string]*openai.ChatCompletion{"whole": got, "streamed": streamed} {
		var list []string
		for _, choice := range c.Choices {
			list = append(list, fmt.Sprint(choice.Index, choice.Message.Content, choice.FinishReason))
		}
		const text = `You said: "Tell me.".`
		if diff := cmp.Diff([]string{"0" + text + "stop", "1" + text + "stop", "2" + text + "stop"}, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if u := c.Usage; u.TotalTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens || u.TotalTokens != got.Usage.TotalTokens {
			t.Errorf("%s: usage %s", name, u.RawJSON())
		}
	}
	if n := len(s.platform.Requests()); n != 6 {
		t.Errorf("%d requests", n)
	}
}

func TestOneOfSeveralChoicesThatFails(t *testing.T) {
	s := start(t)
	s.platform.Script(vertextest.Auto(), vertextest.Error(429, "RESOURCE_EXHAUSTED", "no more"))
	params := ask(flash3, "Tell me.")
	params.N = openai.Int(2)
	_, err := s.Chat.Completions.New(t.Context(), params)
	if err == nil || !strings.Contains(explain(err).Error(), "no more") {
		t.Errorf("%v", err)
	}
}

func TestLogprobs(t *testing.T) {
	s := start(t)
	params := ask(flash25, "Tell me.")
	params.Logprobs, params.TopLogprobs = openai.Bool(true), openai.Int(2)
	for name, choice := range map[string]openai.ChatCompletionChoice{
		"whole": s.complete(t, params).Choices[0], "streamed": first(s.stream(t, params)),
	} {
		var text strings.Builder
		for _, token := range choice.Logprobs.Content {
			text.WriteString(token.Token)
			if token.Logprob > 0 || len(token.TopLogprobs) == 0 || len(token.Bytes) != len(token.Token) {
				t.Errorf("%s: %s", name, token.RawJSON())
			}
		}
		if text.String() != choice.Message.Content || text.Len() == 0 {
			t.Errorf("%s: tokens %q of %q", name, text.String(), choice.Message.Content)
		}
	}
}

// first is the choice of a streamed answer.
func first(c *openai.ChatCompletion, _ []openai.ChatCompletionChunk) openai.ChatCompletionChoice {
	return c.Choices[0]
}

func TestSpokenAnswer(t *testing.T) {
	s := start(t)
	params := ask("@vx/gemini-2.5-flash-tts", "Say hello.")
	params.Modalities = []string{"audio"}
	params.Audio = openai.ChatCompletionAudioParam{
		Format: openai.ChatCompletionAudioParamFormatWAV,
		Voice:  openai.ChatCompletionAudioParamVoiceUnion{OfString: openai.String("Kore")},
	}
	got := s.complete(t, params).Choices[0].Message.Audio
	sound, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil || !strings.HasPrefix(got.ID, "audio_") || len(sound) <= 44 || string(sound[:4]) != "RIFF" {
		t.Errorf("%v: audio %s with %d bytes", err, got.ID, len(sound))
	}
	// The client's chunks have no member for audio, but show it as it came.
	_, chunks := s.stream(t, params)
	if !slices.ContainsFunc(chunks, func(c openai.ChatCompletionChunk) bool {
		return strings.Contains(c.RawJSON(), `"audio":{"id":"audio_`)
	}) {
		t.Errorf("no chunk of %d has audio: %.200s", len(chunks), chunks[0].RawJSON())
	}
}

// Sources are shown where strict compliance is off, by offsets in characters.
func TestAnnotations(t *testing.T) {
	s := start(t)
	params := ask(flash25, "Who won the cup?")
	search := option.WithJSONSet("tools", []any{map[string]any{"type": "function", "function": map[string]string{"name": "google_search"}}})
	if list := s.complete(t, params, search).Choices[0].Message.Annotations; len(list) != 0 {
		t.Errorf("%d annotations by default", len(list))
	}
	got := s.complete(t, params, search, relaxed()).Choices[0].Message
	if len(got.Annotations) == 0 {
		t.Fatalf("no annotations in %s", got.RawJSON())
	}
	text := []rune(got.Content)
	for _, a := range got.Annotations {
		c := a.URLCitation
		if a.Type != "url_citation" || c.URL == "" || c.StartIndex >= c.EndIndex || int(c.EndIndex) > len(text) {
			t.Errorf("annotation %s of %d characters", a.RawJSON(), len(text))
		}
	}
}

// A picture is a block of its own, which the client shows as it came.
func TestDrawnAnswer(t *testing.T) {
	s := start(t)
	params := ask("@vx/gemini-2.5-flash-image", "Draw a cat.")
	params.Modalities = []string{"text", "image"}
	got := s.complete(t, params, relaxed()).Choices[0].Message
	if raw := got.JSON.ExtraFields["content_blocks"].Raw(); !strings.Contains(raw, `"url":"data:image/png;base64,`) {
		t.Errorf("%d bytes of blocks without a picture", len(raw))
	}
}
