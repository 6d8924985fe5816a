package front

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

const (
	embedPath = "/v1/embeddings"
	embedBody = `{"model":"m","input":["a","b"],"dimensions":2}`
)

func TestEmbeddings(t *testing.T) {
	vectors := func(format string) *providers.EmbeddingResponse {
		return &providers.EmbeddingResponse{
			Model: "@vx/m", Data: []providers.Embedding{{Embedding: []float64{1, -0.5}}, {Index: 1, Embedding: []float64{0.1, 1e-9}}},
			Usage: &providers.EmbeddingUsage{PromptTokens: 3, TotalTokens: 3}, Provider: "vertex-ai", EncodingFormat: format,
			Meta: providers.Meta{RequestID: "r-1", Provider: "vertex-ai", Slug: "vx", Model: "m", Attempts: make([]providers.Attempt, 1)},
		}
	}
	for _, tt := range []struct{ format, first, second string }{
		{"", `[1,-0.5]`, `[0.1,1e-9]`}, {"float", `[1,-0.5]`, `[0.1,1e-9]`}, {"base64", `"AACAPwAAAL8="`, `"zczMPV9wiTA="`},
	} {
		t.Run(tt.format, func(t *testing.T) {
			b := &fake{vectors: vectors(tt.format)}
			res := ask(t, Config{}, b, "POST", embedPath, embedBody)
			want := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":` + tt.first + `},{"object":"embedding","index":1,"embedding":` +
				tt.second + `}],"model":"@vx/m","usage":{"prompt_tokens":3,"total_tokens":3},"provider":"vertex-ai"}`
			if diff := cmp.Diff(want, readBody(t, res)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for name, want := range map[string]string{
				"x-gateway-target": "@vx/m", "x-gateway-request-id": "r-1", "x-gateway-attempts": "1", "x-gateway-cache-status": "disabled",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if q := b.embedding; q.Model != "m" || len(q.Input.Items) != 2 || q.Input.Items[1].Text != "b" || *q.Dimensions != 2 {
				t.Errorf("request = %+v", q)
			}
		})
	}
}

func TestEmbeddingBodiesThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, body, param, message string }{
		{"tokens and texts", `{"model":"m","input":[1,2,"a"]}`, "input[2]", "of one kind"},
		{"tokens that are none", `{"model":"m","input":[[1,"a"]]}`, "input[0][1]", "whole number"},
		{"a number", `{"model":"m","input":5}`, "input", "expected a string"},
		{"a null in the list", `{"model":"m","input":["a",null]}`, "input[1]", "expected a string"},
		{"dimensions as text", `{"model":"m","input":"a","dimensions":"3"}`, "dimensions", ""},
		{"no JSON", `{"model":`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fake{}
			res := ask(t, Config{}, b, "POST", embedPath, tt.body)
			e := readEnvelope(t, res)
			if res.StatusCode != 400 || b.calls != 0 || !strings.Contains(e.Error.Message, tt.message) {
				t.Errorf("status %d, %d calls, %+v", res.StatusCode, b.calls, e)
			}
			if tt.param != "" && (e.Error.Param == nil || *e.Error.Param != tt.param) {
				t.Errorf("param %v, want %s", e.Error.Param, tt.param)
			}
		})
	}
}

func TestEmbeddingFailures(t *testing.T) {
	b := &fake{err: &providers.Error{Code: providers.ErrRateLimited, StatusCode: 429, Provider: "vertex-ai", Message: "slow down"}}
	if res := ask(t, Config{}, b, "POST", embedPath, embedBody); res.StatusCode != 429 || readEnvelope(t, res).Error.Code != "rate_limit_exceeded" {
		t.Errorf("status %d", res.StatusCode)
	}
	b = &fake{vectors: &providers.EmbeddingResponse{Data: []providers.Embedding{{Embedding: []float64{math.NaN()}}}}}
	if res := ask(t, Config{}, b, "POST", embedPath, embedBody); res.StatusCode != 500 {
		t.Errorf("status %d of an answer that can't be written", res.StatusCode)
	}
	if res := ask(t, Config{MaxBody: 10}, &fake{}, "POST", embedPath, embedBody); res.StatusCode != 413 {
		t.Errorf("status %d of a body that is too large", res.StatusCode)
	}
	if res := ask(t, Config{}, &fake{}, "GET", embedPath, ""); res.StatusCode != 405 || res.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("status %d of GET, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}
