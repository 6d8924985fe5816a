package messages

import (
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// tools reads the list. A tool of the caller's own becomes a function; one that
// has a type, such as web_search_20250305, keeps it and its options.
func (d *decoder) tools() {
	r, q := &d.r, &d.req.Chat
	for r.Array(); r.NextElem(); {
		kind := typeOf(r)
		if kind == "" || kind == "custom" {
			q.Tools = append(q.Tools, d.function())
			continue
		}
		t := providers.Tool{Type: kind}
		for r.Object(); r.NextKey(); {
			if string(r.Key()) == "type" {
				r.Skip()
			} else {
				keep(r, &t.Extra)
			}
		}
		if kind == "function" {
			r.Failf(`tools are {"name","description","input_schema"} here, without a type`)
		}
		q.Tools = append(q.Tools, t)
	}
}

// function reads a tool of the caller's own. The schema's bytes stay as they
// are.
func (d *decoder) function() providers.Tool {
	r := &d.r
	t := providers.Tool{Type: "function"}
	f := &t.Function
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			r.Skip()
		case "name":
			if f.Name = r.String(); f.Name == "" {
				r.Failf("must not be empty")
			}
		case "description":
			f.Description = r.String()
		case "input_schema":
			if r.Kind() != jsonx.Object {
				r.Failf(`must be a JSON Schema of type "object"`)
			}
			f.Parameters = r.Raw()
		case "strict":
			if !r.Null() {
				f.Strict = new(r.Bool())
			}
		default:
			keep(r, &t.Extra)
		}
	}
	switch {
	case f.Name == "":
		r.Failf(`"name" is required`)
	case f.Parameters == nil:
		r.Failf(`"input_schema" is required: a JSON Schema of type "object"`)
	}
	return t
}

// choices are the types of a tool choice, with the modes of the chat schema.
var choices = map[string]string{"auto": "auto", "any": "required", "tool": "function", "none": "none"}

func (d *decoder) toolChoice() {
	r, q := &d.r, &d.req.Chat
	if r.Null() {
		return
	}
	c := new(providers.ToolChoice)
	kind := ""
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			kind = r.String()
			if c.Mode = choices[kind]; c.Mode == "" {
				r.Failf("must be auto, any, tool or none")
			}
		case "name":
			c.Name = r.String()
		case "disable_parallel_tool_use":
			if r.Bool() {
				q.ParallelToolCalls = new(false)
			}
		default:
			keep(r, &c.Extra)
		}
	}
	switch {
	case kind == "":
		r.Failf(`"type" is required: auto, any, tool or none`)
	case kind == "tool" && c.Name == "":
		r.Failf(`"name" is required: the tool that must be called`)
	case kind != "tool":
		c.Name = ""
	}
	q.ToolChoice = c
}

// typeOf returns the type of the object that the reader stands at.
func typeOf(r *jsonx.Reader) string { return peek(r, "type") }

// peek returns the text of a member of the object that the reader stands at,
// which it does not move; "" is none.
func peek(r *jsonx.Reader, member string) string {
	ahead := *r
	if ahead.Kind() != jsonx.Object {
		return ""
	}
	for ahead.Object(); ahead.NextKey(); {
		if string(ahead.Key()) == member {
			return ahead.String()
		}
	}
	return ""
}
