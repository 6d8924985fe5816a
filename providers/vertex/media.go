package vertex

import (
	"encoding/base64"
	"net/url"
	"path"
	"strings"
)

// mimeTypes maps the extension of a path to the media type that the platform
// wants to read. Text documents go as text/plain, whatever their markup.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/models
var mimeTypes = map[string]string{
	"pdf": "application/pdf",
	"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp",
	"gif": "image/gif", "bmp": "image/bmp", "heic": "image/heic", "heif": "image/heif", "avif": "image/avif",
	"mp4": "video/mp4", "mov": "video/quicktime", "mpeg": "video/mpeg", "mpg": "video/mpg",
	"webm": "video/webm", "wmv": "video/wmv", "flv": "video/x-flv", "3gp": "video/3gpp", "avi": "video/avi",
	"mp3": "audio/mp3", "wav": "audio/wav", "m4a": "audio/m4a", "aac": "audio/x-aac", "flac": "audio/flac",
	"ogg": "audio/ogg", "opus": "audio/ogg", "mpga": "audio/mpga", "pcm": "audio/pcm",
	"txt": "text/plain", "md": "text/plain", "csv": "text/plain", "html": "text/plain", "htm": "text/plain",
	"xml": "text/plain", "json": "text/plain", "log": "text/plain", "rtf": "text/plain",
}

// media is a part that is not text: a reference, or base64 that lies within
// the caller's string.
type media struct {
	mime   string
	uri    string // fileUri, or
	base64 string // inline data
}

// parseMedia reads an image_url: a data URI, or a gs:// or https URL whose type
// is given or known by its extension.
func parseMedia(ref, mime string) (media, string) {
	if scheme := "data:"; len(ref) >= len(scheme) && strings.EqualFold(ref[:len(scheme)], scheme) {
		return parseDataURI(ref[len(scheme):], mime)
	}
	if !strings.HasPrefix(ref, "gs://") && !strings.HasPrefix(ref, "https://") && !strings.HasPrefix(ref, "http://") {
		return media{}, "give a gs:// or https URL, or a data URI such as data:image/png;base64,…"
	}
	if mime == "" {
		mime = typeOfURL(ref)
	}
	if mime == "" {
		return media{}, "the media type can't be told from the URL: add an extension, or give mime_type"
	}
	if mime = canonicalType(mime); !strings.Contains(mime, "/") {
		return media{}, "mime_type is not a media type such as image/png"
	}
	return media{mime: mime, uri: ref}, ""
}

// typeOfURL infers the media type from the extension of the URL's path.
func typeOfURL(ref string) string {
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Hostname()) {
	case "youtu.be", "youtube.com", "www.youtube.com", "m.youtube.com":
		return "video/mp4"
	}
	return mimeTypes[strings.ToLower(strings.TrimPrefix(path.Ext(u.Path), "."))]
}

// canonicalType takes parameters off and folds text documents to text/plain.
func canonicalType(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	if strings.HasPrefix(mime, "text/") {
		return "text/plain"
	}
	return mime
}

// magicNumbers tell the type of data whose URI does not; ? stands for any byte.
//
// Source: https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern
var magicNumbers = []struct{ pattern, mime string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF8", "image/gif"},
	{"RIFF????WEBP", "image/webp"},
	{"????ftyphei", "image/heic"},
	{"%PDF-", "application/pdf"},
	{"????ftypM4A", "audio/m4a"},
	{"????ftyp", "video/mp4"},
	{"\x1aE\xdf\xa3", "video/webm"},
	{"RIFF????WAVE", "audio/wav"},
	{"ID3", "audio/mp3"},
	{"OggS", "audio/ogg"},
	{"fLaC", "audio/flac"},
}

// sniff tells the media type by the first bytes of base64 data, or returns "".
func sniff(payload string) string {
	var buf [18]byte
	head := strings.NewReplacer("-", "+", "_", "/").Replace(payload[:min(len(payload), 24)&^3])
	n, _ := base64.StdEncoding.Decode(buf[:], []byte(head)) // what comes before a fault counts
	for _, m := range magicNumbers {
		if n >= len(m.pattern) && hasMagic(buf[:n], m.pattern) {
			return m.mime
		}
	}
	return ""
}

func hasMagic(data []byte, pattern string) bool {
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != data[i] {
			return false
		}
	}
	return true
}

// parseDataURI splits TYPE;base64,DATA without copying the data.
//
// Source: https://www.rfc-editor.org/rfc/rfc2397
func parseDataURI(uri, mime string) (media, string) {
	head, payload, ok := strings.Cut(uri, ",")
	if !ok {
		return media{}, "malformed data URI: no comma before the data"
	}
	kind, coding := head, ""
	if i := strings.LastIndexByte(head, ';'); i >= 0 {
		kind, coding = head[:i], head[i+1:]
	}
	switch {
	case !strings.EqualFold(coding, "base64"):
		return media{}, "malformed data URI: it must be base64, as in data:image/png;base64,…"
	case payload == "":
		return media{}, "the data URI holds no data"
	case !isBase64Text(payload):
		return media{}, "malformed data URI: the data is not base64"
	}
	if mime == "" {
		mime = kind
	}
	if mime == "" {
		mime = sniff(payload)
	}
	if mime = canonicalType(mime); !strings.Contains(mime, "/") {
		return media{}, "the data URI names no media type: write it as data:image/png;base64,…, or give mime_type"
	}
	return media{mime: mime, base64: payload}, ""
}
