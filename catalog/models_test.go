package catalog_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
)

func TestLookupFindsTheLongestRow(t *testing.T) {
	table := catalog.DefaultModels()
	for _, tt := range []struct {
		name, want string
		known      bool
	}{
		{"gemini-2.5-flash", "gemini-2.5-flash", true},
		{"gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash", true},
		{"gemini-2.5-flash@001", "gemini-2.5-flash", true},
		{"gemini-2.5-flash-lite", "gemini-2.5-flash-lite", true},
		{"gemini-2.5-flash-lite-001", "gemini-2.5-flash-lite", true},
		{"gemini-2.5-flash-image-preview", "gemini-2.5-flash-image", true},
		{"gemini-2.5-flashy", "gemini-2.5", true},
		{"gemini-2.5-computer-use", "gemini-2.5", true},
		{"gemini-2.0-flash-001", "gemini-2.0", true},
		{"gemini-2.0-flash-thinking-exp-01-21", "gemini-2.0-flash-thinking-exp", true},
		{"gemini-3-pro-preview", "gemini-3-pro", true},
		{"gemini-3-pro-image-preview", "gemini-3-pro-image", true},
		{"gemini-3.1-pro-preview", "gemini-3.1-pro", true},
		{"gemini-3.1-flash-lite-image", "gemini-3.1-flash-lite-image", true},
		{"gemini-3.8-flash-cyber", "gemini-3.8-flash", true},
		{"gemini-4-neon", "gemini-4-neon", true},
		{"gemini-4-xenon", "gemini-4", true},
		{"gemini-3.9-flash", "gemini-4", false},
		{"gemini-31", "gemini-4", false},
		{"gemini-5", "gemini-4", false},
		{"gemini", "gemini-4", false},
		{"", "gemini-4", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row, known := table.Lookup("google", tt.name)
			if row == nil || row.Name != tt.want || known != tt.known {
				t.Errorf("%+v, known: %v, want %s, known: %v", row, known, tt.want, tt.known)
			}
		})
	}
	if row, known := table.Lookup("nobody", "gemini-2.5-flash"); row != nil || known {
		t.Errorf("%+v, known: %v for a publisher without rows", row, known)
	}
}

func TestLookupFindsTheRowsOfOpenModels(t *testing.T) {
	table := catalog.DefaultModels()
	for _, tt := range []struct{ publisher, name, want string }{
		{"meta", "llama-4-maverick-17b-128e-instruct-maas", "llama-4"},
		{"meta", "llama-3.3-70b-instruct-maas", "llama-3.3"},
		{"qwen", "qwen3-coder-480b-a35b-instruct-maas", "qwen3-coder"},
		{"qwen", "qwen3-235b-a22b-instruct-2507-maas", "qwen3"},
		{"qwen", "qwen3-next-80b-a3b-thinking-maas", "qwen3-next"},
		{"deepseek-ai", "deepseek-r1-0528-maas", "deepseek-r1"},
		{"deepseek-ai", "deepseek-v3.2-maas", "deepseek-v3.2"},
		{"openai", "gpt-oss-120b-maas", "gpt-oss"},
		{"moonshotai", "kimi-k2-thinking-maas", "kimi-k2"},
		{"zai-org", "glm-4.7-maas", "glm-4.7"},
		{"minimaxai", "minimax-m2-maas", "minimax-m2"},
		{"xai", "grok-4.20-reasoning", "grok-4.20"},
		{"mistralai", "mistral-small-2503@001", "mistral-small"},
		{"mistralai", "codestral-2", "codestral"},
		{"ai21", "jamba-1.5-large@001", "jamba"},
		{"google", "gemma-4-26b-a4b-it-maas", "gemma-4"},
	} {
		if row, known := table.Lookup(tt.publisher, tt.name); row == nil || row.Name != tt.want || !known {
			t.Errorf("%s/%s: %+v, known: %v, want %s", tt.publisher, tt.name, row, known, tt.want)
		}
	}
}

func TestWithPutsRowsFirst(t *testing.T) {
	table := catalog.DefaultModels()
	before := len(table.All())
	changed := table.With(
		catalog.Model{Publisher: "google", Name: "gemini-2.5-flash", Version: 2.5, MaxCandidates: 3},
		catalog.Model{Publisher: "google", Name: "gemini-9", Version: 9},
		catalog.Model{Publisher: "acme", Name: "rocket", Version: 1},
	)
	if n := len(changed.All()); n != before+2 {
		t.Errorf("%d rows, want %d: one is replaced, two are new", n, before+2)
	}
	if row, _ := changed.Lookup("google", "gemini-2.5-flash-001"); row.MaxCandidates != 3 {
		t.Errorf("%+v, want the row given", row)
	}
	if row, known := changed.Lookup("google", "gemini-10"); row.Name != "gemini-9" || known {
		t.Errorf("%+v, want the newest row", row)
	}
	if row, known := changed.Lookup("acme", "rocket-2"); row == nil || row.Name != "rocket" || !known {
		t.Errorf("%+v, want the row of the new publisher", row)
	}
	if row, _ := table.Lookup("google", "gemini-2.5-flash"); row.MaxCandidates != 8 || len(table.All()) != before {
		t.Errorf("the table itself has changed: %+v", row)
	}
}

func TestEveryRowOfTheDefaultTableIsWhole(t *testing.T) {
	order := []string{"MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"}
	rank := func(level string) int { return slices.Index(order, level) }
	seen := map[string]bool{}
	for _, row := range catalog.DefaultModels().All() {
		if row.Publisher == "anthropic" {
			continue // see the test of its own
		}
		t.Run(row.Name, func(t *testing.T) {
			if u, err := url.ParseRequestURI(row.Source); err != nil || u.Scheme != "https" {
				t.Errorf("source %q", row.Source)
			}
			if seen[row.Publisher+"/"+row.Name] || row.Publisher == "" || row.Version == 0 || row.MaxCandidates == 0 {
				t.Errorf("%+v is not whole", row)
			}
			seen[row.Publisher+"/"+row.Name] = true
			th := row.Thinking
			if th.ByBudget() && th.ByLevel() || th.MinBudget > th.MaxBudget || th.CanDisable && !th.ByBudget() {
				t.Errorf("thinking %+v contradicts itself", th)
			}
			if slices.ContainsFunc(th.Levels, func(l string) bool { return rank(l) < 0 }) ||
				!slices.IsSortedFunc(th.Levels, func(a, b string) int { return rank(a) - rank(b) }) {
				t.Errorf("levels %v, want them lowest first", th.Levels)
			}
			if th.Tags != "" && th.Tags != "<think>" && th.Tags != "</think>" || th.Tags == "</think>" && th.Switch == "" {
				t.Errorf("thinking %+v has no such tags", th)
			}
			if row.Publisher == "google" && th.ByLevel() != row.CallIDs {
				t.Error("levels, ids and version 3 came together")
			}
		})
	}
}

func TestTheTableCannotBeChangedFromOutside(t *testing.T) {
	table := catalog.DefaultModels()
	all := table.All()
	want := all[0].Name
	all[0].Name = "changed"
	if diff := cmp.Diff(want, table.All()[0].Name); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
