package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// A streamed hit tells the size of the prompt at its beginning, as the streams of
// models do that have counted it by then.
func TestResponseCacheReplaysMessagesWithTheirUsage(t *testing.T) {
	k := newCacheKit(t, simple)
	k.srv.Script(vertextest.Text("an answer"))
	counted := regexp.MustCompile(`"type":"message_start".*"input_tokens":[1-9]`)
	for _, want := range []string{"miss", "hit"} {
		body := `{"model":"` + first + `","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"hello there, how are you?"}]}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		k.client.Handler().ServeHTTP(w, r)
		if got := w.Header().Get("X-Gateway-Cache-Status"); w.Code != http.StatusOK || got != want || want == "hit" && !counted.MatchString(w.Body.String()) {
			t.Errorf("%d, %s, want %s: %s", w.Code, got, want, w.Body)
		}
	}
}
