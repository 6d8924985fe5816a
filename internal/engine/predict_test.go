package engine

import (
	"encoding/json"
	"testing"

	"github.com/b650d4bf/gateway/internal/sse"
	"github.com/b650d4bf/gateway/providers"
)

// FuzzPredictStream checks that the events of a server that nobody knows never
// break the decoder, and that an answer that was whole says why it ended.
func FuzzPredictStream(f *testing.F) {
	for _, seed := range []string{
		`{"text":"Hi"}`, `{"finish_reason":"stop"}`, sse.Done, `{"error":{"code":503}}`, `{"error":null,"text":"a"}`, `{"predictions":["a"]}`, "", "<html>", `{"text"`,
	} {
		f.Add([]byte(seed), []byte(`{"text":"a","finish_reason":"length"}`), false)
		f.Add([]byte(`{"text":"a"}`), []byte(seed), true)
	}
	read := func(data []byte) (p providers.Prediction, err error) {
		var e struct {
			Text   string
			Finish string `json:"finish_reason"`
		}
		err = json.Unmarshal(data, &e)
		return providers.Prediction{Text: e.Text, FinishReason: e.Finish}, err
	}
	own := &providers.Predictor{Chunk: read, Answer: read}
	f.Fuzz(func(t *testing.T, one, two []byte, stray bool) {
		d := predictFamily{own}.newDecoder(&request{stream: true}, nil)
		defer d.release()
		var acc providers.Accumulator
		for _, e := range []sse.Event{{Data: one}, {Data: two, Stray: stray}} {
			chunks, err := d.push(e)
			if err == nil {
				err = addAll(&acc, chunks)
			}
			if err != nil {
				return
			}
		}
		chunks, err := d.finish()
		if err == nil {
			err = addAll(&acc, chunks)
		}
		if err != nil {
			return
		}
		if c := acc.Completion(); len(c.Choices) != 1 || c.Choices[0].FinishReason == "" {
			t.Errorf("%+v of %q and %q", c, one, two)
		}
	})
}
