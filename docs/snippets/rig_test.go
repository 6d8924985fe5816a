package snippets_test

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// question is what all chats ask, and reply what they hear.
const (
	question = "Say hello."
	reply    = "Hello from the platform."
)

// rig is an emulator of the platform that gives the replies, and a client of it.
func rig(t *testing.T, replies ...vertextest.Reply) (*gateway.Client, *vertextest.Server) {
	t.Helper()
	platform := vertextest.New()
	t.Cleanup(platform.Close)
	platform.Script(replies...)
	client, err := gateway.New(
		gateway.WithProjectID("my-project"), gateway.WithRegion("global"), gateway.WithAccessToken("token"),
		gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, platform
}

// elsewhere is the other vendor's service, for the code of before: it answers in its
// schema, whatever the model's name and the base URL.
func elsewhere(t *testing.T, replies ...vertextest.Reply) openai.Client {
	t.Helper()
	client, _ := rig(t, replies...)
	config, err := gateway.ParseConfig([]byte(`{"override_params": {"model": "gemini-2.5-flash"}}`))
	if err != nil {
		t.Fatal(err)
	}
	view, err := client.With(gateway.WithConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	return openai.NewClient(option.WithAPIKey("sk-test"), option.WithHTTPClient(&http.Client{Transport: view.RoundTripper()}))
}

// expect compares an answer.
func expect(t *testing.T, want, got string, err error) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
