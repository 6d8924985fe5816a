package logsapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
)

// TestAnIDThatAnotherKeyTookAgain checks that nobody loses sight of a record, and that
// records without a key are nobody's.
func TestAnIDThatAnotherKeyTookAgain(t *testing.T) {
	store := logs.NewMemory(0)
	now := time.Now()
	if err := store.Write(t.Context(), []logs.Record{
		{ID: "same", Time: now, KeyID: "a", User: "ann"}, {ID: "same", Time: now.Add(1), KeyID: "b", User: "bob"}, {ID: "inside", Time: now},
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ key, id, want string }{
		{"a", "same", `"user":"ann"`}, {"b", "same", `"user":"bob"`}, {"c", "same", ""}, {"a", "inside", ""}, {"", "inside", ""}, {"", "same", ""},
		{"a", strings.Repeat("x", 5000), ""},
	} {
		a, err := New(store, nil).Answer(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), "logs/"+tt.id, &tt.key)
		got := ""
		if err == nil {
			got = string(a.JSON)
		}
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%q asks for %.9s: %s, %v", tt.key, tt.id, got, err)
		}
	}
}
