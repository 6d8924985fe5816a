package front

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// LogsBackend knows the calls of the past.
type LogsBackend interface {
	// Logs answers a request for a path below /v1/, such as "logs/7". With a keyID there
	// are no records but those of that key.
	Logs(r *http.Request, path string, keyID *string) (*LogsAnswer, error)
}

// LogsAnswer is what a request about the log is answered with.
type LogsAnswer struct {
	Status int
	Header http.Header
	// JSON is the whole body; where it is nil there is a Stream, which is closed.
	JSON   []byte
	Stream io.ReadCloser
}

// logRoutes are the paths of the log and its reports.
func logRoutes() []route {
	return []route{
		{"/v1/logs/*/feedback", http.MethodPost, (*call).logs, false},
		{"/v1/logs", http.MethodGet, (*call).logs, false},
		{"/v1/logs/", http.MethodGet, (*call).logs, false},
		{"/v1/feedback", http.MethodPost, (*call).logs, false},
		{"/v1/analytics", http.MethodGet, (*call).logs, false},
		{"/v1/analytics/", http.MethodGet, (*call).logs, false},
	}
}

// logs serves the log. Where there are keys for it, no other one will do; where
// there are keys of clients alone, each sees what came with it.
func (c *call) logs() error {
	var keyID *string
	switch {
	case c.inside:
	case c.admin.on:
		if _, _, err := c.admin.admit(c.r.Header, false); err != nil {
			if c.keys.on { // it is a key, but not one of those
				return &providers.Error{Code: providers.ErrPermission, Message: "the log is for the gateway's admin keys alone"}
			}
			return err
		}
	case c.keys.on:
		keyID = &c.o.KeyID
	}
	r := c.r
	if r.Method == http.MethodPost {
		buf := jsonx.GetBuffer()
		defer buf.Free()
		if err := c.readBody(buf); err != nil {
			return err
		}
		r = r.WithContext(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(buf.B))
	}
	path, _ := strings.CutPrefix(strings.TrimPrefix(c.r.URL.Path, "/"), "v1/")
	a, err := c.backend.Logs(r, path, keyID)
	if err != nil {
		return err
	}
	h := c.w.Header()
	maps.Copy(h, a.Header)
	c.setRequestID()
	switch {
	case a.Stream == nil:
		writeJSON(c.w, a.Status, a.JSON)
	case c.r.Method == http.MethodHead:
		_ = a.Stream.Close()
		c.w.WriteHeader(a.Status)
	default:
		c.sendBytes(a.Stream)
	}
	return nil
}
