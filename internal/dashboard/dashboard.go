// Package dashboard serves a page that shows what a client does: calls, money,
// errors, the response cache, prompts and the catalog.
//
// The page is embedded, written by hand, and asks nobody but this handler. Its files
// are there for everyone, since they say nothing; what is below api/ needs the API
// key, but for the question whether it is right:
//
//	GET  api/about            whether a key is needed, and what there is to be seen
//	GET  api/catalog          entries and configs, without secrets
//	GET  api/prompts          the stored prompts of the catalog
//	GET  api/models           what can be asked for
//	     api/logs…, api/analytics…   as package logsapi has them
//
// A prefix may stand before the paths that [http.StripPrefix] takes off; the page
// uses no other than relative URLs.
package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// Config is what the page is about.
type Config struct {
	// Admit checks the API key, and names the only one whose records may be seen; nil is
	// for all. Its error is a *[providers.Error].
	Admit func(*http.Request) (keyID *string, err error)
	// Records answers for the paths of logs and reports.
	Records func(r *http.Request, path string, keyID *string) (*Answer, error)
	// Logs and Reports say whether Records has the one and the other.
	Logs, Reports bool
	// Catalog has entries, and configs and prompts if it is one that can.
	Catalog catalog.Catalog
	// Models serves GET /v1/models.
	Models http.Handler
}

// Answer is what a request about records is answered with.
type Answer struct {
	Status int
	Header http.Header
	// JSON is the whole body; where it is nil there is a Stream, which is closed.
	JSON   []byte
	Stream io.ReadCloser
}

// handler is immutable.
type handler struct {
	Config
	files map[string]*file
	cross *http.CrossOriginProtection
}

// New returns the handler of the page. It is safe for concurrent use.
func New(cfg Config) http.Handler {
	return &handler{Config: cfg, files: files(), cross: http.NewCrossOriginProtection()}
}

// securityPolicy lets the page load its own files alone. Nothing in it makes markup
// or code of text.
const securityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", securityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if r.URL.Path == "" {
		toFolder(w, r)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	below, isData := strings.CutPrefix(name, "api/")
	if !isData {
		h.serveFile(w, r, name)
		return
	}
	header.Set("Cache-Control", "no-store")
	if err := h.serveData(w, r, below); err != nil {
		fail(w, err)
	}
}

// toFolder leads from the page's path without its slash to the one with it: without
// it, the relative URLs of the page would lead elsewhere. The prefix was taken off,
// so the last part of what was asked for says the way.
func toFolder(w http.ResponseWriter, r *http.Request) {
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	last := path.Base("/" + asked)
	if last == "/" || strings.HasSuffix(asked, "/") {
		last = ""
	}
	w.Header().Set("Location", "./"+strings.TrimPrefix(last+"/", "/"))
	w.WriteHeader(http.StatusPermanentRedirect)
}

// serveData serves what is below api/. It returns an error only as long as nothing
// has been written.
func (h *handler) serveData(w http.ResponseWriter, r *http.Request, name string) error {
	if h.cross.Check(r) != nil {
		return refuse(http.StatusForbidden, "requests of other sites are not taken")
	}
	keyID, err := h.Admit(r)
	if err != nil && name == "about" {
		return writeJSON(w, r, refused(err))
	}
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "logs", "analytics":
		return h.serveRecords(w, r, name, keyID)
	}
	return h.serveOwn(w, r, name, keyID)
}

// refused says why a key is not right, where it is a key at all.
func refused(err error) any {
	out := map[string]any{"admitted": false}
	var e *providers.Error
	if errors.As(err, &e) && e.Code == providers.ErrPermission {
		out["reason"] = e.Message
	}
	return out
}

// serveRecords answers for logs and reports.
func (h *handler) serveRecords(w http.ResponseWriter, r *http.Request, name string, keyID *string) error {
	a, err := h.Records(r, name, keyID)
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), a.Header)
	if a.Stream == nil {
		write(w, r, a.Status, a.JSON)
		return nil
	}
	defer func() { _ = a.Stream.Close() }()
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return nil
	}
	if _, err := io.Copy(w, a.Stream); err != nil {
		// So that what is cut can't look whole. What is left of the connection does not matter.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	}
	return nil
}

// serveOwn serves what is made here.
func (h *handler) serveOwn(w http.ResponseWriter, r *http.Request, name string, keyID *string) error {
	own := map[string]func() any{
		"about":   func() any { return h.about(keyID) },
		"catalog": func() any { return catalogOf(h.Catalog) },
		"prompts": func() any { return promptsOf(h.Catalog) },
	}
	find, known := own[name]
	switch {
	case !known && name != "models":
		return refuse(http.StatusNotFound, "no such path: there are about, analytics, catalog, logs, models and prompts below api/")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		return refuse(http.StatusMethodNotAllowed, "wrong method: use GET")
	case !known:
		return h.serveModels(w, r)
	}
	return writeJSON(w, r, find())
}

// about says what there is.
func (h *handler) about(keyID *string) any {
	return map[string]bool{"admitted": true, "logs": h.Logs, "analytics": h.Reports, "own": keyID != nil}
}

// serveModels passes the question on, without its headers.
func (h *handler) serveModels(w http.ResponseWriter, r *http.Request) error {
	if h.Models == nil {
		return writeJSON(w, r, map[string]any{"object": "list", "data": []any{}})
	}
	ask := r.Clone(r.Context())
	ask.URL.Path, ask.URL.RawPath, ask.URL.RawQuery, ask.Header = "/v1/models", "", "", http.Header{}
	h.Models.ServeHTTP(w, ask)
	return nil
}

func refuse(status int, message string) error {
	return &providers.Error{Code: providers.ErrInvalidRequest, StatusCode: status, Message: message}
}

func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, r, http.StatusOK, b)
	return nil
}

// write writes a whole body. A failure is the client's leaving, of which nobody is
// left to be told.
func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// fail answers with the error envelope. An error that is not of the gateway's making
// is not shown.
func fail(w http.ResponseWriter, err error) {
	var e *providers.Error
	if !errors.As(err, &e) {
		e = &providers.Error{Code: providers.ErrServer, Message: "the dashboard failed"}
	}
	status := e.HTTPStatus()
	if status == http.StatusUnauthorized {
		w.Header().Set("Www-Authenticate", "Bearer")
	}
	body := e.AppendJSON(nil)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
