package engine

import (
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

func TestLookupBorrowsFacts(t *testing.T) {
	tuned := Model{Publisher: "google", Name: "123", Resource: "projects/p/locations/l/endpoints/123", Location: "l"}
	published := func(name string) Model { return Model{Publisher: "google", Name: name} }
	known := catalog.Model{Publisher: "google", Name: "123", MaxCandidates: 3}
	for _, tt := range []struct {
		name   string
		model  Model
		table  *catalog.Models
		want   string // name of the row
		warned bool
	}{
		{"a known model", published("gemini-2.5-pro-preview-05-06"), catalog.DefaultModels(), "gemini-2.5-pro", false},
		{"an unknown model has the newest row", published("gemini-9"), catalog.DefaultModels(), "gemini-4", true},
		{"a tuned model has the row that is tuned most", tuned, catalog.DefaultModels(), tunedBase, true},
		{"a tuned model may have a row of its own", tuned, catalog.DefaultModels().With(known), "123", false},
		{"a resource of a published model", Model{
			Publisher: "google", Name: "gemini-3.8-flash", Resource: "projects/p/locations/l/publishers/google/models/gemini-3.8-flash", Location: "l",
		}, catalog.DefaultModels(), "gemini-3.8-flash", false},
		{"an empty table knows nothing", published("gemini-2.5-pro"), new(catalog.Models), "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.model
			warnings := m.lookup(tt.table)
			if m.facts == nil || m.facts.Name != tt.want {
				t.Errorf("facts of %+v, want %q", m.facts, tt.want)
			}
			if warned := len(warnings) == 1 && warnings[0].Code == providers.WarnUnknownModel; warned != tt.warned {
				t.Errorf("warnings %v, want one: %v", warnings, tt.warned)
			}
		})
	}
}
