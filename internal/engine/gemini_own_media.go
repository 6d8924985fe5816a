package engine

import (
	"net/url"
	"strings"
)

// ownInlineSum is the most inline media of one request to the vendor's own
// service in bytes, decoded: 100 MB of base64.
//
// Source: https://ai.google.dev/gemini-api/docs/file-input-methods
const ownInlineSum = 75 * mebibyte

// ownMediaLimits holds the service's limits by kind, as mediaLimits does the
// platform's.
var ownMediaLimits = [mediaKinds]mediaLimit{
	kindImage: {"image", 0, 3600, "https://ai.google.dev/gemini-api/docs/image-understanding"},
	kindVideo: {"video", 0, 10, "https://ai.google.dev/gemini-api/docs/video-understanding"},
	kindPDF:   {"PDF", 50 * mebibyte, 0, "https://ai.google.dev/gemini-api/docs/document-processing"},
}

// noStorage says what helps where Vertex AI would read an object by its gs://
// URL.
//
// Source: https://ai.google.dev/gemini-api/docs/file-input-methods
const noStorage = "the service reads nothing from Cloud Storage by a gs:// URL: give the URI that the object has " +
	"once it is registered with the Files API, or a signed https URL"

// ownFiles is where the service keeps files.
//
// Source: https://ai.google.dev/api/files
const ownFiles = "https://generativelanguage.googleapis.com/v1beta/files/"

// ownFile finds the file of a file_id: the name of one at the service, or its URI.
func ownFile(s mediaSource) (mediaSource, string) {
	s.bare = false
	if id, ok := strings.CutPrefix(s.ref, "files/"); ok && id == url.PathEscape(id) && id != "" {
		s.ref = ownFiles + id
	}
	if !strings.HasPrefix(s.ref, "https://") && !strings.HasPrefix(s.ref, "gs://") {
		return s, "the service knows files by files/ID, as its Files API names them: give that, its URI, or the content as file_data"
	}
	return s, ""
}

// isOwnFile reports whether a path is that of a file at the service, whose type
// the service knows.
func isOwnFile(path string) bool {
	dir, id, ok := strings.Cut(path, "/files/")
	return ok && id != "" && !strings.Contains(id, "/") && strings.HasPrefix(dir, "/v1")
}
