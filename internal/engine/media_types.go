package engine

import (
	"path"
	"slices"
	"strings"
)

// mediaKind is what the platform's limits and modifiers go by.
type mediaKind uint8

const (
	kindOther mediaKind = iota // the platform judges it
	kindImage
	kindVideo
	kindAudio
	kindPDF
	kindText
	kindOffice
	mediaKinds // their number
)

const (
	imagePartPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding"
	videoPartPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/video-understanding"
	audioPartPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/audio-understanding"
	filePartPage  = "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/document-understanding"
	embedPartPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-multimodal-embeddings"
	modelPartPage = "https://cloud.google.com/vertex-ai/generative-ai/docs/models"
	ianaPage      = "https://www.iana.org/assignments/media-types/media-types.xhtml"
)

// mediaType is one row of the table of media types: the spelling the platform
// wants to read, the extensions of paths that mean it, and other spellings that
// clients have for it.
type mediaType struct {
	mime    string
	kind    mediaKind
	exts    string
	aliases string
	link    string
}

// mediaTypes is the table of media types. Text documents go as text/plain,
// whatever their markup. Which of the types a model reads is for the platform to
// say, except for office documents.
var mediaTypes = []mediaType{
	{"image/png", kindImage, "png", "image/x-png", imagePartPage},
	{"image/jpeg", kindImage, "jpg jpeg jpe jfif", "image/jpg image/pjpeg", imagePartPage},
	{"image/webp", kindImage, "webp", "", imagePartPage},
	{"image/heic", kindImage, "heic", "", imagePartPage},
	{"image/heif", kindImage, "heif", "", imagePartPage},
	{"image/gif", kindImage, "gif", "", ianaPage},
	{"image/tiff", kindImage, "tif tiff", "", ianaPage},
	{"image/bmp", kindImage, "bmp", "image/x-ms-bmp", embedPartPage},
	{"image/avif", kindImage, "avif", "", embedPartPage},

	{"video/mp4", kindVideo, "mp4 m4v", "video/x-m4v", videoPartPage},
	{"video/quicktime", kindVideo, "mov qt", "", videoPartPage},
	{"video/mpeg", kindVideo, "mpeg", "", videoPartPage},
	{"video/mpg", kindVideo, "mpg", "", videoPartPage},
	{"video/mpegps", kindVideo, "mpegps", "", videoPartPage},
	{"video/webm", kindVideo, "webm", "", videoPartPage},
	{"video/wmv", kindVideo, "wmv", "video/x-ms-wmv", videoPartPage},
	{"video/x-flv", kindVideo, "flv", "", videoPartPage},
	{"video/3gpp", kindVideo, "3gp 3gpp threegpp", "video/three_gpp", videoPartPage},
	{"video/avi", kindVideo, "avi", "video/x-msvideo video/msvideo", videoPartPage},
	{"video/x-matroska", kindVideo, "mkv", "video/mkv", ianaPage},

	{"audio/mp3", kindAudio, "mp3", "audio/x-mp3", audioPartPage},
	{"audio/wav", kindAudio, "wav wave", "audio/x-wav audio/wave audio/vnd.wave", audioPartPage},
	{"audio/flac", kindAudio, "flac", "audio/x-flac", audioPartPage},
	{"audio/ogg", kindAudio, "ogg oga opus", "audio/opus application/ogg", audioPartPage},
	{"audio/m4a", kindAudio, "m4a", "audio/x-m4a", audioPartPage},
	{"audio/x-aac", kindAudio, "aac", "", audioPartPage},
	{"audio/pcm", kindAudio, "pcm", "", audioPartPage},
	{"audio/mpga", kindAudio, "mpga", "", audioPartPage},
	{"audio/aiff", kindAudio, "aiff aif", "audio/x-aiff", ianaPage},

	{"application/pdf", kindPDF, "pdf", "application/x-pdf", filePartPage},
	{"text/plain", kindText, "txt text log code md markdown csv tsv html htm xhtml xml json jsonl ndjson yaml yml toml ini " +
		"rtf srt vtt css js py go java c h cpp rs rb php sh sql", "application/json application/xml application/rtf " +
		"application/yaml application/x-yaml application/javascript application/xhtml+xml application/x-ndjson", filePartPage},

	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", kindOffice, "docx", "", modelPartPage},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.template", kindOffice, "dotx", "", modelPartPage},
	{"application/vnd.openxmlformats-officedocument.presentationml.presentation", kindOffice, "pptx", "", modelPartPage},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", kindOffice, "xlsx", "", modelPartPage},
	{"application/msword", kindOffice, "doc", "", modelPartPage},
	{"application/vnd.ms-powerpoint", kindOffice, "ppt", "", modelPartPage},
	{"application/vnd.ms-excel", kindOffice, "xls", "", modelPartPage},
	{"application/vnd.oasis.opendocument.text", kindOffice, "odt", "", modelPartPage},
	{"application/vnd.oasis.opendocument.presentation", kindOffice, "odp", "", modelPartPage},
	{"application/vnd.oasis.opendocument.spreadsheet", kindOffice, "ods", "", modelPartPage},
}

// audioFormats maps the format of an input_audio part to its media type.
//
// Source: https://platform.openai.com/docs/api-reference/chat/create and, for
// what is beyond it, the audio page.
var audioFormats = map[string]string{
	"wav": "audio/wav", "wave": "audio/wav", "mp3": "audio/mp3", "flac": "audio/flac",
	"opus": "audio/ogg", "ogg": "audio/ogg", "oga": "audio/ogg", "pcm": "audio/pcm", "pcm16": "audio/pcm",
	"m4a": "audio/m4a", "x-m4a": "audio/m4a", "aac": "audio/x-aac", "x-aac": "audio/x-aac",
	"webm": "audio/webm", "mpeg": "audio/mpeg", "mpga": "audio/mpga", "mp4": "audio/mp4",
	"aiff": "audio/aiff", "aif": "audio/aiff",
}

// audioOf maps video types to the audio type that shares their container.
var audioOf = map[string]string{
	"video/mp4": "audio/mp4", "video/webm": "audio/webm", "video/mpeg": "audio/mpeg",
	"video/mpg": "audio/mpeg", "video/3gpp": "audio/mp4", "video/quicktime": "audio/mp4",
}

var (
	typesByExtension = indexTypes(mediaTypes, func(t *mediaType) string { return t.exts })
	typesByAlias     = indexTypes(mediaTypes, func(t *mediaType) string { return t.aliases })
	officeTypes      = officeRows(mediaTypes)
)

// indexTypes maps the words of a column to the type of their row.
func indexTypes(rows []mediaType, words func(*mediaType) string) map[string]string {
	index := make(map[string]string, 2*len(rows))
	for i := range rows {
		for word := range strings.FieldsSeq(words(&rows[i])) {
			index[word] = rows[i].mime
		}
	}
	return index
}

func officeRows(rows []mediaType) []string {
	var list []string
	for i := range rows {
		if rows[i].kind == kindOffice {
			list = append(list, rows[i].mime)
		}
	}
	return list
}

// kindOf returns the kind of a canonical type.
func kindOf(mime string) mediaKind {
	family, _, _ := strings.Cut(mime, "/")
	switch {
	case family == "image":
		return kindImage
	case family == "video":
		return kindVideo
	case family == "audio":
		return kindAudio
	case family == "text":
		return kindText
	case mime == "application/pdf":
		return kindPDF
	case slices.Contains(officeTypes, mime):
		return kindOffice
	}
	return kindOther
}

// canonicalType takes parameters off, folds text documents to text/plain and
// other spellings to the one that the platform documents.
func canonicalType(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	if strings.HasPrefix(mime, "text/") {
		return "text/plain"
	}
	if known, ok := typesByAlias[mime]; ok {
		return known
	}
	return mime
}

// isType reports whether s has the form of a media type: two names of visible
// ASCII.
//
// Source: https://www.rfc-editor.org/rfc/rfc6838#section-4.2
func isType(s string) bool {
	family, name, ok := strings.Cut(s, "/")
	return ok && family != "" && name != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == ',' || r == '"' || r == '\\'
	})
}

// typeOfName infers the media type from the extension of a path or file name.
func typeOfName(name string) string {
	return typesByExtension[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]
}
