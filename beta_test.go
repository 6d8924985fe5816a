package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
)

func TestBetaFeaturesGoUnderTheNamesGiven(t *testing.T) {
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Anthropic-Beta"))
		_, _ = w.Write([]byte(`{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{}}`))
	}))
	defer srv.Close()
	client, err := gateway.New(gateway.WithBaseURL(srv.URL), gateway.WithProjectID("p"), gateway.WithRegion("global"), gateway.WithAccessToken("t"),
		gateway.WithBetaFeatures(map[string]string{"a": "b"}), gateway.WithBetaFeatures(map[string]string{"c-2025-01-01": ""}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	_, err = client.Chat.Completions.Create(t.Context(), hello("anthropic.claude-sonnet-5"), gateway.WithHeader("anthropic-beta", "a-2025-02-02,c-2025-01-01,d"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b,d"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
