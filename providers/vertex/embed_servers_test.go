package vertex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// servers are endpoints with model servers that embed.
func servers(t *testing.T) *vertextest.Server {
	t.Helper()
	s := vertextest.New(
		vertextest.WithDeployed(vertextest.Endpoint{ID: "tei", Model: "BAAI/bge-m3", Dimensions: 8}),
		vertextest.WithDeployed(vertextest.Endpoint{ID: "own", Model: "e5", Dimensions: 8, Dedicated: true}),
		vertextest.WithDeployed(vertextest.Endpoint{ID: "raw", Model: "e5", Dimensions: 8, RawOnly: true}),
		vertextest.WithDeployed(vertextest.Endpoint{ID: "chat", Model: "llama"}),
	)
	t.Cleanup(s.Close)
	return s
}

// asked says by which methods a server was asked, and for how many inputs.
func asked(s *vertextest.Server) []string {
	var out []string
	for _, r := range s.Requests() {
		var body struct{ Input, Instances []any }
		_ = json.Unmarshal(r.Body, &body)
		out = append(out, fmt.Sprint(r.Model, " ", r.Verb, " ", len(body.Input)+len(body.Instances)))
	}
	return out
}

func texts(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "text " + strings.Repeat("x", i)
	}
	return list
}

func TestEmbeddingsOfEndpoints(t *testing.T) {
	for _, tt := range []struct {
		name, model string
		inputs      int
		want        []string // of the first call
		again       []string // of the second one
	}{
		{"one text", "endpoints.tei", 1, []string{"tei embeddings 1"}, []string{"tei embeddings 1"}},
		{"the other prefix", "the service.tei", 2, []string{"tei embeddings 2"}, []string{"tei embeddings 2"}},
		{
			"more than the server takes", "endpoints.tei", 70,
			[]string{"tei embeddings 70", "tei embeddings 32", "tei embeddings 32", "tei embeddings 6"},
			[]string{"tei embeddings 32", "tei embeddings 32", "tei embeddings 6"},
		},
		{"a host of its own", "endpoints.own", 1, []string{"own embeddings 1", "own getEndpoint 0", "own embeddings 1"}, []string{"own embeddings 1"}},
		{"raw predictions", "endpoints.raw", 2, []string{"raw embeddings 2", "raw rawPredict 2"}, []string{"raw rawPredict 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := servers(t)
			p := newProvider(t, s.Transport())
			q := &providers.EmbeddingRequest{Model: tt.model, Input: providers.EmbeddingTexts(texts(tt.inputs)...)}
			at := target(tt.model)
			at.Region = "us-central1"
			for i, want := range [][]string{tt.want, tt.again} {
				before := len(s.Requests())
				out, err := p.Embeddings(t.Context(), at, q)
				if err != nil {
					t.Fatal(err)
				}
				got := asked(s)[before:]
				slices.Sort(got[1:])
				slices.Sort(want[1:])
				if i > 0 {
					slices.Sort(got)
					slices.Sort(want)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("call %d (-want +got)\n%s", i, d)
				}
				if len(out.Data) != tt.inputs || out.Usage.PromptTokens == 0 {
					t.Fatalf("%d vectors, usage %+v", len(out.Data), out.Usage)
				}
				for j, d := range out.Data {
					alone, err := p.Embeddings(t.Context(), at, &providers.EmbeddingRequest{Model: tt.model, Input: providers.EmbeddingText(q.Input.Items[j].Text)})
					if err != nil {
						t.Fatal(err)
					}
					if d.Index != j || cmp.Diff(alone.Data[0].Embedding, d.Embedding) != "" {
						t.Errorf("vector %d is of another text", j)
					}
				}
			}
		})
	}
}

func TestEmbeddingsOfEndpointsThatAreRefused(t *testing.T) {
	s := servers(t)
	p := newProvider(t, s.Transport())
	for _, tt := range []struct {
		name, body string
		code       providers.Code
		param      string
		requests   int
	}{
		{"a server that does not embed", `{"model":"endpoints.chat","input":"a"}`, providers.ErrModelNotFound, "", 2},
		{"an endpoint that is not there", `{"model":"endpoints.none","input":"a"}`, providers.ErrModelNotFound, "", 1},
		{"media", `{"model":"endpoints.tei","input":{"image":{"url":"gs://b/a.png"}}}`, providers.ErrInvalidRequest, "input.image", 0},
		{"a path in the name", `{"model":"endpoints.a/../b","input":"a"}`, providers.ErrInvalidRequest, "model", 0},
		{"a verb in the name", `{"model":"endpoints.a:b","input":"a"}`, providers.ErrInvalidRequest, "model", 0},
		{"the endpoint that all share", `{"model":"endpoints.openapi","input":"a"}`, providers.ErrInvalidRequest, "model", 0},
		{"no name", `{"model":"endpoints.","input":"a"}`, providers.ErrInvalidRequest, "model", 0},
		{"too many dimensions", `{"model":"endpoints.tei","input":"a","dimensions":9}`, providers.ErrInvalidRequest, "", 1},
		{"an unknown task", `{"model":"endpoints.tei","input":"a","task_type":"retrival_query"}`, providers.ErrInvalidRequest, "task_type", 0},
		{"tokens for a model of the platform", `{"model":"text-embedding-005","input":[1,2]}`, providers.ErrInvalidRequest, "input", 0},
		{"lists of tokens for a model of the platform", `{"model":"gemini-embedding-2","input":["a",[1,2]]}`, providers.ErrInvalidRequest, "input[1]", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := new(providers.EmbeddingRequest)
			if err := json.Unmarshal([]byte(tt.body), q); err != nil {
				t.Fatal(err)
			}
			before := len(s.Requests())
			_, err := p.Embeddings(t.Context(), target(q.Model), q)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Param != tt.param {
				t.Errorf("%v, want %s about %q", err, tt.code, tt.param)
			}
			if n := len(s.Requests()) - before; n != tt.requests {
				t.Errorf("%d requests were sent, want %d", n, tt.requests)
			}
		})
	}
}

func TestTokensGoToServers(t *testing.T) {
	s := servers(t)
	out, err := newProvider(t, s.Transport()).Embeddings(t.Context(), target("endpoints.tei"), &providers.EmbeddingRequest{
		Model: "endpoints.tei", Input: providers.EmbeddingTokens([]int64{1, 2}, []int64{3}), EncodingFormat: "base64", Dimensions: new(4),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Data) != 2 || len(out.Data[0].Embedding) != 4 || out.Usage.PromptTokens != 3 {
		t.Errorf("%+v, usage %+v", out.Data, out.Usage)
	}
	want := `{"model":"","input":[[1,2],[3]],"dimensions":4,"encoding_format":"base64"}`
	if d := cmp.Diff(want, string(s.Requests()[0].Body)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// tei speaks to a server whose only path takes instances.
var tei = vertex.Predictor{
	EmbedRequest: func(q *providers.EmbeddingRequest) ([]byte, error) {
		type instance struct {
			Inputs string `json:"inputs"`
		}
		var body struct {
			Instances []instance `json:"instances"`
		}
		for _, it := range q.Input.Items {
			if it.Text == "" {
				return nil, errors.New("texts only")
			}
			body.Instances = append(body.Instances, instance{it.Text})
		}
		return json.Marshal(body)
	},
	Vectors: func(body []byte) (providers.VectorPrediction, error) {
		var answer struct{ Predictions [][]float64 }
		err := json.Unmarshal(body, &answer)
		return providers.VectorPrediction{Vectors: answer.Predictions, Tokens: int64(len(answer.Predictions))}, err
	},
}

func TestEmbeddingsByPredictors(t *testing.T) {
	const resource = "projects/p/locations/us-central1/endpoints/own"
	for _, model := range []string{"endpoints.tei", resource} {
		s := servers(t)
		p := vertex.New(vertex.Config{Transport: s.Transport(), Predictors: map[string]vertex.Predictor{"tei": tei, "own": tei}})
		t.Cleanup(func() { _ = p.Close() })
		at := target(model)
		at.Region = "us-central1"
		out, err := p.Embeddings(t.Context(), at, &providers.EmbeddingRequest{Model: model, Input: providers.EmbeddingTexts(texts(40)...)})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Data) != 40 || len(out.Data[39].Embedding) != 8 || out.Usage.PromptTokens != 40 {
			t.Errorf("%s: %d vectors, usage %+v", model, len(out.Data), out.Usage)
		}
		verbs := map[string]bool{}
		for _, r := range s.Requests() {
			verbs[r.Verb] = true
		}
		if !verbs["predict"] || verbs["embeddings"] {
			t.Errorf("%s: asked by %v", model, verbs)
		}
	}
}

func TestPredictorsOfEmbeddingsThatFail(t *testing.T) {
	for _, tt := range []struct {
		name string
		own  vertex.Predictor
		code providers.Code
	}{
		{"half of a predictor", vertex.Predictor{EmbedRequest: tei.EmbedRequest}, providers.ErrInvalidConfig},
		{"a body that is no JSON", vertex.Predictor{
			EmbedRequest: func(*providers.EmbeddingRequest) ([]byte, error) { return []byte("{"), nil }, Vectors: tei.Vectors,
		}, providers.ErrInvalidConfig},
		{"a refusal", vertex.Predictor{
			EmbedRequest: func(*providers.EmbeddingRequest) ([]byte, error) { return nil, errors.New("no") }, Vectors: tei.Vectors,
		}, providers.ErrInvalidRequest},
		{"an answer that can't be read", vertex.Predictor{EmbedRequest: tei.EmbedRequest, Vectors: func([]byte) (providers.VectorPrediction, error) {
			return providers.VectorPrediction{}, errors.New("no")
		}}, providers.ErrBadResponse},
		{"too few vectors", vertex.Predictor{EmbedRequest: tei.EmbedRequest, Vectors: func([]byte) (providers.VectorPrediction, error) {
			return providers.VectorPrediction{}, nil
		}}, providers.ErrBadResponse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := vertex.New(vertex.Config{Transport: servers(t).Transport(), Predictors: map[string]vertex.Predictor{"tei": tt.own}})
			defer func() { _ = p.Close() }()
			_, err := p.Embeddings(t.Context(), target("endpoints.tei"), &providers.EmbeddingRequest{Model: "endpoints.tei", Input: providers.EmbeddingText("a")})
			if !errors.Is(err, tt.code) {
				t.Errorf("%v, want %s", err, tt.code)
			}
		})
	}
}

func TestAnAnswerOfVectorsMaySayThatThereIsNoError(t *testing.T) {
	rt := plays([]byte(`{"predictions":[[1,2]],"error":null}`))
	p := vertex.New(vertex.Config{Transport: rt, Predictors: map[string]vertex.Predictor{"tei": tei}})
	defer func() { _ = p.Close() }()
	out, err := p.Embeddings(t.Context(), target("endpoints.tei"), &providers.EmbeddingRequest{Model: "endpoints.tei", Input: providers.EmbeddingText("a")})
	if err != nil || len(out.Data) != 1 || rt.calls != 1 {
		t.Errorf("%+v %v after %d requests", out, err, rt.calls)
	}
}

// A row of the table says how an endpoint is asked, and by which limits.
func TestRowsOfEndpointsThatEmbed(t *testing.T) {
	s := servers(t)
	models := catalog.DefaultModels().WithEmbeddings(
		catalog.EmbeddingModel{Publisher: "endpoints", Name: "tei", Method: catalog.EmbedOpenAI, MaxInputs: 3, Dimensions: 8, Sizes: []int{4, 8}, Tasks: catalog.TaskNone})
	p := vertex.New(vertex.Config{Transport: s.Transport(), Models: models})
	defer func() { _ = p.Close() }()
	const model = "projects/p/locations/us-central1/endpoints/tei"
	out, err := p.Embeddings(t.Context(), target(model), &providers.EmbeddingRequest{Model: model, Input: providers.EmbeddingTexts(texts(7)...), Dimensions: new(4)})
	if err != nil {
		t.Fatal(err)
	}
	got := asked(s)
	slices.Sort(got)
	if d := cmp.Diff([]string{"tei embeddings 1", "tei embeddings 3", "tei embeddings 3"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var length float64
	for _, f := range out.Data[6].Embedding {
		length += f * f
	}
	if len(out.Data) != 7 || math.Abs(length-1) > 1e-5 {
		t.Errorf("%d vectors, length² %v", len(out.Data), length)
	}
	_, err = p.Embeddings(t.Context(), target(model), &providers.EmbeddingRequest{Model: model, Input: providers.EmbeddingText("a"), Dimensions: new(5)})
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Param != "dimensions" {
		t.Errorf("%v", err)
	}
}
