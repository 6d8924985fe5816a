package catalog_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

func TestLookupEmbeddingFindsTheLongestRow(t *testing.T) {
	table := catalog.DefaultModels()
	for _, tt := range []struct {
		publisher, name, want string
		known                 bool
	}{
		{"", "text-embedding-005", "text-embedding-005", true},
		{"google", "text-embedding-005@001", "text-embedding-005", true},
		{"", "multimodalembedding@001", "multimodalembedding", true},
		{"", "gemini-embedding-001", "gemini-embedding-001", true},
		{"", "gemini-embedding-2-preview", "gemini-embedding-2", true},
		{"", "multilingual-e5-large-instruct-maas", "multilingual-e5-large-instruct-maas", true},
		{"intfloat", "multilingual-e5-small-maas", "multilingual-e5-small-maas", true},
		{"google", "multilingual-e5-small-maas", "maas", false},
		{"", "text-embedding-006", "text-embedding", false},
		{"", "gemini-embedding-3", "gemini-embedding", false},
		{"", "gemini-2.5-flash", "gemini-embedding", false},
		{"", "somebodys-model-maas", "maas", false},
		{"", "123", "text-embedding", false},
		{"", "", "text-embedding", false},
	} {
		row, known := table.LookupEmbedding(tt.publisher, tt.name)
		if row == nil || row.Name != tt.want || known != tt.known {
			t.Errorf("%q of %q: %+v, known: %v, want %s, known: %v", tt.name, tt.publisher, row, known, tt.want, tt.known)
		}
	}
}

func TestUnknownGeminiEmbeddingsTakeAsManyInputsAsTheNewest(t *testing.T) {
	table := catalog.DefaultModels()
	newest, _ := table.LookupEmbedding("", "gemini-embedding-2")
	if row, _ := table.LookupEmbedding("", "gemini-embedding-exp-03-07"); row.MaxInputs != newest.MaxInputs {
		t.Errorf("%d inputs, want %d", row.MaxInputs, newest.MaxInputs)
	}
}

func TestWithEmbeddingsPutsRowsFirst(t *testing.T) {
	table := catalog.DefaultModels()
	before := len(table.Embeddings())
	changed := table.WithEmbeddings(
		catalog.EmbeddingModel{Publisher: "google", Name: "text-embedding-005", Method: catalog.EmbedPredict, MaxInputs: 5},
		catalog.EmbeddingModel{Publisher: "acme", Name: "arrows", Method: catalog.EmbedContent, MaxInputs: 1},
	).With(catalog.Model{Publisher: "google", Name: "gemini-9", Version: 9})
	if n := len(changed.Embeddings()); n != before+1 {
		t.Errorf("%d rows, want %d: one is replaced, one is new", n, before+1)
	}
	if row, known := changed.LookupEmbedding("", "text-embedding-005"); !known || row.MaxInputs != 5 {
		t.Errorf("%+v, want the row given", row)
	}
	if row, known := changed.LookupEmbedding("", "arrows-2"); !known || row.Publisher != "acme" {
		t.Errorf("%+v, want the row of the new publisher", row)
	}
	if row, known := changed.Lookup("google", "gemini-9"); !known || row.Name != "gemini-9" {
		t.Errorf("%+v: the other table is gone", row)
	}
	if row, _ := table.LookupEmbedding("", "text-embedding-005"); row.MaxInputs == 5 || len(table.Embeddings()) != before {
		t.Errorf("the table itself has changed: %+v", row)
	}
	var empty catalog.Models
	if row, known := empty.LookupEmbedding("", "m"); row != nil || known {
		t.Errorf("%+v of an empty table", row)
	}
}

func TestDimensionsThatAModelTakes(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		want bool
	}{
		{"text-embedding-005", 1, true}, {"text-embedding-005", 768, true}, {"text-embedding-005", 769, false}, {"text-embedding-005", 0, false},
		{"gemini-embedding-2", 127, false}, {"gemini-embedding-2", 128, true}, {"multimodalembedding", 256, true}, {"multimodalembedding", 300, false},
		{"text-embedding-999", 10_000, true}, {"text-embedding-999", -1, false},
	} {
		row, _ := catalog.DefaultModels().LookupEmbedding("", tt.name)
		if got := row.Takes(tt.n); got != tt.want {
			t.Errorf("%s takes %d: %v", tt.name, tt.n, got)
		}
	}
}

func TestEveryRowOfEmbeddingsIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range catalog.DefaultModels().Embeddings() {
		if u, err := url.ParseRequestURI(row.Source); err != nil || u.Scheme != "https" {
			t.Errorf("%s has the source %q", row.Name, row.Source)
		}
		if seen[row.Name] || row.Publisher == "" || row.Method == "" || row.Tasks == "" || row.MaxInputs < 1 || (row.Dimensions == 0) != row.Family {
			t.Errorf("%+v is not whole", row)
		}
		if len(row.Sizes) > 0 && (slices.Max(row.Sizes) != row.Dimensions || row.MinDimensions != 0) {
			t.Errorf("%s has sizes that contradict the rest", row.Name)
		}
		seen[row.Name] = true
	}
}
