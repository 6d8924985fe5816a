package alike

import "slices"

// finish settles what only the whole text tells.
func (r *reducer) finish() {
	asks := func(key string) bool {
		return slices.ContainsFunc(r.atoms, func(a atom) bool { return a.class == ask && a.key == key })
	}
	has := func(key string) bool {
		return slices.ContainsFunc(r.atoms, func(a atom) bool { return a.key == key })
	}
	// How to do it is asked with can, do and should alike, where to find it too.
	plain := asks("how") || asks("where")
	// What it costs is asked with how much.
	priced := has("cost")
	r.atoms = slices.DeleteFunc(r.atoms, func(a atom) bool {
		return plain && a.class == modal && (a.key == "can" || a.key == "should") && r.negations == 0 ||
			priced && a.class == ask && (a.key == "how much" || a.key == "how many")
	})
	if r.half && r.negations == 0 {
		r.negations = 1
	}
	r.anybody = asks("how") || asks("where")
	r.fails()
}

// fails says of what does not work that it fails.
func (r *reducer) fails() {
	if r.negations != 1 || len(r.denied) > 1 || len(r.denied) == 1 && r.denied[0] != "work" {
		return
	}
	for i := range r.atoms {
		if r.atoms[i].key == "work" {
			r.atoms[i].key, r.atoms[i].class = "fail", polar
			r.negations, r.denied = 0, nil
			return
		}
	}
}
