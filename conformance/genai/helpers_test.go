// Package genai_test holds Google's own client for Go, google.golang.org/genai,
// against the gateway's HTTP front, and with the gateway for its transport. The client
// is used as its users use it, for both of its backends; behind the gateway stands the
// emulator of the platform, which checks what it is sent.
package genai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	apiKey        = "gateway-key"
	platformToken = "platform-token"

	flash25  = "gemini-2.5-flash"
	flash38  = "gemini-3.8-flash" // refuses a signature that was changed
	drawer   = "gemini-3.1-flash-image"
	embedder = "gemini-embedding-2"
)

// entries is a catalog with a target of Vertex AI, a second one, one of the Gemini
// API and one of Anthropic's.
const entries = `{"providers":{
	"vx":{"provider":"vertex-ai","project_id":"p","region":"global","access_token":%[1]q,"base_url":"https://platform.example"},
	"other":{"provider":"vertex-ai","project_id":"q","region":"europe-west4","access_token":%[1]q,"base_url":"https://platform.example"},
	"gm":{"provider":"google","api_key":%[1]q,"base_url":"https://platform.example"}
},"configs":{
	"twice":{"strategy":{"mode":"fallback"},"targets":[{"provider":"@vx"},{"provider":"@other"}]},
	"again":{"provider":"@vx","retry":{"attempts":1,"backoff":{"base":1}}},
	"spread":{"strategy":{"mode":"loadbalance"},"targets":[{"provider":"@vx"},{"provider":"@other"}]},
	"changed":{"provider":"@vx","override_params":{"temperature":0}},
	"renamed":{"provider":"@vx","override_params":{"model":"gemini-3.8-flash"}}
}}`

// stage is a gateway of an emulated platform.
type stage struct {
	platform *vertextest.Server
	client   *gateway.Client
	url      string
}

func start(t *testing.T, opts ...gateway.ClientOption) *stage {
	t.Helper()
	platform := vertextest.New(vertextest.WithToken(platformToken))
	t.Cleanup(platform.Close)
	list, err := catalog.Parse(fmt.Appendf(nil, entries, platformToken))
	if err != nil {
		t.Fatal(err)
	}
	opts = append([]gateway.ClientOption{
		gateway.WithCatalog(list), gateway.WithProvider("@vx"), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}),
	}, opts...)
	client, err := gateway.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := httptest.NewServer(client.Handler(gateway.WithAPIKeys(apiKey)))
	t.Cleanup(server.Close)
	return &stage{platform: platform, client: client, url: server.URL}
}

// way is one of the ways in which the client reaches the gateway.
type way struct {
	name   string
	config func(s *stage) *genai.ClientConfig
}

// ways are both backends, over HTTP and in the process.
var ways = []way{
	{"gemini", func(s *stage) *genai.ClientConfig {
		return &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: apiKey, HTTPOptions: genai.HTTPOptions{BaseURL: s.url}}
	}},
	{"vertex", func(s *stage) *genai.ClientConfig {
		return &genai.ClientConfig{
			Backend: genai.BackendVertexAI, Project: "theirs", Location: "us-central1", HTTPClient: new(http.Client),
			HTTPOptions: genai.HTTPOptions{BaseURL: s.url, Headers: http.Header{"X-Gateway-Api-Key": {apiKey}}},
		}
	}},
	{"vertex with a key", func(s *stage) *genai.ClientConfig {
		return &genai.ClientConfig{Backend: genai.BackendVertexAI, APIKey: apiKey, HTTPOptions: genai.HTTPOptions{BaseURL: s.url}}
	}},
	{"gemini in process", func(s *stage) *genai.ClientConfig {
		return &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: "unused", HTTPClient: &http.Client{Transport: s.client.RoundTripper()}}
	}},
	{"vertex in process", func(s *stage) *genai.ClientConfig {
		return &genai.ClientConfig{Backend: genai.BackendVertexAI, Project: "theirs", Location: "us-central1", HTTPClient: &http.Client{Transport: s.client.RoundTripper()}}
	}},
}

func (s *stage) connect(t *testing.T, w way) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), w.config(s))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// everyWay runs a test with a stage of its own for each way.
func everyWay(t *testing.T, test func(t *testing.T, s *stage, c *genai.Client), opts ...gateway.ClientOption) {
	t.Helper()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			s := start(t, opts...)
			test(t, s, s.connect(t, w))
		})
	}
}

// collect reads a stream to its end.
func collect(ctx context.Context, c *genai.Client, model string, contents []*genai.Content, config *genai.GenerateContentConfig) (parts []*genai.GenerateContentResponse, text string, err error) {
	var b strings.Builder
	for part, e := range c.Models.GenerateContentStream(ctx, model, contents, config) {
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		parts = append(parts, part)
		for _, candidate := range part.Candidates {
			if candidate.Content == nil {
				continue
			}
			for _, p := range candidate.Content.Parts {
				if !p.Thought {
					b.WriteString(p.Text)
				}
			}
		}
	}
	return parts, b.String(), err
}

// with sends headers along with a call.
func with(pairs ...string) *genai.GenerateContentConfig {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return &genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{Headers: h}}
}

// sent is the body that the platform was sent last.
func (s *stage) sent() string {
	list := s.platform.Requests()
	if len(list) == 0 {
		return ""
	}
	return string(list[len(list)-1].Body)
}

func wantError(t *testing.T, err error, code int, status, says string) {
	t.Helper()
	e, ok := errors.AsType[genai.APIError](err)
	if !ok || e.Code != code || e.Status != status || !strings.Contains(e.Message, says) {
		t.Errorf("error %v, want %d %s with %q", err, code, status, says)
	}
}
