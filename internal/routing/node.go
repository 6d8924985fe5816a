package routing

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// Mode says what a node does with its children.
type Mode uint8

// The modes.
const (
	Leaf        Mode = iota // no children: a target to ask
	Single                  // its only child
	Fallback                // one child after the other, until one answers
	LoadBalance             // one child, drawn by weight; its siblings are no fallback
	Conditional             // the child of the first case that holds
)

// Node is one place in a config. Nodes are data: [Compile] reads them, and they
// must not be changed afterwards.
type Node struct {
	Mode Mode
	// Name is what the trail and errors call the node. Empty, it is the place,
	// such as "targets[0].targets[1]"; that of the root is empty.
	Name string

	// Key is a leaf's identity for its health, its limits and sticky draws. It
	// is needed with Cooldown and Limits.
	Key string
	// Value is the caller's, for a leaf.
	Value any
	// Retry, Limits, Cooldown and Hedge are a leaf's; zero ones are off.
	Retry    Policy
	Limits   Limits
	Cooldown Cooldown
	Hedge    Hedge

	// Children are a group's.
	Children []*Node
	// Weights are those of the children in LoadBalance; nil is 1 for each, and a
	// child of weight 0 gets nothing.
	Weights []float64
	// Sticky returns what a call is drawn by in LoadBalance, so that equal ones
	// go to the same child; "" and a nil Sticky draw at random. It must be quick,
	// safe for concurrent use and always say the same of a view.
	Sticky func(view any) string
	// Cases are tried in order in Conditional.
	Cases []Case
	// Default is the child for a call that no case holds for; nil makes that an
	// error.
	Default *int
	// OnStatus are the only statuses after which Fallback asks its next child;
	// empty leaves it to [Rules]. An error without a status is found by the one
	// that an HTTP client would get, a time-out of ours by 408 as well.
	OnStatus []int
}

// Case is one condition. When must be as quick, safe and steady as Sticky.
type Case struct {
	When func(view any) bool
	Then int // the child's index
}

// maxDepth and maxNodes bound a tree, so that no config makes a walk long.
const (
	maxDepth = 16
	maxNodes = 10_000
)

// Tree is a config that was checked and readied for [Run].
type Tree struct {
	root node
}

// node is a [Node] with what can be known before any call.
type node struct {
	*Node
	target   string
	id       uint64 // for sticky draws
	children []node
	weights  []float64
	total    float64 // of the weights
	cools    bool    // a leaf in it has a cooldown
}

// Compile checks a config. Its error is a [providers.ErrInvalidConfig] whose
// Param is the place at fault.
func Compile(root *Node) (*Tree, error) {
	c := compiler{}
	t := new(Tree)
	if err := c.node(&t.root, root, "", 0); err != nil {
		return nil, err
	}
	return t, nil
}

type compiler struct{ nodes int }

func (c *compiler) node(out *node, in *Node, place string, depth int) error {
	if in == nil {
		return invalid(place, "is missing")
	}
	if c.nodes++; depth > maxDepth || c.nodes > maxNodes {
		return invalid(place, fmt.Sprintf("a config has %d levels and %d targets at most: make it smaller", maxDepth, maxNodes))
	}
	out.Node, out.target = in, place
	if in.Name != "" {
		out.target = in.Name
	}
	if in.Mode == Leaf {
		out.cools = in.Cooldown.Failures > 0
		out.id = hashString(in.identity())
		return checkLeaf(in, place)
	}
	if err := checkMode(in, place); err != nil {
		return err
	}
	if err := checkGroup(in, place); err != nil {
		return err
	}
	out.children = make([]node, len(in.Children))
	id := hashString(in.identity())
	for i, child := range in.Children {
		to := &out.children[i]
		if err := c.node(to, child, below(place, i), depth+1); err != nil {
			return err
		}
		out.cools = out.cools || to.cools
		id = mix(id ^ to.id)
	}
	if out.id = hashString(in.Name); in.Name == "" {
		out.id = id
	}
	out.distinguish()
	return out.weigh()
}

// identity is what a node is known by when the config changes around it.
func (n *Node) identity() string {
	if n.Name != "" {
		return n.Name
	}
	return n.Key
}

// distinguish gives children that are the same thing identities of their own.
func (n *node) distinguish() {
	seen := make(map[uint64]bool, len(n.children))
	for i := range n.children {
		c := &n.children[i]
		for seen[c.id] {
			c.id = mix(c.id + 1)
		}
		seen[c.id] = true
	}
}

func (n *node) weigh() error {
	if n.Mode != LoadBalance {
		return nil
	}
	n.weights = n.Weights
	if n.weights == nil {
		n.weights = slices.Repeat([]float64{1}, len(n.children))
	}
	for _, w := range n.weights {
		n.total += w
	}
	if n.total <= 0 || math.IsInf(n.total, 0) {
		return invalid(join(n.target, "weights"), "at least one must be above 0, and their sum a number")
	}
	return nil
}

func checkLeaf(n *Node, place string) error {
	switch {
	case len(n.Children) > 0 || n.Weights != nil || n.Cases != nil || n.Default != nil || n.Sticky != nil || n.OnStatus != nil:
		return invalid(place, "a target has no targets of its own: give it a mode")
	case n.Key == "" && (n.Cooldown.Failures > 0 || n.Limits.any()):
		return invalid(place, "a target with a cooldown or limits needs a key")
	case n.Retry.Attempts < 0 || n.Retry.Base < 0 || n.Retry.Max < 0 || n.Retry.MaxWait < 0:
		return invalid(join(place, "retry"), "its numbers must not be below 0")
	case n.Cooldown.Failures < 0 || n.Cooldown.Duration < 0 || n.Cooldown.Max < 0:
		return invalid(join(place, "cooldown"), "its numbers must not be below 0")
	case n.Limits.Requests < 0 || n.Limits.Tokens < 0 || n.Limits.Concurrent < 0:
		return invalid(join(place, "limits"), "its numbers must not be below 0")
	case n.Hedge.After < 0:
		return invalid(join(place, "hedge"), "its time must not be below 0")
	}
	if err := checkStatuses(n.Retry.OnStatus, join(place, "retry.on_status_codes")); err != nil {
		return err
	}
	return checkStatuses(n.Cooldown.OnStatus, join(place, "cooldown.on_status_codes"))
}

func checkMode(n *Node, place string) error {
	switch {
	case n.Mode > Conditional:
		return invalid(join(place, "mode"), "is none of single, fallback, loadbalance and conditional")
	case len(n.Children) == 0:
		return invalid(join(place, "targets"), "must not be empty")
	case n.Mode == Single && len(n.Children) > 1:
		return invalid(join(place, "targets"), "the mode single has one target: remove the others, or use another mode")
	case n.Retry.Attempts != 0 || n.Cooldown.Failures != 0 || n.Limits.any() || n.Hedge.After != 0:
		return invalid(place, "retry, cooldown, limits and hedge belong to each target: give them to the leaves")
	}
	return nil
}

func checkGroup(n *Node, place string) error {
	switch {
	case n.Mode != LoadBalance && (n.Weights != nil || n.Sticky != nil):
		return invalid(place, "weights and sticky are for the mode loadbalance")
	case n.Mode != Conditional && (n.Cases != nil || n.Default != nil):
		return invalid(place, "conditions and default are for the mode conditional")
	case n.Mode != Fallback && n.OnStatus != nil:
		return invalid(join(place, "on_status_codes"), "is for the mode fallback")
	case n.Weights != nil && len(n.Weights) != len(n.Children):
		return invalid(join(place, "weights"), "there must be one for each target")
	case n.Mode == Conditional && len(n.Cases) == 0 && n.Default == nil:
		return invalid(join(place, "conditions"), "must not be empty without a default")
	case n.Default != nil && !n.has(*n.Default):
		return invalid(join(place, "default"), "is no target")
	}
	return checkMembers(n, place)
}

// checkMembers checks what a group says of each child.
func checkMembers(n *Node, place string) error {
	for i, w := range n.Weights {
		if !(w >= 0) { // NaN is not either
			return invalid(fmt.Sprintf("%s[%d]", join(place, "weights"), i), "must not be below 0")
		}
	}
	for i, c := range n.Cases {
		if c.When == nil || !n.has(c.Then) {
			return invalid(fmt.Sprintf("%s[%d]", join(place, "conditions"), i), "needs a condition, and a target that there is")
		}
	}
	return checkStatuses(n.OnStatus, join(place, "on_status_codes"))
}

func (n *Node) has(child int) bool { return child >= 0 && child < len(n.Children) }

func checkStatuses(list []int, place string) error {
	for i, s := range list {
		if s < 100 || s > 599 {
			return invalid(fmt.Sprintf("%s[%d]", place, i), strconv.Itoa(s)+" is no HTTP status")
		}
	}
	return nil
}

func below(place string, child int) string {
	return join(place, "targets["+strconv.Itoa(child)+"]")
}

func join(place, member string) string {
	if place == "" {
		return member
	}
	return place + "." + member
}

func invalid(place, message string) error {
	return &providers.Error{Code: providers.ErrInvalidConfig, Param: place, Message: message}
}
