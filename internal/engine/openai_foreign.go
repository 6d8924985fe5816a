package engine

import (
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// holder says what an object of a request is.
type holder uint8

const (
	inMessage holder = 1 << iota
	inPart
	inFile // a part with a file
	inCall
	inTool
)

// foreignMember is a member of Anthropic's schema, in which every model can be
// asked, that servers of the OpenAI schema do not know. Those of the request
// itself are in the parameter table.
type foreignMember struct {
	name  string
	in    holder
	where string // for people
	link  string
}

// foreignMembers are left out, each once with a warning.
var foreignMembers = []foreignMember{
	{"cache_control", inMessage | inPart | inFile | inCall | inTool, "messages, parts, calls and tools", claudeCachePage},
	{"citations", inPart | inFile, "parts", "https://platform.claude.com/docs/en/build-with-claude/citations"},
	{"title", inFile, "parts with a file", "https://platform.claude.com/docs/en/build-with-claude/citations"},
	{"context", inFile, "parts with a file", "https://platform.claude.com/docs/en/build-with-claude/citations"},
}

const claudeCachePage = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"

// foreign takes such members out of an object. The bytes of extra stay as they
// are.
func (e *openEncoder) foreign(path string, in holder, extra *providers.Extra) (changed bool) {
	for i := range foreignMembers {
		m := &foreignMembers[i]
		value, ok := extra.Get(m.name)
		if !ok || m.in&in == 0 {
			continue
		}
		if !saysNothing(value) {
			e.out.warnOnce("claude "+m.name, providers.WarnUnsupported, below(path, m.name), "left out: Claude models alone have it")
		}
		*extra, changed = lacking(*extra, m.name), true
	}
	return changed
}

func (e *openEncoder) foreignToPart(i, j int, p *providers.ContentPart) (changed bool) {
	in := inPart
	switch {
	case len(p.Extra) == 0:
		return false
	case p.File != nil || p.Type == "document":
		in = inFile
	}
	return e.foreign(partPath(i, j, ""), in, &p.Extra)
}

// failed says in the text of a tool's result that the tool failed, which the
// OpenAI schema has no member for.
func (e *openEncoder) failed(i int, m *providers.Message) (changed bool, err error) {
	raw, ok := m.Extra.Get("is_error")
	if !ok {
		return false, nil
	}
	m.Extra = lacking(m.Extra, "is_error")
	if string(raw) != "true" {
		return true, nil
	}
	text, err := resultText(i, &m.Content)
	if err != nil {
		return false, err
	}
	var w jsonx.Writer
	w.BeginObject()
	w.Key("error")
	w.String(text)
	w.EndObject()
	told := string(w.Bytes())
	rest := slices.DeleteFunc(slices.Clone(m.Content.Parts()), func(p providers.ContentPart) bool {
		return p.Type == providers.PartText || isQuote(p.Type)
	})
	if m.Content = providers.TextContent(told); len(rest) > 0 {
		m.Content = providers.PartsContent(slices.Insert(rest, 0, providers.TextPart(told))...)
	}
	return true, nil
}

// lacking returns a copy that lacks the member, nil when no other is left.
func lacking(extra providers.Extra, name string) providers.Extra {
	if kept := jsonx.DeleteMember(extra, name); len(kept) > len("{}") {
		return kept
	}
	return nil
}

// ownTools leaves out the tools that Gemini's platform runs itself, but for an
// endpoint, whose server may have them, and what tools have of Anthropic's schema.
func (e *openEncoder) ownTools() {
	list := e.q.Tools
	var kept []providers.Tool
	for i := range list {
		t := list[i]
		keep := e.family == FamilyEndpoint || !e.isPlatforms(i, &t)
		changed := keep && len(t.Extra) > 0 && e.foreign("tools["+strconv.Itoa(i)+"]", inTool, &t.Extra)
		if (!keep || changed) && kept == nil {
			kept = append(make([]providers.Tool, 0, len(list)), list[:i]...)
		}
		if keep && kept != nil {
			kept = append(kept, t)
		}
	}
	if kept == nil {
		return
	}
	if e.q.Tools = kept; len(kept) > 0 {
		return
	}
	e.q.Tools, e.q.ParallelToolCalls = nil, nil
	if e.q.ToolChoice != nil {
		e.q.ToolChoice = nil
		e.warnf(providers.WarnConflict, "tool_choice", "left out: there is no tool left to choose")
	}
}

// isPlatforms reports, and warns, that a tool is one of Gemini's platform: by its
// type, or in the platform's own form, such as {"googleSearch":{}}. A function of
// such a name is the caller's own here.
func (e *openEncoder) isPlatforms(i int, t *providers.Tool) bool {
	if namesFunction(t) {
		return false
	}
	member := "type"
	row := findPlatformTool(t.Type)
	if t.Type == "" {
		for name := range jsonx.Members(t.Extra) {
			if row = findPlatformTool(name); row != nil {
				member = name
				break
			}
		}
	}
	if row == nil {
		return false
	}
	e.warnf(providers.WarnUnsupported, "tools["+strconv.Itoa(i)+"]."+member, "left out: Gemini's platform alone runs this tool")
	return true
}
