package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

// page has the files of the page.
//
//go:embed page
var page embed.FS

const index = "index.html"

// file is one file of the page, in two forms.
type file struct {
	kind          string
	plain, packed []byte
	tag           string // of the plain form, without its quotes
}

// kinds are the types of the files by their ends.
func kinds() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
}

// files reads the embedded files; those of a kind that is not known are left out.
func files() map[string]*file {
	out := make(map[string]*file)
	known := kinds()
	list, err := page.ReadDir("page")
	if err != nil {
		return out // there is no page without one, which a test sees
	}
	for _, entry := range list {
		text, err := page.ReadFile("page/" + entry.Name())
		if kind := known[path.Ext(entry.Name())]; err == nil && kind != "" {
			sum := sha256.Sum256(text)
			out[entry.Name()] = &file{kind, text, pack(text), hex.EncodeToString(sum[:12])}
		}
	}
	return out
}

// pack compresses a file. Writing to memory does not fail.
func pack(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err = w.Write(text); err != nil || w.Close() != nil {
		return nil
	}
	return b.Bytes()
}

// serveFile serves a file of the page. Browsers ask each time whether it is still
// the same, so that a new release is seen at once.
func (h *handler) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	if name == "" {
		name = index
	}
	f := h.files[name]
	switch {
	case f == nil:
		fail(w, refuse(http.StatusNotFound, "no such file: the dashboard is at the path above, with a slash behind it"))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, refuse(http.StatusMethodNotAllowed, "wrong method: use GET"))
		return
	}
	header, body, tag := w.Header(), f.plain, `"`+f.tag+`"`
	header.Set("Content-Type", f.kind)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	if f.packed != nil && takesGzip(r.Header) {
		body, tag = f.packed, `"`+f.tag+`-gzip"`
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", tag)
	for given := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(given), "W/") == tag {
			header.Del("Content-Encoding")
			header.Del("Content-Type")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	write(w, r, http.StatusOK, body)
}

// takesGzip reports whether the client unpacks gzip.
func takesGzip(in http.Header) bool {
	for part := range strings.SplitSeq(in.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, weight, has := strings.Cut(quality, "=") // there is no other parameter
			return !has || strings.Trim(strings.TrimSpace(weight), "0.") != ""
		}
	}
	return false
}
