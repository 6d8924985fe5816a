package engine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/providers"
)

// maxFunctions is the most function declarations of one request.
const maxFunctions = 512

// tools writes the declarations and how the model may choose among them.
func (e *geminiEncoder) tools() error {
	choice, err := e.toolChoice()
	if err != nil {
		return err
	}
	told, err := e.wantsInvocations(&choice)
	if err != nil {
		return err
	}
	if len(e.q.Tools) == 0 && !e.wantsTools() {
		choice.lost(e)
		return nil
	}
	if e.m.facts.SpeaksOnly() {
		e.warnf(providers.WarnUnsupported, "tools", "left out: this model speaks a text and does nothing else")
		e.skipTools()
		return nil
	}
	if p := e.q.ParallelToolCalls; p != nil && !*p && len(e.q.Tools) > 0 {
		e.warnf(providers.WarnUnsupported, "parallel_tool_calls", "left out: the platform has no such switch")
	}
	start := e.w.Len()
	e.w.Key("tools")
	e.w.BeginArray()
	open := e.w.Len()
	functions, err := e.declarations()
	if err != nil {
		return err
	}
	p := platformEncoder{geminiEncoder: e, functions: functions > 0}
	if choice.mode == "NONE" && !choice.native { // which the platform understands of functions alone
		e.skipTools()
	} else if err := p.write(); err != nil {
		return err
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		choice.lost(e)
		return nil
	}
	e.w.EndArray()
	e.tooled = true
	if functions == 0 && !p.declares {
		choice.withoutFunctions(e)
	}
	if p.place != nil {
		choice.setPlace(e, p.place)
	}
	choice.tell = e.m.Own && p.tells(told)
	e.toolConfig(&choice)
	return nil
}

// wantsTools reports whether members beyond the schema ask for tools.
func (e *geminiEncoder) wantsTools() bool {
	return e.wants("google.tools") || e.wants("web_search_options")
}

// skipTools marks the members that ask for tools as dealt with.
func (e *geminiEncoder) skipTools() {
	e.take("google.tools")
	e.take("web_search_options")
}

// declarations writes all functions into one tool, and returns how many.
func (e *geminiEncoder) declarations() (int, error) {
	n := 0
	for i := range e.q.Tools {
		t := &e.q.Tools[i]
		if !e.isFunction(t) || !e.allowed(t.Function.Name) {
			continue
		}
		if n == maxFunctions {
			return 0, providers.Invalid("tools", "512 functions at most")
		}
		if n == 0 {
			e.w.BeginObject()
			e.w.Key("functionDeclarations")
			e.w.BeginArray()
		}
		n++
		if err := e.declaration(i, &t.Function); err != nil {
			return 0, err
		}
	}
	if n > 0 {
		e.w.EndArray()
		e.w.EndObject()
	}
	return n, nil
}

func (e *geminiEncoder) isFunction(t *providers.Tool) bool {
	return namesFunction(t) && e.m.has(askedFor(t)) == nil
}

// namesFunction reports whether the tool is one by name: some clients leave the
// type of functions out.
func namesFunction(t *providers.Tool) bool {
	return t.Type == "function" || t.Type == "" && t.Function.Name != ""
}

// allowed reports whether the tool choice leaves the function in. The platform
// can't be told to choose freely among some functions, so the others are not
// declared.
func (e *geminiEncoder) allowed(name string) bool {
	c := e.q.ToolChoice
	return c == nil || c.Mode != "allowed_tools" || slices.Contains(c.Allowed, name)
}

func (e *geminiEncoder) declaration(i int, f *providers.FunctionDefinition) error {
	if !isFunctionName(f.Name) {
		return providers.Invalid(toolPath(i, "name"), "a function name begins with a letter or _ and has at most "+
			"128 letters, digits and _ . : -")
	}
	e.w.BeginObject()
	e.w.Key("name")
	e.w.String(f.Name)
	if f.Description != "" {
		e.w.Key("description")
		e.w.String(f.Description)
	}
	if len(f.Parameters) > 0 {
		err := e.schema(f.Parameters, schemaOf{
			json: "parametersJsonSchema", message: "parameters", options: schema.Options{
				Parameters: true, Ordering: e.m.facts.SchemaForm, // a message has no order of its own
			},
		}, func() string { return toolPath(i, "parameters") })
		if err != nil {
			return err
		}
	}
	e.w.EndObject()
	return nil
}

// toolModes maps tool_choice to the platform's mode.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai
var toolModes = map[string]string{
	"auto": "AUTO", "none": "NONE", "required": "ANY", "any": "ANY",
	"validated": "VALIDATED", "function": "ANY", "tool": "ANY", "": "ANY", // the last three with a name
}

// toolMode returns the platform's mode for the tool choice, "" when none is
// given, and the functions it names.
func (e *geminiEncoder) toolMode() (mode string, names []string, err error) {
	c := e.q.ToolChoice
	if c == nil || c.Mode == "" && c.Name == "" && len(c.Allowed) == 0 {
		return "", nil, nil
	}
	mode = toolModes[c.Mode]
	switch c.Mode {
	case "function", "tool", "":
		names = []string{c.Name}
	case "allowed_tools":
		if mode = toolModes[cmp.Or(c.AllowedMode, "auto")]; mode != "AUTO" && mode != "ANY" || len(c.Allowed) == 0 {
			return "", nil, providers.Invalid("tool_choice.allowed_tools", "needs a mode, auto or required, and at least one tool")
		}
	}
	switch {
	case mode == "":
		return "", nil, providers.Invalid("tool_choice", "must be none, auto, required, validated or a function by name")
	case len(e.q.Tools) == 0 && mode != "NONE" && c.Mode != "auto" && !e.wants("google.tools"):
		return "", nil, providers.Invalid("tool_choice", "needs tools to choose from")
	case len(names) > 0 && e.isPlatforms(c.Name):
		return "", nil, providers.Invalid("tool_choice", "the model itself decides when to use a tool of the platform: give auto")
	}
	for _, name := range slices.Concat(names, c.Allowed) {
		if !e.given(name) && !e.wants("google.tools") { // which may declare it
			return "", nil, providers.Invalid("tool_choice", "names a function that is not in tools")
		}
		if c.Mode == "allowed_tools" && !e.isPlatforms(name) {
			names = append(names, name)
		}
	}
	return mode, names, nil
}

// toolName returns the function's name, or the type of a tool of the platform.
func toolName(t *providers.Tool) string {
	if namesFunction(t) {
		return t.Function.Name
	}
	return t.Type
}

// isPlatforms reports whether a name in the tool choice is that of a tool which the
// platform runs, rather than one of the caller's functions.
func (e *geminiEncoder) isPlatforms(name string) bool {
	for i := range e.q.Tools {
		if t := &e.q.Tools[i]; toolName(t) == name {
			return !e.isFunction(t)
		}
	}
	return e.m.platformTool(name) != nil
}

// given reports whether there is a tool of that name.
func (e *geminiEncoder) given(name string) bool {
	return slices.ContainsFunc(e.q.Tools, func(t providers.Tool) bool {
		return name != "" && toolName(&t) == name
	})
}

// isFunctionName checks the platform's grammar of function names.
func isFunctionName(s string) bool {
	if s == "" || len(s) > 128 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '.' && c != ':' && c != '-') {
			return false
		}
	}
	return true
}

func toolPath(i int, member string) string {
	return below("tools["+strconv.Itoa(i)+"].function", member)
}
