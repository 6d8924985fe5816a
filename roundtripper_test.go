package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestRoundTripperUsesTheCache asks as an SDK does that has the gateway for a
// transport: whole and streamed answers are one entry, and a header keeps a call out.
func TestRoundTripperUsesTheCache(t *testing.T) {
	k := newCacheKit(t, gateway.WithCache(gateway.Cache{Mode: gateway.CacheSimple}))
	sdk := &http.Client{Transport: k.client.RoundTripper()}
	ask := func(stream, debug string) (status, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(
			`{"model":"gemini-2.5-flash","messages":[{"role":"user","content":"Tell me of the sea."}],"stream":`+stream+`}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer sk-of-the-sdk")
		if debug != "" {
			r.Header.Set("X-Gateway-Debug", debug)
		}
		res, err := sdk.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		all, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res.Status, err, string(all))
		}
		return res.Header.Get("X-Gateway-Cache-Status"), string(all)
	}
	if status, body := ask("true", ""); status != "miss" || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the first: %q, %s", status, body)
	}
	if status, body := ask("false", ""); status != "hit" || !strings.Contains(body, "Tell me of the sea.") {
		t.Errorf("the second, whole: %q, %s", status, body)
	}
	if status, body := ask("true", ""); status != "hit" || strings.Count(body, "data: ") < 3 {
		t.Errorf("the third, streamed: %q, %s", status, body)
	}
	if status, _ := ask("false", "false"); status != "disabled" {
		t.Errorf("without debug: %q", status)
	}
	if n := len(k.srv.Requests()); n != 2 {
		t.Errorf("the platform was asked %d times, want 2", n)
	}
}
