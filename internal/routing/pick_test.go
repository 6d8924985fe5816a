package routing_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/b650d4bf/gateway/internal/routing"
)

// balanced is a group with a target of each name.
func balanced(weights []float64, names ...string) *routing.Node {
	n := group(routing.LoadBalance)
	n.Weights = weights
	for _, name := range names {
		n.Children = append(n.Children, leaf(name))
	}
	return n
}

func sticky(n *routing.Node) *routing.Node {
	n.Sticky = func(view any) string { return view.(string) }
	return n
}

func asker(t *testing.T, r *routing.Router, root *routing.Node) func(view string) string {
	tree := compile(t, root)
	return func(view string) string {
		out, err := routing.Run(t.Context(), r, tree, &routing.Call{View: view}, nil, func(_ context.Context, x *routing.Try) (string, error) {
			return x.Leaf.Key, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func TestWeightsAreShares(t *testing.T) {
	const picks = 100_000
	for _, tt := range []struct {
		name    string
		weights []float64
		sticky  bool
	}{
		{"equal by default", nil, false},
		{"as given", []float64{7, 2, 0, 1}, false},
		{"below 1", []float64{0.1, 0.2, 0.3, 0}, false},
		{"sticky, equal by default", nil, true},
		{"sticky", []float64{7, 2, 0, 1}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := balanced(tt.weights, "a", "b", "c", "d")
			if tt.sticky {
				sticky(root)
			}
			ask := asker(t, routing.New(routing.Config{Rand: rand.New(rand.NewPCG(1, 2)).Float64}), root)
			got := map[string]float64{}
			for i := range picks {
				got[ask("user-"+strconv.Itoa(i))]++
			}
			weights, sum := tt.weights, 0.0
			if weights == nil {
				weights = []float64{1, 1, 1, 1}
			}
			for _, w := range weights {
				sum += w
			}
			for i, name := range []string{"a", "b", "c", "d"} {
				if want := weights[i] / sum; math.Abs(got[name]/picks-want) > 0.01 || want == 0 && got[name] > 0 {
					t.Errorf("%s got %.4f of the calls, want %.4f", name, got[name]/picks, want)
				}
			}
		})
	}
}

// Who is where must be the same in each process and release, or users change
// their target with it. The list was computed apart from this code, by the
// formula alone.
func TestStickyIsTheSameEverywhere(t *testing.T) {
	ask := asker(t, routing.New(routing.Config{}), sticky(balanced([]float64{1, 2, 3}, "@a/m", "@b/m", "@c/m")))
	var got []string
	for i := range 12 {
		got = append(got, ask("user-"+strconv.Itoa(i)))
	}
	want := []string{"@b/m", "@c/m", "@c/m", "@b/m", "@b/m", "@b/m", "@c/m", "@b/m", "@a/m", "@b/m", "@a/m", "@a/m"}
	wantEqual(t, "targets", want, got)
}

func TestStickyMovesAsLittleAsItCan(t *testing.T) {
	const users = 20_000
	where := func(root *routing.Node) []string {
		ask := asker(t, routing.New(routing.Config{}), sticky(root))
		out := make([]string, users)
		for i := range out {
			out[i] = ask(strconv.Itoa(i))
		}
		return out
	}
	moved := func(from, to []string, by string) float64 {
		n := 0
		for i := range from {
			if from[i] != to[i] {
				n++
				if from[i] != by && to[i] != by {
					t.Fatalf("user %d moved from %s to %s for %s", i, from[i], to[i], by)
				}
			}
		}
		return float64(n) / users
	}
	before := where(balanced([]float64{2, 1}, "a", "b"))
	added := where(balanced([]float64{1, 2, 1}, "c", "a", "b")) // in front: places do not count
	if share := moved(before, added, "c"); math.Abs(share-0.25) > 0.01 {
		t.Errorf("%.3f moved to the new target, want its share of 0.25", share)
	}
	heavier := where(balanced([]float64{2, 2}, "a", "b"))
	if share := moved(before, heavier, "b"); math.Abs(share-(0.5-1.0/3)) > 0.01 {
		t.Errorf("%.3f moved to the target that weighs more, want a sixth", share)
	}
}

func TestStickyTargetsThatAreTheSameShare(t *testing.T) {
	root := sticky(group(routing.LoadBalance))
	for range 4 { // the same key four times
		root.Children = append(root.Children, leaf("a"))
	}
	tree := compile(t, root)
	got := map[*routing.Node]int{}
	for i := range 10_000 {
		_, _ = routing.Run(t.Context(), routing.New(routing.Config{}), tree, &routing.Call{View: strconv.Itoa(i)}, nil, func(_ context.Context, x *routing.Try) (int, error) {
			got[x.Leaf]++
			return 0, nil
		})
	}
	for _, n := range root.Children {
		if got[n] < 2300 || got[n] > 2700 {
			t.Errorf("one of four equal targets got %d of 10000 calls", got[n])
		}
	}
}

func TestWithoutAStickyKeyTheDrawIsRandom(t *testing.T) {
	ask := asker(t, routing.New(routing.Config{Rand: rand.New(rand.NewPCG(1, 2)).Float64}), sticky(balanced(nil, "a", "b")))
	got := map[string]int{}
	for range 1000 {
		got[ask("")]++
	}
	if got["a"] < 400 || got["b"] < 400 {
		t.Errorf("%v, want halves", got)
	}
}
