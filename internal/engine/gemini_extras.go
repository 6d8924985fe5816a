package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// member is one member of the request that the schema has no field for.
type member struct {
	path   string // as the caller wrote it, such as extra_body.google.tools
	name   string
	value  []byte
	row    *param // nil when the table does not know it
	wire   string // where it goes when it goes as it is
	native bool   // it stood in generation_config, in the platform's own terms
	taken  bool   // the stage it belongs to has dealt with it
}

// wrappers are members that only hold others: OpenAI clients flatten one
// extra_body and leave the second one, and the platform's own OpenAI surface
// wants its members below "google".
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai
var wrappers = []string{"extra_body", "google", "generation_config", "generationConfig"}

// collect lists the members beyond the schema, those in wrappers too.
func (e *geminiEncoder) collect() error {
	if len(e.q.Extra) == 0 {
		return nil
	}
	if !jsonx.Valid(e.q.Extra) {
		return providers.Invalid("extra", "not the text of a JSON object")
	}
	e.flatten("", e.q.Extra, false)
	return nil
}

func (e *geminiEncoder) flatten(path string, obj []byte, native bool) {
	for name, value := range jsonx.Members(obj) {
		if string(value) == "null" {
			continue
		}
		r := jsonx.NewReader(value)
		if slices.Contains(wrappers, name) && r.Kind() == jsonx.Object && strings.Count(path, ".") < len(wrappers) {
			e.flatten(path+name+".", value, native || camel(name) == "generationConfig")
			continue
		}
		m := member{path: path + name, name: name, value: value, native: native}
		switch {
		case native:
			m.wire = "generationConfig." + camel(name)
			if m.row = e.m.findWire(m.wire); m.row != nil && m.row.gemini == warn {
				m.wire = ""
			}
		case name == "tools": // with a field of its own, unless it is in the platform's form
			m.row = findParam("google.tools")
		default:
			m.find(e.m)
		}
		e.extra = append(e.extra, m)
	}
}

// find finds the row of the member: by its name, or as a member of
// generationConfig, whose own names are understood at the top too.
func (m *member) find(model *Model) {
	if m.row = model.findParam(m.name); m.row != nil {
		if m.row.gemini == forward {
			m.wire = m.row.wire
		}
		return
	}
	wire := "generationConfig." + camel(m.name)
	if m.row = model.findWire(wire); m.row != nil {
		m.wire, m.native = wire, true
	}
}

// take returns the value of the member with the row, and marks it as dealt
// with. A second one of the same row is left for a warning.
func (e *geminiEncoder) take(row string) (value []byte, path string) {
	for i := range e.extra {
		if m := &e.extra[i]; m.row != nil && m.row.name == row && !m.native && !m.taken {
			m.taken = true
			return m.value, m.path
		}
	}
	return nil, ""
}

// wants reports whether a member of the row is given.
func (e *geminiEncoder) wants(row string) bool {
	return slices.ContainsFunc(e.extra, func(m member) bool { return m.row != nil && m.row.name == row })
}

// forwards writes the members that go as they are below the wire prefix, into
// the object that began at start. What is there already wins.
func (e *geminiEncoder) forwards(prefix string, start int) {
	var written []string
	for i := range e.extra {
		m := &e.extra[i]
		key, ok := strings.CutPrefix(m.wire, prefix)
		if m.taken || m.row == nil || m.wire == "" || !ok || strings.Contains(key, ".") {
			continue
		}
		m.taken = true
		if fault := e.unfit(key); fault != "" {
			e.warnf(providers.WarnUnsupported, m.path, fault)
			continue
		}
		if slices.Contains(written, key) || m.native && e.has(start, key) {
			e.warnf(providers.WarnConflict, m.path, "left out: it is given twice")
			continue
		}
		written = append(written, key)
		writeMember(&e.w, key, e.taken(m))
	}
}

// unfit says why the model takes no such member, "" when it does.
func (e *geminiEncoder) unfit(key string) string {
	if key == "imageConfig" && !e.gives("IMAGE") {
		return "left out: this model draws no images"
	}
	return ""
}

// has reports whether the object that began at start, and is still open, has
// the key.
func (e *geminiEncoder) has(start int, key string) bool {
	_, ok := jsonx.Lookup(append(slices.Clip(e.w.Bytes()[start:]), '}'), key)
	return ok
}

// extras writes the members that belong to the top of the body and says what
// became of those that no stage has taken.
func (e *geminiEncoder) extras() error {
	if len(e.extra) == 0 {
		return nil
	}
	e.forwards("", 0)
	for i := range e.extra {
		m := &e.extra[i]
		switch {
		case m.taken || m.row != nil && m.row.gemini != forward && saysNothing(m.value):
		case m.row == nil:
			e.warnf(providers.WarnUnknown, m.path, "left out: the platform does not know it")
		case m.row.gemini == reject:
			return providers.Invalid(m.path, m.row.note)
		case m.row.gemini == warn:
			e.warnf(providers.WarnUnsupported, m.path, "left out: "+m.row.note)
		case m.row.extension:
			e.warnf(providers.WarnConflict, m.path, "left out: it is given twice")
		default:
			e.warnf(providers.WarnConflict, m.path, "left out: the request has a field of its own for it")
		}
	}
	return nil
}

// ownNames are members whose value has names that are the caller's, and not to
// be touched.
var ownNames = []string{"responseSchema", "responseJsonSchema", "schema", "customConfigs"}

// writeMember writes a member whose key has the platform's case, with the names
// in its value turned into that case.
func writeMember(w *jsonx.Writer, key string, raw []byte) {
	w.AnyKey(key)
	switch r := jsonx.NewReader(raw); {
	case slices.Contains(ownNames, key):
		w.Raw(raw)
	case key == "safetySettings" && r.Kind() == jsonx.Object:
		writeSafety(w, raw)
	default:
		writeCamel(w, raw)
	}
}

// writeSafety writes the list that the platform wants out of an object with a
// threshold for each category, as some clients have it.
func writeSafety(w *jsonx.Writer, raw []byte) {
	w.BeginArray()
	for category, threshold := range jsonx.Members(raw) {
		w.BeginObject()
		w.Key("category")
		w.String(category)
		w.Key("threshold")
		w.Raw(threshold)
		w.EndObject()
	}
	w.EndArray()
}

// writeCamel writes a JSON value with its object keys in the case that the
// platform's JSON has.
func writeCamel(w *jsonx.Writer, raw []byte) {
	r := jsonx.NewReader(raw)
	copyCamel(w, &r)
}

// copyCamel writes the value that the reader stands at.
func copyCamel(w *jsonx.Writer, r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.Object:
		w.BeginObject()
		for r.Object(); r.NextKey(); {
			key := camel(string(r.Key()))
			w.AnyKey(key)
			if slices.Contains(ownNames, key) {
				w.Raw(r.Raw())
				continue
			}
			copyCamel(w, r)
		}
		w.EndObject()
	case jsonx.Array:
		w.BeginArray()
		for r.Array(); r.NextElem(); {
			copyCamel(w, r)
		}
		w.EndArray()
	default:
		w.Raw(r.Raw())
	}
}

// camel turns snake_case into lowerCamelCase. An underscore that no small letter
// or digit follows stays: what is in capitals is no name of a member.
func camel(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '_' && i > 0 && i+1 < len(s) {
			switch next := s[i+1]; {
			case next >= 'a' && next <= 'z':
				b = append(b, next-'a'+'A')
				i++
				continue
			case next >= '0' && next <= '9':
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}
