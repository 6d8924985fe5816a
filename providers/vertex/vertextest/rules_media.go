package vertextest

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxInlineImage is the largest image that may come within a request, in bytes.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding
const maxInlineImage = 7 << 20

// mediaType is a media type that prompts may hold.
type mediaType struct {
	name string
	from int // version
}

// mediaTypes lists what is taken. Spellings of older model pages are in it.
//
// Sources: the image, video, audio and document pages below
// https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal and
// https://cloud.google.com/vertex-ai/generative-ai/docs/models. That JSON isn't
// taken as a document: https://github.com/agno-agi/agno/issues/3964; GIF:
// https://github.com/microsoft/vscode/issues/286628.
func mediaTypes() []mediaType {
	const (
		always = "image/png image/jpeg image/webp image/heic image/heif" +
			" application/pdf text/plain text/markdown text/csv text/html text/xml text/rtf text/css text/javascript" +
			" video/mp4 video/quicktime video/mov video/mpeg video/mpegs video/mpegps video/mpg video/avi video/webm video/wmv" +
			" video/x-flv video/flv video/3gpp" +
			" audio/mp3 audio/mpeg audio/wav audio/x-wav audio/m4a audio/x-m4a audio/aac audio/x-aac audio/flac audio/x-flac" +
			" audio/ogg audio/opus audio/webm audio/pcm audio/l16 audio/mpga audio/mp4 audio/aiff"
		open = "application/vnd.openxmlformats-officedocument."
		odf  = "application/vnd.oasis.opendocument."
		four = open + "wordprocessingml.document " + open + "wordprocessingml.template application/msword " +
			open + "presentationml.presentation application/vnd.ms-powerpoint " + open + "spreadsheetml.sheet" +
			" application/vnd.ms-excel " + odf + "text " + odf + "presentation " + odf + "spreadsheet"
	)
	var list []mediaType
	for name := range strings.FieldsSeq(always) {
		list = append(list, mediaType{name: name})
	}
	for name := range strings.FieldsSeq(four) {
		list = append(list, mediaType{name: name, from: 40})
	}
	return list
}

// takesMedia reports whether the model reads a media type. A file may also be
// any video, as addresses of YouTube are.
func (x *exchange) takesMedia(mimeType string, isFile bool) bool {
	name := strings.ToLower(mimeType)
	if strings.HasPrefix(name, "audio/l16;") || strings.HasPrefix(name, "audio/pcm;") {
		return true // with a rate
	}
	if isFile && name == "video/*" {
		return true
	}
	return slices.ContainsFunc(mediaTypes(), func(m mediaType) bool { return m.name == name && m.from <= x.facts.version })
}

// checkMedia wants whole base64, types that are known, sizes that are allowed,
// and addresses the platform can reach.
func checkMedia(x *exchange) error {
	fetched := map[string]int{}
	return x.eachPart(func(path string, p part) error {
		if err := x.checkMedium(path, p, fetched); err != nil {
			return err
		}
		if p.FunctionResponse == nil {
			return nil
		}
		if len(p.FunctionResponse.Parts) > 0 && !x.rules.responseMedia {
			return invalid("Unable to submit request because function_response.parts at %s is not supported by this model.", path)
		}
		for i, m := range p.FunctionResponse.Parts {
			if err := x.checkMedium(fmt.Sprintf("%s.function_response.parts[%d]", path, i), m, fetched); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkMedium checks one part; fetched counts what comes from the web.
func (x *exchange) checkMedium(path string, p part, fetched map[string]int) error {
	if p.InlineData != nil {
		if err := x.checkInline(path, *p.InlineData); err != nil {
			return err
		}
	}
	if p.FileData != nil {
		if err := x.checkFile(path, *p.FileData, fetched); err != nil {
			return err
		}
	}
	if len(p.MediaResolution) > 0 && !x.rules.partResolution {
		return invalid("Unable to submit request because media_resolution at %s is not supported by this model.", path)
	}
	if len(p.VideoMetadata) > 0 && !p.isVideo() {
		return invalid("Unable to submit request because it has a video_metadata parameter at %s, which is only supported with video data.", path)
	}
	return nil
}

// isVideo reports whether the part holds a video.
func (p part) isVideo() bool {
	return p.InlineData != nil && modalityOf(p.InlineData.MimeType) == "VIDEO" ||
		p.FileData != nil && modalityOf(p.FileData.MimeType) == "VIDEO"
}

// unsupportedMedia has the platform's own words.
func unsupportedMedia(mimeType string) error {
	return invalid("Unable to submit request because it has a mimeType parameter with value %s, which is not supported. Update the mimeType and try again. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini",
		mimeType)
}

func (x *exchange) checkInline(path string, b blob) error {
	switch {
	case b.MimeType == "":
		return invalid("Unable to submit request because it must have a mimeType parameter at %s.inline_data.", path)
	case b.Data == "":
		return invalid("Unable to submit request because it has an empty inlineData parameter at %s.", path)
	case decodeBase64(b.Data) == "":
		return invalid("Invalid value at '%s.inline_data.data' (TYPE_BYTES), Base64 decoding failed.", path)
	case !x.takesMedia(b.MimeType, false):
		return unsupportedMedia(b.MimeType)
	case modalityOf(b.MimeType) == "IMAGE" && base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(b.Data, "="))) > maxInlineImage:
		return invalid("Unable to submit request because the image at %s is larger than the limit of %d bytes.", path, maxInlineImage)
	}
	return nil
}

// webLimits is how many files of a modality may come from the web in a request.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
func webLimits() map[string]int { return map[string]int{"VIDEO": 1, "AUDIO": 1, "IMAGE": 10} }

// checkFile checks the type and the address of a file. A host below .invalid is
// one that can't be reached.
func (x *exchange) checkFile(path string, f fileData, fetched map[string]int) error {
	switch {
	case f.MimeType == "":
		return invalid("Unable to submit request because it must have a mimeType parameter at %s.file_data.", path)
	case !fileAddress.MatchString(f.FileURI):
		return invalid("Invalid file URI at %s.file_data: expected gs:// or https://.", path)
	case !x.takesMedia(f.MimeType, true):
		return unsupportedMedia(f.MimeType)
	case strings.HasPrefix(f.FileURI, "gs:"):
		return nil
	}
	u, err := url.Parse(f.FileURI)
	if err == nil && slices.Contains([]string{"youtube.com", "www.youtube.com", "youtu.be"}, u.Hostname()) {
		return nil // read where it is, not fetched
	}
	modality := modalityOf(f.MimeType)
	fetched[modality]++
	if limit := webLimits()[modality]; limit > 0 && fetched[modality] > limit {
		return invalid("Unable to submit request because it has more than %d %s files with an HTTP URL.", limit, strings.ToLower(modality))
	}
	if err != nil || strings.HasSuffix(u.Hostname(), ".invalid") {
		return invalid("Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex AI. Vertex AI respects robots.txt rules, so confirm the URL is allowed to be crawled. Status: URL_UNREACHABLE-UNREACHABLE_DNS")
	}
	return nil
}

var fileAddress = regexp.MustCompile(`^(gs|https?)://[^/]+/?`)
