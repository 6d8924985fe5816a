package catalog_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

func TestLookupFindsEveryClaude(t *testing.T) {
	table := catalog.DefaultModels()
	for _, tt := range []struct {
		name, want string
		known      bool
	}{
		{"claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet", true},
		{"claude-3-opus@20240229", "claude-3-opus", true},
		{"claude-sonnet-4@20250514", "claude-sonnet-4", true},
		{"claude-opus-4-1@20250805", "claude-opus-4-1", true},
		{"claude-sonnet-4-5@20250929", "claude-sonnet-4-5", true},
		{"claude-opus-5-5", "claude-opus-5-5", true},
		{"claude-opus-5@20260724", "claude-opus-5", true},
		{"claude-fable-5-1", "claude-fable-5-1", true},
		{"claude-saga-6", "claude-opus-5-5", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row, known := table.Lookup("anthropic", tt.name)
			if row == nil || row.Name != tt.want || known != tt.known {
				t.Errorf("%+v, known: %v, want %s, known: %v", row, known, tt.want, tt.known)
			}
		})
	}
}

func TestEveryRowOfClaudeIsWhole(t *testing.T) {
	order := []string{"low", "medium", "high", "xhigh", "max"}
	rank := func(word string) int { return slices.Index(order, word) }
	seen := map[string]bool{}
	for _, row := range catalog.DefaultModels().All() {
		if row.Publisher != "anthropic" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			if u, err := url.ParseRequestURI(row.Source); err != nil || u.Scheme != "https" {
				t.Errorf("source %q", row.Source)
			}
			if seen[row.Name] || row.Version == 0 || row.MaxCandidates != 1 || row.OutputTokens == 0 || row.ContextTokens == 0 {
				t.Errorf("%+v is not whole", row)
			}
			seen[row.Name] = true
			th := row.Thinking
			switch {
			case th.ByLevel(), th.ByBudget() && (th.MinBudget < 1024 || th.MaxBudget > row.OutputTokens):
				t.Errorf("thinking %+v is not that of Claude", th)
			case th.Adaptive && len(th.Efforts) == 0, th.Off == "" && th.ByBudget():
				t.Errorf("thinking %+v contradicts itself", th)
			case slices.ContainsFunc(th.Efforts, func(w string) bool { return rank(w) < 0 }),
				!slices.IsSortedFunc(th.Efforts, func(a, b string) int { return rank(a) - rank(b) }):
				t.Errorf("efforts %v, want them lowest first", th.Efforts)
			}
			if row.RefusesSampling && (row.OneSampler || th.ByBudget() || !row.NoPrefill) {
				t.Errorf("%+v contradicts itself", row)
			}
		})
	}
	if len(seen) < 20 {
		t.Errorf("%d rows", len(seen))
	}
}
