package config

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// Member is a row of the table of members: what a config may hold.
type Member struct {
	// Object is what the member belongs to, such as "target" or "cache".
	Object string
	// Name is the member's own, in canonical spelling; Aliases are accepted too.
	Name    string
	Aliases []string
	// Type is "string", "integer", "number", "boolean", "object" or "array".
	Type string
	// Of is the object that the member, or an element of it, is. Empty for others.
	Of string
	// Unit is that of a number, such as "milliseconds".
	Unit string
	// Values are all that a string may be, or nil.
	Values []string
	// Pattern is what a string, or each one in a list, looks like, as a regular
	// expression of both Go and ECMAScript. It may let pass what is refused.
	Pattern string
	// Min and Max bound a number, or each one in a list. Of a list of others Max
	// bounds the length. With both 0 there is no bound.
	Min, Max float64
	// Above says that Min itself is out of range.
	Above bool
	// Filled says that a list must not be empty.
	Filled bool
	// Required says that the object is not valid without the member.
	Required bool
	// Default is what holds without the member, in words.
	Default string
	// Inherited says how the member meets that of the node above.
	Inherited string
	// Does is a sentence on its meaning.
	Does string
}

// member is a row with what reads, writes and judges a member of a T.
type member[T any] struct {
	Member
	read  func(d *decoder, path string, raw []byte, t *T)
	write func(w *encoder, t *T) // the key too, and nothing when not set
	check func(p *problems, path string, t *T)
}

// rule says what is wrong with a text, or nothing.
type rule func(text string) string

// text is a string that isn't empty. Its values may be listed.
func text[T any, S ~string](m Member, at func(*T) *S, ok rule) member[T] {
	m.Type = "string"
	if ok == nil {
		ok = func(s string) string { return oneOf(m.Values, s) }
	}
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			if s, is := d.text(path, raw); is {
				d.rule(path, ok(s))
				*at(t) = S(s)
			}
		},
		write: func(w *encoder, t *T) {
			if s := string(*at(t)); s != "" {
				w.Key(m.Name)
				w.String(s)
			}
		},
		check: func(p *problems, path string, t *T) {
			if s := string(*at(t)); s != "" {
				p.rule(path, ok(s))
			} else if m.Required {
				p.add(path, "%s", missing(&m))
			}
		},
	}
}

// whole is an integer. Zero is not set, unless it is in range.
func whole[T any](m Member, at func(*T) *int) member[T] {
	get := func(t *T) int64 { return int64(*at(t)) }
	set := func(t *T, n int64) { *at(t) = int(n) }
	return integer(m, get, set, nil)
}

// span is a duration, written as a whole number of units.
func span[T any](m Member, unit time.Duration, at func(*T) *time.Duration) member[T] {
	m.Unit = map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit]
	get := func(t *T) int64 { return int64(*at(t) / unit) }
	set := func(t *T, n int64) { *at(t) = time.Duration(n) * unit }
	return integer(m, get, set, func(t *T) string {
		d := *at(t)
		if d%unit != 0 {
			return "is not a whole number of " + m.Unit
		}
		if d != 0 && d/unit == 0 {
			return outside(&m)
		}
		return ""
	})
}

func integer[T any](m Member, get func(*T) int64, set func(*T, int64), also func(*T) string) member[T] {
	m.Type = "integer"
	ok := func(n int64) string {
		if float64(n) < m.Min || float64(n) > m.Max {
			return outside(&m)
		}
		return ""
	}
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			n, is := parseInteger(raw)
			if !is {
				d.add(path, "%s", outside(&m))
				return
			}
			d.rule(path, ok(n))
			set(t, n)
		},
		write: func(w *encoder, t *T) {
			if n := get(t); n != 0 || m.Required {
				w.Key(m.Name)
				w.Int(n)
			}
		},
		check: func(p *problems, path string, t *T) {
			if also != nil {
				p.rule(path, also(t))
			}
			switch n := get(t); {
			case n != 0:
				p.rule(path, ok(n))
			case m.Required && m.Min > 0:
				p.add(path, "%s", missing(&m))
			}
		},
	}
}

// number is a float; get returns nil when it is not set.
func number[T any](m Member, get func(*T) *float64, set func(*T, *float64)) member[T] {
	m.Type = "number"
	ok := func(f float64) string {
		if math.IsNaN(f) || f < m.Min || f > m.Max || m.Above && f == m.Min {
			if m.Above {
				return "must be a number above " + figure(m.Min) + ", up to " + figure(m.Max)
			}
			return outside(&m)
		}
		return ""
	}
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			f, is := parseNumber(raw)
			if !is {
				f = math.NaN()
			}
			if problem := ok(f); problem != "" {
				d.add(path, "%s", problem)
				return
			}
			set(t, &f)
		},
		write: func(w *encoder, t *T) {
			if f := get(t); f != nil {
				w.Key(m.Name)
				w.Float(*f)
			}
		},
		check: func(p *problems, path string, t *T) {
			if f := get(t); f != nil {
				p.rule(path, ok(*f))
			}
		},
	}
}

// flag is a boolean that may be absent.
func flag[T any](m Member, at func(*T) **bool) member[T] {
	m.Type = "boolean"
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			if b, is := d.boolean(path, raw); is {
				*at(t) = &b
			}
		},
		write: func(w *encoder, t *T) {
			if b := *at(t); b != nil {
				w.Key(m.Name)
				w.Bool(*b)
			}
		},
		check: func(*problems, string, *T) {},
	}
}

// isEmpty is said of "": a text given as that is more often a failed substitution
// than a wish for the default.
const isEmpty = "is empty: give a value or leave it out"

// toggle is a boolean that is always given.
func toggle[T any](m Member, at func(*T) *bool) member[T] {
	m.Type, m.Required = "boolean", true
	return member[T]{
		Member: m,
		read:   func(d *decoder, path string, raw []byte, t *T) { *at(t), _ = d.boolean(path, raw) },
		write: func(w *encoder, t *T) {
			w.Key(m.Name)
			w.Bool(*at(t))
		},
		check: func(*problems, string, *T) {},
	}
}

// raw is an object whose bytes are kept as they are.
func raw[T any](m Member, at func(*T) *json.RawMessage) member[T] {
	m.Type = "object"
	return member[T]{
		Member: m,
		read:   func(_ *decoder, _ string, raw []byte, t *T) { *at(t) = clone(raw) },
		write: func(w *encoder, t *T) {
			if b := *at(t); b != nil {
				w.Key(m.Name)
				w.Raw(b)
			}
		},
		check: func(p *problems, path string, t *T) {
			if b := *at(t); b != nil {
				p.params(path, b)
			}
		},
	}
}

// object is an object with a table of its own, and a judge of how its members
// fit together.
func object[T, S any](m Member, at func(*T) **S, rows []member[S], judge func(p *problems, path string, s *S)) member[T] {
	m.Type = "object"
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			s := new(S)
			if readObject(d, path, raw, rows, s) {
				*at(t) = s
			}
		},
		write: func(w *encoder, t *T) {
			if s := *at(t); s != nil {
				w.Key(m.Name)
				writeObject(w, rows, s)
			}
		},
		check: func(p *problems, path string, t *T) {
			s := *at(t)
			if s == nil {
				return
			}
			checkObject(p, path, rows, s)
			if judge != nil {
				judge(p, path, s)
			}
		},
	}
}

// within makes rows of a part into rows of the whole.
func within[T, S any](rows []member[S], at func(*T) *S) []member[T] {
	out := make([]member[T], len(rows))
	for i, m := range rows {
		out[i] = member[T]{
			Member: m.Member,
			read:   func(d *decoder, path string, raw []byte, t *T) { m.read(d, path, raw, at(t)) },
			write:  func(w *encoder, t *T) { m.write(w, at(t)) },
			check:  func(p *problems, path string, t *T) { m.check(p, path, at(t)) },
		}
	}
	return out
}

// outside says what a number must be.
func outside(m *Member) string {
	kind := "a number"
	if m.Type == "integer" {
		kind = "a whole number"
	}
	if m.Unit != "" {
		kind += " of " + m.Unit
	}
	return "must be " + kind + " from " + figure(m.Min) + " to " + figure(m.Max)
}

// missing says what a required member is for, in the first sentence about it.
func missing(m *Member) string {
	does, _, _ := strings.Cut(m.Does, ". ")
	return "is missing: " + strings.TrimSuffix(does, ".")
}

func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
