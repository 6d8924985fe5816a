package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func decodeCount(c *TokenCount, doc string) error {
	r := jsonx.NewReader([]byte(doc))
	c.Decode(&r)
	return r.End()
}

func TestDecodeTokenCount(t *testing.T) {
	for doc, want := range map[string]TokenCount{
		`{"input_tokens":14}`: {14, true},
		`{"input_tokens":0,"context_management":{"original_input_tokens":7}}`: {0, true},
		`{"input_tokens":null}`: {},
		`{}`:                    {},
	} {
		got := TokenCount{7, true}
		if err := decodeCount(&got, doc); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", doc, diff)
		}
	}
	for _, doc := range []string{`{"input_tokens":[]}`, `{"input_tokens":1.5}`, `[]`, `{`, ``} {
		if decodeCount(new(TokenCount), doc) == nil {
			t.Errorf("%q: no error", doc)
		}
	}
}

// FuzzTokenCount checks that answers never break the decoder, and that what was
// decoded into before does not show.
func FuzzTokenCount(f *testing.F) {
	for _, seed := range []string{`{"input_tokens":14}`, `{"input_tokens":null,"a":[{}]}`, `{"input_tokens":"9"}`, `[`, `{"a":`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		used, fresh := TokenCount{7, true}, TokenCount{}
		usedErr, freshErr := decodeCount(&used, data), decodeCount(&fresh, data)
		if (usedErr == nil) != (freshErr == nil) || freshErr == nil && used != fresh {
			t.Errorf("%+v %v instead of %+v %v", used, usedErr, fresh, freshErr)
		}
		if freshErr == nil && !jsonx.Valid([]byte(data)) {
			t.Errorf("%q was taken for JSON", data)
		}
	})
}
