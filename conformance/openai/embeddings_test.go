package openai_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const (
	embed5 = "@vx/text-embedding-005"
	embed1 = "@vx/gemini-embedding-001"
	embed2 = "@vx/gemini-embedding-2"
)

func embeddingOf(model string, texts ...string) openai.EmbeddingNewParams {
	return openai.EmbeddingNewParams{Model: model, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts}}
}

// likeness of two vectors of unit length.
func likeness(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestEmbeddings(t *testing.T) {
	for _, model := range []string{embed5, embed1, embed2} {
		t.Run(model, func(t *testing.T) {
			s := start(t)
			got, err := s.Embeddings.New(t.Context(), embeddingOf(model, "the cat sat on the mat", "a cat sat on a mat", "stocks fell sharply today"))
			if err != nil {
				t.Fatal(explain(err))
			}
			if len(got.Data) != 3 || got.Model != model || got.Usage.PromptTokens == 0 || got.Usage.TotalTokens != got.Usage.PromptTokens {
				t.Fatalf("%d vectors of %q, usage %+v", len(got.Data), got.Model, got.Usage)
			}
			for i, d := range got.Data {
				if d.Index != int64(i) || string(d.Object) != "embedding" || math.Abs(likeness(d.Embedding, d.Embedding)-1) > 1e-5 {
					t.Errorf("vector %d: index %d, object %q", i, d.Index, d.Object)
				}
			}
			if near, far := likeness(got.Data[0].Embedding, got.Data[1].Embedding), likeness(got.Data[0].Embedding, got.Data[2].Embedding); near <= far {
				t.Errorf("likeness %v of two that are close, %v of two that are not", near, far)
			}
		})
	}
}

func TestOneTextAndFewerDimensions(t *testing.T) {
	s := start(t)
	got, err := s.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: embed1, Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hello")},
		Dimensions: openai.Int(256), EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat, User: openai.String("u"),
	})
	if err != nil {
		t.Fatal(explain(err))
	}
	if v := got.Data[0].Embedding; len(v) != 256 || math.Abs(likeness(v, v)-1) > 1e-5 {
		t.Errorf("%d dimensions, length² %v", len(v), likeness(v, v))
	}
}

// Base64 is what other official clients ask for by default; this one hands the
// text on.
func TestPackedEmbeddings(t *testing.T) {
	s := start(t)
	params := embeddingOf(embed5, "hello")
	floats, err := s.Embeddings.New(t.Context(), params)
	if err != nil {
		t.Fatal(explain(err))
	}
	params.EncodingFormat = openai.EmbeddingNewParamsEncodingFormatBase64
	packed, err := s.Embeddings.New(t.Context(), params)
	if packed == nil {
		t.Fatal(explain(err))
	}
	var raw struct{ Data []struct{ Embedding string } }
	if err := json.Unmarshal([]byte(packed.RawJSON()), &raw); err != nil || len(raw.Data) != 1 {
		t.Fatalf("%v in %.200s", err, packed.RawJSON())
	}
	data, err := base64.StdEncoding.DecodeString(raw.Data[0].Embedding)
	if err != nil || len(data) != 4*len(floats.Data[0].Embedding) {
		t.Fatalf("%v: %d bytes", err, len(data))
	}
	for i, f := range floats.Data[0].Embedding {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); got != float32(f) {
			t.Fatalf("element %d is %v, want %v", i, got, f)
		}
	}
}

func TestManyEmbeddings(t *testing.T) {
	s := start(t)
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	got, err := s.Embeddings.New(t.Context(), embeddingOf(embed5, texts...))
	if err != nil || len(got.Data) != 300 || len(s.platform.Requests()) != 2 {
		t.Errorf("%v: %d requests", err, len(s.platform.Requests()))
	}
}

func TestTaskTypesOfEmbeddings(t *testing.T) {
	s := start(t)
	if _, err := s.Embeddings.New(t.Context(), embeddingOf(embed5, "a"), option.WithJSONSet("task_type", "RETRIEVAL_DOCUMENT"),
		option.WithJSONSet("title", "The title")); err != nil {
		t.Fatal(explain(err))
	}
	if body := string(s.platform.Requests()[0].Body); !strings.Contains(body, `"task_type":"RETRIEVAL_DOCUMENT","title":"The title"`) {
		t.Errorf("the platform was asked %s", body)
	}
}

func TestEmbeddingsThatAreRefused(t *testing.T) {
	s := start(t)
	for name, tt := range map[string]struct {
		params openai.EmbeddingNewParams
		opts   []option.RequestOption
		param  string
	}{
		"tokens": {openai.EmbeddingNewParams{Model: embed5, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfTokens: []int64{1, 2}}}, nil, "input"},
		"lists of tokens": {openai.EmbeddingNewParams{Model: embed5,
			Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfTokenArrays: [][]int64{{1}, {2}}}}, nil, "input[0]"},
		"an empty text":       {embeddingOf(embed5, "a", ""), nil, "input[1]"},
		"too many dimensions": {openai.EmbeddingNewParams{Model: embed5, Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")}, Dimensions: openai.Int(769)}, nil, "dimensions"},
		"an unknown task":     {embeddingOf(embed5, "a"), []option.RequestOption{option.WithJSONSet("task_type", "retrieval")}, "task_type"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Embeddings.New(t.Context(), tt.params, tt.opts...)
			e, ok := errors.AsType[*openai.Error](err)
			if !ok || e.StatusCode != 400 || e.Param != tt.param {
				t.Errorf("%v, want a refusal of %s", err, tt.param)
			}
		})
	}
	if n := len(s.platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
