package prompts

import (
	"slices"

	"github.com/b650d4bf/gateway/providers"
)

// message is one entry of a prompt's messages: a message with templates in it, or
// a placeholder for the messages in a variable. It is immutable.
type message struct {
	placeholder string
	message     providers.Message
	content     *template // where the content is a string
	parts       []part    // where it is a list
}

// part is a content part with templates in it.
type part struct {
	part  providers.ContentPart
	texts []slot
}

// slot is one text of a part that a template makes.
type slot struct {
	at   field
	text *template
}

// field is a text of a content part.
type field struct {
	path string // below the part
	of   func(*providers.ContentPart) *string
}

// fields returns the texts of a part that may have tags: what the model reads, and
// where media is. Types, formats and signatures are not among them.
func fields(p *providers.ContentPart) []field {
	list := []field{{"text", func(p *providers.ContentPart) *string { return &p.Text }}}
	if p.ImageURL != nil {
		list = append(list, field{"image_url.url", func(p *providers.ContentPart) *string { return &p.ImageURL.URL }})
	}
	if p.InputAudio != nil {
		list = append(list, field{"input_audio.data", func(p *providers.ContentPart) *string { return &p.InputAudio.Data }})
	}
	if p.File != nil {
		list = append(list,
			field{"file.file_data", func(p *providers.ContentPart) *string { return &p.File.FileData }},
			field{"file.file_id", func(p *providers.ContentPart) *string { return &p.File.FileID }},
			field{"file.file_url", func(p *providers.ContentPart) *string { return &p.File.FileURL }},
			field{"file.filename", func(p *providers.ContentPart) *string { return &p.File.Filename }},
		)
	}
	return list
}

// compile finds the tags of a message. Paths of mistakes begin with the given one.
func (m *message) compile(p *problems, path string, partials *includes) {
	text := func(at, src string) *template {
		t, err := parse(src, false, partials.get)
		if err != nil {
			p.add(at, "%v", err)
			return &template{}
		}
		return t
	}
	switch c := m.message.Content; {
	case c.Parts() != nil:
		m.parts = make([]part, len(c.Parts()))
		for i, cp := range c.Parts() {
			m.parts[i].part = cp
			for _, f := range fields(&cp) {
				if src := *f.of(&cp); src != "" {
					m.parts[i].texts = append(m.parts[i].texts, slot{f, text(index(path+".content", i)+"."+f.path, src)})
				}
			}
		}
	case c.Text() != "":
		m.content = text(path+".content", c.Text())
	}
}

// names finds the first name of each tag.
func (m *message) names(f *finder) {
	if m.placeholder != "" {
		f.names[m.placeholder] = true
	}
	if m.content != nil {
		f.look(m.content.nodes)
	}
	for i := range m.parts {
		for _, s := range m.parts[i].texts {
			f.look(s.text.nodes)
		}
	}
}

// finder collects the names in templates. Partials are looked through once, since
// they may be within each other many times over.
type finder struct {
	names map[string]bool
	seen  map[*template]bool
}

func (f *finder) look(list []node) {
	for i := range list {
		n := &list[i]
		if n.path != nil {
			f.names[n.path[0]] = true
		}
		f.look(n.body)
		if n.partial != nil && !f.seen[n.partial] {
			f.seen[n.partial] = true
			f.look(n.partial.nodes)
		}
	}
}

// render appends the message, or those of the placeholder's variable.
func (m *message) render(list []providers.Message, r *renderer) []providers.Message {
	if m.placeholder != "" {
		return r.conversation(list, m.placeholder)
	}
	out := m.message
	switch {
	case m.content != nil:
		out.Content = providers.TextContent(r.text(m.content))
	case m.parts != nil:
		parts := make([]providers.ContentPart, len(m.parts))
		for i := range m.parts {
			parts[i] = m.parts[i].render(r)
		}
		out.Content = providers.PartsContent(parts...)
	}
	return append(list, out)
}

func (p *part) render(r *renderer) providers.ContentPart {
	out := p.part
	// What is filled in must be this rendering's own.
	if out.ImageURL != nil {
		out.ImageURL = new(*out.ImageURL)
	}
	if out.InputAudio != nil {
		out.InputAudio = new(*out.InputAudio)
	}
	if out.File != nil {
		out.File = new(*out.File)
	}
	for _, s := range p.texts {
		*s.at.of(&out) = r.text(s.text)
	}
	return out
}

// conversation appends the messages in a variable. Nobody but the prompt's author
// speaks as the system.
func (r *renderer) conversation(list []providers.Message, name string) []providers.Message {
	v := r.lookup([]string{name})
	switch {
	case v == nil:
		r.miss(name)
		return list
	case v.kind == nullValue:
		return list
	case v.kind != listValue:
		r.refuse("variables."+name, "must be a list of messages: the prompt has a placeholder for them")
		return list
	}
	if r.write(v.text); r.err != nil { // counts
		return list
	}
	r.flush()
	for i, e := range v.list() {
		path := index("variables."+name, i)
		var m providers.Message
		if err := m.UnmarshalJSON([]byte(e.text)); e.kind != objectValue || err != nil {
			r.refuse(path, "is not a message, such as {\"role\":\"user\",\"content\":\"Hello\"}")
			return list
		}
		if !slices.Contains([]string{providers.RoleUser, providers.RoleAssistant, providers.RoleTool}, m.Role) {
			r.refuse(path+".role", "must be user, assistant or tool")
			return list
		}
		list = append(list, m)
	}
	return list
}

func (r *renderer) refuse(path, message string) {
	if r.err == nil {
		r.err = providers.Invalid(path, message)
	}
}
