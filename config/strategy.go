package config

import "slices"

// Mode says how a group uses its targets.
type Mode string

// The modes of a strategy.
const (
	// ModeSingle uses the one target that there is.
	ModeSingle Mode = "single"
	// ModeFallback tries the targets in order until one does not fail.
	ModeFallback Mode = "fallback"
	// ModeLoadbalance picks one target by weight. Its failure is the answer:
	// nest a fallback to go on elsewhere.
	ModeLoadbalance Mode = "loadbalance"
	// ModeConditional picks the target of the first condition that holds.
	ModeConditional Mode = "conditional"
)

// Strategy says how a group uses its targets.
type Strategy struct {
	// Mode is required.
	Mode Mode
	// OnStatusCodes narrows what a fallback goes on for, see [Strategy.On].
	OnStatusCodes []int
	// Conditions are those of a conditional strategy, tried in order; it has at
	// least one.
	Conditions []Condition
	// Default is the name of the target where no condition holds. Without one
	// such a request is an error.
	Default string
	// Sticky sends alike requests to the same target of a loadbalance strategy.
	Sticky *Sticky
}

// On reports whether a fallback goes on to the next target after an answer of
// that status: one of OnStatusCodes or, when that is nil, any but a success. A
// failure without an answer counts by the status that its error has.
func (s *Strategy) On(status int) bool {
	if s.OnStatusCodes != nil {
		return slices.Contains(s.OnStatusCodes, status)
	}
	return status < 200 || status > 299
}

// Pick returns the index of the target that a conditional strategy leads to, or
// -1 when no condition holds and there is no default.
func (s *Strategy) Pick(targets []Target, v View) int {
	name := s.Default
	for i := range s.Conditions {
		if s.Conditions[i].Query.Match(v) {
			name = s.Conditions[i].Then
			break
		}
	}
	if name == "" {
		return -1
	}
	return slices.IndexFunc(targets, func(t Target) bool { return t.Name == name })
}

// Condition leads the requests that match a query to a target.
type Condition struct {
	// Query is required.
	Query *Query
	// Then is the name of a target of the same group.
	Then string
}

// Sticky sends requests with the same values of some fields to the same target.
// The choice is a function of the values and the targets' weights, so nothing is
// remembered and every process makes the same one.
type Sticky struct {
	// Enabled false switches it off without taking it out.
	Enabled bool
	// HashFields are the fields, up to 16; at least one when enabled.
	HashFields []Field
}

// AppendKey appends what the values of the fields are hashed by: equal for equal
// values, and different for others. It reports whether the request has any of
// the fields; without one there is nothing to stick to.
func (s *Sticky) AppendKey(dst []byte, v View) ([]byte, bool) {
	found := false
	for _, f := range s.HashFields {
		var ok bool
		dst, ok = f.appendKey(dst, v)
		found = found || ok
	}
	return dst, found
}

// checkGroup judges how a strategy and its targets fit together.
func checkGroup(p *problems, path string, t *Target) {
	at := join(path, "targets")
	switch s := t.Strategy; {
	case s == nil && len(t.Targets) > 1:
		p.add(join(path, "strategy"), `is missing: say how the %d targets are used, such as {"mode":"fallback"}`, len(t.Targets))
	case s != nil && t.Targets == nil:
		p.add(at, "is missing: a strategy needs targets")
	case s != nil && s.Mode == ModeSingle && len(t.Targets) > 1:
		p.add(at, "are %d, and the strategy single uses one: take the others out, or choose fallback, loadbalance or conditional", len(t.Targets))
	}
	checkNames(p, at, t.Targets)
	checkWeights(p, at, t)
	if t.Strategy != nil {
		checkDestinations(p, join(path, "strategy"), t.Strategy, t.Targets)
	}
}

func checkNames(p *problems, path string, targets []Target) {
	seen := make(map[string]int, len(targets))
	for i := range targets {
		name := targets[i].Name
		if name == "" {
			continue
		}
		if first, ok := seen[name]; ok {
			p.add(join(element(path, i), "name"), "is the name of targets[%d] too: siblings need names of their own", first)
			continue
		}
		seen[name] = i
	}
}

func checkWeights(p *problems, path string, t *Target) {
	weighs := t.Strategy != nil && t.Strategy.Mode == ModeLoadbalance
	total := 0.0
	for i := range t.Targets {
		total += t.Targets[i].Share()
		if t.Targets[i].Weight != nil && !weighs {
			p.add(join(element(path, i), "weight"), "has a meaning below a loadbalance strategy only")
		}
	}
	if weighs && len(t.Targets) > 0 && total == 0 {
		p.add(path, "all have the weight 0: no request could go anywhere")
	}
}

// checkDestinations looks for the targets that conditions lead to.
func checkDestinations(p *problems, path string, s *Strategy, targets []Target) {
	var names []string
	for i := range targets {
		if targets[i].Name != "" {
			names = append(names, targets[i].Name)
		}
	}
	look := func(path, name string) {
		if name != "" && !slices.Contains(names, name) {
			p.add(path, "no target beside it is named %s%s", quote(name), p.meant(name, names))
		}
	}
	for i := range s.Conditions {
		look(join(element(join(path, "conditions"), i), "then"), s.Conditions[i].Then)
	}
	look(join(path, "default"), s.Default)
}

// checkStrategy finds members that the mode makes no use of.
func checkStrategy(p *problems, path string, s *Strategy) {
	unused := func(name string, given bool, mode Mode) {
		if given && s.Mode != mode && modes(s.Mode) {
			p.add(join(path, name), "has a meaning for the mode %s only", mode)
		}
	}
	unused("on_status_codes", s.OnStatusCodes != nil, ModeFallback)
	unused("conditions", s.Conditions != nil, ModeConditional)
	unused("default", s.Default != "", ModeConditional)
	unused("sticky", s.Sticky != nil, ModeLoadbalance)
	if s.Mode == ModeConditional && s.Conditions == nil {
		p.add(join(path, "conditions"), "is missing: a conditional strategy needs at least one")
	}
}

func modes(m Mode) bool {
	return m == ModeSingle || m == ModeFallback || m == ModeLoadbalance || m == ModeConditional
}

func checkSticky(p *problems, path string, s *Sticky) {
	if s.Enabled && len(s.HashFields) == 0 {
		p.add(join(path, "hash_fields"), `names nothing to choose by: give at least one field, such as "metadata.user"`)
	}
}

func checkCache(p *problems, path string, c *Cache) {
	if c.Threshold != 0 && c.Mode == CacheSimple {
		p.add(join(path, "threshold"), "has a meaning for the mode semantic only")
	}
}

func checkBackoff(p *problems, path string, b *Backoff) {
	if b.Base > 0 && b.Max > 0 && b.Base > b.Max {
		p.add(join(path, "base"), "is longer than max")
	}
}
