package vertex

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func TestParseMediaFindsTheType(t *testing.T) {
	for _, tt := range []struct{ name, ref, mime, want string }{
		{"by extension", "gs://b/a.pdf", "", "application/pdf"},
		{"by extension in capitals", "gs://b/A.JPEG", "", "image/jpeg"},
		{"not by the query", "https://h/a.png?f=x.pdf", "", "image/png"},
		{"not by the fragment", "https://h/a.png#x.pdf", "", "image/png"},
		{"by the last extension", "https://h/a.tar.webp", "", "image/webp"},
		{"an escaped path", "https://h/a%20b.m4a", "", "audio/m4a"},
		{"text documents are text/plain", "gs://b/a.csv", "", "text/plain"},
		{"the given type wins", "gs://b/a.png", "video/mp4", "video/mp4"},
		{"the given type without parameters and capitals", "gs://b/a", "Audio/WebM; codecs=opus", "audio/webm"},
		{"a given text type is text/plain", "gs://b/a", "text/markdown", "text/plain"},
		{"YouTube", "https://m.youtube.com/watch?v=1", "", "video/mp4"},
		{"YouTube, short", "https://YOUTU.be/1", "", "video/mp4"},
		{"a data URI", "data:image/gif;base64,R0lGODdh", "", "image/gif"},
		{"a data URI with parameters", "data:audio/L16;codec=pcm;rate=24000;base64,AAAA", "", "audio/l16"},
		{"a data URI in capitals", "DATA:IMAGE/PNG;Base64,AAAA", "", "image/png"},
		{"the given type wins over the data URI's", "data:image/gif;base64,AAAA", "image/png", "image/png"},
		{"a data URI of HTML", "data:text/html;base64,AAAA", "", "text/plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := parseMedia(tt.ref, tt.mime)
			if fault != "" || got.mime != tt.want {
				t.Errorf("%q %q, want %q", got.mime, fault, tt.want)
			}
			if inline := strings.EqualFold(tt.ref[:5], "data:"); inline != (got.uri == "") || inline != (got.base64 != "") {
				t.Errorf("%+v is inline or by reference, not as it was given", got)
			}
		})
	}
}

func TestSniffTellsTheTypeByTheFirstBytes(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\nxxxx":        "image/png",
		"\xff\xd8\xff\xe0":             "image/jpeg",
		"GIF89a":                       "image/gif",
		"RIFF\x00\x01\x02\x03WEBPVP8 ": "image/webp",
		"RIFF\xff\xff\xff\xffWAVEfmt ": "audio/wav",
		"\x00\x00\x00\x18ftypheic":     "image/heic",
		"\x00\x00\x00\x18ftypisom":     "video/mp4",
		"\x00\x00\x00\x18ftypM4A ":     "audio/m4a",
		"%PDF-1.7 and so on, for long": "application/pdf",
		"\x1aE\xdf\xa3":                "video/webm",
		"ID3\x04":                      "audio/mp3",
		"OggS\x00":                     "audio/ogg",
		"fLaC\x00":                     "audio/flac",
		"plain text":                   "",
		"RIFF":                         "",
		"":                             "",
	} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if got := sniff(enc.EncodeToString([]byte(head))); got != want && len(head)%3 == 0 || got != "" && got != want {
				t.Errorf("%q: %q, want %q", head, got, want)
			}
		}
		if got := sniff(base64.StdEncoding.EncodeToString([]byte(head + "....."))); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func TestParseMediaRefusesWithTheRemedy(t *testing.T) {
	for _, tt := range []struct{ name, ref, mime, fragment string }{
		{"no scheme", "photo.png", "", "give a gs:// or https URL"},
		{"bare base64", "iVBORw0KGgo=", "", "give a gs:// or https URL"},
		{"a local file", "file:///etc/passwd", "", "give a gs:// or https URL"},
		{"no extension", "https://h/photo", "", "add an extension, or give mime_type"},
		{"an unknown extension", "https://h/a.zzz", "", "add an extension, or give mime_type"},
		{"a dot in the host alone", "https://h.png", "", "add an extension, or give mime_type"},
		{"a URL that is none", "https://h:x/a.png", "", "add an extension, or give mime_type"},
		{"a type that is none", "https://h/a.png", "png", "mime_type is not a media type"},
		{"no comma", "data:image/png;base64", "", "no comma"},
		{"not base64", "data:text/plain,hello", "", "it must be base64"},
		{"a parameter after the coding", "data:image/png;base64;x=y,AAAA", "", "it must be base64"},
		{"no data", "data:image/png;base64,", "", "holds no data"},
		{"broken data", "data:image/png;base64,AA*A", "", "the data is not base64"},
		{"wrapped data", "data:image/png;base64,AAAA\nAAAA", "", "the data is not base64"},
		{"escaped data", "data:image/png;base64,AA%2B", "", "the data is not base64"},
		{"no type to be told", "data:;base64,AAAA", "", "names no media type"},
		{"a type that is none in a data URI", "data:png;base64,AAAA", "", "names no media type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := parseMedia(tt.ref, tt.mime)
			if !strings.Contains(fault, tt.fragment) {
				t.Errorf("%+v %q, want %q", got, fault, tt.fragment)
			}
		})
	}
}

func TestEveryExtensionHasATypeThatIsCanonical(t *testing.T) {
	for ext, mime := range mimeTypes {
		if ext != strings.ToLower(ext) || strings.HasPrefix(ext, ".") {
			t.Errorf("%q can't be found", ext)
		}
		if canonicalType(mime) != mime || !strings.Contains(mime, "/") {
			t.Errorf("%s: %q is not canonical", ext, mime)
		}
	}
}

// isStandard says what encoding/base64 thinks, in either alphabet, padded or
// not. It skips line breaks, which JSON can't hold.
func isStandard(s string) bool {
	if strings.ContainsAny(s, "\r\n") {
		return false
	}
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	_, padded := base64.StdEncoding.DecodeString(s)
	_, raw := base64.RawStdEncoding.DecodeString(s)
	return padded == nil || raw == nil
}

func TestIsBase64TextAgreesWithTheStandardLibrary(t *testing.T) {
	const alphabet = "A9+/-_=*\n\" \x00\x80é"
	var walk func(prefix string)
	walk = func(prefix string) {
		if got, want := isBase64Text(prefix), isStandard(prefix); got != want {
			t.Errorf("%q: %v, want %v", prefix, got, want)
		}
		if len(prefix) < 4 {
			for i := range len(alphabet) {
				walk(prefix + alphabet[i:i+1])
			}
		}
	}
	walk("")
	for c := range 256 {
		for place := range 24 {
			text := []byte(strings.Repeat("A", 24))
			text[place] = byte(c)
			if got, want := isBase64Text(string(text)), isStandard(string(text)); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
}

func TestIsBase64TextOfLongDataJudgesBothEndsAndWhatBreaksJSON(t *testing.T) {
	long := strings.Repeat("ABCD", wholeCheck/2)
	with := func(at int, c string) string { return long[:at] + c + long[at+1:] }
	for _, tt := range []struct {
		name string
		text string
		want bool
	}{
		{"whole", long, true},
		{"padded", long[:len(long)-1] + "=", true},
		{"a fault at the beginning", with(endCheck-1, "*"), false},
		{"a fault at the end", with(len(long)-endCheck, "*"), false},
		{"a quote in the middle", with(len(long)/2, `"`), false},
		{"a backslash in the middle", with(len(long)/2, `\`), false},
		{"a line break in the middle", with(len(long)/2, "\n"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := isBase64Text(tt.text); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzDataURI(f *testing.F) {
	for _, s := range []string{
		"data:image/png;base64,iVBORw0KGgo=", "data:;base64,JVBERi0x", "data:,", "data:a/b;BASE64,AA==", "DATA:x;y;base64,_-",
		"gs://b/a.png", "https://h/a?b#c", "https://h:x", `data:a/b;base64,"`,
	} {
		f.Add(s, "")
		f.Add(s, "image/png")
	}
	f.Fuzz(func(t *testing.T, ref, mime string) {
		m, fault := parseMedia(ref, mime)
		if fault != "" {
			if m != (media{}) {
				t.Errorf("%+v beside a fault", m)
			}
			return
		}
		if (m.uri == "") == (m.base64 == "") || !strings.Contains(m.mime, "/") || strings.Contains(m.mime, ";") {
			t.Fatalf("%+v is no media", m)
		}
		if m.base64 != "" && !strings.HasSuffix(ref, m.base64) {
			t.Error("the data is not the caller's")
		}
		e := geminiEncoder{}
		e.w.BeginObject()
		e.media(m)
		e.w.EndObject()
		if !jsonx.Valid(e.w.Bytes()) || !json.Valid(e.w.Bytes()) {
			t.Errorf("%q is not JSON", e.w.Bytes())
		}
	})
}

func TestWriteCamelChangesKeysAlone(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a_b":{"c_d":[{"e_f_g":"h_i"}]},"j":"k_l"}`: `{"aB":{"cD":[{"eFG":"h_i"}]},"j":"k_l"}`,
		`[ ]`: `[]`, `"a_b"`: `"a_b"`, `1.0`: `1.0`, `true`: `true`,
	} {
		var w jsonx.Writer
		writeCamel(&w, []byte(raw))
		if diff := cmp.Diff(want, string(w.Bytes())); diff != "" {
			t.Errorf("%s (-want +got)\n%s", raw, diff)
		}
	}
}
