package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeTool is one row of the table of tools that Claude models know by
// themselves. A tool's type is the row's, which has a date or gets one.
type claudeTool struct {
	kind string
	// name is the name that the tool must have; "" when the caller names it.
	name string
	// beta and own are the features that the tool needs on Vertex AI, and at the
	// vendor's own service; "" for none.
	beta, own string
	// dated is the type that stands for one without a date; "" for none.
	dated string
	// refused says why Vertex AI does not take the tool; "" when it does.
	refused string
	link    string
}

// claudeTools is the table. A type that is in no row goes as it is.
var claudeTools = []claudeTool{
	{"web_search", "web_search", "web-search-2025-03-05", "", "", "", claudeSearch},
	{"computer_20241022", "computer", "computer-use-2024-10-22", "computer-use-2024-10-22", "", "", computerPage},
	{"computer_20250124", "computer", "computer-use-2025-01-24", "computer-use-2025-01-24", "", "", computerPage},
	{"computer_20251124", "computer", "computer-use-2025-11-24", "computer-use-2025-11-24", "", "", computerPage},
	{"computer", "computer", "", "", "", "", computerPage},
	{"bash", "bash", "", "", "", "", claudeToolPage},
	{"text_editor_20241022", "str_replace_editor", "", "", "", "", claudeToolPage},
	{"text_editor_20250124", "str_replace_editor", "", "", "", "", claudeToolPage},
	{"text_editor", "str_replace_based_edit_tool", "", "", "", "", claudeToolPage},
	{"memory", "memory", "context-management-2025-06-27", "", "", "", claudeToolPage},
	{"tool_search_tool_regex", "tool_search_tool_regex", "tool-search-tool-2025-10-19", "", "", "", claudeToolPage},
	{"tool_search_tool_bm25", "tool_search_tool_bm25", "tool-search-tool-2025-10-19", "", "", "", claudeToolPage},
	{"code_execution", "code_execution", "", "", "code_execution_20250825", "the platform runs no code for these models", claudeCode},
	{"web_fetch", "web_fetch", "", "", "web_fetch_20250910", "the platform fetches no pages for these models", claudeFetch},
	{"advisor", "advisor", "", "advisor-tool-2026-03-01", "advisor_20260301", "the platform has no advisor", claudeAdvisor},
	{"mcp_toolset", "", "", mcpBeta, "", "the platform connects to no MCP servers", claudeMCP},
}

// mcpBeta is the feature of the connector to MCP servers, with the tools to be
// had in toolsets, and oldMCPBeta that with the tools in the servers.
const (
	mcpBeta    = "mcp-client-2025-11-20"
	oldMCPBeta = "mcp-client-2025-04-04"
)

const computerPage = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool"

// searchTool is the type of the web search that stands in for the search tools
// of other schemas, and searchOptions what it takes.
const searchTool = "web_search_20250305"

var searchOptions = []string{"max_uses", "allowed_domains", "blocked_domains", "user_location"}

// findClaudeTool returns the row for a type, or nil, and whether the type is one
// of the platform's at all: those end in a date.
func findClaudeTool(kind string) (row *claudeTool, known bool) {
	stem, dated := kind, false
	if n := len(kind) - len("_20250131"); n > 0 && strings.HasPrefix(kind[n:], "_20") {
		stem, dated = kind[:n], true
	}
	for i := range claudeTools {
		if t := &claudeTools[i]; (t.kind == kind || t.kind == stem) && (dated || t.refused != "") {
			return t, true
		}
	}
	return nil, dated
}

// isSearch reports whether a row is that of web search.
func isSearch(row *platformTool) bool {
	return row != nil && (row.wire == "googleSearch" || row.wire == "googleSearchRetrieval")
}

// tools writes the tools and how the model may choose among them.
func (e *claudeEncoder) tools() error {
	start := e.w.Len()
	e.w.Key("tools")
	e.w.BeginArray()
	open := e.w.Len()
	searches := 0
	for i := range e.q.Tools {
		t := &e.q.Tools[i]
		path := "tools[" + strconv.Itoa(i) + "]"
		if own, ok := nestedTool(t); ok {
			t = &own
		}
		row, native := findClaudeTool(t.Type)
		var err error
		switch {
		case native:
			if row != nil && row.name == "web_search" {
				searches++
			}
			e.nativeTool(path, t)
		case t.Type == "function" && !isSearch(askedFor(t)):
			if e.allowed(t.Function.Name) {
				err = e.function(i, t)
			}
		case isSearch(askedFor(t)):
			if searches++; searches > 1 {
				e.warnf(providers.WarnConflict, path, "left out: the tool is given twice")
				continue
			}
			e.search(path, t)
		default:
			e.warnf(providers.WarnUnsupported, path+".type", "left out: tools of this type are not known")
		}
		if err != nil {
			return err
		}
	}
	if raw, path := e.take("web_search_options"); raw != nil {
		if searches > 0 {
			e.warnf(providers.WarnConflict, path, "left out: the tool is given twice")
		} else {
			e.searchOptions(path, raw)
		}
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		if e.choice == "any" || e.choice == "tool" {
			e.warnf(providers.WarnUnsupported, "tool_choice", "left out: there are no tools to choose from")
		}
		return nil
	}
	e.w.EndArray()
	e.toolChoice()
	return nil
}

// nestedTool reads a tool of the platform whose own form is nested, with its
// type as a name: {"type":"computer","computer":{"name":"computer_20250124",…}}.
func nestedTool(t *providers.Tool) (own providers.Tool, ok bool) {
	inner, _ := t.Extra.Get(t.Type)
	raw, _ := jsonx.Lookup(inner, "name")
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.String {
		return own, false
	}
	own.Type = r.String()
	if _, ok = findClaudeTool(own.Type); !ok {
		return own, false
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("name")
	w.String(t.Type)
	w.Members(jsonx.DeleteMember(jsonx.DeleteMember(inner, "name"), "type"))
	w.EndObject()
	own.Extra = w.Bytes()
	return own, true
}

// nativeTool writes a tool in the platform's own form, as it came.
func (e *claudeEncoder) nativeTool(path string, t *providers.Tool) {
	row, _ := findClaudeTool(t.Type)
	if row == nil {
		row = &claudeTool{}
	}
	kind := t.Type
	switch {
	case e.m.Own:
		if e.needBeta(row.own); kind == row.kind {
			kind = cmp.Or(row.dated, kind)
		}
	case row.refused != "":
		e.warnf(providers.WarnUnsupported, path, "left out: "+row.refused)
		return
	default:
		e.needBeta(row.beta)
	}
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(kind)
	if _, named := t.Extra.Get("name"); !named {
		if name := cmp.Or(row.name, t.Function.Name); name != "" {
			e.w.Key("name")
			e.w.String(name)
		}
	}
	mark, _ := t.Extra.Get("cache_control")
	e.w.Members(jsonx.DeleteMember(t.Extra, "cache_control"))
	e.w.EndObject()
	e.mark(path+".cache_control", mark, false)
}

// search writes the platform's web search for a tool of another schema. Options
// may lie beside the type, within a member with the tool's name, or in the
// parameters of a function.
func (e *claudeEncoder) search(path string, t *providers.Tool) {
	e.beginSearch()
	if t.Type == "function" {
		e.options(path+".function.parameters", t.Function.Parameters)
	} else {
		e.options(path, t.Extra)
	}
	e.w.EndObject()
}

func (e *claudeEncoder) beginSearch() {
	if !e.m.Own {
		e.needBeta("web-search-2025-03-05")
	}
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(searchTool)
	e.w.Key("name")
	e.w.String("web_search")
}

func (e *claudeEncoder) options(path string, obj []byte) {
	for name, value := range jsonx.Members(obj) {
		r := jsonx.NewReader(value)
		switch {
		case string(value) == "null", slices.Contains(schemaWords, name):
		case r.Kind() == jsonx.Object && (isSearch(findPlatformTool(name)) || name == "parameters"):
			e.options(path+"."+name, value)
		case slices.Contains(searchOptions, name):
			e.w.Key(name)
			e.w.Raw(value)
		default:
			e.warnf(providers.WarnUnknown, path+"."+name, "left out: the tool has no such option")
		}
	}
}

// searchOptions writes the web search that web_search_options asks for.
func (e *claudeEncoder) searchOptions(path string, raw []byte) {
	e.beginSearch()
	for name, value := range jsonx.Members(raw) {
		place, ok := jsonx.Lookup(value, "approximate")
		switch r := jsonx.NewReader(place); {
		case name == "user_location" && ok && r.Kind() == jsonx.Object:
			e.w.Key("user_location")
			e.w.BeginObject()
			e.w.Key("type")
			e.w.String("approximate")
			e.w.Members(jsonx.DeleteMember(place, "type"))
			e.w.EndObject()
		case string(value) != "null":
			e.warnf(providers.WarnUnknown, path+"."+name, "left out: the platform's search does not know it")
		}
	}
	e.w.EndObject()
}

// allowed reports whether the tool choice leaves the function in. The platform
// can't be told to choose among some tools, so the others are not declared.
func (e *claudeEncoder) allowed(name string) bool {
	c := e.q.ToolChoice
	return c == nil || c.Mode != "allowed_tools" || slices.Contains(c.Allowed, name)
}

// toolMembers are members of a tool that the platform knows by that name.
var toolMembers = []string{"defer_loading", "input_examples", "eager_input_streaming", "allowed_callers"}

// maxClaudeName is how long the name of a function may be.
//
// Source: https://platform.claude.com/docs/en/api/messages#body-tools
const maxClaudeName = 128

// function writes a tool that the caller runs.
func (e *claudeEncoder) function(i int, t *providers.Tool) error {
	f := &t.Function
	if !isClaudeName(f.Name, maxClaudeName) {
		return providers.Invalid(toolPath(i, "name"), "for Claude models a function name has 1 to 128 letters, digits, _ and -")
	}
	e.w.BeginObject()
	e.w.Key("name")
	e.w.String(f.Name)
	if f.Description != "" {
		e.w.Key("description")
		e.w.String(f.Description)
	}
	strict := f.Strict != nil && *f.Strict
	if strict && !e.m.facts.Structured {
		strict = false
		e.warnf(providers.WarnUnsupported, toolPath(i, "strict"), "left out: this model can't be held to a schema")
	}
	e.w.Key("input_schema")
	if err := e.inputSchema(toolPath(i, "parameters"), f.Parameters, strict); err != nil {
		return err
	}
	if strict {
		e.w.Key("strict")
		e.w.Bool(true)
	}
	for _, name := range toolMembers {
		if raw, ok := toolMember(t, name); ok {
			e.w.Key(name)
			e.w.Raw(raw)
		}
	}
	e.w.EndObject()
	if raw, ok := toolMember(t, "cache_control"); ok {
		e.mark("tools["+strconv.Itoa(i)+"].cache_control", raw, false)
	}
	return nil
}

// toolMember finds a member beside the function or within it.
func toolMember(t *providers.Tool, name string) ([]byte, bool) {
	if raw, ok := t.Extra.Get(name); ok {
		return raw, true
	}
	return t.Function.Extra.Get(name)
}

// isEmptyObject reports whether raw is an object without members.
func isEmptyObject(raw []byte) bool {
	r := jsonx.NewReader(raw)
	r.Object()
	return !r.NextKey() && r.End() == nil
}

// inputSchema writes the schema of a function's arguments, which must be of type
// object. It is the caller's, byte for byte, unless the tool is strict.
func (e *claudeEncoder) inputSchema(path string, raw []byte, strict bool) error {
	if len(raw) == 0 || isEmptyObject(raw) {
		raw = []byte(`{"type":"object","properties":{}}`)
	}
	kind, ok := jsonx.Lookup(raw, "type")
	if ok && string(kind) != `"object"` {
		return providers.Invalid(path, "the arguments of a function are an object: give a JSON Schema of type object")
	}
	if !ok {
		var w jsonx.Writer
		w.BeginObject()
		w.Key("type")
		w.String("object")
		w.Members(raw)
		w.EndObject()
		raw = w.Bytes()
	}
	if strict {
		e.strictSchema(path, raw)
	} else {
		e.w.Raw(raw)
	}
	return nil
}

// claudeModes maps tool_choice to the platform's type.
//
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
var claudeModes = map[string]string{
	"auto": "auto", "none": "none", "required": "any", "any": "any", "validated": "auto", "function": "tool",
}

// toolMode settles the type of the tool choice.
func (e *claudeEncoder) toolMode() error {
	c := e.q.ToolChoice
	if c == nil {
		return nil
	}
	mode, names := claudeModes[c.Mode], c.Allowed
	switch c.Mode {
	case "function":
		names = []string{c.Name}
		if isSearch(findPlatformFunction(c.Name)) {
			return providers.Invalid("tool_choice", "the model itself decides when to use a tool of the platform: give auto")
		}
	case "validated":
		e.warnf(providers.WarnAdjusted, "tool_choice", "set to auto: the platform has no such mode for Claude models")
	case "allowed_tools":
		if mode = claudeModes[cmp.Or(c.AllowedMode, "auto")]; mode != "auto" && mode != "any" || len(c.Allowed) == 0 {
			return providers.Invalid("tool_choice.allowed_tools", "needs a mode, auto or required, and at least one tool")
		}
	}
	switch {
	case mode == "":
		return providers.Invalid("tool_choice", "must be none, auto, required or a function by name")
	case len(e.q.Tools) == 0 && (mode == "any" || mode == "tool" || c.Mode == "allowed_tools"):
		return providers.Invalid("tool_choice", "needs tools to choose from")
	}
	for _, name := range names {
		if !e.given(name) {
			return providers.Invalid("tool_choice", "names a function that is not in tools")
		}
	}
	e.choice = mode
	return nil
}

// given reports whether tools has a tool of that name.
func (e *claudeEncoder) given(name string) bool {
	return slices.ContainsFunc(e.q.Tools, func(t providers.Tool) bool {
		if t.Type == "function" {
			return t.Function.Name == name
		}
		raw, _ := t.Extra.Get("name")
		row, _ := findClaudeTool(t.Type)
		own := row != nil && (e.m.Own || row.refused == "")
		return string(raw) == strconv.Quote(name) || raw == nil && own && row.name == name
	})
}

// toolChoice writes the tool choice. One call at a time is said within it.
func (e *claudeEncoder) toolChoice() {
	one := e.q.ParallelToolCalls != nil && !*e.q.ParallelToolCalls && e.choice != "none"
	if e.choice == "" && !one {
		return
	}
	e.w.Key("tool_choice")
	e.w.BeginObject()
	e.w.Key("type")
	e.w.String(cmp.Or(e.choice, "auto"))
	if e.choice == "tool" {
		e.w.Key("name")
		e.w.String(e.q.ToolChoice.Name)
	}
	if one {
		e.w.Key("disable_parallel_tool_use")
		e.w.Bool(true)
	}
	e.w.EndObject()
}
