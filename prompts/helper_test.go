package prompts_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prompts"
)

// quoted is a text as JSON.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// asking is a prompt of one version whose only message has the content.
func asking(content string) string {
	return `{"versions":{"1":{"request":{"model":"m","messages":[{"role":"user","content":` + content + `}]}}}}`
}

// library has one prompt, p.
func library(t testing.TB, source string, partials prompts.Partials) *prompts.Library {
	t.Helper()
	p, err := prompts.Parse("p", []byte(source), partials)
	if err != nil {
		t.Fatal(err)
	}
	store := new(prompts.Memory)
	if err := store.Add(p); err != nil {
		t.Fatal(err)
	}
	return prompts.New(store)
}

// given are variables as they come over HTTP.
func given(t testing.TB, object string) map[string]any {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	out := make(map[string]any, len(raw))
	for k, v := range raw {
		out[k] = v
	}
	return out
}

func wantEqual(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
