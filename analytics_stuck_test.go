package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// stuck is a sink that doesn't obey its context.
type stuck chan struct{}

func (s stuck) Write(context.Context, []logs.Record) error { <-s; return nil }

// TestAStuckSinkDoesNotHideFreshRecords has calls whose records the store gets while
// another sink takes none.
func TestAStuckSinkDoesNotHideFreshRecords(t *testing.T) {
	for _, tt := range []struct {
		name string
		ask  func(t *testing.T, c *gateway.Client, id string) (found bool)
	}{
		{"feedback in the process", func(t *testing.T, c *gateway.Client, id string) bool {
			err := c.Feedback(t.Context(), logs.Feedback{RecordID: id, Value: 1})
			if err != nil && !errors.Is(err, gateway.ErrNotFound) {
				t.Error(err)
			}
			return err == nil
		}},
		{"feedback over HTTP", func(t *testing.T, c *gateway.Client, id string) bool {
			return answers(t, c, "POST", "/v1/logs/"+id+"/feedback", `{"value":1}`, http.StatusCreated)
		}},
		{"a record over HTTP", func(t *testing.T, c *gateway.Client, id string) bool {
			return answers(t, c, "GET", "/v1/logs/"+id, "", http.StatusOK)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(stuck)
				log, err := logs.New(logs.Options{Sinks: []logs.Sink{release, logs.NewMemory(0)}, FlushInterval: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				client := newCacheKit(t, gateway.WithLog(log)).client
				log.CallEnd(t.Context(), providers.Record{Call: providers.Call{ID: "fresh", Operation: "chat"}})
				if !tt.ask(t, client, "fresh") {
					t.Error("a record of the store is not found")
				}
				if tt.ask(t, client, "none") {
					t.Error("a record that is not there is found")
				}
				close(release)
				if err := log.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// answers reports whether the client's handler answers with the status, and not that
// there is nothing.
func answers(t *testing.T, c *gateway.Client, method, target, body string, status int) bool {
	t.Helper()
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	if w.Code != status && w.Code != http.StatusNotFound {
		t.Errorf("%s %s: status %d: %s", method, target, w.Code, w.Body)
	}
	return w.Code == status
}
