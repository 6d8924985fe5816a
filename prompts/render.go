package prompts

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

const (
	// maxOutput bounds the texts of one rendered prompt, in bytes.
	maxOutput = 32 << 20
	// maxSteps bounds the work of one rendering: pieces of templates, those of a
	// loop once for each time around, and the scopes that names are looked for in.
	maxSteps = 1 << 20
	// stepsPerLook is how often the context is looked at.
	stepsPerLook = 1 << 10
	// maxNamed is how many names an error or a list of warnings has.
	maxNamed = 20
)

// renderer fills in the templates of one prompt. What is missing is collected,
// so that one error names it all.
type renderer struct {
	ctx     context.Context
	scopes  []*value // the innermost last
	within  []string // the sections around, by name
	out     []byte   // of the text under way
	written int      // bytes of the texts before
	steps   int
	missing []string
	err     error // sticky
}

func newRenderer(ctx context.Context, given map[string]any) *renderer {
	return &renderer{ctx: ctx, scopes: []*value{variables(given)}}
}

// text renders one template.
func (r *renderer) text(t *template) string {
	if s, ok := t.plain(); ok {
		r.written += len(s)
		return s
	}
	r.nodes(t.nodes)
	return r.flush()
}

// flush returns the text under way and begins another.
func (r *renderer) flush() string {
	s := string(r.out)
	r.written += len(r.out)
	r.out = r.out[:0]
	return s
}

// finish returns what went wrong.
func (r *renderer) finish() error {
	switch n := len(r.missing); {
	case r.err != nil:
		return r.err
	case n > 0:
		names, verb := r.missing, "are"
		if n > maxNamed {
			names = append(slices.Clone(names[:maxNamed]), "others")
		}
		if n == 1 {
			verb = "is"
		}
		return providers.Invalid("variables", strings.Join(names, ", ")+" "+verb+" missing: the prompt needs a value, which may be null")
	}
	return nil
}

func (r *renderer) nodes(list []node) {
	for i := range list {
		if r.step(); r.err != nil {
			return
		}
		switch n := &list[i]; n.kind {
		case textNode:
			r.write(n.text)
		case variableNode:
			r.variable(n)
		case sectionNode:
			r.section(n)
		case invertedNode:
			if v := r.lookup(n.path); v == nil || !v.holds() {
				r.nodes(n.body)
			}
		case partialNode:
			r.nodes(n.partial.nodes)
		}
	}
}

// step counts the work.
func (r *renderer) step() {
	r.steps++
	switch {
	case r.err != nil:
	case r.steps > maxSteps:
		r.err = &providers.Error{
			Code: providers.ErrTooLarge, Param: "variables",
			Message: "the prompt takes more than " + strconv.Itoa(maxSteps) + " steps to render: give shorter lists",
		}
	case r.steps%stepsPerLook == 0:
		r.err = r.ctx.Err()
	}
}

func (r *renderer) write(s string) {
	if len(s) > maxOutput-r.written-len(r.out) {
		if r.err == nil {
			r.err = &providers.Error{
				Code: providers.ErrTooLarge, Param: "variables",
				Message: "the rendered prompt is over the limit of " + strconv.Itoa(maxOutput) + " bytes",
			}
		}
		return
	}
	r.out = append(r.out, s...)
}

func (r *renderer) variable(n *node) {
	v := r.lookup(n.path)
	if v == nil {
		r.miss(n.text)
		return
	}
	r.write(v.text)
}

// section renders its body for each element of a list, and once for any other
// value that holds.
func (r *renderer) section(n *node) {
	v := r.lookup(n.path)
	if v == nil || !v.holds() {
		return
	}
	r.within = append(r.within, n.text)
	if v.kind == listValue {
		for _, e := range v.list() {
			r.body(n, e)
			if r.err != nil {
				break
			}
		}
	} else {
		r.body(n, v)
	}
	r.within = r.within[:len(r.within)-1]
}

func (r *renderer) body(n *node, scope *value) {
	r.step()
	r.scopes = append(r.scopes, scope)
	r.nodes(n.body)
	r.scopes = r.scopes[:len(r.scopes)-1]
}

// lookup finds a name from the innermost scope outwards, or nil. Only the first
// of names with dots is looked for further out.
func (r *renderer) lookup(path []string) *value {
	if path == nil {
		if len(r.scopes) == 1 {
			return nil
		}
		return r.scopes[len(r.scopes)-1]
	}
	var v *value
	for i := len(r.scopes) - 1; i >= 0 && v == nil; i-- {
		r.step()
		v = r.member(r.scopes[i], path[0])
	}
	for _, name := range path[1:] {
		if v == nil {
			break
		}
		v = r.member(v, name)
	}
	return v
}

func (r *renderer) member(v *value, name string) *value {
	m, err := v.member(name)
	if err != nil && r.err == nil {
		r.err = err
	}
	return m
}

// miss notes a name that nothing stands for, once.
func (r *renderer) miss(name string) {
	name = strconv.Quote(name)
	if n := len(r.within); n > 0 {
		name += " within " + strconv.Quote(r.within[n-1])
	}
	if len(r.missing) <= maxNamed && !slices.Contains(r.missing, name) {
		r.missing = append(r.missing, name)
	}
}
