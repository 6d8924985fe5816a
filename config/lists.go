package config

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// texts is a list of different strings. A set and empty list is kept.
func texts[T any](m Member, at func(*T) *[]string, ok rule) member[T] {
	m.Of = "string"
	return list(m, at, listed[string]{
		read: func(d *decoder, path string, raw []byte, s *string) {
			*s, _ = d.text(path, raw)
		},
		write: func(w *encoder, s *string) { w.String(*s) },
		check: func(p *problems, path string, s *string) {
			if *s == "" {
				p.add(path, isEmpty)
				return
			}
			p.rule(path, ok(*s))
		},
		same: func(a, b *string) bool { return *a == *b },
	})
}

// codes is a list of different statuses, not an empty one.
func codes[T any](m Member, at func(*T) *[]int) member[T] {
	m.Of, m.Min, m.Max, m.Filled = "integer", minStatus, maxStatus, true
	one := whole(Member{Min: minStatus, Max: maxStatus}, func(n *int) *int { return n })
	return list(m, at, listed[int]{
		read:  one.read,
		write: func(w *encoder, n *int) { w.Int(int64(*n)) },
		check: func(p *problems, path string, n *int) {
			if *n < minStatus || *n > maxStatus {
				p.add(path, "%s", outside(&one.Member))
			}
		},
		same: func(a, b *int) bool { return *a == *b },
	})
}

const (
	minStatus, maxStatus = 100, 599 // of HTTP
	maxCodes             = maxStatus - minStatus + 1
	maxList              = 256 // elements of another list
)

// listed is how the elements of a list are read, written and judged. same is
// nil where elements may be alike.
type listed[E any] struct {
	read  func(d *decoder, path string, raw []byte, e *E)
	write func(w *encoder, e *E)
	check func(p *problems, path string, e *E)
	same  func(a, b *E) bool
}

// tabled is an element that is an object with a table of its own.
func tabled[E any](rows []member[E], same func(a, b *E) bool) listed[E] {
	return listed[E]{
		read:  func(d *decoder, path string, raw []byte, e *E) { readObject(d, path, raw, rows, e) },
		write: func(w *encoder, e *E) { writeObject(w, rows, e) },
		check: func(p *problems, path string, e *E) { checkObject(p, path, rows, e) },
		same:  same,
	}
}

func list[T, E any](m Member, at func(*T) *[]E, of listed[E]) member[T] {
	m.Type = "array"
	limit := maxList
	if m.Of == "integer" {
		limit = maxCodes
	} else if m.Max > 0 {
		limit = int(m.Max)
	}
	return member[T]{
		Member: m,
		read: func(d *decoder, path string, raw []byte, t *T) {
			r := jsonx.NewReader(raw)
			if r.Kind() != jsonx.Array {
				d.add(path, "must be an array")
				return
			}
			out := []E{}
			for r.Array(); r.NextElem(); {
				if len(out) > limit {
					break // which check reports
				}
				out = append(out, *new(E))
				of.read(d, element(path, len(out)-1), r.Raw(), &out[len(out)-1])
			}
			*at(t) = out
		},
		write: func(w *encoder, t *T) {
			s := *at(t)
			if s == nil {
				return
			}
			w.Key(m.Name)
			w.BeginArray()
			for i := range s {
				of.write(w, &s[i])
			}
			w.EndArray()
		},
		check: func(p *problems, path string, t *T) {
			s := *at(t)
			switch {
			case m.Filled && s != nil && len(s) == 0:
				p.add(path, "is empty: give at least one, or leave it out")
			case len(s) > limit:
				p.add(path, "has more than %d elements", limit)
				return
			}
			for i := range s {
				at := element(path, i)
				of.check(p, at, &s[i])
				if of.same != nil && slices.ContainsFunc(s[:i], func(e E) bool { return of.same(&e, &s[i]) }) {
					p.add(at, "is given twice")
				}
			}
		},
	}
}
