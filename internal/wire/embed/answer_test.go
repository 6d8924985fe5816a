package embed_test

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/embed"
)

func decode(text string) (embed.Answer, error) {
	var a embed.Answer
	r := jsonx.NewReader([]byte(text))
	a.Decode(&r)
	return a, r.End()
}

func TestAnswersOfEachMethod(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       embed.Answer
	}{
		{"predict", `{"predictions":[{"embeddings":{"statistics":{"token_count":13.0,"truncated":true},"values":[0.5,-0.25]}},` +
			`{"embeddings":{"values":[1],"statistics":{"token_count":2}}}],"metadata":{"billableCharacterCount":112},"deployedModelId":"x"}`,
			embed.Answer{Tokens: 15, Counted: true, BillableCharacters: 112, Vectors: []embed.Vector{
				{Values: []float64{0.5, -0.25}, Truncated: true}, {Values: []float64{1}},
			}}},
		{"predict of a multimodal model", `{"predictions":[{"textEmbedding":[1],"imageEmbedding":[2],"videoEmbeddings":[{"startOffsetSec":1,"endOffsetSec":2.5,"embedding":[3]}]}]}`,
			embed.Answer{Vectors: []embed.Vector{
				{Values: []float64{1}, Image: []float64{2}, Video: []embed.Segment{{Start: 1, End: 2.5, Values: []float64{3}}}},
			}}},
		{"embedContent", `{"truncated":true,"embedding":{"values":[1,2]},"usageMetadata":{"promptTokenCount":"4","promptTokensDetails":[]}}`,
			embed.Answer{Tokens: 4, Counted: true, Vectors: []embed.Vector{{Values: []float64{1, 2}, Truncated: true}}}},
		{"batchEmbedContents", `{"embeddings":[{"values":[1]},{"values":[2]}],"usageMetadata":{"promptTokenCount":0}}`,
			embed.Answer{Counted: true, Vectors: []embed.Vector{{Values: []float64{1}}, {Values: []float64{2}}}}},
		{"nulls and nothing", `{"predictions":null,"embeddings":[{"values":null,"statistics":null}],"metadata":null,"usageMetadata":{"promptTokenCount":null}}`,
			embed.Answer{Counted: true, Vectors: []embed.Vector{{Values: []float64{}}}}},
		{"an error", `{"error":{"code":429}}`, embed.Answer{Error: []byte(`{"code":429}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decode(tt.text)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(embed.Answer{}), cmpopts.IgnoreFields(embed.Answer{}, "Size")); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestBrokenAnswers(t *testing.T) {
	for _, text := range []string{
		`{"predictions":[{"embeddings":{"values":["1"]}}]}`, `{"embedding":{"values":[1,`, `{"embeddings":{}}`, `[]`,
		`{"predictions":[{"embeddings":{"statistics":{"token_count":"x"}}}]}`, `{"usageMetadata":{"promptTokenCount":1.5}}`,
	} {
		if a, err := decode(text); err == nil {
			t.Errorf("%s became %+v", text, a)
		}
	}
}

func TestAVectorCostsOneAllocation(t *testing.T) {
	text := []byte(`{"predictions":[{"embeddings":{"values":[0.1,0.2,0.3],"statistics":{"token_count":1,"truncated":false}}},` +
		`{"embeddings":{"values":[0.1,0.2,0.3],"statistics":{"token_count":1,"truncated":false}}}]}`)
	got := testing.AllocsPerRun(100, func() {
		a := embed.Answer{Count: 2, Size: 3}
		r := jsonx.NewReader(text)
		a.Decode(&r)
	})
	if got > 5 { // two vectors, their list, and what the callbacks take
		t.Errorf("%v allocations", got)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, doc := range []string{
		`{"predictions":[{"embeddings":{"values":[0.1],"statistics":{"token_count":13.0,"truncated":false}}}],"metadata":{"billableCharacterCount":1}}`,
		`{"predictions":[{"textEmbedding":[1],"videoEmbeddings":[{"embedding":[1]}]}]}`, `{"embedding":{"values":[1]},"truncated":true}`,
		`{"embeddings":[{"values":[1]}],"usageMetadata":{"promptTokenCount":1}}`, `{"error":{}}`, `null`, `{"predictions":[null]}`,
		`{"usageMetadata":{"promptTokenCount":1e300}}`, `{"predictions":[{"embeddings":{"statistics":{"token_count":1e300}}}]}`,
	} {
		f.Add([]byte(doc), 0, 0)
	}
	f.Fuzz(func(t *testing.T, doc []byte, count, size int) {
		a := embed.Answer{Count: min(count, 1<<10), Size: size}
		r := jsonx.NewReader(doc)
		a.Decode(&r)
		if (r.End() == nil) && !jsonx.Valid(doc) {
			t.Fatalf("%q is no JSON but was decoded", doc)
		}
		if len(a.Error) > 0 && !jsonx.Valid(a.Error) {
			t.Fatalf("the error is %q", a.Error)
		}
	})
}

func decodeOpen(text string, count int) (*embed.Answer, error) {
	a := &embed.Answer{Count: count}
	r := jsonx.NewReader([]byte(text))
	a.DecodeOpenAI(&r)
	return a, r.End()
}

func TestAnswersInTheOpenAISchema(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       [][]float64
		tokens     int64
		misplaced  bool
	}{
		{"in order", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}],"usage":{"prompt_tokens":3,"total_tokens":3}}`, [][]float64{{1}, {2}}, 3, false},
		{"out of order", `{"data":[{"embedding":[1],"index":2},{"embedding":[2],"index":0},{"embedding":[3],"index":1}]}`, [][]float64{{2}, {3}, {1}}, 0, false},
		{"without indexes", `{"data":[{"embedding":[1]},{"index":null,"embedding":[2]}]}`, [][]float64{{1}, {2}}, 0, false},
		{"packed", `{"data":[{"embedding":"AACAPwAAAL8="}]}`, [][]float64{{1, -0.5}}, 0, false},
		{"an index twice", `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[2]}]}`, [][]float64{{1}, {2}}, 0, true},
		{"an index beyond all", `{"data":[{"index":7,"embedding":[1]}]}`, [][]float64{{1}}, 0, true},
		{"an index below all", `{"data":[{"index":-1,"embedding":[1]}]}`, [][]float64{{1}}, 0, true},
		{"nulls", `{"data":null,"usage":null,"error":null}`, nil, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := decodeOpen(tt.text, 2)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for _, v := range a.Vectors {
				got = append(got, v.Values)
			}
			if d := cmp.Diff(tt.want, got); d != "" || a.Tokens != tt.tokens || a.Misplaced != tt.misplaced {
				t.Errorf("%d tokens, misplaced %v (-want +got)\n%s", a.Tokens, a.Misplaced, d)
			}
		})
	}
	for _, text := range []string{
		`{"data":[{"embedding":"AAA="}]}`, `{"data":[{"embedding":"!"}]}`, `{"data":[{"embedding":["1"]}]}`, `{"data":[{"embedding":5}]}`, `{"data":5}`,
		`{"data":[{"index":"a"}]}`, `{"data":[{"index":0.5}]}`, `{"usage":{"prompt_tokens":"3"}}`, `[]`, `{"data":[{"embedding":[1,`, `{"data":[{"embedding":"AACAPw"}]}`,
	} {
		if a, err := decodeOpen(text, 1); err == nil {
			t.Errorf("%s became %+v", text, a)
		}
	}
}

// Vectors of any length, beyond the block that is unpacked at once.
func TestPackedVectorsOfAnyLength(t *testing.T) {
	for _, n := range []int{0, 1, 191, 192, 193, 255, 256, 257, 384, 3072} {
		var data []byte
		var want []float64
		for i := range n {
			f := float32(math.Sin(float64(i)))
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(f))
			want = append(want, float64(f))
		}
		a, err := decodeOpen(`{"data":[{"embedding":"`+base64.StdEncoding.EncodeToString(data)+`"}]}`, 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, append([]float64(nil), a.Vectors[0].Values...)); d != "" {
			t.Errorf("%d floats (-want +got)\n%s", n, d)
		}
	}
}

func FuzzOpenAnswer(f *testing.F) {
	for _, doc := range []string{
		`{"data":[{"index":1,"embedding":[0.1]},{"index":0,"embedding":"AACAPw=="}],"usage":{"prompt_tokens":1}}`, `{"error":{"message":"x"}}`, `null`,
		`{"data":[{"index":-1},{"index":9223372036854775807,"embedding":null}]}`, `{"data":[{"embedding":"A\u0041CAPw=="}]}`,
	} {
		f.Add([]byte(doc), 1)
	}
	f.Fuzz(func(t *testing.T, doc []byte, count int) {
		a := embed.Answer{Count: min(count, 1<<10)}
		r := jsonx.NewReader(doc)
		a.DecodeOpenAI(&r)
		if (r.End() == nil) && !jsonx.Valid(doc) {
			t.Fatalf("%q is no JSON but was decoded", doc)
		}
	})
}
