package engine

import (
	stdcmp "cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// encodeParts encodes one user message with the parts, as JSON, and returns the
// first content's parts, the body and the warnings.
func encodeParts(t *testing.T, model string, maxInline int, members string, parts ...string) (sent, body string, warnings []providers.Warning, err error) {
	t.Helper()
	q := new(providers.ChatCompletionRequest)
	text := `{"model":"m"` + members + `,"messages":[{"role":"user","content":[` + strings.Join(parts, ",") + `]}]}`
	if err := json.Unmarshal([]byte(text), q); err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	raw, warnings, err := encodeWith(geminiFamily{maxInline: maxInline}, modelOf(t, model), q)
	if err != nil {
		return "", "", nil, err
	}
	if len(raw) < mebibyte {
		if err := vertextest.Check("GenerateContentRequest", raw); err != nil {
			t.Errorf("%.300s: %v", raw, err)
		}
	}
	contents, _ := jsonx.Lookup(raw, "contents")
	contents = contents[1 : len(contents)-1]
	list, _ := jsonx.Lookup(contents, "parts")
	return string(list), string(raw), warnings, nil
}

func modelOf(t *testing.T, name string) *Model {
	t.Helper()
	facts, known := catalog.DefaultModels().Lookup("google", name)
	if !known {
		t.Fatalf("%s is in no row", name)
	}
	return &Model{Publisher: "google", Name: name, facts: facts}
}

func TestModifiersOfAPart(t *testing.T) {
	const (
		video  = `{"type":"image_url","image_url":{"url":"gs://b/v.mp4"%s}%s}`
		image  = `{"type":"image_url","image_url":{"url":"gs://b/i.png"%s}%s}`
		pdf    = `{"type":"file","file":{"file_url":"gs://b/d.pdf"%s}%s}`
		sound  = `{"type":"input_audio","input_audio":{"data":"gs://b/s.mp3"%s}%s}`
		vPart  = `[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v.mp4"}%s}]`
		iPart  = `[{"fileData":{"mimeType":"image/png","fileUri":"gs://b/i.png"}%s}]`
		pPart  = `[{"fileData":{"mimeType":"application/pdf","fileUri":"gs://b/d.pdf"}%s}]`
		sPart  = `[{"fileData":{"mimeType":"audio/mp3","fileUri":"gs://b/s.mp3"}%s}]`
		low    = `,"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}`
		high   = `,"mediaResolution":{"level":"MEDIA_RESOLUTION_HIGH"}`
		ultra  = `,"mediaResolution":{"level":"MEDIA_RESOLUTION_ULTRA_HIGH"}`
		medium = `,"mediaResolution":{"level":"MEDIA_RESOLUTION_MEDIUM"}`
	)
	for _, tt := range []struct{ name, form, inner, outer, wantForm, want, warned string }{
		{"detail low", image, `,"detail":"low"`, ``, iPart, low, ""},
		{"detail high on a video", video, `,"detail":"high"`, ``, vPart, high, ""},
		{"detail auto", image, `,"detail":"auto"`, ``, iPart, ``, ""},
		{"detail in capitals", image, `,"detail":"LOW"`, ``, iPart, low, ""},
		{"detail of another kind", image, `,"detail":"original"`, ``, iPart, ``, "unsupported_parameter messages[0].content[0].image_url.detail"},
		{"detail of a file", pdf, `,"detail":"low"`, ``, pPart, low, ""},
		{"detail that is no text", pdf, `,"detail":5`, ``, pPart, ``, "unsupported_parameter messages[0].content[0].file.detail"},
		{"detail null", pdf, `,"detail":null`, ``, pPart, ``, ""},
		{"resolution within", image, `,"media_resolution":"ultra_high"`, ``, iPart, ultra, ""},
		{"resolution within, camelCase", image, `,"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"`, ``, iPart, medium, ""},
		{"resolution beside", pdf, ``, `,"media_resolution":"media_resolution_low"`, pPart, low, ""},
		{"resolution as the platform's object", image, ``, `,"mediaResolution":{"level":"MEDIA_RESOLUTION_HIGH"}`, iPart, high, ""},
		{"resolution unspecified", image, ``, `,"media_resolution":"MEDIA_RESOLUTION_UNSPECIFIED"`, iPart, ``, ""},
		{"resolution null", image, ``, `,"media_resolution":null`, iPart, ``, ""},
		{"resolution and the same detail", image, `,"detail":"low","media_resolution":"low"`, ``, iPart, low, ""},
		{"resolution and another detail", image, `,"detail":"low","media_resolution":"high"`, ``, iPart, high, "conflicting_parameter messages[0].content[0].image_url.detail"},
		{"resolution twice", image, `,"media_resolution":"high"`, `,"media_resolution":"low"`, iPart, high, "conflicting_parameter messages[0].content[0].media_resolution"},
		{"resolution of audio", sound, ``, `,"media_resolution":"low"`, sPart, ``, "unsupported_parameter messages[0].content[0].media_resolution"},
		{"video metadata beside", video, ``, `,"video_metadata":{"start_offset":"1.5s","end_offset":"10s","fps":2}`, vPart, `,"videoMetadata":{"startOffset":"1.5s","endOffset":"10s","fps":2}`, ""},
		{"video metadata within", video, `,"videoMetadata":{"startOffset":10,"endOffset":12.25}`, ``, vPart, `,"videoMetadata":{"startOffset":"10s","endOffset":"12.25s"}`, ""},
		{"video metadata of a file", `{"type":"file","file":{"file_id":"gs://b/v.mp4"%s}%s}`, `,"video_metadata":{"fps":0.5}`, ``, vPart, `,"videoMetadata":{"fps":0.5}`, ""},
		{"video metadata that says nothing", video, ``, `,"video_metadata":{"fps":null}`, vPart, ``, ""},
		{"offsets without unit", video, ``, `,"video_metadata":{"start_offset":"10","end_offset":"1e2"}`, vPart, `,"videoMetadata":{"startOffset":"10s","endOffset":"100s"}`, ""},
		{"nine digits after the point", video, ``, `,"video_metadata":{"end_offset":1.0000000019}`, vPart, `,"videoMetadata":{"endOffset":"1.000000002s"}`, ""},
		{"an unknown member", video, ``, `,"video_metadata":{"fps":1,"codec":"x"}`, vPart, `,"videoMetadata":{"fps":1}`, "unknown_parameter messages[0].content[0].video_metadata.codec"},
		{"video metadata of an image", image, ``, `,"video_metadata":{"fps":1}`, iPart, ``, "unsupported_parameter messages[0].content[0].video_metadata"},
		{"all of it", video, `,"detail":"low","video_metadata":{"fps":24}`, ``, vPart, `,"videoMetadata":{"fps":24}` + low, ""},
		{"an unknown member of the part", image, ``, `,"mood":"calm"`, iPart, ``, "unknown_parameter messages[0].content[0].mood"},
		{"an unknown member within", sound, `,"mood":"calm"`, ``, sPart, ``, "unknown_parameter messages[0].content[0].input_audio.mood"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			part := strings.Replace(strings.Replace(tt.form, "%s", tt.inner, 1), "%s", tt.outer, 1)
			sent, _, warnings, err := encodeParts(t, "gemini-3.5-flash", 0, "", part)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Replace(tt.wantForm, "%s", tt.want, 1), sent); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.warned, said(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// said lists codes and places of warnings.
func said(warnings []providers.Warning) string {
	lines := make([]string, len(warnings))
	for i, w := range warnings {
		lines[i] = w.Code + " " + w.Param
	}
	return strings.Join(lines, "\n")
}

func TestMediaPartsAreRefusedWithTheirPath(t *testing.T) {
	const video = `{"type":"image_url","image_url":{"url":"gs://b/v.mp4"},"video_metadata":`
	const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	for _, tt := range []struct{ name, part, param, fragment string }{
		{"no image_url", `{"type":"image_url"}`, "image_url.url", "a URL is required"},
		{"no audio", `{"type":"input_audio","input_audio":{"format":"wav"}}`, "input_audio.data", "audio is required"},
		{"audio of an unknown format", `{"type":"input_audio","input_audio":{"data":"AAAA","format":"xyz"}}`, "input_audio.data", "give format as one of"},
		{"a type that is no text", `{"type":"input_audio","input_audio":{"data":"AAAA","mime_type":5}}`, "input_audio.data", "not a media type"},
		{"no file", `{"type":"file"}`, "file", "give file_data"},
		{"an empty file", `{"type":"file","file":{"filename":"a.pdf"}}`, "file", "give file_data"},
		{"an uploaded file", `{"type":"file","file":{"file_id":"file-abc"}}`, "file.file_id", "keeps no uploaded files"},
		{"a URL as file id", `{"type":"file","file":{"file_id":"https://h/a.pdf"}}`, "file.file_id", "keeps no uploaded files"},
		{"base64 as URL", `{"type":"file","file":{"file_url":"JVBERi0xLjQK"}}`, "file.file_url", "give a gs:// or https URL"},
		{"an office file", `{"type":"file","file":{"file_data":"AAAA","filename":"a.docx"}}`, "file.file_data", "convert the file to PDF"},
		{"an office file by URL", `{"type":"image_url","image_url":{"url":"gs://b/a.xlsx"}}`, "image_url.url", "convert the file to PDF"},
		{"an office file as data URI", `{"type":"image_url","image_url":{"url":"data:` + docx + `;base64,AAAA"}}`, "image_url.url", "convert the file to PDF"},
		{"a resolution that is none", `{"type":"image_url","image_url":{"url":"gs://b/a.png","media_resolution":"4K"}}`, "image_url.media_resolution", "must be LOW"},
		{"a resolution that is a number", `{"type":"image_url","image_url":{"url":"gs://b/a.png"},"media_resolution":4}`, "media_resolution", "must be LOW"},
		{"metadata that is no object", video + `"1s"}`, "video_metadata", "must be an object"},
		{"an offset that is none", video + `{"start_offset":"soon"}}`, "video_metadata.start_offset", "must be seconds"},
		{"an offset below zero", video + `{"endOffset":-1}}`, "video_metadata.endOffset", "must be seconds"},
		{"an offset beyond reason", video + `{"endOffset":1e300}}`, "video_metadata.endOffset", "must be seconds"},
		{"an end before the start", video + `{"start_offset":10,"end_offset":"9s"}}`, "video_metadata", "after the start"},
		{"no frames", video + `{"fps":0}}`, "video_metadata.fps", "24 at most"},
		{"too many frames", video + `{"fps":24.1}}`, "video_metadata.fps", "24 at most"},
		{"frames as text", video + `{"fps":"2"}}`, "video_metadata.fps", "24 at most"},
		{"a part of no known type", `{"type":"video_url","video_url":{"url":"gs://b/v.mp4"}}`, "type", "use text, image_url, input_audio or file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := encodeParts(t, "gemini-3.5-flash", 0, "", `{"type":"text","text":"a"}`, tt.part)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != "messages[0].content[1]."+tt.param ||
				!strings.Contains(e.Message, tt.fragment) {
				t.Errorf("%v, want %q about %s", err, tt.fragment, tt.param)
			}
		})
	}
}

func TestOfficeFilesGoWhereTheyAreRead(t *testing.T) {
	const part = `{"type":"file","file":{"file_url":"gs://b/a.docx"}}`
	if sent, _, _, err := encodeParts(t, "gemini-4-argon", 0, "", part); err != nil || !strings.Contains(sent, "wordprocessingml.document") {
		t.Errorf("%s %v", sent, err)
	}
	given := strings.Replace(part, `"file_url"`, `"mime_type":"application/msword","file_url"`, 1)
	if sent, _, _, err := encodeParts(t, "gemini-2.5-flash", 0, "", given); err != nil || !strings.Contains(sent, "application/msword") {
		t.Errorf("the given type does not go through: %s %v", sent, err)
	}
}

func TestResolutionOfPartsBecomesTheRequestsBefore3(t *testing.T) {
	part := func(detail string) string {
		return `{"type":"image_url","image_url":{"url":"gs://b/i.png","detail":"` + detail + `"}}`
	}
	const sound = `{"type":"input_audio","input_audio":{"data":"gs://b/s.mp3"}}`
	const first = " messages[0].content[0].image_url.detail"
	for _, tt := range []struct {
		name    string
		members string
		parts   []string
		want    string
		warned  string
	}{
		{"none asks", "", []string{part("auto"), part("")}, "", ""},
		{"all agree", "", []string{part("low"), part("low")}, "MEDIA_RESOLUTION_LOW", ""},
		{"audio has no say", "", []string{part("high"), sound}, "MEDIA_RESOLUTION_HIGH", ""},
		{"two differ", "", []string{part("low"), part("high")}, "", "unsupported_parameter" + first},
		{"one asks for nothing", "", []string{part("low"), part("auto")}, "", "unsupported_parameter" + first},
		{"more than the request can say", "", []string{part("ultra_high")}, "MEDIA_RESOLUTION_HIGH", "adjusted_parameter" + first},
		{"the request gives the same", `,"media_resolution":"MEDIA_RESOLUTION_LOW"`, []string{part("low")}, "MEDIA_RESOLUTION_LOW", ""},
		{"the request gives another", `,"media_resolution":"MEDIA_RESOLUTION_LOW"`, []string{part("high")}, "MEDIA_RESOLUTION_LOW", "conflicting_parameter" + first},
		{"the request gives it in the platform's case", `,"mediaResolution":"MEDIA_RESOLUTION_LOW"`, []string{part("low")}, "MEDIA_RESOLUTION_LOW", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent, body, warnings, err := encodeParts(t, "gemini-2.5-flash", 0, tt.members, tt.parts...)
			if err != nil {
				t.Fatal(err)
			}
			config, _ := jsonx.Lookup([]byte(body), "generationConfig")
			raw, _ := jsonx.Lookup(config, "mediaResolution")
			r := jsonx.NewReader(raw)
			if got := r.String(); got != tt.want || strings.Contains(sent, "mediaResolution") {
				t.Errorf("%q in %s, want %q", got, body, tt.want)
			}
			if diff := cmp.Diff(tt.warned, said(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// inlineParts is a request with inline parts of the type, each of so many bytes
// decoded.
func inlineParts(mime string, sizes ...int) *providers.ChatCompletionRequest {
	parts := make([]providers.ContentPart, len(sizes))
	for i, n := range sizes {
		parts[i] = providers.ImagePart("data:" + mime + ";base64," + strings.Repeat("AAAA", n/3))
	}
	return &providers.ChatCompletionRequest{Messages: []providers.Message{providers.UserMessage(parts)}}
}

func TestInlineMediaBeyondTheLimitIsRefusedWithTheRemedy(t *testing.T) {
	const image, text, pdf, video = "image/png", "text/plain", "application/pdf", "video/mp4"
	for _, tt := range []struct {
		name     string
		limit    int
		mime     string
		sizes    []int
		fragment string // of the refusal of the last part
	}{
		{"an image that fits", 0, image, []int{7 * mebibyte}, ""},
		{"an image that does not", 0, image, []int{6, 7*mebibyte + 3}, "inline image data may have 7.00 MB"},
		{"a text that does not", 0, text, []int{8 * mebibyte}, "inline text data may have 7.00 MB, and this has 8.00 MB"},
		{"a video that fits", 0, video, []int{19 * mebibyte}, ""},
		{"a PDF that does not", 0, pdf, []int{51 * mebibyte}, "inline PDF data may have 50.00 MB"},
		{"a PDF beyond the sum", 0, pdf, []int{21 * mebibyte}, "one request may have 20.00 MB"},
		{"three that are too much", 0, pdf, []int{8 * mebibyte, 8 * mebibyte, 8 * mebibyte}, "up to this part they have 24.00 MB"},
		{"a limit of one's own that is higher", 30 * mebibyte, image, []int{29 * mebibyte}, ""},
		{"a limit of one's own that is lower", 3000, image, []int{1500, 1503}, "the limit is set to 3000 bytes"},
		{"a limit of one's own that is met", 3000, image, []int{1500, 1500}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := encodeWith(geminiFamily{maxInline: tt.limit}, modelOf(t, "gemini-3.5-flash"), inlineParts(tt.mime, tt.sizes...))
			if tt.fragment == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrTooLarge || e.Param != partPath(0, len(tt.sizes)-1, "") ||
				!strings.Contains(e.Message, tt.fragment) || !strings.Contains(e.Message, "gs:// URL") || e.Sent {
				t.Errorf("%v, want %q", err, tt.fragment)
			}
		})
	}
}

func TestReferencesCountForNothing(t *testing.T) {
	if _, _, _, err := encodeParts(t, "gemini-3.5-flash", 1, "", `{"type":"file","file":{"file_url":"gs://b/a.pdf"}}`); err != nil {
		t.Error(err)
	}
}

func TestDecodedLenIsThatOfTheBytes(t *testing.T) {
	for n := range 10 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			if got := decodedLen(enc.EncodeToString(make([]byte, n))); got != n {
				t.Errorf("%d, want %d", got, n)
			}
		}
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		part string
		most int
	}{
		{`{"type":"image_url","image_url":{"url":"gs://b/v.mp4"}}`, 10},
		{`{"type":"image_url","image_url":{"url":"gs://b/i.png"}}`, 3000},
		{`{"type":"input_audio","input_audio":{"data":"gs://b/s.mp3"}}`, 0},
	} {
		n := stdcmp.Or(tt.most, 12)
		parts := strings.Split(strings.Repeat(tt.part+"\n", n+1), "\n")[:n+1]
		if _, _, _, err := encodeParts(t, "gemini-3.5-flash", 0, "", parts[:n]...); err != nil {
			t.Error(err)
		}
		_, _, _, err := encodeParts(t, "gemini-3.5-flash", 0, "", parts...)
		if (err != nil) != (tt.most > 0) || err != nil && !strings.Contains(err.Error(), "at most "+strconv.Itoa(tt.most)) {
			t.Errorf("%d of %s: %v", n+1, tt.part, err)
		}
	}
}

func TestImagesTheModelMadeHaveNoSayInTheResolution(t *testing.T) {
	ask := providers.ImagePart("gs://b/a.png")
	ask.ImageURL.Detail = "low"
	q := &providers.ChatCompletionRequest{Messages: []providers.Message{
		providers.UserMessage([]providers.ContentPart{ask}),
		providers.AssistantMessage([]providers.ContentPart{providers.ImagePart("gs://b/made.png")}),
		providers.UserMessage("again"),
	}}
	body, warnings, err := encodeWith(geminiFamily{}, modelOf(t, "gemini-2.5-flash"), q)
	if err != nil || len(warnings) > 0 || !strings.Contains(string(body), `"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}`) {
		t.Errorf("%s %v %v", body, warnings, err)
	}
}

func TestResultsHoldWhatTheModelReadsThere(t *testing.T) {
	for _, tt := range []struct {
		name, model string
		part        providers.ContentPart
		fragment    string // of the refusal
	}{
		{"a PDF", "gemini-3.5-flash", providers.ImagePart("gs://b/a.pdf"), ""},
		{"a text", "gemini-3.5-flash", providers.ImagePart("gs://b/a.md"), ""},
		{"a video", "gemini-3.5-flash", providers.ImagePart("gs://b/a.mp4"), "send it in a user message"},
		{"a video whose type is given", "gemini-3.5-flash", providers.ContentPart{
			Type: providers.PartFile, File: &providers.File{FileURL: "gs://b/a", MimeType: "video/mp4"},
		}, ""},
		{"an office file before 4", "gemini-3.8-flash", providers.ImagePart("gs://b/a.docx"), "convert the file to PDF"},
		{"an office file", "gemini-4-argon", providers.ImagePart("gs://b/a.docx"), ""},
		{"an image before 3", "gemini-2.5-flash", providers.ImagePart("gs://b/a.png"), "send media in a user message"},
		{"thinking", "gemini-3.5-flash", providers.ThinkingPart("hm", ""), "takes text, image_url, input_audio and file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := &providers.ChatCompletionRequest{Messages: []providers.Message{
				providers.UserMessage("look"),
				{Role: providers.RoleAssistant, ToolCalls: []providers.ToolCall{{
					ID: "a", Type: "function", Function: providers.FunctionCall{Name: "f", Arguments: "{}", ThoughtSignature: "c2ln"},
				}}},
				providers.ToolMessage("a", []providers.ContentPart{tt.part}),
			}}
			body, _, err := encodeWith(geminiFamily{}, modelOf(t, tt.model), q)
			if tt.fragment == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := vertextest.Check("GenerateContentRequest", body); err != nil {
					t.Errorf("%s: %v", body, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.fragment) || !strings.Contains(err.Error(), "messages[2].content[0]") {
				t.Errorf("%v, want %q", err, tt.fragment)
			}
		})
	}
}
