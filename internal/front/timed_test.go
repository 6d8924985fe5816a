package front

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOtherHandlersAreTimed has clients that send a part of a body and stay.
func TestOtherHandlersAreTimed(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusTeapot)
				return
			}
		}
		_, _ = io.WriteString(w, long[:len(r.URL.Path)])
		if r.URL.Path == "/long" {
			_, _ = io.WriteString(w, long)
		}
	})
	for name, row := range map[string]struct {
		method, path, sent string
		status             int
	}{
		"nothing":                  {"GET", "/", "", 408},
		"a large answer":           {"GET", "/long", "a", 408},
		"a body that is read":      {"POST", "/read", "a", 418},
		"a body that nobody reads": {"POST", "/", "a", 200},
		"a whole body":             {"POST", "/read", long[:1000], 200},
		"one that means nothing":   {"GET", "/long", long[:1000], 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, end := servePipes(t, &http.Server{Handler: Timed(other)})
				defer end()
				begin, c := time.Now(), dial()
				say(t, c, head(row.method, row.path, 1000)+row.sent)
				res, body := answerOf(t, bufio.NewReader(c))
				if res.StatusCode != row.status || row.status == 408 && !strings.Contains(body, `"code":"timeout"`) {
					t.Errorf("status %d: %.200s", res.StatusCode, body)
				}
				if took := time.Since(begin); len(row.sent) < 1000 && took > bodyIdle+time.Second || len(row.sent) == 1000 && took > time.Second {
					t.Errorf("after %v", took)
				}
				_ = c.Close()
			})
		})
	}
}
