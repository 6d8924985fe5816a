package vertex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestEachKindOfModelNamesTheMissingPermission asks with credentials that may
// not use models. The error names the permission, a role that has it, and the
// resource.
func TestEachKindOfModelNamesTheMissingPermission(t *testing.T) {
	for name, tt := range map[string]struct{ ref, resource string }{
		"Gemini":                  {"gemini-2.5-flash", "publishers/google/models/gemini-2.5-flash"},
		"a tuned Gemini":          {"projects/p/locations/us-central1/endpoints/42", "endpoints/42"},
		"Claude":                  {"anthropic.claude-sonnet-4-5@20250929", "publishers/anthropic/models/claude-sonnet-4-5@20250929"},
		"an open model":           {"meta.llama-3.3-70b-instruct-maas", "endpoints/openapi"},
		"Mistral's":               {"mistralai.mistral-medium-3", "publishers/mistralai/models/mistral-medium-3"},
		"a self-deployed model":   {"endpoints.1234567890", "endpoints/1234567890"},
		"by the other prefix":     {"the service.1234567890", "endpoints/1234567890"},
		"one that speaks predict": {"endpoints.77", "endpoints/77"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := vertextest.New(vertextest.WithoutPermission())
			defer srv.Close()
			p := vertex.New(vertex.Config{Transport: srv.Transport(), Predictors: map[string]vertex.Predictor{"77": echo()}})
			g := target(tt.ref)
			g.Region = "us-central1"
			_, err := p.ChatCompletion(t.Context(), g, hello(t, tt.ref))
			_, streamErr := p.ChatCompletionStream(t.Context(), g, hello(t, tt.ref))
			for _, err := range []error{err, streamErr} {
				e, _ := errors.AsType[*providers.Error](err)
				if e == nil || e.Code != providers.ErrPermission || e.StatusCode != 403 || e.Sent {
					t.Fatalf("%v, want %s of what was not sent", err, providers.ErrPermission)
				}
				for _, part := range []string{"aiplatform.endpoints.predict", "roles/aiplatform.user", tt.resource} {
					if !strings.Contains(e.Message, part) {
						t.Errorf("%q does not name %s", e.Message, part)
					}
				}
			}
		})
	}
}
