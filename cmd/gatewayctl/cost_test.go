package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestCosts checks that a remark has the cost at list prices, and that nothing is
// made up where there is none.
func TestCosts(t *testing.T) {
	_, url := platform(t, vertextest.WithModel("gemini-2.5-new", "gemini-2.5-flash"), vertextest.WithDeployed(vertextest.Endpoint{ID: "77", Model: "own"}))
	place := []string{"--base-url", url, "--project", "p", "--token", "t0ken-canary"}
	tests := []struct {
		name  string
		args  []string
		costs bool
	}{
		{"a model with a price", []string{"chat", "Tell me"}, true},
		{"a stream", []string{"chat", "--stream", "Tell me"}, true},
		{"an endpoint of one's own", []string{"chat", "-m", "endpoints.77", "--region", "us-central1", "Tell me"}, false},
		{"no remarks", []string{"chat", "-q", "Tell me"}, false},
	}
	price := regexp.MustCompile(` \$(0\.\d+) `)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, command(t, t.TempDir(), nil, join(tt.args, place)...), "")
			m := price.FindStringSubmatch(got.err)
			if got.code != 0 || (m != nil) != tt.costs {
				t.Fatalf("cost %v, want any: %v: %+v", m, tt.costs, got)
			}
			if m == nil {
				return
			}
			const in, out = 1, 22 // tokens, thinking included
			if !strings.Contains(got.err, fmt.Sprintf("%d + %d tokens", in, out)) {
				t.Fatal(got.err)
			}
			want := prices.Default().Price(&prices.Use{
				Provider: "vertex-ai", Model: "gemini-2.5-flash", Time: time.Now(), Region: "global",
				Usage: &providers.Usage{PromptTokens: in, CompletionTokens: out, TotalTokens: in + out},
			}).Total
			if m[1] != want.String() {
				t.Errorf("cost %s, want %s", m[1], want)
			}
		})
	}
}
