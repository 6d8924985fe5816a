package engine

import (
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// toolSelection is how the model may choose among the tools: what tool_choice
// asks for, and tool_config in the platform's own form.
type toolSelection struct {
	mode   string   // "" when none is given
	names  []string // of functions, for ANY
	stream bool     // arguments come in pieces
	place  []byte   // retrievalConfig, raw; nil for none

	told    []byte          // includeServerSideToolInvocations; nil when it is not given
	tell    bool            // the calls of the service's own tools are told
	placed  string          // where tool_config has the place
	path    string          // of tool_config, "" when it is not given
	native  bool            // mode is tool_config's
	calling providers.Extra // its other members of functionCallingConfig
	rest    providers.Extra // its other members
}

// toolChoice reads what the request says of the choice among tools.
func (e *geminiEncoder) toolChoice() (c toolSelection, err error) {
	if c.mode, c.names, err = e.toolMode(); err != nil {
		return c, err
	}
	c.stream = e.streamArguments(e.take("stream_function_call_arguments"))
	raw, path := e.take("tool_config")
	if raw == nil {
		return c, nil
	}
	c.path = path
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return c, providers.Invalid(path, "must be an object such as {\"functionCallingConfig\":{\"mode\":\"ANY\"}}")
	}
	for name, value := range jsonx.Members(raw) {
		switch {
		case string(value) == "null":
		case camel(name) == "functionCallingConfig":
			if err := c.readCalling(e, path+"."+name, value); err != nil {
				return c, err
			}
		case camel(name) == "retrievalConfig":
			c.place, c.placed = value, path+"."+name
		case camel(name) == "includeServerSideToolInvocations":
			c.told = value
		default:
			c.rest = jsonx.AppendMember(c.rest, name, value)
		}
	}
	return c, nil
}

// readCalling reads functionCallingConfig. What tool_choice says goes before it.
func (c *toolSelection) readCalling(e *geminiEncoder, path string, raw []byte) error {
	r := jsonx.NewReader(raw)
	if r.Kind() != jsonx.Object {
		return providers.Invalid(path, "must be an object such as {\"mode\":\"ANY\"}")
	}
	chosen := c.mode != ""
	for name, value := range jsonx.Members(raw) {
		switch key := camel(name); {
		case string(value) == "null":
		case key == "streamFunctionCallArguments":
			c.stream = e.streamArguments(value, path+"."+name) || c.stream
		case chosen && (key == "mode" || key == "allowedFunctionNames"):
			e.warnf(providers.WarnConflict, path+"."+name, "left out: tool_choice is given too")
		case key == "mode":
			r := jsonx.NewReader(value)
			if c.mode, c.native = r.String(), true; r.Err() != nil {
				return providers.Invalid(path+"."+name, "must be AUTO, ANY, NONE or VALIDATED")
			}
		default:
			c.calling = jsonx.AppendMember(c.calling, name, value)
		}
	}
	return nil
}

// streamArguments reports whether the arguments of calls are to come in pieces,
// as the member at path asks.
func (e *geminiEncoder) streamArguments(raw []byte, path string) bool {
	if string(raw) != "true" {
		return false
	}
	switch {
	case !e.in.stream:
		e.warnf(providers.WarnUnsupported, path, "left out: the answer is not streamed")
	case !e.m.facts.StreamsArguments || e.m.Own:
		e.warnf(providers.WarnUnsupported, path, "left out: this model gives arguments whole")
	default:
		return true
	}
	return false
}

// setPlace takes the place that an option of the maps names.
func (c *toolSelection) setPlace(e *geminiEncoder, place []byte) {
	if c.place != nil {
		e.warnf(providers.WarnConflict, c.placed, "left out: the tool google_maps has a place of its own")
	}
	c.place = place
}

// withoutFunctions drops what is about functions: there are none.
func (c *toolSelection) withoutFunctions(e *geminiEncoder) {
	path := "tool_choice"
	if c.native || len(c.calling) > 0 {
		path = c.path + ".functionCallingConfig"
	}
	if c.mode == "ANY" || c.mode == "VALIDATED" || len(c.calling) > 0 {
		e.warnf(providers.WarnUnsupported, path, "left out: it is about functions, and there are none")
	}
	c.mode, c.names, c.stream, c.calling = "", nil, false, nil
}

// lost tells that there are no tools that tool_config could be about.
func (c *toolSelection) lost(e *geminiEncoder) {
	if c.native || len(c.calling) > 0 || len(c.rest) > 0 || c.place != nil {
		e.warnf(providers.WarnUnsupported, c.path, "left out: it is about tools, and there are none")
	}
}

// toolConfig writes how the model may choose among the functions, and the place
// that maps are asked about. It has no tokens to count.
func (e *geminiEncoder) toolConfig(c *toolSelection) {
	calls := c.mode != "" || c.stream || len(c.calling) > 0
	if !calls && c.place == nil && !c.tell && len(c.rest) == 0 || e.purpose == toCount {
		return
	}
	e.w.Key("toolConfig")
	e.w.BeginObject()
	if calls {
		e.callingConfig(c)
	}
	if c.place != nil {
		e.w.Key("retrievalConfig")
		writeCamel(&e.w, c.place)
	}
	if c.tell {
		e.w.Key("includeServerSideToolInvocations")
		e.w.Bool(true)
	}
	writeMembers(&e.w, c.rest)
	e.w.EndObject()
}

func (e *geminiEncoder) callingConfig(c *toolSelection) {
	e.w.Key("functionCallingConfig")
	e.w.BeginObject()
	if c.mode != "" {
		e.w.Key("mode")
		e.w.String(c.mode)
	}
	if c.mode == "ANY" && len(c.names) > 0 {
		e.w.Key("allowedFunctionNames")
		e.w.BeginArray()
		for _, name := range c.names {
			e.w.String(name)
		}
		e.w.EndArray()
	}
	if c.stream {
		e.w.Key("streamFunctionCallArguments")
		e.w.Bool(true)
	}
	writeMembers(&e.w, c.calling)
	e.w.EndObject()
}

// writeMembers writes members in the platform's own form.
func writeMembers(w *jsonx.Writer, members providers.Extra) {
	for name, value := range jsonx.Members(members) {
		writeMember(w, camel(name), value)
	}
}
