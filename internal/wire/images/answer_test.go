package images_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/images"
)

func TestAnswers(t *testing.T) {
	for text, want := range map[string]images.Answer{
		`{"predictions":[{"mimeType":"image/png","bytesBase64Encoded":"AA==","prompt":"p","safetyAttributes":{"a":[1]},"x":1},{"gcsUri":"gs://b/a.png"},` +
			`{"raiFilteredReason":"r"}],"deployedModelId":"1"}`: {Predictions: []images.Prediction{
			{Data: "AA==", MimeType: "image/png", Prompt: "p", Safety: []byte(`{"a":[1]}`)}, {URI: "gs://b/a.png"}, {Filtered: "r"},
		}},
		`{}`: {}, `{"predictions":null}`: {}, `{"predictions":[null]}`: {Predictions: make([]images.Prediction, 1)},
	} {
		var got images.Answer
		r := jsonx.NewReader([]byte(text))
		got.Decode(&r)
		if diff := cmp.Diff(want, got); diff != "" || r.End() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, r.Err(), diff)
		}
	}
	for _, text := range []string{`{"predictions":{}}`, `{"predictions":[{"bytesBase64Encoded":1}]}`, `{"predictions":[1]}`, `[]`} {
		var got images.Answer
		r := jsonx.NewReader([]byte(text))
		if got.Decode(&r); r.End() == nil {
			t.Errorf("%s became %+v", text, got)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"predictions":[{"bytesBase64Encoded":"AA==","safetyAttributes":{}},{"raiFilteredReason":"r"},null]}`))
	f.Add([]byte(`{"predictions":[{"gcsUri":"gs://b/a","prompt":"\u00e9"}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var a images.Answer
		r := jsonx.NewReader(doc)
		a.Decode(&r)
		if r.End() == nil && !jsonx.Valid(doc) {
			t.Fatalf("%q is no JSON but was decoded", doc)
		}
		for _, p := range a.Predictions {
			if r.Err() == nil && p.Safety != nil && !jsonx.Valid(p.Safety) {
				t.Fatalf("the attributes are %q", p.Safety)
			}
		}
	})
}
