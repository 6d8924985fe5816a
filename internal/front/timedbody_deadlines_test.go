package front

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dated is a writer that notes the deadlines that it is given.
type dated struct {
	http.ResponseWriter
	list []string
	err  error
}

func (d *dated) SetReadDeadline(at time.Time) error {
	if at.IsZero() {
		d.list = append(d.list, "none")
	} else {
		d.list = append(d.list, time.Until(at).String())
	}
	return d.err
}

// TestDeadlines are set while there is something to wait for.
func TestDeadlines(t *testing.T) {
	form := []string{"Content-Type", "multipart/form-data; boundary=b"}
	tests := []struct {
		name, method, path, body string
		header                   []string
		server                   *http.Server
		err                      error
		want                     []string
	}{
		{"a body", "POST", chatPath, hello, nil, nil, nil, []string{"30s", "none"}},
		{"no body", "GET", "/v1/models", "", nil, nil, nil, nil},
		{"a body without a meaning", "GET", "/v1/models", "x", nil, nil, nil, []string{"30s", "none"}},
		{"a refusal before the body", "POST", chatPath, hello, []string{"Content-Type", "text/plain"}, nil, nil, []string{"30s"}},
		{"a body that is too large", "POST", chatPath, strings.Repeat(" ", 2000), nil, nil, nil, []string{"30s"}},
		{"a body that is refused", "POST", chatPath, "{}{}", nil, nil, nil, []string{"30s", "none"}},
		{"a form", "POST", "/v1/files", fileForm + "x" + fileClose, form, nil, nil, []string{"30s", "none", "30s"}}, // its end was not asked for
		{"a server with no limit of its own", "POST", chatPath, hello, nil, &http.Server{}, nil, []string{"30s", "none"}},
		{"a server with one", "POST", chatPath, hello, nil, &http.Server{ReadTimeout: time.Hour}, nil, nil},
		{"a writer that takes none", "POST", chatPath, hello, nil, nil, http.ErrNotSupported, []string{"30s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.server != nil {
					ctx = context.WithValue(ctx, http.ServerContextKey, tt.server)
				}
				r := httptest.NewRequestWithContext(ctx, tt.method, tt.path, strings.NewReader(tt.body))
				for i := 0; i < len(tt.header); i += 2 {
					r.Header.Set(tt.header[i], tt.header[i+1])
				}
				w := &dated{ResponseWriter: httptest.NewRecorder(), err: tt.err}
				New(Config{MaxBody: 1000}, &keeper{}).ServeHTTP(w, r)
				if diff := cmp.Diff(tt.want, w.list); diff != "" {
					t.Errorf("deadlines (-want +got):\n%s", diff)
				}
			})
		})
	}
}
