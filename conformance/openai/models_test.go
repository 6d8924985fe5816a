package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
)

func TestModels(t *testing.T) {
	s := start(t)
	page, err := s.Models.List(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	if len(page.Data) == 0 {
		t.Error("no models")
	}
	for _, m := range page.Data {
		if !strings.HasPrefix(m.ID, "@vx/") || m.Object != "model" || m.OwnedBy == "" {
			t.Errorf("model %s, want a slug, a kind and an owner", m.RawJSON())
		}
	}
	for _, m := range page.Data {
		got, err := s.Models.Get(t.Context(), m.ID)
		if err != nil {
			t.Fatal(explain(err))
		}
		if got.RawJSON() != m.RawJSON() {
			t.Errorf("model %s, in the list %s", got.RawJSON(), m.RawJSON())
		}
	}
}

func TestModelThatIsNotListed(t *testing.T) {
	_, err := start(t).Models.Get(t.Context(), "@vx/gemini-0")
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Code != "model_not_found" {
		t.Errorf("error %v, want 404 model_not_found", explain(err))
	}
}
