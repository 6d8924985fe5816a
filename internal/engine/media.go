package engine

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"
)

// media is what a part holds that is not text: a reference, or base64 that lies
// within the caller's string.
type media struct {
	mime   string
	given  bool   // the caller gave the type, so that it goes as it is
	uri    string // fileUri, or
	base64 string // inline data
}

// mediaSource is media as a content part names it. Its type is the given one,
// else the data URI's, else the format's, else that of the path's extension or
// the file's name, else, inline, that of the first bytes.
type mediaSource struct {
	member string // the part's member that holds ref
	ref    string // a gs:// or https URL, a data URI, or base64
	mime   string // the given type
	format string // the type that the format means
	name   string // the name of the file
	bare   bool   // ref may be base64 without more
	audio  bool   // what may be audio or video is audio
	own    bool   // it is for the vendor's own service, not for Vertex AI
}

// urls names the URLs that are taken.
func (s *mediaSource) urls() string {
	if s.own {
		return "an https URL"
	}
	return "a gs:// or https URL"
}

// parse reads the source. What is wrong with it is told with the remedy.
func (s *mediaSource) parse() (m media, fault string) {
	if s.mime != "" && !isType(canonicalType(s.mime)) {
		return media{}, "mime_type is not a media type such as image/png"
	}
	if scheme := "data:"; len(s.ref) >= len(scheme) && strings.EqualFold(s.ref[:len(scheme)], scheme) {
		return s.dataURI(s.ref[len(scheme):])
	}
	if object, ok := strings.CutPrefix(s.ref, "gs://"); ok {
		return s.storage(object)
	}
	if strings.HasPrefix(s.ref, "https://") || strings.HasPrefix(s.ref, "http://") {
		return s.web()
	}
	switch {
	case !s.bare:
		return media{}, "give " + s.urls() + ", or a data URI such as data:image/png;base64,…"
	case s.ref == "":
		return media{}, "there is no data: give base64, a data URI, or " + s.urls()
	case !isBase64Text(s.ref):
		return media{}, "the data is not base64: give base64 in one line, a data URI, or " + s.urls()
	}
	return s.inline("", s.ref)
}

// storage reads the address of an object in Cloud Storage. Its name may hold any
// character, so that a query or fragment may be part of it.
func (s *mediaSource) storage(address string) (media, string) {
	if s.own {
		return media{}, noStorage
	}
	bucket, object, _ := strings.Cut(address, "/")
	if bucket == "" || object == "" {
		return media{}, "a gs:// URL names a bucket and an object, as in gs://bucket/dir/photo.png"
	}
	name := object
	if i := strings.IndexAny(object, "?#"); i >= 0 {
		name = object[:i]
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return s.reference(cmp.Or(typeOfName(name), typeOfName(object)))
}

// web reads a URL that the platform fetches.
func (s *mediaSource) web() (media, string) {
	u, err := url.Parse(s.ref)
	if err != nil || u.Hostname() == "" {
		return media{}, "not a valid URL: escape what is special in it, as in https://host/a%20b.png"
	}
	switch strings.ToLower(u.Hostname()) {
	case "youtu.be", "youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com":
		return s.reference("video/mp4")
	}
	if s.own && s.mime == "" && isOwnFile(u.Path) {
		return media{uri: s.ref}, "" // the service knows the type
	}
	return s.reference(typeOfName(u.Path))
}

func (s *mediaSource) reference(byPath string) (media, string) {
	mime := cmp.Or(s.mime, s.format, s.guess(byPath), s.guess(typeOfName(s.name)))
	if mime == "" {
		return media{}, s.unknown("URL", "add an extension, or give mime_type")
	}
	return media{mime: canonicalType(mime), given: s.mime != "", uri: s.ref}, ""
}

// guess turns what an extension or the first bytes tell into audio where the
// part is audio.
func (s *mediaSource) guess(mime string) string {
	if s.audio {
		return cmp.Or(audioOf[mime], mime)
	}
	return mime
}

func (s *mediaSource) unknown(what, remedy string) string {
	if s.audio {
		remedy = "give format as one of wav, mp3, flac, opus, ogg, pcm16, m4a, aac, webm, mpeg, mpga, mp4, aiff"
	}
	return "the media type can't be told from the " + what + ": " + remedy
}

// maxPlainText is the most characters of a data URI that is text without
// base64. Such text is copied more than once.
const maxPlainText = 64 << 10

// dataURI splits TYPE;base64,DATA without copying the data.
//
// Source: https://www.rfc-editor.org/rfc/rfc2397
func (s *mediaSource) dataURI(uri string) (media, string) {
	head, payload, ok := strings.Cut(uri, ",")
	if !ok {
		return media{}, "malformed data URI: no comma before the data"
	}
	if payload == "" {
		return media{}, "the data URI holds no data"
	}
	declared, coding := head, ""
	if i := strings.LastIndexByte(head, ';'); i >= 0 {
		declared, coding = head[:i], head[i+1:]
	}
	if !strings.EqualFold(strings.TrimSpace(coding), "base64") {
		return s.plain(head, payload)
	}
	if !isBase64Text(payload) {
		return media{}, "malformed data URI: the data is not base64 in one line"
	}
	return s.inline(declared, payload)
}

// plain turns the text of a data URI that is not base64 into base64.
func (s *mediaSource) plain(head, payload string) (media, string) {
	declared := canonicalType(head)
	switch {
	case canonicalType(cmp.Or(s.mime, declared, "text/plain")) != "text/plain",
		strings.Contains(strings.ToLower(head), ";base64"):
		return media{}, "malformed data URI: it must be base64, as in data:image/png;base64,…"
	case len(payload) > maxPlainText:
		return media{}, "a data URI with this much text must be base64, as in data:text/plain;base64,…"
	}
	text, err := url.PathUnescape(payload)
	if err != nil || !utf8.ValidString(text) {
		return media{}, "malformed data URI: its text is not UTF-8 with % escapes: send it as data:text/plain;base64,…"
	}
	return s.inline(cmp.Or(declared, "text/plain"), base64.StdEncoding.EncodeToString([]byte(text)))
}

// inline takes base64 whose type is declared, or is looked for.
func (s *mediaSource) inline(declared, payload string) (media, string) {
	declared = canonicalType(declared)
	switch {
	case declared == "application/octet-stream", declared == "binary/octet-stream":
		declared = "" // bytes of whatever type
	case declared != "" && !isType(declared) && s.mime == "":
		return media{}, "the data URI names no media type: write it as data:image/png;base64,…, or give mime_type"
	}
	mime := cmp.Or(s.mime, declared, s.format, s.guess(typeOfName(s.name)))
	if mime == "" {
		mime = s.guess(sniff(payload))
	}
	if mime == "" {
		return media{}, s.unknown("data", "send it as data:image/png;base64,…, or give mime_type")
	}
	return media{mime: canonicalType(mime), given: s.mime != "", base64: payload}, ""
}

// magicNumbers tell the type of data whose URI does not; ? stands for any byte.
// The first match counts.
//
// Source: https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern and
// https://www.iana.org/assignments/media-types/media-types.xhtml
var magicNumbers = []struct{ pattern, mime string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF8", "image/gif"},
	{"RIFF????WEBP", "image/webp"},
	{"II*\x00", "image/tiff"},
	{"MM\x00*", "image/tiff"},
	{"????ftyphei", "image/heic"},
	{"????ftypmif1", "image/heif"},
	{"????ftypavif", "image/avif"},
	{"%PDF-", "application/pdf"},
	{"????ftypM4A", "audio/m4a"},
	{"????ftypqt", "video/quicktime"},
	{"????ftyp3g", "video/3gpp"},
	{"????ftyp", "video/mp4"},
	{"\x1aE\xdf\xa3", "video/webm"},
	{"\x00\x00\x01\xba", "video/mpeg"},
	{"\x00\x00\x01\xb3", "video/mpeg"},
	{"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/wmv"},
	{"RIFF????AVI ", "video/avi"},
	{"FLV\x01", "video/x-flv"},
	{"RIFF????WAVE", "audio/wav"},
	{"FORM????AIFF", "audio/aiff"},
	{"ID3", "audio/mp3"},
	{"\xff\xfb", "audio/mp3"},
	{"\xff\xf3", "audio/mp3"},
	{"\xff\xf2", "audio/mp3"},
	{"\xff\xf1", "audio/x-aac"},
	{"\xff\xf9", "audio/x-aac"},
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
