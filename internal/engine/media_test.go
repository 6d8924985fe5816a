package engine

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
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
		{"a data URI of whatever bytes", "data:application/octet-stream;base64,JVBERi0xLjQK", "", "application/pdf"},
		{"a data URI without type", "data:;base64,JVBERi0xLjQK", "", "application/pdf"},
		{"a data URI of a type that no table has", "data:application/zip;base64,UEsDBA", "", "application/zip"},
		{"a data URI of text", "data:text/plain,hello%20there", "", "text/plain"},
		{"a data URI of text without type", "data:,a+b", "", "text/plain"},
		{"a data URI of JSON", "data:application/json;charset=utf-8,%7B%7D", "", "text/plain"},
		{"another spelling", "gs://b/a", "audio/x-wav", "audio/wav"},
		{"a type that no table has", "gs://b/a", "application/zip", "application/zip"},
		{"an object with a query in its name", "gs://b/what?.png", "", "image/png"},
		{"an object with a fragment in its name", "gs://b/v1#final.pdf", "", "application/pdf"},
		{"an object with a query behind its name", "gs://b/a.png?generation=1.5", "", "image/png"},
		{"an object with a lone percent", "gs://b/100%.PNG", "", "image/png"},
		{"an escaped extension", "https://h/a%2Epdf", "", "application/pdf"},
		{"a vendor's files service", "https://generativelanguage.googleapis.com/v1beta/files/abc", "video/webm", "video/webm"},
		{"a port", "https://h:8443/a.mp3", "", "audio/mp3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := mediaSource{ref: tt.ref, mime: tt.mime}
			got, fault := src.parse()
			if fault != "" || got.mime != tt.want {
				t.Errorf("%q %q, want %q", got.mime, fault, tt.want)
			}
			if inline := strings.EqualFold(tt.ref[:5], "data:"); inline != (got.uri == "") || inline != (got.base64 != "") {
				t.Errorf("%+v is inline or by reference, not as it was given", got)
			}
		})
	}
}

func TestParseMediaOfFilesAndAudioFindsTheType(t *testing.T) {
	const unknownBytes, pdfBytes, webmBytes = "AAAA", "JVBERi0xLjQK", "GkXfo5+B"
	for _, tt := range []struct {
		name string
		src  mediaSource
		want string
	}{
		{"bare base64 by the file's name", mediaSource{ref: unknownBytes, name: "Report.PDF", bare: true}, "application/pdf"},
		{"bare base64 by its first bytes", mediaSource{ref: pdfBytes, bare: true}, "application/pdf"},
		{"the name before the first bytes", mediaSource{ref: pdfBytes, name: "a.txt", bare: true}, "text/plain"},
		{"a data URI before the name", mediaSource{ref: "data:image/png;base64,AAAA", name: "a.pdf"}, "image/png"},
		{"the path before the name", mediaSource{ref: "gs://b/a.png", name: "a.pdf"}, "image/png"},
		{"the name behind a path that tells nothing", mediaSource{ref: "gs://b/a", name: "a.pdf"}, "application/pdf"},
		{"the given type before all", mediaSource{ref: "data:image/png;base64,AAAA", name: "a.pdf", mime: "image/webp"}, "image/webp"},
		{"a format", mediaSource{ref: unknownBytes, format: "audio/wav", bare: true, audio: true}, "audio/wav"},
		{"a format before the path", mediaSource{ref: "gs://b/a.mp3", format: "audio/wav", bare: true, audio: true}, "audio/wav"},
		{"a data URI before the format", mediaSource{ref: "data:audio/webm;codecs=opus;base64,AAAA", format: "audio/wav", audio: true}, "audio/webm"},
		{"audio by its first bytes", mediaSource{ref: webmBytes, bare: true, audio: true}, "audio/webm"},
		{"audio by its path", mediaSource{ref: "gs://b/a.mp4", bare: true, audio: true}, "audio/mp4"},
		{"video by its path", mediaSource{ref: "gs://b/a.mp4", bare: true}, "video/mp4"},
		{"the given type of audio", mediaSource{ref: unknownBytes, mime: "audio/L16;rate=24000", bare: true, audio: true}, "audio/l16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, fault := tt.src.parse(); fault != "" || got.mime != tt.want {
				t.Errorf("%q %q, want %q", got.mime, fault, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name     string
		src      mediaSource
		fragment string
	}{
		{"audio of no known type", mediaSource{ref: unknownBytes, bare: true, audio: true}, "give format as one of wav, mp3"},
		{"bare data of no known type", mediaSource{ref: unknownBytes, bare: true}, "give mime_type"},
		{"what is no base64", mediaSource{ref: "a b", bare: true}, "not base64"},
		{"nothing", mediaSource{ref: "=", bare: true}, "not base64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, fault := tt.src.parse(); !strings.Contains(fault, tt.fragment) {
				t.Errorf("%+v %q, want %q", got, fault, tt.fragment)
			}
		})
	}
}

func TestParseMediaDecodesTheTextOfADataURI(t *testing.T) {
	for uri, want := range map[string]string{
		"data:text/plain,hello%20there":        "hello there",
		"data:,a+b,c":                          "a+b,c",
		"data:text/plain;charset=utf-8,%C3%A9": "é",
	} {
		src := mediaSource{ref: uri}
		m, fault := src.parse()
		if got, err := base64.StdEncoding.DecodeString(m.base64); err != nil || fault != "" || string(got) != want {
			t.Errorf("%s: %q %q %v, want %q", uri, got, fault, err, want)
		}
	}
}

func TestTypeTableIsWhole(t *testing.T) {
	words := map[string]string{}
	for _, row := range mediaTypes {
		if canonicalType(row.mime) != row.mime || !isType(row.mime) || kindOf(row.mime) != row.kind {
			t.Errorf("%s is not canonical, or of another kind", row.mime)
		}
		if !strings.HasPrefix(row.link, "https://") || row.exts == "" {
			t.Errorf("%s has no link or no extension", row.mime)
		}
		for _, word := range append(strings.Fields(row.exts), strings.Fields(row.aliases)...) {
			if words[word] != "" || word != strings.ToLower(word) || strings.HasPrefix(word, ".") {
				t.Errorf("%s of %s is taken, or can't be found", word, row.mime)
			}
			words[word] = row.mime
		}
	}
	for _, mime := range audioFormats {
		if canonicalType(mime) != mime || kindOf(mime) != kindAudio {
			t.Errorf("format %s is no audio", mime)
		}
	}
	for kind, limit := range mediaLimits {
		if limit.name != "" && (limit.bytes == 0 && limit.count == 0 || !strings.HasPrefix(limit.link, "https://")) {
			t.Errorf("limit of kind %d: %+v", kind, limit)
		}
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
		"\xff\xfb\x90\x00":             "audio/mp3",
		"\xff\xf1\x50\x80":             "audio/x-aac",
		"FORM\x00\x01\x02\x03AIFF":     "audio/aiff",
		"RIFF\x00\x01\x02\x03AVI LIST": "video/avi",
		"\x00\x00\x00\x14ftypqt  ":     "video/quicktime",
		"\x00\x00\x00\x14ftyp3gp4":     "video/3gpp",
		"\x00\x00\x00\x1cftypmif1":     "image/heif",
		"\x00\x00\x01\xbaD":            "video/mpeg",
		"FLV\x01\x05":                  "video/x-flv",
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
		{"a vendor's files service without type", "https://generativelanguage.googleapis.com/v1beta/files/abc", "", "add an extension, or give mime_type"},
		{"an object without extension", "gs://b/dir.d/photo", "", "add an extension, or give mime_type"},
		{"a URL that is none", "https://h:x/a.png", "", "not a valid URL"},
		{"a URL with a broken escape", "https://h/100%.png", "image/png", "not a valid URL"},
		{"no host", "https:///a.png", "", "not a valid URL"},
		{"a bucket alone", "gs://bucket", "", "names a bucket and an object"},
		{"no bucket", "gs:///a.png", "", "names a bucket and an object"},
		{"a platform's file name", "files/abc123", "video/mp4", "give a gs:// or https URL"},
		{"a type that is none in a data URI", "data:image/png;base64,AAAA", "png", "mime_type is not a media type"},
		{"a type that is none", "https://h/a.png", "png", "mime_type is not a media type"},
		{"no comma", "data:image/png;base64", "", "no comma"},
		{"an image that is not base64", "data:image/svg+xml,%3Csvg%3E", "", "it must be base64"},
		{"text as an image", "data:text/plain,hello", "image/png", "it must be base64"},
		{"text with a broken escape", "data:text/plain,100%", "", "not UTF-8 with % escapes"},
		{"text in another encoding", "data:text/plain;charset=latin1,%E9", "", "not UTF-8 with % escapes"},
		{"text that is long", "data:text/plain," + strings.Repeat("a", maxPlainText+1), "", "must be base64"},
		{"a parameter after the coding", "data:image/png;base64;x=y,AAAA", "", "it must be base64"},
		{"no data", "data:image/png;base64,", "", "holds no data"},
		{"broken data", "data:image/png;base64,AA*A", "", "the data is not base64"},
		{"wrapped data", "data:image/png;base64,AAAA\nAAAA", "", "the data is not base64"},
		{"escaped data", "data:image/png;base64,AA%2B", "", "the data is not base64"},
		{"no type to be told", "data:;base64,AAAA", "", "can't be told from the data"},
		{"bytes of whatever type", "data:application/octet-stream;base64,AAAA", "", "can't be told from the data"},
		{"a type that is none in a data URI", "data:png;base64,AAAA", "", "names no media type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := mediaSource{ref: tt.ref, mime: tt.mime}
			got, fault := src.parse()
			if !strings.Contains(fault, tt.fragment) {
				t.Errorf("%+v %q, want %q", got, fault, tt.fragment)
			}
		})
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
		{"a quote at the end of a piece", with(endCheck+lookCheck-1, `"`), false},
		{"a line break at the beginning of the next piece", with(endCheck+lookCheck, "\n"), false},
		{"a backslash at the end of the last piece", with(len(long)-endCheck-1, `\`), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := isBase64Text(tt.text); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzMedia(f *testing.F) {
	for _, s := range []string{
		"data:image/png;base64,iVBORw0KGgo=", "data:;base64,JVBERi0x", "data:,", "data:a/b;BASE64,AA==", "DATA:x;y;base64,_-",
		"data:text/plain,a%20b", "data:,%zz", "data:application/octet-stream;base64,SUQz", "SUQz", "=", "gs://b/a%zz.png", "gs://b",
		"gs://b/a.png", "https://h/a?b#c", "https://h:x", `data:a/b;base64,"`, "http://youtu.be/1", "files/1",
	} {
		f.Add(s, "", "", "", true, false)
		f.Add(s, "image/png", "a.pdf", "wav", false, true)
	}
	f.Add("", "image/png", "", "", true, false)
	f.Add("AAAA", "d/\xff!", "", "", true, false)
	f.Add("AAAA", "d/a\nb", "", "", true, false)
	f.Fuzz(func(t *testing.T, ref, mime, name, format string, bare, audio bool) {
		src := mediaSource{ref: ref, mime: mime, name: name, format: audioFormats[format], bare: bare, audio: audio}
		m, fault := src.parse()
		if fault != "" {
			if m != (media{}) {
				t.Errorf("%+v beside a fault", m)
			}
			return
		}
		if (m.uri == "") == (m.base64 == "") || !isType(m.mime) || strings.Contains(m.mime, ";") {
			t.Fatalf("%+v is no media", m)
		}
		if m.base64 != "" && !strings.HasSuffix(ref, m.base64) && !strings.EqualFold(ref[:5], "data:") {
			t.Error("the data is not the caller's")
		}
		if m.uri != "" && m.uri != ref {
			t.Errorf("%q became %q", ref, m.uri)
		}
		e := geminiEncoder{q: new(providers.ChatCompletionRequest)}
		e.w.BeginObject()
		e.media(&m)
		e.w.EndObject()
		if !jsonx.Valid(e.w.Bytes()) || !json.Valid(e.w.Bytes()) {
			t.Errorf("%q is not JSON", e.w.Bytes())
		}
	})
}

// FuzzModifiers reads what strangers say beside the media.
func FuzzModifiers(f *testing.F) {
	for _, s := range []string{
		`"10s"`, `10`, `1.5`, `"1.5s"`, `-1`, `1e999`, `"NaN"`, `"0x1p3s"`, `null`, `{}`, `{"start_offset":"1s","end_offset":2,"fps":24}`,
		`{"level":"LOW"}`, `"media_resolution_high"`, `{"start_offset":0.0000000001}`, `{"end_offset":999999999.999999999}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		var extra providers.Extra
		for _, name := range []string{"video_metadata", "media_resolution"} {
			if err := extra.Set(name, json.RawMessage(raw)); err != nil {
				t.Fatal(err)
			}
			q := &providers.ChatCompletionRequest{Messages: []providers.Message{{
				Role: providers.RoleUser,
				Content: providers.PartsContent(providers.ContentPart{
					Type: providers.PartImageURL, ImageURL: &providers.ImageURL{URL: "gs://b/a.mp4"}, Extra: extra,
				}),
			}}}
			m := Model{facts: &catalog.Model{PartResolution: true}}
			body, _, err := encodeFor(&m, q)
			if err != nil {
				continue
			}
			if err := vertextest.Check("GenerateContentRequest", body); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
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
