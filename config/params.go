package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Apply changes the members of a request, a JSON object, as the settings ask for.
//
// First DefaultParams fill in members of the top level that the request lacks; a
// null counts as given. Then DropParams take members out, those of the top level
// or, by a path with dots, of objects within. Last OverrideParams put members in
// place of the request's, as a whole. Whatever is not named keeps its bytes and
// its place, and new members follow the request's own. Of a member that the
// request repeats, an override replaces all.
//
// Some settings of the top level have several names, such as max_tokens and
// max_completion_tokens. An override takes the other names of its setting out,
// unless it names them too, and a default is left out where the request says the
// same by another name. DropParams take out the very name that they say, and a
// name that they take out stands in no default's way.
//
// The request is not changed. It is returned itself when there is nothing to do.
func Apply(request []byte, s *Settings) ([]byte, error) {
	return edit(request, &edits{s.DefaultParams, s.DropParams, s.OverrideParams})
}

// synonyms lists the names that one setting has among the members of a chat
// request. Models read one of them where several are given, so that a limit in a
// config would be lost beside another name in the request.
//
// Sources: https://platform.openai.com/docs/api-reference/chat/create for the
// length, docs/gemini.md and docs/claude.md for thinking.
var synonyms = [][]string{
	{"max_tokens", "max_completion_tokens"},                               // the second wins everywhere
	{"thinking", "reasoning_effort", "thinking_config", "thinkingConfig"}, // the first one wins
}

// alike reports whether two different names are of one setting.
func alike(a, b string) bool {
	if a == b {
		return false
	}
	for _, names := range synonyms {
		if slices.Contains(names, a) {
			return slices.Contains(names, b)
		}
	}
	return false
}

// edits are what happens to an object, in this order.
type edits struct {
	defaults  json.RawMessage
	drops     []string
	overrides json.RawMessage
}

// part is a member of an object.
type part struct {
	key        string
	start, end int    // in the object
	lead       []byte // the quoted key, the colon and white space
	value      []byte
	gone       bool
}

// edit applies e to obj.
func edit(obj []byte, e *edits) ([]byte, error) {
	if len(e.defaults) == 0 && len(e.drops) == 0 && len(e.overrides) == 0 {
		return obj, nil
	}
	parts, err := split(obj)
	if err != nil {
		return nil, fmt.Errorf("config: request: %w", err)
	}
	defaults, err := split(e.defaults)
	if err != nil {
		return nil, fmt.Errorf("config: default_params: %w", err)
	}
	overrides, err := split(e.overrides)
	if err != nil {
		return nil, fmt.Errorf("config: override_params: %w", err)
	}
	changed := false
	for i := range parts {
		changed = parts[i].drop(e.drops) || changed
	}
	added := slices.DeleteFunc(defaults, func(d part) bool { return d.saidBy(parts) })
	for i := range added {
		added[i].drop(e.drops)
	}
	for _, list := range [][]part{parts, added} {
		changed = withdraw(list, overrides) || changed
	}
	added = slices.DeleteFunc(added, func(a part) bool { return a.gone })
	for _, o := range overrides {
		switch {
		case o.place(parts):
			changed = true
		case !o.place(added):
			added = append(added, o)
		}
	}
	if !changed && len(added) == 0 {
		return obj, nil
	}
	return assemble(obj, parts, added), nil
}

// split finds the members of an object; nothing has none.
func split(obj []byte) ([]part, error) {
	if len(obj) == 0 {
		return nil, nil
	}
	r := jsonx.NewReader(obj)
	if r.Kind() != jsonx.Object {
		r.Failf("expected an object")
		return nil, r.Err()
	}
	parts := make([]part, 0, 16)
	for r.Object(); r.NextKey(); {
		p := part{key: string(r.Key())}
		p.start, _ = r.Span()
		p.value = r.Raw()
		var at int
		at, p.end = r.Span()
		p.lead = obj[p.start:at]
		parts = append(parts, p)
	}
	return parts, r.End()
}

// drop takes out what the paths name, the part or what is within its value, and
// reports whether there was anything.
func (p *part) drop(paths []string) bool {
	var within []string
	for _, path := range paths {
		name, rest, deeper := strings.Cut(path, ".")
		if name != p.key {
			continue
		}
		if !deeper {
			p.gone = true
			return true
		}
		within = append(within, rest)
	}
	if within == nil || p.value[0] != '{' {
		return false
	}
	less, err := edit(p.value, &edits{drops: within})
	if err != nil || len(less) == len(p.value) {
		return false
	}
	p.value = less
	return true
}

// saidBy reports whether the request says what the default p would.
func (p *part) saidBy(request []part) bool {
	return slices.ContainsFunc(request, func(r part) bool {
		return r.key == p.key || !r.gone && alike(r.key, p.key)
	})
}

// withdraw takes out the parts whose setting is overridden by another name alone, and
// reports whether there are any.
func withdraw(parts, overrides []part) bool {
	found := false
	for i := range parts {
		p := &parts[i]
		same := func(o part) bool { return o.key == p.key }
		other := func(o part) bool { return alike(o.key, p.key) }
		if !p.gone && slices.ContainsFunc(overrides, other) && !slices.ContainsFunc(overrides, same) {
			p.gone, found = true, true
		}
	}
	return found
}

// place puts p in the place of the parts of its name and reports whether there
// are any. The first is replaced, further ones go.
func (p *part) place(parts []part) bool {
	found := false
	for i := range parts {
		if parts[i].key == p.key {
			parts[i].gone, parts[i].value = found, p.value
			found = true
		}
	}
	return found
}

// assemble writes the parts that are left with what was around them, and the
// added ones after them.
func assemble(obj []byte, parts, added []part) []byte {
	first := bytes.IndexByte(obj, '{') + 1
	last := first
	size := len(obj)
	if len(parts) > 0 {
		first, last = parts[0].start, parts[len(parts)-1].end
	}
	for _, list := range [][]part{parts, added} {
		for i := range list {
			size += len(list[i].lead) + len(list[i].value) + len(",")
		}
	}
	out := append(make([]byte, 0, size), obj[:first]...)
	some := false
	for i := range parts {
		p := &parts[i]
		if p.gone {
			continue
		}
		if some {
			out = append(out, obj[parts[i-1].end:p.start]...) // a comma and white space
		}
		out = append(append(out, p.lead...), p.value...)
		some = true
	}
	for i := range added {
		if some {
			out = append(out, ',')
		}
		out = append(append(out, added[i].lead...), added[i].value...)
		some = true
	}
	return append(out, obj[last:]...)
}
