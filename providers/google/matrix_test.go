package google_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestWhatGoesToVertexAIGoesToTheService sends the requests of Vertex AI's
// scenarios: what the service does not take of them is left out or refused before
// anything is sent.
func TestWhatGoesToVertexAIGoesToTheService(t *testing.T) {
	paths, err := filepath.Glob("../vertex/testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sent, found := 0, 0
	for _, path := range paths {
		a := testkit.ReadArchive(t, path)
		q := decodeRequest(t, a.Get("request.json"))
		if !strings.HasPrefix(q.Model, "gemini-") || says(a, "emulator") != "" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			srv := vertextest.New()
			defer srv.Close()
			_, err := newProvider(t, srv.Transport()).ChatCompletion(t.Context(), target(q.Model), q)
			switch {
			case err != nil && len(srv.Requests()) > 0:
				t.Errorf("%v\n%s", err, srv.Requests()[0].Body)
			case err != nil:
				found++
			default:
				sent++
			}
		})
	}
	if t.Logf("%d were sent, %d refused before", sent, found); sent < 50 {
		t.Errorf("%d requests were sent", sent)
	}
}
