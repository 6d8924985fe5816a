package alike

import "slices"

// clashes are prepositions that turn the word after them into something else:
// flights from Paris, flights to Paris. Other pairs are often used for the same.
var clashes = map[[2]string]bool{
	{"from", "to"}: true, {"from", "in"}: true, {"for", "from"}: true, {"from", "with"}: true, {"about", "from"}: true, {"by", "from"}: true,
	{"by", "to"}: true, {"by", "for"}: true, {"by", "in"}: true, {"about", "by"}: true, {"to", "with"}: true, {"in", "to"}: true, {"about", "to"}: true,
	{"as", "from"}: true, {"for", "than"}: true, {"for", "with"}: true, {"of", "to"}: true,
}

// clash reports whether a word with one preposition is another with the other.
// Of numbers all are: in 5 minutes, at 5, for 5 days.
func clash(x, y string, c class) bool {
	if x == y || x == "" || y == "" {
		return false
	}
	spot := func(role string) string {
		if role == "on" || role == "at" {
			return "in"
		}
		return role
	}
	p, q := spot(x), spot(y)
	return c == number || clashes[[2]string{min(p, q), max(p, q)}]
}

// parted reports whether a word has another part to play: another preposition
// that clashes, another owner, or the partner of its preposition changed.
func parted(a, b []atom) bool {
	rolesA, rolesB := roles(a), roles(b)
	for i := range a {
		x, y := rolesA[a[i].key], rolesB[a[i].key]
		if x != several && y != several && clash(x, y, a[i].class) {
			return true
		}
	}
	return moved(a, b) || apart(owners(a), owners(b))
}

// moved reports whether a preposition lost one of its words and got another.
func moved(a, b []atom) bool {
	type phrase struct{ role, key string }
	const inA, inB = 1, 2
	seen := make(map[phrase]int, len(a)+len(b))
	for i := range a {
		seen[phrase{a[i].role, a[i].key}] |= inA
	}
	for i := range b {
		seen[phrase{b[i].role, b[i].key}] |= inB
	}
	only := map[string]int{}
	for p, in := range seen {
		if p.role != "" && in != inA|inB {
			only[p.role] |= in
		}
	}
	for _, in := range only {
		if in == inA|inB {
			return true
		}
	}
	return false
}

// several is the role of a word that has more than one.
const several = "*"

// roles has the role of each word.
func roles(list []atom) map[string]string {
	out := make(map[string]string, len(list))
	for i := range list {
		if was, ok := out[list[i].key]; ok && was != list[i].role {
			out[list[i].key] = several
			continue
		}
		out[list[i].key] = list[i].role
	}
	return out
}

func owners(list []atom) (out []string) {
	for i := range list {
		if list[i].owner {
			out = append(out, list[i].key)
		}
	}
	return out
}

// sameOrder reports whether the words of both stand in an order that means the
// same: the very same, or with one phrase moved.
func sameOrder(a, b *digest) bool {
	x, y := a.atoms, b.atoms
	for len(x) > 0 && x[0].key == y[0].key {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && x[len(x)-1].key == y[len(y)-1].key {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) == 0 {
		return true
	}
	if a.helped != b.helped && !slices.ContainsFunc(x, func(a atom) bool { return a.key == "mean" }) {
		return false
	}
	for at, tries := 1, 0; at < len(x) && tries < most; at++ {
		if x[at].key != y[0].key {
			continue
		}
		tries++
		if rest := len(x) - at; sameKeys(x[at:], y[:rest]) && sameKeys(x[:at], y[rest:]) {
			return mayMove(x[:at], y[rest:], a, b) || mayMove(x[at:], y[:rest], a, b) || owned(x[:at], y[rest:]) || owned(y[:rest], x[at:]) || swapped(x, y, at, a, b)
		}
	}
	return false
}

func sameKeys(a, b []atom) bool {
	return slices.EqualFunc(a, b, func(x, y atom) bool { return x.key == y.key })
}

// mayMove reports whether a phrase, as it stands in both texts, can stand
// anywhere: behind a preposition, as a question, or as the one verb.
func mayMove(x, y []atom, a, b *digest) bool {
	if x[0].lead && y[0].lead {
		return true
	}
	return len(x) == 1 && (x[0].class == verb || x[0].class == polar && acts(x[0].key)) && verbs(a.atoms) == 1 && verbs(b.atoms) == 1
}

// owned reports whether a phrase stands before something in one text, and behind
// it with a preposition in the other: the car's oil, the oil of the car.
func owned(before, behind []atom) bool {
	if before[0].role != "" {
		return false
	}
	return behind[0].role == "of" || before[len(before)-1].owner && (behind[0].role == "in" || behind[0].role == "for")
}

// verbs counts what is done in a text.
func verbs(list []atom) (n int) {
	for i := range list {
		if list[i].class == verb || list[i].class == polar && acts(list[i].key) {
			n++
		}
	}
	return n
}

// acts reports whether one of two opposites is a verb with one object.
func acts(key string) bool {
	switch key {
	case "enable", "disable", "delete", "increase", "decrease", "block", "unblock", "unlock", "install", "uninstall", "login", "open", "close", "import", "export", "upload", "download":
		return true
	}
	return false
}

// swapped reports whether what moved are the two sides of one "and" or "or".
func swapped(x, y []atom, at int, a, b *digest) bool {
	return a.ands+a.ors == 1 && b.ands+b.ors == 1 && at*2 == len(x) && at <= 3 && x[at].joined && y[at].joined && !slices.ContainsFunc(a.atoms, func(a atom) bool {
		return a.role == "than" || a.role == "from" || a.role == "to" || a.role == "by" || a.key == "respectively"
	})
}
