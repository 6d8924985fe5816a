// Package weigh tells about how many tokens a request has before it is sent.
package weigh

import (
	"bytes"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// What a limit on tokens reckons with before the answer tells.
//
// Source: https://ai.google.dev/gemini-api/docs/tokens
const (
	bytesPerToken = 4
	// mediaTokens is for each image, video, audio or file that is sent along. It is
	// what one tile of an image takes with Gemini. Media of several tiles, pages or
	// seconds take more, which counts once the answer tells.
	mediaTokens = 258
)

// minMedia is the least length in bytes of what may be taken for media. It is far
// more than mediaTokens of text have, so that media never weigh more than text.
const minMedia = 2048

// mediaMembers are the members that hold media or an address of them, in the
// schemas of OpenAI and of the platform.
var mediaMembers = []string{
	"url", "data", "file_data", "base64", "b64_json", "image_url", "file_url", "image", "images", "mask", "video", "audio", "file", "bytesBase64Encoded",
}

// Tokens is about how many tokens a request has, given as JSON: what its text
// takes by its length, and a flat number for each media payload, whose length
// says little. JSON that can't be read is text.
func Tokens(request []byte) int64 {
	text, payloads := len(request), 0
	if len(request) > minMedia {
		s := scale{}
		r := jsonx.NewReader(request)
		s.value(&r, false)
		if r.End() == nil { // else all of it counts as text
			text, payloads = text-s.bytes, s.payloads
		}
	}
	return int64(text/bytesPerToken) + int64(payloads)*mediaTokens + 1
}

// scale adds up the media of a request.
type scale struct{ payloads, bytes int }

// value passes over a value and notes the media in it; the flag says that the
// value's own member may hold some.
func (s *scale) value(r *jsonx.Reader, media bool) {
	switch r.Kind() {
	case jsonx.Object:
		for r.Object(); r.NextKey(); {
			key := r.Key()
			s.value(r, slices.ContainsFunc(mediaMembers, func(m string) bool { return string(key) == m }))
		}
	case jsonx.Array:
		for r.Array(); r.NextElem(); {
			s.value(r, media)
		}
	default:
		if raw := r.Raw(); media && isPayload(raw) {
			s.payloads++
			s.bytes += len(raw)
		}
	}
}

// isPayload reports whether a string in JSON is a data URI or base64, by what it
// begins with. A data URI of text is text, which the model reads.
func isPayload(quoted []byte) bool {
	if len(quoted) < minMedia || quoted[0] != '"' {
		return false
	}
	head := quoted[1:minMedia]
	if uri, is := bytes.CutPrefix(head, []byte("data:")); is {
		return !bytes.HasPrefix(uri, []byte("text/")) && !bytes.HasPrefix(uri, []byte(`text\/`))
	}
	for _, c := range head {
		if !isBase64(c) {
			return false
		}
	}
	return true
}

// isBase64 reports whether base64 in JSON, of either alphabet, has such a byte
// before its end.
func isBase64(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return true
	}
	return c == '+' || c == '/' || c == '-' || c == '_' || c == '\\' // which may be before a slash
}
