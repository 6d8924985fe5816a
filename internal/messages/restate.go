package messages

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// Restate returns the error with the member at fault named as the caller named
// it.
func (q *Request) Restate(err error) error {
	var e *providers.Error
	if !errors.As(err, &e) || e.Param == "" {
		return err
	}
	own := *e
	own.Param = q.path(e.Param)
	return &own
}

// RestateWarnings returns the warnings with the same done to them.
func (q *Request) RestateWarnings(list []providers.Warning) []providers.Warning {
	own := slices.Clone(list) // observers may hold the others
	for i := range own {
		if own[i].Param != "" {
			own[i].Param = q.path(own[i].Param)
		}
	}
	return own
}

// renamed are the members that have another name in the chat schema. The first
// one that fits counts.
var renamed = []struct{ chat, own string }{
	{"max_completion_tokens", "max_tokens"},
	{"stop", "stop_sequences"},
	{"response_format.json_schema.schema", "output_config.format.schema"},
	{"response_format", "output_config.format"},
	{"parallel_tool_calls", "tool_choice.disable_parallel_tool_use"},
	{"user", "metadata.user_id"},
}

// inner are the same of parts, calls and tools.
var inner = []struct{ chat, own string }{
	{".function.arguments", ".input"},
	{".function.parameters", ".input_schema"},
	{".function.thought_signature", ""},
	{".function", ""},
	{".image_url.url", ".source"},
	{".image_url", ".source"},
	{".file.file_data", ".source.data"},
	{".file.file_url", ".source.url"},
	{".file.file_id", ".source.file_id"},
	{".file", ".source"},
	{".tool_call_id", ".tool_use_id"},
}

// path turns the path of a member of the chat request into that of the body's.
func (q *Request) path(param string) string {
	if i, rest, ok := index(param, "messages"); ok && i < len(q.origins) {
		return q.origins[i].within(rest)
	}
	if i, rest, ok := index(param, "tools"); ok {
		return "tools[" + strconv.Itoa(i) + "]" + rename(rest, inner)
	}
	return rename(param, renamed)
}

// within names a member of the message, whose path within it is rest.
func (o *origin) within(rest string) string {
	for _, list := range []string{".content", ".content_blocks"} {
		j, tail, ok := index(rest, list)
		switch {
		case !ok:
		case o.system:
			return o.path + "[" + strconv.Itoa(j) + "]" + tail
		default:
			return o.blockPath(j, o.parts) + rename(tail, inner)
		}
	}
	if j, tail, ok := index(rest, ".tool_calls"); ok {
		return o.blockPath(j, o.calls) + rename(tail, inner)
	}
	if o.system {
		return o.path
	}
	return o.path + rename(rest, inner)
}

// blockPath names the block that the element j of a list of the chat schema came
// from.
func (o *origin) blockPath(j int, from []int) string {
	if j < len(from) {
		j = from[j]
	}
	return o.path + ".content[" + strconv.Itoa(j) + "]"
}

// index splits "name[i]rest".
func index(path, name string) (i int, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, name+"[")
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(path, "]")
	i, err := strconv.Atoi(number)
	return i, rest, ok && err == nil && i >= 0
}

// rename replaces the beginning of a path by the table.
func rename(path string, table []struct{ chat, own string }) string {
	for _, t := range table {
		rest, ok := strings.CutPrefix(path, t.chat)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return t.own + rest
		}
	}
	return path
}
