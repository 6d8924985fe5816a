// Package schema turns a caller's JSON Schema into what Gemini on Vertex AI
// takes, in the caller's own order of keys. It serves the parameters of functions
// and the schemas of answers alike.
//
// Keywords go by a list of what is allowed, and the names of properties are no
// keywords. What is not allowed is said in another way where that can be done,
// told to the model in the description, or left out; each [Change] says which. A
// schema that needs nothing comes back as the very bytes it was.
//
// # Caveats
//
// References must stay within the schema. Those that remain in the JSON form all
// lead to "$defs" at the root: references to other places are lent a definition
// there. The platform unrolls recursive ones a few levels deep, and only inside
// properties that are not required.
package schema

import (
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Form is how the platform is told a schema.
type Form uint8

const (
	// JSON is for parametersJsonSchema and responseJsonSchema, which Gemini 2.5
	// and later take. [JSON form]
	//
	// [JSON form]: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerationConfig
	JSON Form = iota
	// Message is for parameters and responseSchema, the platform's own Schema
	// message, which all models take. It can't say recursion. [Schema]
	//
	// [Schema]: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Schema
	Message
)

// Options say what a schema is for. The zero value is the JSON form of an
// answer's schema, in an order that is up to the model.
type Options struct {
	Form Form
	// Ordering adds propertyOrdering, which has the model write an object's
	// members in the order of the schema. It changes every schema that has
	// properties and no order yet. The Schema message is a map on the way, so
	// without it the order there is the alphabet's.
	Ordering bool
	// Parameters is for the parameters of a function, whose root must be an
	// object. Alternatives at the root are united in one.
	Parameters bool
}

// Change is one thing that the result says otherwise than the caller did.
// Notation is not reported: the case of types, definitions put in the place of
// references, propertyOrdering.
type Change struct {
	// Path is the keyword's place in the schema, such as properties.age.const,
	// with what is referred to in the place of the reference.
	Path string
	// Keyword is the last step of Path, or the keyword that was added there.
	Keyword string
	// Message says what was done and why, and is fit for a warning.
	Message string
	// Lossless tells that the model is held to the same as before.
	Lossless bool
}

// Error is a schema that can't be said to the platform, or none at all.
type Error struct {
	Path    string // empty for the root
	Message string // with the remedy; without values of the schema, references apart
}

// Error returns the path and the message.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Limits on what a schema may make of itself, in schemas and in bytes.
const (
	maxDepth   = 128     // schemas within each other, references followed
	maxNodes   = 1 << 15 // beyond twice those of the source
	maxBytes   = 1 << 20 // beyond twice those of the source
	maxChanges = 1000    // that are reported; one more says so
	maxText    = 2048    // bytes of one constraint that is told in a description
)

// Transform returns the schema raw in the form wanted and what has changed. The
// result is raw itself when there is nothing to do. It is nil, without an error,
// for a function without parameters in the Message form, where parameters must
// be left out then. The error is an [*Error].
func Transform(raw []byte, o Options) (out []byte, changes []Change, err error) {
	p := parser{r: jsonx.NewReader(raw)}
	root, fault := p.document()
	if fault != nil {
		return nil, nil, fault
	}
	t := rewriter{Options: o, raw: raw, parsed: &p, root: root, nodes: maxNodes + 2*p.nodes, bytes: maxBytes + 2*len(raw)}
	n, fault := t.document()
	if fault != nil {
		return nil, nil, fault
	}
	if n == nil {
		return nil, t.changes, nil
	}
	var w jsonx.Writer
	w.Grow(len(raw) + len(raw)/4)
	n.write(&w)
	if w.Len() > maxBytes+2*len(raw) {
		return nil, nil, t.tooLarge()
	}
	a, b := jsonx.NewReader(raw), jsonx.NewReader(w.Bytes())
	if same(&a, &b) {
		return raw, t.changes, nil
	}
	return w.Bytes(), t.changes, nil
}

// report records a change at a keyword of the schema being written.
func (t *rewriter) report(keyword, message string, lossless bool) {
	if t.quiet > 0 {
		return
	}
	switch len(t.changes) {
	case maxChanges:
		t.changes = append(t.changes, Change{Message: "more is changed than can be listed"})
		return
	case maxChanges + 1:
		return
	}
	path := formatPath(t.path, keyword)
	t.changes = append(t.changes, Change{Path: path, Keyword: keyword, Message: keyword + " is " + message, Lossless: lossless})
}

// fail returns an error at the schema being written, or at a keyword of it.
func (t *rewriter) fail(keyword, message string) *Error {
	return &Error{Path: formatPath(t.path, keyword), Message: message}
}

func (t *rewriter) tooLarge() *Error {
	return &Error{Message: "the schema grows too large once its references and allOf are resolved: refer to less"}
}

const (
	maxName  = 64 // bytes of a name shown in a path
	maxSteps = 32 // of a path, the last ones
)

// formatPath joins the steps of a path and, unless it is empty, a keyword.
func formatPath(steps []string, keyword string) string {
	var b strings.Builder
	if len(steps) > maxSteps {
		b.WriteString("...")
		steps = steps[len(steps)-maxSteps:]
	}
	for _, step := range steps {
		appendStep(&b, step)
	}
	if keyword != "" {
		appendStep(&b, keyword)
	}
	return b.String()
}

func appendStep(b *strings.Builder, step string) {
	if b.Len() > 0 && !strings.HasPrefix(step, "[") {
		b.WriteByte('.')
	}
	if len(step) > maxName {
		step = strings.ToValidUTF8(step[:maxName], "") + "..."
	}
	b.WriteString(step)
}
