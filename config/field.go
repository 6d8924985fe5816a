package config

import (
	"encoding/binary"
	"net/http"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Source says where a field is found.
type Source string

// The sources of fields.
const (
	FromMetadata Source = "metadata" // what the caller attached to the call
	FromParams   Source = "params"   // the request's members, before a config changes them
	FromHeaders  Source = "headers"  // the incoming request's headers
)

// View is a call as conditions look at it. None of the values is changed or kept.
type View interface {
	// Metadata returns the call's metadata of that key.
	Metadata(key string) (string, bool)
	// Header returns the first value of a header, by its canonical name as
	// [http.CanonicalHeaderKey] has it.
	Header(name string) (string, bool)
	// Param returns the raw JSON of the request member at a path of names.
	Param(path []string) ([]byte, bool)
}

// Call is a [View] of the parts of a call. Any of them may be nil.
type Call struct {
	Meta    map[string]string
	Headers http.Header
	Body    []byte // a JSON object
}

var _ View = (*Call)(nil)

// Metadata returns the entry of Meta.
func (c *Call) Metadata(key string) (string, bool) {
	v, ok := c.Meta[key]
	return v, ok
}

// Header returns the first value in Headers.
func (c *Call) Header(name string) (string, bool) {
	if v := c.Headers[name]; len(v) > 0 {
		return v[0], true
	}
	return "", false
}

// Param returns the member of Body at the path.
func (c *Call) Param(path []string) ([]byte, bool) { return Param(c.Body, path) }

// Param returns the raw value of the member of a JSON object at a path of names,
// through objects only. It aliases the object.
func Param(object []byte, path []string) ([]byte, bool) {
	for _, name := range path {
		r := jsonx.NewReader(object)
		if r.Kind() != jsonx.Object {
			return nil, false
		}
		var ok bool
		if object, ok = jsonx.Lookup(object, name); !ok {
			return nil, false
		}
	}
	return object, len(path) > 0
}

// maxPath is how many names a path into a request may have.
const maxPath = 8

// Field names a value of a call.
type Field struct {
	// Source says where to look.
	Source Source
	// Path is the name to look for. For params it has a name for each level, at
	// most 8; for the others it is one.
	Path []string
}

// ParseField reads a field in its written form: "metadata.KEY", where the key may
// hold dots, "headers.NAME", or "params.NAME", where dots lead into objects, such
// as "params.thinking.type".
func ParseField(s string) (Field, error) {
	var p problems
	f := parseField(&p, "", s)
	if err := p.err(); err != nil {
		return Field{}, err
	}
	return f, nil
}

func parseField(p *problems, path, s string) Field {
	source, rest, _ := strings.Cut(s, ".")
	f := Field{Source: Source(source), Path: []string{rest}}
	switch f.Source {
	case FromHeaders:
		f.Path[0] = textproto.CanonicalMIMEHeaderKey(rest)
	case FromParams:
		f.Path = strings.SplitN(rest, ".", maxPath+1)
	}
	p.rule(path, f.problem())
	return f
}

// String returns the written form.
func (f Field) String() string { return string(f.Source) + "." + strings.Join(f.Path, ".") }

// problem says what is wrong with a field.
func (f Field) problem() string {
	const form = `must be "metadata.KEY", "params.NAME" or "headers.NAME"`
	switch f.Source {
	case FromMetadata, FromHeaders, FromParams:
	default:
		return form
	}
	if len(f.Path) == 0 || f.Source != FromParams && len(f.Path) > 1 {
		return form
	}
	if len(f.Path) > maxPath {
		return "leads through more than 8 names"
	}
	for _, name := range f.Path {
		switch {
		case !utf8.ValidString(name):
			return "is not valid UTF-8"
		case name == "" || f.Source == FromParams && strings.Contains(name, "."):
			return form
		case len(name) > maxParam:
			return "has a name of more than 256 bytes"
		case strings.ContainsAny(name, "[]") && f.Source == FromParams:
			return "names a member, or one of an object by its path: elements of arrays have no path"
		case f.Source == FromHeaders && !made(name, tokenChars):
			return "isn't a valid header name"
		case f.Source == FromHeaders && holdsCredentials(strings.ToLower(name)):
			return "holds credentials, which no config looks at"
		case f.Source == FromHeaders && name != textproto.CanonicalMIMEHeaderKey(name):
			return "must have the header's name in canonical form, such as X-Team"
		}
	}
	return ""
}

// same reports whether two fields are the same.
func (f *Field) same(g *Field) bool { return f.String() == g.String() }

// appendKey appends the field's value, so that no two values look alike: a kind,
// a length and the text. Strings count by their text, other JSON by its bytes.
func (f *Field) appendKey(dst []byte, v View) ([]byte, bool) {
	x := f.look(v)
	switch {
	case x.kind == jsonx.Invalid:
		return append(dst, 'n'), false
	case x.loose:
		dst = binary.AppendUvarint(append(dst, 's'), uint64(len(x.text)))
		return append(dst, x.text...), true
	case x.kind == jsonx.String:
		r := jsonx.NewReader(x.raw)
		b := r.Bytes()
		dst = binary.AppendUvarint(append(dst, 's'), uint64(len(b)))
		return append(dst, b...), true
	}
	dst = binary.AppendUvarint(append(dst, 'j'), uint64(len(x.raw)))
	return append(dst, x.raw...), true
}
