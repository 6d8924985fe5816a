package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestEmbeddingsThatAreRefusedBeforeAnythingIsSent(t *testing.T) {
	srv := vertextest.New()
	client := platformClient(t, srv)
	text := gateway.EmbeddingText("a")
	for name, tt := range map[string]struct {
		req   *gateway.EmbeddingRequest
		param string
	}{
		"nothing at all":        {nil, "request"},
		"no input":              {&gateway.EmbeddingRequest{Model: "text-embedding-005"}, "input"},
		"an empty text":         {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: gateway.EmbeddingTexts("a", "")}, "input[1]"},
		"too many dimensions":   {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: text, Dimensions: new(1000)}, "dimensions"},
		"an unknown task":       {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: text, TaskType: "RETRIEVAL"}, "task_type"},
		"a title alone":         {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: text, Title: "t"}, "title"},
		"an unknown encoding":   {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: text, EncodingFormat: "hex"}, "encoding_format"},
		"an image without type": {&gateway.EmbeddingRequest{Model: "gemini-embedding-2", Input: gateway.EmbeddingItems(gateway.EmbeddingItem{Image: &gateway.EmbeddingMedia{Base64: "AAAA"}})}, "input[0].image"},
		"a broken name":         {&gateway.EmbeddingRequest{Model: "a/b/c", Input: text}, "model"},
		"a broken endpoint":     {&gateway.EmbeddingRequest{Model: "endpoints.5/6", Input: text}, "model"},
		"tokens":                {&gateway.EmbeddingRequest{Model: "text-embedding-005", Input: gateway.EmbeddingTokens([]int64{1})}, "input[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Embeddings.Create(t.Context(), tt.req)
			e, ok := errors.AsType[*gateway.Error](err)
			if !ok || e.Code != gateway.ErrInvalidRequest || e.Param != tt.param || e.Sent || e.Message == "" {
				t.Errorf("%v, want it to be about %s", err, tt.param)
			}
		})
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if _, err := client.Embeddings.Create(t.Context(), &gateway.EmbeddingRequest{Model: "m", Input: text}, gateway.WithEmbeddingProgress(nil)); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("%v for progress that nobody is told of", err)
	}
	var none gateway.EmbeddingsService
	if _, err := none.Create(t.Context(), nil); !errors.Is(err, gateway.ErrInvalidConfig) {
		t.Errorf("%v for a service without a client", err)
	}
}

// TestEmbeddingsOverHTTP goes from the front to the platform and back.
func TestEmbeddingsOverHTTP(t *testing.T) {
	client := platformClient(t, vertextest.New())
	front := httptest.NewServer(client.Handler())
	defer front.Close()
	post := func(body string, header ...string) (*http.Response, map[string]any) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/v1/embeddings", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for _, h := range header {
			name, value, _ := strings.Cut(h, ":")
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(&out); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		return res, out
	}
	res, strict := post(`{"model":"text-embedding-005","input":["a","b"],"labels":{"a":"b"}}`)
	if res.StatusCode != 200 || len(strict["data"].([]any)) != 2 || !strings.Contains(res.Header.Get("x-gateway-warnings"), `"labels"`) {
		t.Errorf("%d %v %v", res.StatusCode, res.Header, strict["usage"])
	}
	if usage := strict["usage"].(map[string]any); len(usage) != 2 {
		t.Errorf("strict usage %v", usage)
	}
	_, rich := post(`{"model":"text-embedding-005","input":"a"}`, "x-gateway-strict-compliance:false")
	if usage := rich["usage"].(map[string]any); usage["billable_characters"] != 1.0 {
		t.Errorf("rich usage %v", usage)
	}
	res, refused := post(`{"model":"text-embedding-005","input":[1,2]}`)
	if e, _ := refused["error"].(map[string]any); res.StatusCode != 400 || e["param"] != "input" {
		t.Errorf("%d %v", res.StatusCode, refused)
	}
}
