package providers_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func TestPartsOfMedia(t *testing.T) {
	tests := []struct {
		name string
		part providers.ContentPart
		want string
	}{
		{"bytes with a type", providers.MediaPart("image/png", []byte("png")),
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}`},
		{"bytes without one", providers.MediaPart("", []byte("png")),
			`{"type":"image_url","image_url":{"url":"data:;base64,cG5n"}}`},
		{"audio", providers.AudioPart("wav", []byte("RIFF")),
			`{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`},
		{"a file", providers.FilePart("gs://b/a.pdf"), `{"type":"file","file":{"file_url":"gs://b/a.pdf"}}`},
		{"a whole video", providers.VideoPart("gs://b/v.mp4", providers.VideoClip{}),
			`{"type":"image_url","image_url":{"url":"gs://b/v.mp4"}}`},
		{"the end of a video", providers.VideoPart("gs://b/v.mp4", providers.VideoClip{Start: 90 * time.Second}),
			`{"type":"image_url","image_url":{"url":"gs://b/v.mp4"},"video_metadata":{"start_offset":90}}`},
		{"a clip", providers.VideoPart("gs://b/v.mp4", providers.VideoClip{Start: time.Millisecond, End: 1500 * time.Millisecond, FPS: 0.5}),
			`{"type":"image_url","image_url":{"url":"gs://b/v.mp4"},"video_metadata":{"start_offset":0.001,"end_offset":1.5,"fps":0.5}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantEqual(t, tt.want, encode(t, tt.part)) })
	}
}

func TestPlatformTool(t *testing.T) {
	for _, tt := range []struct{ name, options, want string }{
		{"without options", "", `{"type":"url_context"}`},
		{"with options", `{"a": [1]}`, `{"type":"url_context","a": [1]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, tt.want, encode(t, providers.PlatformTool("url_context", []byte(tt.options))))
		})
	}
}

func TestBytesOfAnImage(t *testing.T) {
	tests := []struct {
		name       string
		image      *providers.ImageURL
		data, mime string
		fails      bool
	}{
		{"a data URI", &providers.ImageURL{URL: "data:image/png;base64,cG5n"}, "png", "image/png", false},
		{"one without a type", &providers.ImageURL{URL: "data:;base64,cG5n"}, "png", "", false},
		{"one that holds nothing", &providers.ImageURL{URL: "data:image/png;base64,"}, "", "image/png", false},
		{"faulty base64", &providers.ImageURL{URL: "data:image/png;base64,cG5"}, "", "", true},
		{"plain text", &providers.ImageURL{URL: "data:text/plain,a"}, "", "", true},
		{"another URL", &providers.ImageURL{URL: "https://host/a;base64,cG5n"}, "", "", true},
		{"none", nil, "", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, mime, err := tt.image.Bytes()
			if tt.fails != errors.Is(err, providers.ErrInvalidRequest) {
				t.Fatalf("error %v, want one: %v", err, tt.fails)
			}
			wantEqual(t, tt.data, string(data))
			wantEqual(t, tt.mime, mime)
		})
	}
}

func TestBytesOfAudio(t *testing.T) {
	for _, tt := range []struct {
		name  string
		audio *providers.Audio
		want  string
		fails bool
	}{
		{"base64", &providers.Audio{Data: "UklGRg=="}, "RIFF", false},
		{"faulty base64", &providers.Audio{Data: "U"}, "", true},
		{"none", nil, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tt.audio.Bytes()
			if tt.fails != errors.Is(err, providers.ErrInvalidRequest) {
				t.Fatalf("error %v, want one: %v", err, tt.fails)
			}
			wantEqual(t, tt.want, string(data))
		})
	}
}

// TestExtraByHand checks that what was written by hand and is no JSON object is
// refused, in each place that has extra members.
func TestExtraByHand(t *testing.T) {
	image, audio, file := providers.ImagePart("gs://b/a.png"), providers.AudioPart("wav", nil), providers.FilePart("gs://b/a.pdf")
	bad := providers.Extra(`{"a":`)
	image.ImageURL.Extra, audio.InputAudio.Extra, file.File.Extra = bad, bad, bad
	part := func(p providers.ContentPart) func(*request) {
		return func(q *request) { q.Messages[0].Content = providers.PartsContent(providers.TextPart("x"), p) }
	}
	call := func(c providers.ToolCall) func(*request) {
		return func(q *request) {
			q.Messages = append(q.Messages, providers.Message{Role: "assistant", ToolCalls: []providers.ToolCall{c}}, providers.ToolMessage("a", "1"))
		}
	}
	tests := []struct {
		name   string
		change func(*request)
		want   string // the member at fault
	}{
		{"of the request", func(q *request) { q.Extra = bad }, "extra"},
		{"an array", func(q *request) { q.Extra = providers.Extra(`[]`) }, "extra"},
		{"two objects", func(q *request) { q.Extra = providers.Extra(`{}{}`) }, "extra"},
		{"none", func(q *request) { q.Extra = providers.Extra(" null ") }, ""},
		{"an object", func(q *request) { q.Extra = providers.Extra(` {"a":1}`) }, ""},
		{"of thinking", func(q *request) { q.Thinking = &providers.Thinking{Extra: bad} }, "thinking"},
		{"of what is asked of a stream", func(q *request) { q.StreamOptions = &providers.StreamOptions{Extra: bad} }, "stream_options"},
		{"of a choice of tools", func(q *request) { q.ToolChoice = &providers.ToolChoice{Extra: bad} }, "tool_choice"},
		{"of a format", func(q *request) { q.ResponseFormat = &providers.ResponseFormat{Extra: bad} }, "response_format"},
		{"of a schema", func(q *request) {
			q.ResponseFormat = &providers.ResponseFormat{JSONSchema: &providers.JSONSchema{Extra: bad}}
		}, "response_format"},
		{"of a message", func(q *request) { q.Messages[0].Extra = bad }, "messages[0]"},
		{"of a part", part(providers.ContentPart{Type: "text", Text: "x", Extra: bad}), "messages[0].content[1]"},
		{"of an image", part(image), "messages[0].content[1]"},
		{"of audio", part(audio), "messages[0].content[1]"},
		{"of a file", part(file), "messages[0].content[1]"},
		{"of a video's clip", part(providers.VideoPart("gs://b/v.mp4", providers.VideoClip{FPS: math.NaN()})), "messages[0].content[1]"},
		{"of a block", func(q *request) { q.Messages[0].ContentBlocks = []providers.ContentPart{image} }, "messages[0].content_blocks[0]"},
		{"of a call", call(providers.ToolCall{ID: "a", Function: providers.FunctionCall{Name: "f"}, Extra: bad}), "messages[1].tool_calls[0]"},
		{"of a call's function", call(providers.ToolCall{ID: "a", Function: providers.FunctionCall{Name: "f", Extra: bad}}),
			"messages[1].tool_calls[0]"},
		{"of a platform's tool", func(q *request) { q.Tools = []providers.Tool{providers.PlatformTool("web_search", bad)} }, "tools[0]"},
		{"of a function", func(q *request) {
			q.Tools = []providers.Tool{{Type: "function", Function: providers.FunctionDefinition{Name: "f", Extra: bad}}}
		}, "tools[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := &request{Model: "m", Messages: []providers.Message{providers.UserMessage("x")}}
			tt.change(q)
			var param string
			if err := q.Validate(); err != nil {
				var known *providers.Error
				if !errors.As(err, &known) || known.Code != providers.ErrInvalidRequest {
					t.Fatalf("got %v", err)
				}
				param = known.Param
			}
			if diff := cmp.Diff(tt.want, param); diff != "" {
				t.Error(diff)
			}
		})
	}
}
