package engine

import (
	"bytes"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// cite adds a list of citations.
func (b *claudeBlock) cite(list []byte) {
	r := jsonx.NewReader(list)
	if r.Kind() != jsonx.Array {
		return
	}
	for r.Array(); r.NextElem(); {
		b.addCitation(r.Raw())
	}
}

func (b *claudeBlock) addCitation(raw []byte) {
	if len(raw) == 0 {
		return
	}
	sep := byte(',')
	if len(b.cites) == 0 {
		sep = '['
	}
	b.cites = jsonx.Compact(append(b.cites, sep), raw)
}

// merge lays the members of a delta that is not known over those of the block;
// strings go on.
func (b *claudeBlock) merge(rest []byte) {
	for name, value := range jsonx.Members(rest) {
		have, _ := jsonx.Lookup(b.raw, name)
		old, more := jsonx.NewReader(have), jsonx.NewReader(value)
		if old.Kind() == jsonx.String && more.Kind() == jsonx.String {
			var w jsonx.Writer
			w.String(old.String() + more.String())
			value = w.Bytes()
		}
		b.set(name, value)
	}
}

// set gives a member of the block its value, in the place that it has.
func (b *claudeBlock) set(name string, value []byte) {
	var raw []byte
	found := false
	for key, old := range jsonx.Members(b.raw) {
		if key == name {
			old, found = value, true
		}
		raw = jsonx.AppendMember(raw, key, old)
	}
	if !found {
		raw = jsonx.AppendMember(raw, name, value)
	}
	b.raw = raw
}

// cutInput is the member of a native block whose input came to no JSON, which an
// answer that is too long may leave: the text of it, beside the input that the block
// began with.
const cutInput = "partial_json"

// native is a block that has no counterpart in the schema, such as a tool that
// the platform ran, in its own form.
func (b *claudeBlock) native() providers.ContentPart {
	switch {
	case len(bytes.TrimSpace(b.json)) == 0:
	case jsonx.Valid(b.json):
		b.set("input", b.json)
	default:
		var w jsonx.Writer
		w.String(string(b.json))
		b.set(cutInput, w.Bytes())
	}
	raw, _ := jsonx.Lookup(b.raw, "type")
	r := jsonx.NewReader(raw)
	part := providers.ContentPart{Type: r.String()}
	extra := jsonx.Compact(nil, jsonx.DeleteMember(b.raw, "type"))
	if len(extra) > len("{}") {
		part.Extra = extra
	}
	return part
}
