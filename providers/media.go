package providers

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// MediaPart is a part with media that is sent along: an image, PDF, video, audio
// or text. The type is one such as "image/png"; "" leaves it to the first bytes.
func MediaPart(mimeType string, data []byte) ContentPart {
	return ImagePart("data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(data))
}

// AudioPart is a part with audio that is sent along, as OpenAI's schema has it.
// The format is a short name such as "wav" or "mp3".
func AudioPart(format string, data []byte) ContentPart {
	return ContentPart{Type: PartInputAudio, InputAudio: &InputAudio{
		Format: format, Data: base64.StdEncoding.EncodeToString(data),
	}}
}

// FilePart is a part with a document by URL: gs://, https or a data URI. A URL
// whose path has no telling extension needs the MimeType of its File.
func FilePart(url string) ContentPart {
	return ContentPart{Type: PartFile, File: &File{FileURL: url}}
}

// VideoClip says which part of a video a model looks at, and how closely. The
// zero value is all of it, as closely as the model does by itself.
type VideoClip struct {
	// Start and End are offsets from the video's beginning. An End of 0 is the
	// video's end.
	Start, End time.Duration
	// FPS is how many frames of a second are looked at, up to 24; 0 leaves it to
	// the model, which takes one.
	FPS float64
}

// VideoPart is a part with a video by URL: gs://, https, YouTube or a data URI.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/video-understanding
func VideoPart(url string, clip VideoClip) ContentPart {
	part := ImagePart(url)
	var members []string
	seconds := func(name string, d time.Duration) {
		if d != 0 {
			members = append(members, `"`+name+`":`+strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
		}
	}
	seconds("start_offset", clip.Start)
	seconds("end_offset", clip.End)
	if clip.FPS != 0 {
		members = append(members, `"fps":`+strconv.FormatFloat(clip.FPS, 'g', -1, 64))
	}
	if len(members) > 0 {
		part.Extra = Extra(`{"video_metadata":{` + strings.Join(members, ",") + `}}`)
	}
	return part
}

// PlatformTool is a tool that the platform runs itself, by its name: web_search,
// google_maps, url_context, code_execution and others, as the provider lists
// them. The options are a JSON object, or nil for none.
func PlatformTool(name string, options []byte) Tool {
	return Tool{Type: name, Extra: Extra(options)}
}

// Bytes returns what a data URI holds, such as an image of an answer, and its
// media type. Any other URL is an error.
func (u *ImageURL) Bytes() (data []byte, mimeType string, err error) {
	if u == nil {
		return nil, "", Invalid("image_url", "there is none")
	}
	head, payload, ok := strings.Cut(u.URL, ",")
	mimeType, isBase64 := strings.CutSuffix(head, ";base64")
	mimeType, isData := strings.CutPrefix(mimeType, "data:")
	if !ok || !isBase64 || !isData {
		return nil, "", Invalid("image_url.url", "is no data URI with base64: fetch what the URL points to")
	}
	data, err = base64.StdEncoding.DecodeString(payload)
	if err != nil {
		return nil, "", Invalid("image_url.url", "the data is not base64")
	}
	return data, mimeType, nil
}

// Bytes returns the audio. That of a whole answer in the format wav is a file;
// see MimeType for anything else.
func (a *Audio) Bytes() ([]byte, error) {
	if a == nil {
		return nil, Invalid("audio", "there is none")
	}
	data, err := base64.StdEncoding.DecodeString(a.Data)
	if err != nil {
		return nil, Invalid("audio.data", "is not base64")
	}
	return data, nil
}
