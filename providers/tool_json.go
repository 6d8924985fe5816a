package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the tool.
func (t Tool) MarshalJSON() ([]byte, error) { return encode(t.encode) }

// UnmarshalJSON decodes a tool.
func (t *Tool) UnmarshalJSON(data []byte) error {
	*t = Tool{}
	return decode(data, t.decode)
}

func (t *Tool) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("type")
	w.String(t.Type)
	if t.Type == "function" || t.Function.Name != "" {
		w.Key("function")
		t.Function.encode(w)
	}
	w.Members(t.Extra)
	w.EndObject()
}

func (t *Tool) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			t.Type = r.Intern("function")
		case "function":
			t.Function.decode(r)
		default:
			t.Extra.keep(r)
		}
	}
}

func (f *FunctionDefinition) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("name")
	w.String(f.Name)
	putString(w, "description", f.Description)
	putRaw(w, "parameters", f.Parameters)
	putBool(w, "strict", f.Strict)
	w.Members(f.Extra)
	w.EndObject()
}

func (f *FunctionDefinition) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "name":
			f.Name = r.String()
		case "description":
			f.Description = r.String()
		case "parameters":
			if !r.Null() {
				f.Parameters = r.Raw()
			}
		case "strict":
			f.Strict = optional(r, r.Bool)
		default:
			f.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the tool call.
func (c ToolCall) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a tool call.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	*c = ToolCall{}
	return decode(data, c.decode)
}

func (c *ToolCall) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("id")
	w.String(c.ID)
	w.Key("type")
	w.String(c.Type)
	w.Key("function")
	c.Function.encode(w)
	w.Members(c.Extra)
	w.EndObject()
}

func (c *ToolCall) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "id":
			c.ID = r.String()
		case "type":
			c.Type = r.Intern("function")
		case "function":
			c.Function.decode(r)
		default:
			c.Extra.keep(r)
		}
	}
}

func (f *FunctionCall) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("name")
	w.String(f.Name)
	w.Key("arguments")
	w.String(f.Arguments)
	putString(w, "thought_signature", f.ThoughtSignature)
	w.Members(f.Extra)
	w.EndObject()
}

func (f *FunctionCall) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "name":
			f.Name = r.String()
		case "arguments":
			f.decodeArguments(r)
		case "thought_signature":
			f.ThoughtSignature = r.String()
		default:
			f.Extra.keep(r)
		}
	}
}

// decodeArguments reads JSON text, or, as some clients send it, the object
// itself.
func (f *FunctionCall) decodeArguments(r *jsonx.Reader) {
	if r.Kind() == jsonx.Object {
		f.Arguments = string(r.Raw())
		return
	}
	f.Arguments = r.String()
}

func (d *ToolCallDelta) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Int(int64(d.Index))
	putString(w, "id", d.ID)
	putString(w, "type", d.Type)
	w.Key("function")
	w.BeginObject()
	putString(w, "name", d.Function.Name)
	w.Key("arguments")
	w.String(d.Function.Arguments)
	putString(w, "thought_signature", d.Function.ThoughtSignature)
	w.Members(d.Function.Extra)
	w.EndObject()
	w.Members(d.Extra)
	w.EndObject()
}

func (d *ToolCallDelta) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			d.Index = int(r.Int())
		case "id":
			d.ID = r.String()
		case "type":
			d.Type = r.Intern("function")
		case "function":
			d.Function.decode(r)
		default:
			d.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes a mode as a string and everything else as an object.
func (c ToolChoice) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a string or an object.
func (c *ToolChoice) UnmarshalJSON(data []byte) error {
	*c = ToolChoice{}
	return decode(data, c.decode)
}

func (c *ToolChoice) encode(w *jsonx.Writer) {
	switch c.Mode {
	case "function":
		w.BeginObject()
		w.Key("type")
		w.String("function")
		w.Key("function")
		w.BeginObject()
		w.Key("name")
		w.String(c.Name)
		w.EndObject()
		w.Members(c.Extra)
		w.EndObject()
	case "allowed_tools":
		c.encodeAllowed(w)
	default:
		c.encodeMode(w)
	}
}

// encodeMode writes a mode, or, when there is more than that, an object of
// another type.
func (c *ToolChoice) encodeMode(w *jsonx.Writer) {
	if c.Name == "" && len(c.Extra) == 0 {
		w.String(c.Mode)
		return
	}
	w.BeginObject()
	w.Key("type")
	w.String(c.Mode)
	putString(w, "name", c.Name)
	w.Members(c.Extra)
	w.EndObject()
}

func (c *ToolChoice) encodeAllowed(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("type")
	w.String("allowed_tools")
	w.Key("allowed_tools")
	w.BeginObject()
	putString(w, "mode", c.AllowedMode)
	w.Key("tools")
	w.BeginArray()
	for _, name := range c.Allowed {
		t := ToolChoice{Mode: "function", Name: name}
		t.encode(w)
	}
	w.EndArray()
	w.EndObject()
	w.Members(c.Extra)
	w.EndObject()
}

func (c *ToolChoice) decode(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.String:
		c.Mode = r.String()
		return
	case jsonx.Object:
	default:
		r.Failf("expected a string or an object")
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			c.Mode = r.String()
		case "function":
			c.Name = decodeName(r)
		case "name":
			c.Name = r.String()
		case "allowed_tools":
			c.decodeAllowed(r)
		default:
			c.Extra.keep(r)
		}
	}
}

// decodeName reads {"name":"…"}.
func decodeName(r *jsonx.Reader) string {
	var name string
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "name" {
			name = r.String()
		} else {
			r.Skip()
		}
	}
	return name
}

// decodeAllowed reads {"mode":"…","tools":[{"type":"function","function":{"name":"…"}}]}.
func (c *ToolChoice) decodeAllowed(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "mode":
			c.AllowedMode = r.String()
		case "tools":
			for r.Array(); r.NextElem(); {
				var t ToolChoice
				t.decode(r)
				if t.Name == "" && t.Mode != "function" {
					t.Name = t.Mode // a tool of the platform, by its type
				}
				c.Allowed = append(c.Allowed, t.Name)
			}
		default:
			r.Skip()
		}
	}
}
