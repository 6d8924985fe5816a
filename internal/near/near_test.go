package near

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ac", 1},
		{"ac", "abc", 1}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"abc", "acb", 1}, {"abcd", "badc", 2},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	long := strings.Repeat("a", maxName+1)
	for _, tt := range []struct {
		name  string
		names []string
		want  []string
	}{
		{"targetz", []string{"strategy", "targets"}, []string{"targets"}},
		{"Targets", []string{"targets"}, []string{"targets"}},
		{"prod", []string{"prod-eu", "test", "my-prod"}, []string{"my-prod", "prod-eu"}},
		{"pr", []string{"prod", "my-pr"}, nil},
		{"d", []string{"c", "b", "a", "e"}, []string{"a", "b", "c"}},
		{"a", []string{"prod"}, nil},
		{"", []string{"prod"}, nil},
		{long, []string{long}, nil},
		{"aaa", []string{strings.Repeat("a", maxOf+1), long}, []string{long}},
	} {
		if diff := cmp.Diff(tt.want, Of(tt.name, tt.names)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.name, diff)
		}
	}
}
