package config

import "slices"

// CheckGuards returns an [*Error] about the guards of a valid config whose names
// are not among those known, or nil.
func (c *Config) CheckGuards(known []string) error {
	var p problems
	for at, t := range c.All() {
		for i, g := range t.Guards {
			if !slices.Contains(known, g.Name) {
				p.add(join(element(join(at, "guards"), i), "name"), "no guard of that name is registered: %s%s", quote(g.Name), p.meant(g.Name, known))
			}
		}
	}
	return p.err()
}

// GuardNames returns the names of the config's guards, each once.
func (c *Config) GuardNames() []string {
	var names []string
	for _, t := range c.All() {
		for _, g := range t.Guards {
			if !slices.Contains(names, g.Name) {
				names = append(names, g.Name)
			}
		}
	}
	return names
}
