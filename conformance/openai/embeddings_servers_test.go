package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// servers is a gateway of OpenAI's API, of a server like it, and of an endpoint.
func servers(t *testing.T) *stage {
	t.Helper()
	platform := vertextest.New(vertextest.WithDeployed(vertextest.Endpoint{ID: "7", Model: "bge-m3", Dimensions: 64}))
	t.Cleanup(platform.Close)
	entries, err := catalog.Parse([]byte(`{"providers":{
		"vx":{"provider":"vertex-ai","project_id":"p","region":"us-central1","access_token":"t"},
		"oai":{"provider":"openai","api_key":"sk-1"},
		"own":{"provider":"openai-compatible","api_key":"sk-2","base_url":"https://llm.example/v1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	client, err := gateway.New(gateway.WithCatalog(entries), gateway.WithHTTPClient(&http.Client{Transport: platform.Transport()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	front := httptest.NewServer(client.Handler(gateway.WithAPIKeys(apiKey)))
	t.Cleanup(front.Close)
	return &stage{clientOf(front.URL), platform}
}

const (
	small    = "@oai/text-embedding-3-small"
	endpoint = "@vx/endpoints.7"
)

func TestEmbeddingsOfServers(t *testing.T) {
	s := servers(t)
	for _, model := range []string{small, endpoint, "@own/BAAI/bge-m3"} {
		for name, input := range map[string]openai.EmbeddingNewParamsInputUnion{
			"a text":          {OfString: openai.String("hello")},
			"texts":           {OfArrayOfStrings: []string{"hello", "there"}},
			"tokens":          {OfArrayOfTokens: []int64{15339, 1917}},
			"lists of tokens": {OfArrayOfTokenArrays: [][]int64{{15339}, {1917, 2}}},
		} {
			t.Run(model+" "+name, func(t *testing.T) {
				got, err := s.Embeddings.New(t.Context(), openai.EmbeddingNewParams{Model: model, Input: input, Dimensions: openai.Int(16), User: openai.String("u")})
				if err != nil {
					t.Fatal(explain(err))
				}
				want := max(1, len(input.OfArrayOfStrings), len(input.OfArrayOfTokenArrays))
				if len(got.Data) != want || len(got.Data[0].Embedding) != 16 || got.Usage.PromptTokens == 0 || got.Model != model {
					t.Errorf("%d vectors of %q, usage %+v", len(got.Data), got.Model, got.Usage)
				}
			})
		}
	}
}

func TestPackedEmbeddingsOfServers(t *testing.T) {
	s := servers(t)
	for _, model := range []string{small, endpoint} {
		params := embeddingOf(model, "hello")
		params.EncodingFormat = openai.EmbeddingNewParamsEncodingFormatBase64
		packed, err := s.Embeddings.New(t.Context(), params)
		if packed == nil {
			t.Fatal(explain(err))
		}
		var got struct{ Data []struct{ Embedding string } }
		if err := json.Unmarshal([]byte(packed.RawJSON()), &got); err != nil || len(got.Data) != 1 {
			t.Fatalf("%s: %v", model, err)
		}
		data, err := base64.StdEncoding.DecodeString(got.Data[0].Embedding)
		if err != nil || len(data) == 0 || len(data)%4 != 0 {
			t.Errorf("%s: %v, %d bytes", model, err, len(data))
		}
	}
}

func TestManyEmbeddingsOfServers(t *testing.T) {
	s := servers(t)
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = string(rune('a'+i%26)) + "text"
	}
	got, err := s.Embeddings.New(t.Context(), embeddingOf(endpoint, texts...))
	if err != nil || len(got.Data) != 100 || len(s.platform.Requests()) != 5 { // one that is refused, and four of 32 at most
		t.Fatalf("%v: %d requests", err, len(s.platform.Requests()))
	}
	for i, d := range got.Data {
		if d.Index != int64(i) || likeness(d.Embedding, got.Data[i%26].Embedding) < 0.999 {
			t.Errorf("vector %d is of another text", i)
		}
	}
}

func TestEmbeddingsOfServersThatAreRefused(t *testing.T) {
	s := servers(t)
	large := embeddingOf(small, "a")
	large.Dimensions = openai.Int(5000)
	for name, tt := range map[string]struct {
		params openai.EmbeddingNewParams
		status int
	}{
		"too many dimensions":   {large, 400},
		"a model without a row": {embeddingOf("@oai/no-such-model", "a"), 404},
		"an empty text":         {embeddingOf(endpoint, ""), 400},
		"no such endpoint":      {embeddingOf("@vx/endpoints.8", "a"), 404},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Embeddings.New(t.Context(), tt.params)
			if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != tt.status {
				t.Errorf("%v, want status %d", err, tt.status)
			}
		})
	}
}

func TestModelsOfServers(t *testing.T) {
	page, err := servers(t).Models.List(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	owners := map[string]string{}
	for _, m := range page.Data {
		owners[m.ID] = m.OwnedBy
	}
	if owners[small] != "openai" || owners["@vx/text-embedding-005"] != "google" || owners["@oai/text-embedding-005"] != "" || owners["@vx/text-embedding-3-small"] != "" {
		t.Errorf("%v", owners)
	}
}
