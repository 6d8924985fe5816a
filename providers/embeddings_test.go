package providers_test

import (
	"errors"
	"math"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestEmbeddingRequestsThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, doc, param string }{
		{"no model", `{"input":"a"}`, "model"},
		{"no input", `{"model":"m"}`, "input"},
		{"a null input", `{"model":"m","input":null}`, "input"},
		{"an empty list", `{"model":"m","input":[]}`, "input"},
		{"an empty text", `{"model":"m","input":""}`, "input"},
		{"an empty text in a list", `{"model":"m","input":["a",""]}`, "input[1]"},
		{"an empty object", `{"model":"m","input":["a",{}]}`, "input[1]"},
		{"media that are nowhere", `{"model":"m","input":[{"text":"a","image":{}}]}`, "input[0].image"},
		{"media in two places", `{"model":"m","input":{"video":{"url":"u","base64":"AA=="}}}`, "input.video"},
		{"no dimensions", `{"model":"m","input":"a","dimensions":0}`, "dimensions"},
		{"an encoding that is unknown", `{"model":"m","input":"a","encoding_format":"int8"}`, "encoding_format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := decode[providers.EmbeddingRequest](t, tt.doc)
			var e *providers.Error
			if err := q.Validate(); !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param {
				t.Errorf("%v, want it to be about %s", err, tt.param)
			}
		})
	}
	fine := decode[providers.EmbeddingRequest](t, `{"model":"m","input":["a",{"text":"b"},{"image":"gs://b/a.png"}],"encoding_format":"float"}`)
	if err := fine.Validate(); err != nil {
		t.Error(err)
	}
	wantEqual(t, "gs://b/a.png", fine.Input.Items[2].Image.URL)
}

func TestTokensAreInput(t *testing.T) {
	for _, tt := range []struct {
		doc  string
		want providers.EmbeddingInput
	}{
		{`[1,2]`, providers.EmbeddingInput{Items: []providers.EmbeddingItem{{Tokens: []int64{1, 2}}}, Single: true}},
		{`[[1,2],[3]]`, providers.EmbeddingTokens([]int64{1, 2}, []int64{3})},
		{`["a",[3]]`, providers.EmbeddingItems(providers.EmbeddingItem{Text: "a"}, providers.EmbeddingItem{Tokens: []int64{3}})},
		{`[[]]`, providers.EmbeddingTokens([]int64{})},
	} {
		wantEqual(t, tt.want, decode[providers.EmbeddingInput](t, tt.doc))
	}
	q := providers.EmbeddingRequest{Model: "m", Input: providers.EmbeddingTokens([]int64{1}, nil, []int64{})}
	var e *providers.Error
	if err := q.Validate(); !errors.As(err, &e) || e.Param != "input[1]" {
		t.Errorf("no tokens: %v", err)
	}
	for param, item := range map[string]providers.EmbeddingItem{
		"input[0]":    {Tokens: []int64{1}, Text: "a"},
		"input[0][1]": {Tokens: []int64{1, -1}},
	} {
		q.Input = providers.EmbeddingItems(item)
		if err := q.Validate(); !errors.As(err, &e) || e.Param != param {
			t.Errorf("%+v: %v, want it to be about %s", item, err, param)
		}
	}
}

func TestWhatIsNoInput(t *testing.T) {
	for _, doc := range []string{
		`{"input":7}`, `{"input":true}`, `{"input":["a",5]}`, `{"input":[5,"a"]}`, `{"input":[1.5]}`, `{"input":[[1,"a"]]}`, `{"input":[[null]]}`,
		`{"input":[1,[2]]}`, `{"input":[[[1]]]}`, `{"input":[null]}`, `{"input":[1e30]}`,
	} {
		var q providers.EmbeddingRequest
		if err := q.UnmarshalJSON([]byte(doc)); err == nil {
			t.Errorf("%s became %+v", doc, q)
		}
	}
}

// Vectors of any length, beyond the block that is packed at once.
func TestPackedVectorsAreLittleEndianFloats(t *testing.T) {
	wantEqual(t, "AACAPwAAAL8=", (&providers.Embedding{Embedding: []float64{1, -0.5}}).Base64())
	wantEqual(t, "", (&providers.Embedding{}).Base64())
	for _, n := range []int{1, 191, 192, 193, 384, 3072} {
		in := providers.EmbeddingResponse{EncodingFormat: "base64", Data: make([]providers.Embedding, 1)}
		for i := range n {
			in.Data[0].Embedding = append(in.Data[0].Embedding, float64(float32(math.Sin(float64(i)))))
		}
		data, err := in.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var out providers.EmbeddingResponse
		if err := out.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, in, out)
	}
	var out providers.EmbeddingResponse
	for _, doc := range []string{`{"data":[{"embedding":"AAA="}]}`, `{"data":[{"embedding":"!"}]}`} {
		if out.UnmarshalJSON([]byte(doc)) == nil {
			t.Errorf("%s became %+v", doc, out)
		}
	}
}

func FuzzEmbeddings(f *testing.F) {
	for _, doc := range []string{
		`{"model":"m","input":["a",{"text":"b","image":{"url":"u"},"video":{"base64":"AA==","interval":1.5}}],"x":1}`, `{"input":"a"}`, `{"input":{}}`,
		`{"input":[]}`, `{"input":[1]}`, `{"input":[[1,2],"a",[]]}`, `{"data":[{"embedding":[0.1,1e-7],"video_embeddings":[{"embedding":"AACAPw=="}]}],"usage":{}}`,
		`{"data":[{"embedding":"AACAPwAAwH8="}]}`, `{"data":[{"embedding":null,"image_embedding":[]}]}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[providers.EmbeddingRequest](t, data)
		stable[providers.EmbeddingResponse](t, data)
		var q providers.EmbeddingRequest
		if q.UnmarshalJSON(data) == nil {
			_ = q.Validate()
		}
	})
}
