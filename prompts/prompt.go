package prompts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

const (
	// maxText bounds the JSON of a prompt, and the text of a partial, in bytes.
	maxText = 16 << 20
	// maxVersion is the highest number of a version.
	maxVersion = 1_000_000_000
	// latest is the label of the highest version.
	latest = "latest"
)

// Prompt is a stored prompt with all its versions, their templates parsed. It is
// immutable and safe for concurrent use.
type Prompt struct {
	id, description string
	versions        map[int]*version
	labels          map[string]int
	newest          int // the highest number
	chosen          int // the version of a bare id, or 0 for the newest
}

// version is one version of a prompt. It is immutable.
type version struct {
	number      int
	description string
	source      string // its JSON, compact, to tell versions apart
	request     providers.ChatCompletionRequest
	messages    []message
	names       []string // of the variables, in order
}

// ID returns the prompt's id.
func (p *Prompt) ID() string { return p.id }

// Description returns what the prompt is for.
func (p *Prompt) Description() string { return p.description }

// Versions returns the numbers of the versions in ascending order.
func (p *Prompt) Versions() []int { return slices.Sorted(maps.Keys(p.versions)) }

// Labels returns the labels with the versions they stand for. The caller owns
// the map.
func (p *Prompt) Labels() map[string]int { return maps.Clone(p.labels) }

// Default returns the version that the bare id stands for.
func (p *Prompt) Default() int {
	if p.chosen != 0 {
		return p.chosen
	}
	return p.newest
}

// Variables returns the names that the templates of a version ask for, in
// ascending order: of a name with dots the first. They include names that only
// sections are about, and those of members that a section's elements bring. For a
// number that is no version it returns nil.
func (p *Prompt) Variables(number int) []string {
	v := p.versions[number]
	if v == nil {
		return nil
	}
	return slices.Clone(v.names)
}

// find returns the version that a reference selects: a number, a label, "latest"
// or "" for the default. What the error says goes behind the prompt's id.
func (p *Prompt) find(selector string) (*version, error) {
	if selector == "" {
		return p.versions[p.Default()], nil
	}
	if selector == latest {
		return p.versions[p.newest], nil
	}
	if n, ok := p.labels[selector]; ok {
		return p.versions[n], nil
	}
	if n, err := strconv.Atoi(selector); err == nil {
		if v := p.versions[n]; v != nil && strconv.Itoa(n) == selector {
			return v, nil
		}
		return nil, fmt.Errorf("has no version %s: its latest is %d", clip(selector), p.newest)
	}
	labels := append(slices.Sorted(maps.Keys(p.labels)), latest)
	return nil, fmt.Errorf("has no label %q%s", clip(selector), hint(catalog.Near(selector, labels)))
}

// merge returns a prompt that has the versions of both. Labels and the default are
// those of the newer one, where it has them.
func (p *Prompt) merge(newer *Prompt) (*Prompt, error) {
	out := &Prompt{
		id: p.id, description: p.description, chosen: p.chosen, newest: max(p.newest, newer.newest),
		versions: maps.Clone(p.versions), labels: maps.Clone(p.labels),
	}
	var errs []error
	for _, n := range newer.Versions() {
		v := newer.versions[n]
		if old := p.versions[n]; old != nil && old.source != v.source {
			errs = append(errs, fmt.Errorf("prompt %q: versions.%d: there is another version of this number, and versions never change: give it a new one", p.id, n))
			continue
		}
		out.versions[n] = v
	}
	if out.labels == nil {
		out.labels = map[string]int{}
	}
	maps.Copy(out.labels, newer.labels)
	if newer.chosen != 0 {
		out.chosen = newer.chosen
	}
	if newer.description != "" {
		out.description = newer.description
	}
	return out, errors.Join(errs...)
}

// split takes a reference apart into the id and what is behind the @.
func split(ref string) (id, selector string, err error) {
	id, selector, found := strings.Cut(ref, "@")
	switch {
	case id == "":
		return "", "", providers.Invalid("id", `the id of a prompt is required, such as "welcome" or "welcome@3"`)
	case found && selector == "":
		return "", "", providers.Invalid("id", "nothing follows the @: give a version's number, a label or \"latest\", or leave the @ out")
	}
	return id, selector, nil
}
