package prompts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/catalog"
)

// problems collects mistakes with the paths they were found at.
type problems struct{ errs []error }

func (p *problems) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	p.errs = append(p.errs, errors.New(text))
}

// unknown reports a member that does not exist.
func (p *problems) unknown(path, name string, known ...string) {
	p.add(join(path, name), "unknown member%s", hint(catalog.Near(name, known)))
}

// wellFormed reports what keeps data from being one JSON value of bearable size.
func wellFormed(data []byte) error {
	if len(data) > maxText {
		return fmt.Errorf("larger than %d MiB", maxText>>20)
	}
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
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
	return fmt.Errorf("not valid JSON at line %d, column %d", bytes.Count(head, []byte("\n"))+1, at-bytes.LastIndexByte(head, '\n')-1)
}

// member is one name and value of an object.
type member struct {
	name string
	raw  json.RawMessage
}

// object splits raw, which is well formed, into its members in order, and reports
// a name that is repeated.
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
		switch {
		case err != nil || !ok:
			p.add(path, "must be an object")
			return nil
		case seen[name]:
			p.add(join(path, name), "is given twice")
			continue
		}
		seen[name] = true
		out = append(out, member{name, value})
	}
	return out
}

// list splits an array.
func (p *problems) list(path string, raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if kindOf(raw) != '[' || json.Unmarshal(raw, &out) != nil {
		p.add(path, "must be a list")
	}
	return out
}

func (p *problems) text(path string, raw json.RawMessage) string {
	var s string
	if kindOf(raw) != '"' || json.Unmarshal(raw, &s) != nil {
		p.add(path, "must be a string")
	}
	return s
}

// number reads the number of a version.
func (p *problems) number(path string, raw json.RawMessage) int {
	n, ok := versionNumber(string(bytes.TrimSpace(raw)))
	if !ok {
		p.add(path, "must be the number of a version")
	}
	return n
}

// versionNumber reads a whole number from 1 on, without a leading zero.
func versionNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n <= maxVersion && strconv.Itoa(n) == s
}

// kindOf is the first byte of a value.
func kindOf(raw json.RawMessage) byte {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

// join appends a member's name to a path, quoted where it would be unclear.
func join(path, name string) string {
	switch {
	case !isName(name):
		return path + "[" + strconv.Quote(clip(name)) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// isSlug reports whether s is a name for a prompt or a label: ASCII letters,
// digits, '-', '_' and '.'.
func isSlug(s string) bool {
	return s != "" && len(s) <= maxName && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("-_.", c) < 0
	})
}
