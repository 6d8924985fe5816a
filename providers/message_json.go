package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the message.
func (m Message) MarshalJSON() ([]byte, error) { return encode(m.encode) }

// UnmarshalJSON decodes a message.
func (m *Message) UnmarshalJSON(data []byte) error {
	*m = Message{}
	return decode(data, m.decode)
}

func (m *Message) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("role")
	w.String(m.Role)
	w.Key("content")
	m.Content.encode(w)
	putString(w, "name", m.Name)
	putString(w, "tool_call_id", m.ToolCallID)
	putList(w, "tool_calls", m.ToolCalls, (*ToolCall).encode)
	putList(w, "content_blocks", m.ContentBlocks, (*ContentPart).encode)
	encodeMedia(w, m.Audio, m.Annotations)
	w.Members(m.Extra)
	w.EndObject()
}

func (m *Message) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "role":
			m.Role = r.Intern(RoleUser)
		case "content":
			m.Content.decode(r)
		case "name":
			m.Name = r.String()
		case "tool_call_id":
			m.ToolCallID = r.String()
		case "tool_calls":
			m.ToolCalls = getList(r, (*ToolCall).decode)
		case "content_blocks":
			m.ContentBlocks = getList(r, (*ContentPart).decode)
		case "audio":
			m.Audio = getObject(r, (*Audio).decode)
		case "annotations":
			m.Annotations = getList(r, (*Annotation).decode)
		default:
			m.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes a string, an array of parts, or null.
func (c Content) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a string, an array of parts, or null.
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = Content{}
	return decode(data, c.decode)
}

func (c *Content) encode(w *jsonx.Writer) {
	switch c.kind {
	case contentText:
		w.String(c.text)
	case contentParts:
		list(w, c.parts, (*ContentPart).encode)
	default:
		w.Null()
	}
}

func (c *Content) decode(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.Null:
		r.Skip()
	case jsonx.String:
		*c = TextContent(r.String())
	case jsonx.Array:
		*c = PartsContent(getList(r, (*ContentPart).decode)...)
	default:
		r.Failf("expected a string or an array of content parts")
	}
}

// MarshalJSON encodes the part.
func (p ContentPart) MarshalJSON() ([]byte, error) { return encode(p.encode) }

// UnmarshalJSON decodes a part.
func (p *ContentPart) UnmarshalJSON(data []byte) error {
	*p = ContentPart{}
	return decode(data, p.decode)
}

func (p *ContentPart) appendJSON(dst []byte) []byte {
	w := writer(dst)
	p.encode(&w)
	return w.Bytes()
}

func (p *ContentPart) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("type")
	w.String(p.Type)
	p.encodeMembers(w, p.Type == PartText, p.Type == PartThinking)
	w.EndObject()
}

// encodeMembers writes all but the type. An empty text or thinking is written
// only when asked for.
func (p *ContentPart) encodeMembers(w *jsonx.Writer, text, thinking bool) {
	if text || p.Text != "" {
		w.Key("text")
		w.String(p.Text)
	}
	if thinking || p.Thinking != "" {
		w.Key("thinking")
		w.String(p.Thinking)
	}
	putString(w, "signature", p.Signature)
	putString(w, "data", p.Data)
	if p.ImageURL != nil {
		w.Key("image_url")
		p.ImageURL.encode(w)
	}
	if p.InputAudio != nil {
		w.Key("input_audio")
		p.InputAudio.encode(w)
	}
	if p.File != nil {
		w.Key("file")
		p.File.encode(w)
	}
	w.Members(p.Extra)
}

func (p *ContentPart) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			p.Type = r.Intern(PartText)
		case "text":
			p.Text = r.String()
		case "thinking":
			p.Thinking = r.String()
		case "signature":
			p.Signature = r.String()
		case "data":
			p.Data = r.String()
		case "image_url":
			p.ImageURL = getObject(r, (*ImageURL).decode)
		case "input_audio":
			p.InputAudio = getObject(r, (*InputAudio).decode)
		case "file":
			p.File = getObject(r, (*File).decode)
		default:
			p.Extra.keep(r)
		}
	}
}

func (u *ImageURL) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("url")
	w.String(u.URL)
	putString(w, "detail", u.Detail)
	putString(w, "mime_type", u.MimeType)
	w.Members(u.Extra)
	w.EndObject()
}

// decode also takes the bare string form {"image_url":"…"}.
func (u *ImageURL) decode(r *jsonx.Reader) {
	if r.Kind() == jsonx.String {
		u.URL = r.String()
		return
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "url":
			u.URL = r.String()
		case "detail":
			u.Detail = r.String()
		case "mime_type":
			u.MimeType = r.String()
		default:
			u.Extra.keep(r)
		}
	}
}

func (a *InputAudio) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("data")
	w.String(a.Data)
	putString(w, "format", a.Format)
	w.Members(a.Extra)
	w.EndObject()
}

func (a *InputAudio) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "data":
			a.Data = r.String()
		case "format":
			a.Format = r.String()
		default:
			a.Extra.keep(r)
		}
	}
}

func (f *File) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "file_data", f.FileData)
	putString(w, "file_id", f.FileID)
	putString(w, "file_url", f.FileURL)
	putString(w, "filename", f.Filename)
	putString(w, "mime_type", f.MimeType)
	w.Members(f.Extra)
	w.EndObject()
}

func (f *File) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "file_data":
			f.FileData = r.String()
		case "file_id":
			f.FileID = r.String()
		case "file_url":
			f.FileURL = r.String()
		case "filename":
			f.Filename = r.String()
		case "mime_type":
			f.MimeType = r.String()
		default:
			f.Extra.keep(r)
		}
	}
}
