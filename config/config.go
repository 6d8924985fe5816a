// Package config holds what decides where a request goes and what happens when
// that fails: a tree of targets with strategies, and the settings of each.
//
//	{
//	  "strategy": {"mode": "fallback", "on_status_codes": [429, 503]},
//	  "retry": {"attempts": 2},
//	  "targets": [
//	    {"provider": "@vertex-eu", "override_params": {"labels": {"team": "search"}}},
//	    {"provider": "@vertex-us", "request_timeout": 20000}
//	  ]
//	}
//
// A config is read with [Parse], or built from values and judged by
// [Config.Validate]. A config without targets is itself the one target, and one
// that holds nothing but settings, such as a cache, is whole.
//
// # Format
//
// Decoding is strict. An unknown or repeated member, null, a wrong type, and a
// value that breaks a rule are errors that name their path, such as
// `targets[1].strategy.on_status_codes[0]`; all of them are reported at once, as
// an [*Error]. [Members] is the table of all members, and [Schema] the same for
// editors.
//
// # Caveats
//
// A config holds no secrets. Credentials live in entries of the catalog, which a
// target names by "@slug".
//
// Nothing here sends, waits or counts: the package says what is asked for.
package config

import (
	"iter"
	"slices"
	"strconv"
)

// Limits of a config. What is beyond them is an error.
const (
	MaxSize    = 1 << 20 // bytes of its text
	MaxDepth   = 8       // targets within targets, the config itself included
	MaxTargets = 256     // targets in all
)

// Config is the root of the tree. It has no name and no weight, having no
// siblings; otherwise it is a [Target]. A parsed config is safe for concurrent
// use as long as nobody changes it.
type Config struct {
	// Settings are inherited by all targets.
	Settings
	// Strategy says how the targets are used. Nil is right for a config without
	// targets, and for one with a single target.
	Strategy *Strategy
	// Targets are where a request can go, in order.
	Targets []Target
}

// Target is a node of the tree: a leaf, where a request goes, or a group of
// further targets under a strategy.
type Target struct {
	// Name is what conditions and logs call the target by: printable ASCII, at
	// most 128 bytes, unlike that of any sibling. Only targets that a condition
	// leads to need one.
	Name string
	// Weight is the target's share of the requests below a loadbalance strategy,
	// relative to its siblings: 0 to 1e9, where 0 takes none. Nil means 1.
	Weight *float64
	// Settings win over those of the nodes above.
	Settings
	// Strategy makes the target a group.
	Strategy *Strategy
	// Targets are the members of the group.
	Targets []Target
}

// Root returns the config as the target that it is, for code that walks the
// tree. It shares what pointers and slices lead to.
func (c *Config) Root() Target {
	return Target{Settings: c.Settings, Strategy: c.Strategy, Targets: c.Targets}
}

// All yields each node of a valid config with its path, parents first: "" for the
// root and "targets[1].targets[0]" for others.
func (c *Config) All() iter.Seq2[string, *Target] {
	return func(yield func(string, *Target) bool) {
		root := c.Root()
		root.all("", yield)
	}
}

func (t *Target) all(path string, yield func(string, *Target) bool) bool {
	if !yield(path, t) {
		return false
	}
	for i := range t.Targets {
		if !t.Targets[i].all(element(join(path, "targets"), i), yield) {
			return false
		}
	}
	return true
}

// Share returns the weight with its default.
func (t *Target) Share() float64 {
	if t.Weight == nil {
		return 1
	}
	return *t.Weight
}

// Parse returns the config written in data, or an [*Error] with every mistake in
// it. The config keeps no part of data.
func Parse(data []byte) (*Config, error) {
	root, err := parse(data, rootRows())
	if err != nil {
		return nil, err
	}
	return &Config{Settings: root.Settings, Strategy: root.Strategy, Targets: root.Targets}, nil
}

// parse reads a node by its table.
func parse(data []byte, rows []member[Target]) (*Target, error) {
	doc, err := wellFormed(data)
	if err != nil {
		return nil, err
	}
	t := new(Target)
	d := decoder{newProblems()}
	readObject(&d, "", doc, rows, t)
	d.targets, d.regexes = 0, 0 // and now once more
	checkNode(&d.problems, rows, t)
	return t, d.err()
}

// checkNode judges a node and what is below it.
func checkNode(p *problems, rows []member[Target], t *Target) {
	checkObject(p, "", rows, t)
	checkGroup(p, "", t)
}

// Validate returns what [Parse] would say of the config's text: nil, or an
// [*Error] with every mistake.
func (c *Config) Validate() error {
	root := c.Root()
	p := newProblems()
	checkNode(&p, rootRows(), &root)
	return p.err()
}

// MarshalJSON writes the text that [Parse] reads back into an equal config.
// Raw members go out byte for byte. An invalid config is an error.
func (c Config) MarshalJSON() ([]byte, error) {
	root := c.Root()
	return marshal(&root, rootRows())
}

// UnmarshalJSON is [Parse], for configs within other documents.
func (c *Config) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil // as encoding/json asks for
	}
	parsed, err := Parse(data)
	if err != nil {
		return err
	}
	*c = *parsed
	return nil
}

// MarshalJSON writes the target as it stands in a config. It is judged alone:
// what concerns its siblings is left to [Config.Validate].
func (t Target) MarshalJSON() ([]byte, error) { return marshal(&t, targetRows) }

// UnmarshalJSON reads a target as it stands in a config, judged alone.
func (t *Target) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := parse(data, targetRows)
	if err != nil {
		return err
	}
	*t = *parsed
	return nil
}

func marshal(t *Target, rows []member[Target]) ([]byte, error) {
	p := newProblems()
	if checkNode(&p, rows, t); p.err() != nil {
		return nil, p.err()
	}
	e := encoder{tree: tree{rows: targetRows}}
	writeObject(&e, rows, t)
	if e.Len() > MaxSize {
		p.add("", "larger than %d KiB", MaxSize>>10)
		return nil, p.err()
	}
	return e.Bytes(), e.Err()
}

// newProblems returns a list for the mistakes of a tree.
func newProblems() problems { return problems{tree: tree{rows: targetRows}} }

// element appends an index to a path.
func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// clone copies what the decoder only borrows.
func clone(raw []byte) []byte { return slices.Clone(raw) }
