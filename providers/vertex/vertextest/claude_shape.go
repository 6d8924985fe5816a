package vertextest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// CheckMessages holds the body of a call to a Claude on this platform against
// the shape of the Messages API: members, types, values, roles, turns, the pairs
// of tool calls and results, cache marks. It is strict about unknown members.
// The error names the first offence and its path. What depends on the model, and
// whether signatures are genuine, only a [Server] can tell.
func CheckMessages(body []byte) error { return checkMessages("request", body) }

// CheckMessagesCount is [CheckMessages] for a call that counts tokens.
func CheckMessagesCount(body []byte) error { return checkMessages("count", body) }

func checkMessages(object string, body []byte) error {
	v, err := decodeBody(body)
	if err != nil {
		return err
	}
	c, err := readClaude(object, v, body)
	if err != nil {
		return err
	}
	return c.applyRules()
}

// claudeInvalid returns a 400 of the Messages API with a formatted message.
func claudeInvalid(format string, args ...any) error {
	return &statusError{Code: http.StatusBadRequest, Status: "invalid_request_error", Message: fmt.Sprintf(format, args...), own: true}
}

// claudeShape walks a body along claudeObjects. The notation of types: string,
// integer, number, boolean, object and any stand for themselves; [t] is a list;
// @name is an object with the members of its row; #name is an object whose row
// is name, a dot and the object's type; a|b is either.
type claudeShape struct{ objects map[string][]claudeMember }

// value checks v, found at path, against a type.
func (s claudeShape) value(is string, v any, path string) error {
	if list, ok := v.([]any); ok && strings.HasPrefix(is, "string|") {
		return s.value(strings.TrimPrefix(is, "string|"), list, path)
	}
	is, _, _ = strings.Cut(is, "|")
	switch is[0] {
	case '[':
		list, ok := v.([]any)
		if !ok {
			return claudeInvalid("%s: Input should be a valid list", path)
		}
		for i, item := range list {
			if err := s.value(is[1:len(is)-1], item, claudePath(path, strconv.Itoa(i))); err != nil {
				return err
			}
		}
		return nil
	case '@', '#':
		object, ok := v.(map[string]any)
		if !ok {
			return claudeInvalid("%s: Input should be a valid dictionary", path)
		}
		return s.named(is, object, path)
	}
	return claudeScalar(is, v, path)
}

// claudeScalar checks the type of a value without members of its own.
func claudeScalar(is string, v any, path string) error {
	words := map[string]string{"object": "dictionary", "boolean": "boolean", "string": "string", "integer": "integer", "number": "number"}
	if is != "any" && !hasType(is, v) {
		return claudeInvalid("%s: Input should be a valid %s", path, words[is])
	}
	return nil
}

// named checks an object against its row, which the object's type may choose.
func (s claudeShape) named(is string, object map[string]any, path string) error {
	if is[0] == '@' {
		return s.object(is[1:], object, path)
	}
	tag, tagged := object["type"].(string)
	union, row := is[1:], tag
	if union == "tool" {
		dated := datedTool.FindStringSubmatch(tag)
		switch {
		case !tagged:
			row = "custom"
		case dated != nil:
			row = dated[1]
		}
	}
	if _, ok := object["type"]; ok && !tagged {
		return claudeInvalid("%s.type: Input should be a valid string", path)
	}
	if row == "" {
		return claudeInvalid("%s.type: Field required", path)
	}
	if _, ok := s.objects[union+"."+row]; ok {
		return s.object(union+"."+row, object, claudePath(path, row))
	}
	switch {
	case union == "image" || union == "document":
		return claudeInvalid("%s: source type '%s' is not supported; provide the data as base64", path, tag)
	default:
		return claudeInvalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: %s", path, tag, strings.Join(s.tags(union), ", "))
	}
}

// tags lists the types of a union in the API's words.
func (s claudeShape) tags(union string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if tag, ok := strings.CutPrefix(name, union+"."); ok {
			list = append(list, "'"+tag+"'")
		}
	}
	return list
}

// object checks the members of an object against a row.
func (s claudeShape) object(row string, object map[string]any, path string) error {
	members := s.objects[row]
	for _, m := range members {
		v, ok := object[m.name]
		at := claudePath(path, m.name)
		switch {
		case !ok && m.need:
			return claudeInvalid("%s: Field required", at)
		case !ok, v == nil && !m.need:
			continue
		}
		if err := s.value(m.is, v, at); err != nil {
			return err
		}
		if m.check == nil {
			continue
		}
		if wrong := m.check(v); wrong != "" {
			return claudeInvalid("%s: %s", at, wrong)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		tag := name == "type" && strings.Contains(row, ".")
		if !tag && !slices.ContainsFunc(members, func(m claudeMember) bool { return m.name == name }) {
			return claudeInvalid("%s: Extra inputs are not permitted", claudePath(path, name))
		}
	}
	return nil
}

// claudePath extends a path.
func claudePath(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
