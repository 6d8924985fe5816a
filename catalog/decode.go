package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/config"
)

// maxSize bounds a catalog, in bytes.
const maxSize = 16 << 20

// members lists the members of an entry in the order of the documentation.
func members() []string {
	return []string{
		"provider", "project_id", "region", "bucket", "storage_url", "base_url", "universe_domain", "quota_project", "headers",
		"api_version",
		"api_key", "service_account_file", "service_account_json", "access_token", "auth",
	}
}

// problems collects mistakes with the paths they were found at.
type problems struct {
	errs []error
	at   map[string]bool
}

func (p *problems) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	if p.at == nil {
		p.at = make(map[string]bool)
	}
	p.at[path] = true
	p.errs = append(p.errs, errors.New(text))
}

func (p *problems) err() error { return errors.Join(p.errs...) }

// decode reads and validates entries. When the shape of a member is wrong it goes
// on, so that every mistake is reported at once.
func decode(data []byte) (content, error) {
	var p problems
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := wellFormed(data); err != nil {
		return content{}, err
	}
	var out content
	for _, m := range p.object("", data) {
		switch m.name {
		case "providers":
			for _, e := range p.object("providers", m.raw) {
				out.entries = append(out.entries, p.entry(e))
			}
		case "configs":
			out.configs = p.configs(m)
		case "prompts":
			out.prompts = p.prompts(m)
		case "partials":
			out.partials = p.texts(m.name, m.raw)
		default:
			p.unknown("", m.name, []string{"providers", "configs", "prompts", "partials"})
		}
	}
	p.entries(out.entries)
	if err := p.err(); err != nil {
		return content{}, err
	}
	return out, nil
}

// content is what a catalog file holds.
type content struct {
	entries  []Entry
	configs  map[string]*config.Config
	prompts  map[string]json.RawMessage
	partials map[string]string
}

// configs reads configs. Each of their mistakes has its path.
func (p *problems) configs(m member) map[string]*config.Config {
	out := make(map[string]*config.Config)
	for _, one := range p.object(m.name, m.raw) {
		path := join(m.name, one.name)
		if !made(one.name, slugChars) {
			p.add(path, "an id is made of letters, digits, '-', '_' and '.', at most %d of them", maxName)
			continue
		}
		c, err := config.Parse(one.raw)
		if e, ok := errors.AsType[*config.Error](err); ok {
			for _, problem := range e.Problems {
				p.add(path+under(problem.Path), "%s", problem.Message)
			}
			continue
		}
		out[one.name] = c
	}
	return out
}

// under writes a path as the rest of another.
func under(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}

// prompts keeps prompts as they are written: what they are made of is known to the
// library that reads them.
func (p *problems) prompts(m member) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for _, prompt := range p.object(m.name, m.raw) {
		p.object(join(m.name, prompt.name), prompt.raw)
		out[prompt.name] = prompt.raw
	}
	return out
}

// texts decodes an object of strings.
func (p *problems) texts(path string, raw json.RawMessage) map[string]string {
	out := make(map[string]string)
	for _, m := range p.object(path, raw) {
		out[m.name] = p.text(join(path, m.name), m.raw)
	}
	return out
}

// wellFormed reports what keeps data from being one JSON value of bearable size.
// The position is all it repeats of the text, which may hold secrets.
func wellFormed(data []byte) error {
	if len(data) > maxSize {
		return fmt.Errorf("catalog: larger than %d MiB", maxSize>>20)
	}
	if !utf8.Valid(data) {
		return errors.New("catalog: not valid UTF-8")
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return nil
	}
	at := len(data)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = min(int(syntax.Offset), at)
	}
	head := data[:at]
	column := at - bytes.LastIndexByte(head, '\n') - 1
	return fmt.Errorf("catalog: not valid JSON at line %d, column %d", bytes.Count(head, []byte("\n"))+1, column)
}

// member is one name and value of an object, in file order.
type member struct {
	name string
	raw  json.RawMessage
}

// object splits raw into its members and reports a repeated name. raw is well
// formed.
func (p *problems) object(path string, raw json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		p.add(path, "must be an object")
		return nil
	}
	var out []member
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err == nil && ok {
			err = dec.Decode(&value)
		}
		if err != nil || !ok {
			p.add(path, "must be an object")
			return nil
		}
		if seen[name] {
			p.add(join(path, name), "is given twice")
			continue
		}
		seen[name] = true
		out = append(out, member{name, value})
	}
	return out
}

// entry decodes one provider. Members of the wrong shape are reported and left
// empty.
func (p *problems) entry(m member) Entry {
	path := join("providers", m.name)
	e := Entry{Slug: m.name}
	text := map[string]*string{
		"provider": &e.Provider, "project_id": &e.ProjectID, "region": &e.Region, "bucket": &e.Bucket, "storage_url": &e.StorageURL,
		"base_url": &e.BaseURL, "universe_domain": &e.UniverseDomain, "quota_project": &e.QuotaProject, "api_version": &e.APIVersion,
		"service_account_file": &e.ServiceAccountFile, "auth": &e.Auth,
		"access_token": (*string)(&e.AccessToken), "api_key": (*string)(&e.APIKey),
	}
	for _, f := range p.object(path, m.raw) {
		at := join(path, f.name)
		switch {
		case text[f.name] != nil:
			*text[f.name] = p.text(at, f.raw)
		case f.name == "headers":
			e.Headers = p.headers(at, f.raw)
		case f.name == "service_account_json":
			if p.object(at, f.raw); !p.at[at] {
				e.ServiceAccountJSON = Secret(f.raw)
			}
		default:
			p.unknown(path, f.name, members())
		}
	}
	return e
}

// headers decodes an object of strings.
func (p *problems) headers(path string, raw json.RawMessage) map[string]Secret {
	out := make(map[string]Secret)
	for _, m := range p.object(path, raw) {
		out[m.name] = Secret(p.text(join(path, m.name), m.raw))
	}
	return out
}

// text decodes a string that isn't empty: a member given as "" is more often a
// failed substitution than a wish for the default.
func (p *problems) text(path string, raw json.RawMessage) string {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		p.add(path, "must be a string")
		return ""
	}
	if *s == "" {
		p.add(path, "is empty: give a value or leave the member out")
	}
	return *s
}

// unknown reports a member that doesn't exist, with the name that may be meant.
func (p *problems) unknown(path, name string, known []string) {
	hint := ""
	if alike := Near(name, known); len(alike) > 0 {
		hint = fmt.Sprintf(" (did you mean %q?)", alike[0])
	}
	p.add(join(path, name), "unknown member%s", hint)
}

// join appends a member name to a path, quoted where it would be unclear.
func join(path, name string) string {
	plain := name != "" && len(name) <= maxQuote && !slices.ContainsFunc([]rune(name), func(r rune) bool {
		return r == '.' || !strings.ContainsRune(slugChars, r)
	})
	switch {
	case !plain:
		return path + "[" + quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
