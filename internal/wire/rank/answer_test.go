package rank_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/rank"
)

func TestAnswers(t *testing.T) {
	for text, want := range map[string]rank.Answer{
		`{"records":[{"id":"1","score":0.5,"title":"t","content":"c"},{"score":1,"id":"0"}],"x":1}`: {Records: []rank.Record{{ID: "1", Score: 0.5}, {ID: "0", Score: 1}}},
		`{}`: {}, `{"records":null}`: {},
	} {
		var got rank.Answer
		r := jsonx.NewReader([]byte(text))
		got.Decode(&r)
		if diff := cmp.Diff(want, got); diff != "" || r.End() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, r.Err(), diff)
		}
	}
	for _, text := range []string{`{"records":{}}`, `{"records":[{"id":1}]}`, `{"records":[{"score":"1"}]}`, `[]`} {
		var got rank.Answer
		r := jsonx.NewReader([]byte(text))
		if got.Decode(&r); r.End() == nil {
			t.Errorf("%s became %+v", text, got)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"records":[{"id":"1","score":0.5},null,{"score":1e300}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var a rank.Answer
		r := jsonx.NewReader(doc)
		if a.Decode(&r); r.End() == nil && !jsonx.Valid(doc) {
			t.Fatalf("%q is no JSON but was decoded", doc)
		}
	})
}
