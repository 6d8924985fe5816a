package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Parse reads a prompt from its JSON, in the form that the package documentation
// shows, with the partials that its templates may take in. The id may be empty
// where the JSON has one. Every mistake is reported at once, by its path.
func Parse(id string, data []byte, partials Partials) (*Prompt, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := wellFormed(data); err != nil {
		return nil, fmt.Errorf("prompt %q: %w", clip(id), err)
	}
	d := decoder{partials: newIncludes(partials)}
	p := d.prompt(id, data)
	if len(d.errs) == 0 {
		return p, nil
	}
	for i, err := range d.errs {
		d.errs[i] = fmt.Errorf("prompt %q: %w", clip(p.id), err)
	}
	return nil, errors.Join(d.errs...)
}

// decoder reads one prompt.
type decoder struct {
	problems
	partials *includes
}

func (d *decoder) prompt(id string, data []byte) *Prompt {
	p := &Prompt{id: id, versions: map[int]*version{}, labels: map[string]int{}}
	at := map[string]int{} // versions by the path that names them
	for _, m := range d.object("", data) {
		switch m.name {
		case "id":
			if own := d.text("id", m.raw); id != "" && own != id {
				d.add("id", "is %q, and its place says %q: make them the same or leave it out", clip(own), clip(id))
			} else {
				p.id = own
			}
		case "description":
			p.description = d.text("description", m.raw)
		case "default":
			p.chosen = d.number("default", m.raw)
			at["default"] = p.chosen
		case "labels":
			p.labels = d.labels(m.raw, at)
		case "versions":
			for _, v := range d.object("versions", m.raw) {
				d.version(p, v)
			}
		default:
			d.unknown("", m.name, "id", "description", "default", "labels", "versions")
		}
	}
	if !isSlug(p.id) {
		d.add("id", "must be letters, digits, '-', '_' and '.', at most %d of them", maxName)
	}
	if len(d.errs) > 0 {
		return p
	}
	if len(p.versions) == 0 {
		d.add("versions", `is missing: give at least {"1": {"request": {…}}}`)
	}
	for _, path := range slices.Sorted(maps.Keys(at)) {
		if p.versions[at[path]] == nil {
			d.add(path, "there is no version %d", at[path])
		}
	}
	return p
}

// labels reads which versions the labels stand for, and notes them in at.
func (d *decoder) labels(raw json.RawMessage, at map[string]int) map[string]int {
	out := map[string]int{}
	for _, m := range d.object("labels", raw) {
		path := join("labels", m.name)
		_, notNumber := strconv.Atoi(m.name)
		switch {
		case m.name == latest:
			d.add(path, "always stands for the highest version, and can't be set")
		case !isSlug(m.name) || notNumber == nil:
			d.add(path, "a label is letters, digits, '-', '_' and '.', at most %d of them, and no number", maxName)
		default:
			out[m.name] = d.number(path, m.raw)
			at[path] = out[m.name]
		}
	}
	return out
}

func (d *decoder) version(p *Prompt, m member) {
	path := "versions." + clip(m.name)
	number, ok := versionNumber(m.name)
	if !ok {
		d.add(path, "a version is a whole number from 1 on, without leading zeros")
		return
	}
	v := &version{number: number}
	asked := false
	for _, m := range d.object(path, m.raw) {
		switch m.name {
		case "description":
			v.description = d.text(path+".description", m.raw)
		case "request":
			asked = true
			d.request(v, path+".request", m.raw)
		default:
			d.unknown(path, m.name, "description", "request")
		}
	}
	if !asked {
		d.add(path+".request", "is missing: a chat completion with templates in its messages")
	}
	var source bytes.Buffer
	if json.Compact(&source, m.raw) == nil {
		v.source = source.String()
	}
	f := finder{map[string]bool{}, map[*template]bool{}}
	for i := range v.messages {
		v.messages[i].names(&f)
	}
	v.names = slices.Sorted(maps.Keys(f.names))
	p.versions[number] = v
	p.newest = max(p.newest, number)
}

// request reads the body of a chat completion whose messages have templates. Its
// other members are as they are.
func (d *decoder) request(v *version, path string, raw json.RawMessage) {
	var rest providers.Extra
	found := false
	for _, m := range d.object(path, raw) {
		at := join(path, m.name)
		switch {
		case m.name == "messages":
			found = true
			for i, raw := range d.list(at, m.raw) {
				d.message(v, index(at, i), raw)
			}
		case m.name == "stream":
			d.add(at, "is up to the call: leave it out")
		case m.name == "variables":
			d.add(at, "come with the call: leave it out")
		case m.name == "model" && strings.Contains(string(m.raw), "{{"):
			d.add(at, "has no templates: a call overrides the model")
		case d.strange(path, m.name, requestShape.members):
		default:
			d.check(at, m.raw, requestShape.below[m.name])
			_ = rest.Set(m.name, m.raw) // it is valid JSON
		}
	}
	if len(rest) > 0 {
		if err := v.request.UnmarshalJSON(rest); err != nil {
			d.invalid(path, err)
		}
	}
	if !found || len(v.messages) == 0 && len(d.errs) == 0 {
		d.add(path+".messages", "at least one is required")
	}
}

func (d *decoder) message(v *version, path string, raw json.RawMessage) {
	var m message
	members := d.object(path, raw)
	placeholder := slices.IndexFunc(members, func(f member) bool { return f.name == "placeholder" })
	for i, f := range members {
		switch {
		case placeholder < 0:
			if !d.strange(path, f.name, messageShape.members) {
				d.check(join(path, f.name), f.raw, messageShape.below[f.name])
			}
		case i == placeholder:
			m.placeholder = d.placeholder(join(path, f.name), f.raw)
		default:
			d.add(join(path, f.name), "has no meaning beside placeholder, which stands for whole messages")
		}
	}
	if placeholder < 0 && kindOf(raw) == '{' {
		if err := m.message.UnmarshalJSON(raw); err != nil {
			d.invalid(path, err)
			return
		}
		if !slices.Contains(roles(), m.message.Role) {
			d.add(path+".role", "must be system, developer, user, assistant or tool")
		}
		m.compile(&d.problems, path, d.partials)
	}
	v.messages = append(v.messages, m)
}

func (d *decoder) placeholder(path string, raw json.RawMessage) string {
	var name string
	if kindOf(raw) != '"' || json.Unmarshal(raw, &name) != nil || !isName(name) {
		d.add(path, "must be the name of a variable: letters, digits, _ and -")
	}
	return name
}

func roles() []string {
	return []string{providers.RoleSystem, providers.RoleDeveloper, providers.RoleUser, providers.RoleAssistant, providers.RoleTool}
}

// invalid reports what decoding found, whose text begins with a path of its own.
func (d *decoder) invalid(path string, err error) {
	text := err.Error()
	text, _, _ = strings.Cut(text, " (offset ")
	if !strings.HasPrefix(text, "expected") {
		path += "."
		d.errs = append(d.errs, errors.New(path+text))
		return
	}
	d.add(path, "%s", text)
}
