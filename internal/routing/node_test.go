package routing_test

import (
	"math"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/internal/routing"
	"github.com/b650d4bf/gateway/providers"
)

func TestConfigsThatAreRefused(t *testing.T) {
	a := func() *routing.Node { return leaf("a") }
	with := func(n *routing.Node, change func(*routing.Node)) *routing.Node {
		change(n)
		return n
	}
	deep := leaf("a")
	for range 20 {
		deep = group(routing.Single, deep)
	}
	loop := group(routing.Single, nil)
	loop.Children[0] = loop
	wide := group(routing.Fallback)
	for range 10_001 {
		wide.Children = append(wide.Children, leaf("a"))
	}
	for _, tt := range []struct {
		name, param, message string
		root                 *routing.Node
	}{
		{"nothing", "", "missing", nil},
		{"an unknown mode", "mode", "none of", group(9, a())},
		{"a group without targets", "targets[0].targets", "empty", group(routing.Fallback, group(routing.Single))},
		{"a missing target", "targets[0]", "missing", group(routing.Fallback, nil)},
		{"single with two", "targets", "one target", group(routing.Single, a(), a())},
		{"a leaf with targets", "", "give it a mode", with(a(), func(n *routing.Node) { n.Children = []*routing.Node{leaf("b")} })},
		{"a cooldown without a key", "targets[0]", "needs a key", group(routing.Single, with(leaf(""), func(n *routing.Node) { n.Cooldown.Failures = 1 }))},
		{"limits without a key", "", "needs a key", with(leaf(""), func(n *routing.Node) { n.Limits.Tokens = 1 })},
		{"retries below 0", "retry", "below 0", with(a(), func(n *routing.Node) { n.Retry.Attempts = -1 })},
		{"a cooldown below 0", "cooldown", "below 0", with(a(), func(n *routing.Node) { n.Cooldown.Duration = -1 })},
		{"limits below 0", "limits", "below 0", with(a(), func(n *routing.Node) { n.Limits.Concurrent = -1 })},
		{"a hedge below 0", "hedge", "below 0", with(a(), func(n *routing.Node) { n.Hedge.After = -1 })},
		{"no status", "retry.on_status_codes[1]", "no HTTP status", with(a(), func(n *routing.Node) { n.Retry.OnStatus = []int{500, 600} })},
		{"no status for a cooldown", "cooldown.on_status_codes[0]", "no HTTP status", with(a(), func(n *routing.Node) { n.Cooldown.OnStatus = []int{5} })},
		{"no status for a fallback", "on_status_codes[0]", "no HTTP status", with(group(routing.Fallback, a()), func(n *routing.Node) { n.OnStatus = []int{0} })},
		{"statuses without a fallback", "on_status_codes", "fallback", with(group(routing.Single, a()), func(n *routing.Node) { n.OnStatus = []int{500} })},
		{"retries of a group", "", "leaves", with(group(routing.Fallback, a()), func(n *routing.Node) { n.Retry.Attempts = 1 })},
		{"weights without loadbalance", "", "loadbalance", with(group(routing.Fallback, a()), func(n *routing.Node) { n.Weights = []float64{1} })},
		{"a weight missing", "weights", "one for each", with(group(routing.LoadBalance, a(), a()), func(n *routing.Node) { n.Weights = []float64{1} })},
		{"a weight below 0", "weights[1]", "below 0", with(group(routing.LoadBalance, a(), a()), func(n *routing.Node) { n.Weights = []float64{1, -1} })},
		{"a weight that is no number", "weights[0]", "below 0", with(group(routing.LoadBalance, a()), func(n *routing.Node) { n.Weights = []float64{math.NaN()} })},
		{"weights of 0", "weights", "above 0", with(group(routing.LoadBalance, a(), a()), func(n *routing.Node) { n.Weights = []float64{0, 0} })},
		{"weights without end", "weights", "a number", with(group(routing.LoadBalance, a(), a()), func(n *routing.Node) { n.Weights = []float64{math.MaxFloat64, math.MaxFloat64} })},
		{"conditions elsewhere", "", "conditional", with(group(routing.Fallback, a()), func(n *routing.Node) { n.Default = new(0) })},
		{"no conditions", "conditions", "without a default", group(routing.Conditional, a())},
		{"a default that is no target", "default", "no target", with(group(routing.Conditional, a()), func(n *routing.Node) { n.Default = new(1) })},
		{"a case without a condition", "conditions[0]", "needs a condition", with(group(routing.Conditional, a()), func(n *routing.Node) { n.Cases = make([]routing.Case, 1) })},
		{"too deep", strings.TrimSuffix(strings.Repeat("targets[0].", 17), "."), "levels", deep},
		{"without end", strings.TrimSuffix(strings.Repeat("targets[0].", 17), "."), "levels", loop},
		{"too wide", "targets[9999]", "10000 targets", wide},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := routing.Compile(tt.root)
			e, ok := err.(*providers.Error)
			if !ok || e.Code != providers.ErrInvalidConfig || e.Param != tt.param || !strings.Contains(e.Message, tt.message) {
				t.Errorf("%v, want %q about %q", err, tt.message, tt.param)
			}
		})
	}
}
