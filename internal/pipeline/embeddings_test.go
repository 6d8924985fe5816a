package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// embedder is a fake that embeds each input as its place. Each call takes a
// second.
type embedder struct {
	able
	lost int // vectors
}

var _ providers.Embedder = (*embedder)(nil)

func (e *embedder) Embeddings(ctx context.Context, t *providers.Target, q *providers.EmbeddingRequest) (*providers.EmbeddingResponse, error) {
	out := &providers.EmbeddingResponse{
		Model: q.Model, Meta: e.asked(ctx, t, "embed "+q.Model), Extra: providers.Extra(`{"x":1}`),
		Usage: &providers.EmbeddingUsage{PromptTokens: 5, TotalTokens: 5, Extra: providers.Extra(`{"billable_characters":9}`)},
	}
	for i := range len(q.Input.Items) - e.lost {
		out.Data = append(out.Data, providers.Embedding{
			Index: i, Embedding: []float64{float64(i)}, ImageEmbedding: []float64{1}, Extra: providers.Extra(`{"y":1}`),
		})
	}
	if t.Progress != nil {
		t.Progress(len(out.Data), len(q.Input.Items))
	}
	return out, e.err
}

func vectorsOf(texts ...string) *providers.EmbeddingRequest {
	return &providers.EmbeddingRequest{Model: "@vx/m", Input: providers.EmbeddingTexts(texts...), EncodingFormat: "base64", User: "u-1"}
}

func TestEmbeddingsAreRecordedAndProjected(t *testing.T) {
	for name, strict := range map[string]bool{"strict": true, "rich": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := &embedder{able: able{fake: fake{name: "fake"}}}, &watcher{name: "w"}
				client := inCatalog(t)
				client.Observers, client.LabelPrefix, client.Metadata = []providers.Observer{w}, new("app_"), map[string]string{"team": "a"}
				told := 0
				call := &Settings{Strict: &strict, Progress: func(done, total int) { told = 10*done + total }}
				out, err := New(p).Embeddings(t.Context(), client, call, vectorsOf("a", "b"))
				if err != nil {
					t.Fatal(err)
				}
				wantEqual(t, "base64", out.EncodingFormat)
				wantEqual(t, 22, told)
				wantEqual(t, map[string]string{"app_team": "a", "app__user": "u-1"}, p.target.Labels)
				wantEqual(t, "m", p.target.Model)
				if hidden := out.Extra == nil && out.Usage.Extra == nil && out.Data[0].Extra == nil; hidden != strict {
					t.Errorf("the platform's own members: %+v", out)
				}
				if out.Data[0].ImageEmbedding == nil {
					t.Error("the vector of the image is gone")
				}
				rec := w.last()
				wantEqual(t, "embeddings", rec.Operation)
				wantEqual(t, &providers.Usage{PromptTokens: 5, TotalTokens: 5, Extra: providers.Extra(`{"billable_characters":9}`)}, rec.Usage)
				wantEqual(t, "u-1", rec.Metadata["_user"])
				wantEqual(t, rec.Meta, out.Meta)
				wantEqual(t, 1, len(out.Meta.Attempts))
			})
		})
	}
}

func TestEmbeddingsThatAreRefused(t *testing.T) {
	short := &embedder{able: able{fake: fake{name: "fake"}}, lost: 1}
	for name, tt := range map[string]struct {
		provider providers.Provider
		req      *providers.EmbeddingRequest
		want     providers.Code
	}{
		"nothing to embed":           {short, vectorsOf(), providers.ErrInvalidRequest},
		"a provider without vectors": {&fake{name: "fake"}, vectorsOf("a"), providers.ErrInvalidConfig},
		"fewer vectors than inputs":  {short, vectorsOf("a", "b"), providers.ErrBadResponse},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, err := New(tt.provider).Embeddings(t.Context(), inCatalog(t), &Settings{}, tt.req)
				if !errors.Is(err, tt.want) || out != nil {
					t.Errorf("%v, %v, want %s", out, err, tt.want)
				}
			})
		})
	}
}

func TestParamsThatMakeNoRequest(t *testing.T) {
	c, err := config.Parse([]byte(`{"override_params":{"model":"m","dimensions":"many"}}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &embedder{able: able{fake: fake{name: "fake"}}}
	_, err = New(p).Embeddings(t.Context(), inCatalog(t), &Settings{Config: c}, vectorsOf("a"))
	e := known(t, err)
	if e.Code != providers.ErrInvalidConfig || e.Param != "config" || !strings.Contains(e.Message, "dimensions") || strings.Contains(e.Message, "many") {
		t.Errorf("%v", e)
	}
}
