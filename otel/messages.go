package gatewayotel

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// message is a message of input or output.
//
// Sources:
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-input-messages.json
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-output-messages.json
type message struct {
	Role         string  `json:"role"`
	Parts        []any   `json:"parts"`
	Name         string  `json:"name,omitempty"`
	FinishReason *string `json:"finish_reason,omitempty"`
}

// The parts of messages, by the definitions of those schemas.
type (
	wording struct { // TextPart and ReasoningPart
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	request struct { // ToolCallRequestPart
		Type      string `json:"type"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name"`
		Arguments any    `json:"arguments,omitempty"`
	}
	result struct { // ToolCallResponsePart
		Type     string `json:"type"`
		ID       string `json:"id,omitempty"`
		Response any    `json:"response"`
	}
	media struct { // BlobPart, UriPart and FilePart
		Type       string  `json:"type"`
		MimeType   string  `json:"mime_type,omitempty"`
		Modality   string  `json:"modality"`
		Content    *string `json:"content,omitempty"` // "" stands for bytes that are left out
		URI        string  `json:"uri,omitempty"`
		FileID     string  `json:"file_id,omitempty"`
		Transcript string  `json:"transcript,omitempty"`
	}
	generic struct { // GenericPart
		Type string `json:"type"`
		Of   string `json:"generic_type"`
	}
	tool struct { // FunctionToolDefinition and GenericToolDefinition
		Type        string `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Parameters  any    `json:"parameters,omitempty"`
	}
)

func isInstruction(role string) bool {
	return role == providers.RoleSystem || role == providers.RoleDeveloper
}

// instructions are the texts of system messages, which platforms take apart from the
// conversation.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-system-instructions.json
func (w *writer) instructions(messages []providers.Message) []any {
	var out []any
	for i := range messages {
		if m := &messages[i]; isInstruction(m.Role) {
			out = append(out, wording{"text", w.say(m.Content.Text())})
		}
	}
	return out
}

// turns are the other messages.
func (w *writer) turns(messages []providers.Message) []any {
	var out []any
	for i := range messages {
		if m := &messages[i]; !isInstruction(m.Role) {
			out = append(out, message{Role: m.Role, Name: m.Name, Parts: w.parts(m)})
		}
	}
	return out
}

// choices are the messages of an answer.
func (w *writer) choices(choices []providers.Choice, reasons bool) []any {
	var out []any
	for i := range choices {
		c := &choices[i]
		m := message{Role: providers.RoleAssistant, Parts: w.parts(&c.Message)}
		if reasons {
			m.FinishReason = &c.FinishReason
		}
		out = append(out, m)
	}
	return out
}

// tools are the definitions of tools. Descriptions and schemas can be large: the
// conventions do not want them unless they are asked for.
//
// Source: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/model/gen-ai/gen-ai-tool-definitions.json
func (w *writer) tools(tools []providers.Tool, schemas bool) []any {
	var out []any
	for i := range tools {
		t := &tools[i]
		d := tool{Type: t.Type, Name: t.Function.Name}
		if d.Name == "" {
			d.Name = t.Type // a tool of the platform's own
		}
		if schemas {
			d.Description = w.say(t.Function.Description)
			if p := t.Function.Parameters; p != nil {
				d.Parameters = w.value(string(p))
			}
		}
		out = append(out, d)
	}
	return out
}

// parts are what a message holds.
func (w *writer) parts(m *providers.Message) []any {
	out := []any{}
	if m.Role == providers.RoleTool {
		return append(out, result{"tool_call_response", m.ToolCallID, w.value(m.Content.Text())})
	}
	content := m.ContentBlocks
	if len(content) == 0 {
		content = m.Content.Parts()
	}
	for i := range content {
		out = append(out, w.part(&content[i]))
	}
	if text := m.Content.Text(); len(content) == 0 && text != "" {
		out = append(out, wording{"text", w.say(text)})
	}
	if a := m.Audio; a != nil {
		out = append(out, media{Type: "blob", MimeType: a.MimeType, Modality: "audio", Content: new(string), Transcript: w.say(a.Transcript)})
	}
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		asked := request{Type: "tool_call", ID: c.ID, Name: c.Function.Name}
		if c.Function.Arguments != "" {
			asked.Arguments = w.value(c.Function.Arguments)
		}
		out = append(out, asked)
	}
	return out
}

// part is one part of a message's content.
func (w *writer) part(p *providers.ContentPart) any {
	switch {
	case p.Type == providers.PartText:
		return wording{"text", w.say(p.Text)}
	case p.Type == providers.PartThinking:
		return wording{"reasoning", w.say(p.Thinking)}
	case p.ImageURL != nil:
		return w.link(p.ImageURL.URL, p.ImageURL.MimeType, "image")
	case p.InputAudio != nil:
		return media{Type: "blob", MimeType: "audio/" + p.InputAudio.Format, Modality: "audio", Content: new(string)}
	case p.File != nil:
		return w.file(p.File)
	}
	return generic{"generic", p.Type}
}

// file is a document.
func (w *writer) file(f *providers.File) any {
	switch {
	case f.FileURL != "":
		return w.link(f.FileURL, f.MimeType, "document")
	case f.FileID != "":
		return media{Type: "file", MimeType: f.MimeType, Modality: modality(f.MimeType, "document"), FileID: w.say(f.FileID)}
	}
	return w.link(f.FileData, f.MimeType, "document")
}

// link is what a URL points to. Of a data URI there is the type alone, and of
// another one what is public.
func (w *writer) link(url, mime, kind string) any {
	rest, inline := strings.CutPrefix(url, "data:")
	if inline {
		head, _, _ := strings.Cut(rest, ",")
		own, _, _ := strings.Cut(head, ";")
		if mime == "" {
			mime = own
		}
	}
	if inline || !strings.Contains(url, "://") { // or bare base64
		return media{Type: "blob", MimeType: mime, Modality: modality(mime, kind), Content: new(string)}
	}
	return media{Type: "uri", MimeType: mime, Modality: modality(mime, kind), URI: w.say(public(url))}
}

// public is a URL without user, query and fragment.
func public(url string) string {
	if end := strings.IndexAny(url, "?#"); end >= 0 {
		url = url[:end]
	}
	scheme, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	return scheme + "://" + strings.TrimSuffix(host+"/"+path, "/")
}

// modality is the kind of a media type.
func modality(mime, otherwise string) string {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image", "video", "audio":
		return kind
	case "application", "text":
		return "document"
	}
	return otherwise
}
