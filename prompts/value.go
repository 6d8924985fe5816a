package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// value is a variable, or what is within one. It is read as far as a template
// asks, and belongs to one rendering.
type value struct {
	kind valueKind
	// text is what a tag puts out: a string itself, a number as it was written,
	// true or false, nothing for null, and a list or an object as its JSON.
	text string
	// root says that the members are the variables, in given. All other objects have
	// them in text.
	root     bool
	given    map[string]any
	members  map[string]*value
	elements []*value
	read     bool // members or elements were taken out of text
}

type valueKind uint8

const (
	nullValue valueKind = iota
	boolValue
	numberValue
	stringValue
	listValue
	objectValue
)

// variables is the value that all variables are members of.
func variables(given map[string]any) *value {
	return &value{kind: objectValue, root: true, given: given, members: make(map[string]*value, len(given))}
}

// member returns a member of an object, or nil.
func (v *value) member(name string) (*value, error) {
	if v.kind != objectValue {
		return nil, nil //nolint:nilnil // absent is an answer
	}
	if m, ok := v.members[name]; ok {
		return m, nil
	}
	if v.root {
		raw, ok := v.given[name]
		if !ok {
			return nil, nil //nolint:nilnil // absent is an answer
		}
		m, err := newValue(raw)
		if err != nil {
			return nil, providers.Invalid("variables."+clip(name), "not a value that JSON has")
		}
		v.members[name] = m
		return m, nil
	}
	if v.read {
		return nil, nil //nolint:nilnil // absent is an answer
	}
	v.read = true
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(v.text), &raw); err != nil {
		return nil, providers.Invalid("variables", "not a value that JSON has")
	}
	v.members = make(map[string]*value, len(raw))
	for k, r := range raw {
		v.members[k] = fromJSON(r)
	}
	return v.members[name], nil
}

// list returns the elements of a list.
func (v *value) list() []*value {
	if v.read {
		return v.elements
	}
	v.read = true
	var raw []json.RawMessage
	if json.Unmarshal([]byte(v.text), &raw) != nil {
		return nil
	}
	v.elements = make([]*value, len(raw))
	for i, r := range raw {
		v.elements[i] = fromJSON(r)
	}
	return v.elements
}

// holds reports whether a section is entered: not for null, false, 0, an empty
// string and an empty list.
func (v *value) holds() bool {
	switch v.kind {
	case boolValue:
		return v.text == "true"
	case numberValue:
		digits, _, _ := strings.Cut(strings.ToLower(v.text), "e")
		return strings.Trim(digits, "-0.") != ""
	case stringValue:
		return v.text != ""
	case listValue:
		return strings.Trim(v.text, "[] \t\r\n") != "" || len(v.list()) > 0
	case objectValue:
		return true
	}
	return false
}

var errNoJSON = errors.New("not JSON")

// newValue takes a variable in. Go values go the way of their JSON.
func newValue(given any) (*value, error) {
	switch g := given.(type) {
	case nil:
		return &value{}, nil
	case string:
		return &value{kind: stringValue, text: g}, nil
	case bool:
		return &value{kind: boolValue, text: strconv.FormatBool(g)}, nil
	case int:
		return &value{kind: numberValue, text: strconv.Itoa(g)}, nil
	case json.RawMessage:
		if g == nil {
			return &value{}, nil
		}
		if !json.Valid(g) {
			return nil, errNoJSON
		}
		return fromJSON(g), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(given); err != nil {
		return nil, err
	}
	return fromJSON(buf.Bytes()), nil
}

// fromJSON reads valid JSON.
func fromJSON(raw []byte) *value {
	raw = bytes.TrimSpace(raw)
	v := &value{text: string(raw)}
	switch raw[0] {
	case 'n':
		v.text = ""
	case 't', 'f':
		v.kind = boolValue
	case '"':
		v.kind = stringValue
		_ = json.Unmarshal(raw, &v.text) // it is a string
	case '[':
		v.kind = listValue
	case '{':
		v.kind = objectValue
	default:
		v.kind = numberValue
	}
	return v
}
