package prompts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxSections bounds how deep sections are nested within a template, and
	// partials within partials.
	maxSections = 100
	// maxName bounds the name in a tag, in bytes.
	maxName = 128
)

// template is a text with its tags found. It is immutable.
type template struct{ nodes []node }

// node is one piece of a template.
type node struct {
	kind nodeKind
	text string   // of a text; of a tag its name, for messages
	path []string // of a variable or section; nil stands for {{.}}
	body []node   // of a section
	// partial is shared with other templates.
	partial *template
}

type nodeKind uint8

const (
	textNode nodeKind = iota
	variableNode
	sectionNode
	invertedNode
	partialNode
)

// plain returns the text of a template without tags.
func (t *template) plain() (string, bool) {
	switch {
	case len(t.nodes) == 0:
		return "", true
	case len(t.nodes) == 1 && t.nodes[0].kind == textNode:
		return t.nodes[0].text, true
	}
	return "", false
}

// parser turns one text into a template. Its place is kept in bytes; lines are
// counted only for an error.
type parser struct {
	src         string
	pos         int
	open, close string // the delimiters
	stack       []section
	// inner says that the text is a partial's, which may be used in a section.
	inner   bool
	partial includer
}

// includer returns a partial, each line of it behind the indent.
type includer func(name, indent string) (*template, error)

// section is one that is not closed yet.
type section struct {
	at    int // where its tag begins
	node  node
	outer []node // what came before it
}

// brings reports whether the section is about a value.
func (s section) brings() bool { return s.node.kind == sectionNode }

// tag is one tag as it is written.
type tag struct {
	at, end int  // of all of it, delimiters included
	sigil   byte // 0 for a variable
	name    string
	// alone says that nothing else is on its lines, which then vanish with it.
	alone      bool
	line, next int // where these lines begin, and what follows them
}

// parse finds the tags of src. Partials are asked for as they are met.
func parse(src string, inner bool, partial includer) (*template, error) {
	p := parser{src: src, open: "{{", close: "}}", inner: inner, partial: partial}
	var nodes []node
	for {
		t, ok, err := p.next()
		if err != nil {
			return nil, p.located(t.at, err)
		}
		if !ok {
			break
		}
		before, after := t.at, t.end
		if t.alone {
			before, after = t.line, t.next
		}
		nodes = appendText(nodes, src[p.pos:before])
		p.pos = after
		if nodes, err = p.take(nodes, t); err != nil {
			return nil, p.located(t.at, err)
		}
	}
	nodes = appendText(nodes, src[p.pos:])
	if n := len(p.stack); n > 0 {
		s := &p.stack[n-1]
		return nil, p.located(s.at, fmt.Errorf("section {{%s}} is not closed", sigilOf(s.node.kind)+s.node.text))
	}
	return &template{nodes}, nil
}

// located puts the line before a message.
func (p *parser) located(at int, err error) error {
	return fmt.Errorf("line %d: %w", strings.Count(p.src[:at], "\n")+1, err)
}

func appendText(nodes []node, text string) []node {
	if text == "" {
		return nodes
	}
	return append(nodes, node{kind: textNode, text: text})
}

func sigilOf(k nodeKind) string {
	if k == invertedNode {
		return "^"
	}
	return "#"
}

// next finds the next tag. Also the tag of an error says where it begins.
func (p *parser) next() (tag, bool, error) {
	i := strings.Index(p.src[p.pos:], p.open)
	if i < 0 {
		return tag{}, false, nil
	}
	t := tag{at: p.pos + i}
	from, end := t.at+len(p.open), p.close
	if from < len(p.src) && strings.IndexByte("#^/>=!{&<$", p.src[from]) >= 0 {
		t.sigil = p.src[from]
		from++
	}
	switch t.sigil {
	case '{':
		end = "}" + end
	case '=':
		end = "=" + end
	}
	n := strings.Index(p.src[from:], end)
	if n < 0 {
		return t, false, fmt.Errorf("a tag begins with %s and has no %s", p.src[t.at:from], end)
	}
	t.end = from + n + len(end)
	t.name = strings.TrimSpace(p.src[from : from+n])
	t.standAlone(p.src, p.pos)
	return t, true, nil
}

// standAlone finds out whether a tag that prints nothing has its lines for itself.
func (t *tag) standAlone(src string, pos int) {
	if t.sigil == 0 || t.sigil == '{' || t.sigil == '&' {
		return
	}
	t.line = strings.LastIndexByte(src[:t.at], '\n') + 1
	rest := strings.TrimLeft(src[t.end:], " \t")
	t.next = len(src) - len(rest)
	switch {
	case t.line < pos || strings.Trim(src[t.line:t.at], " \t") != "":
		return
	case rest == "":
	case t.sigil == '>': // the text of a partial has no last line break of its own
		if rest[0] != '\n' && !strings.HasPrefix(rest, "\r\n") {
			return
		}
	case rest[0] == '\n':
		t.next++
	case strings.HasPrefix(rest, "\r\n"):
		t.next += 2
	default:
		return
	}
	t.alone = true
}

// take adds what a tag says to the nodes.
func (p *parser) take(nodes []node, t tag) ([]node, error) {
	switch t.sigil {
	case '!':
		return nodes, nil
	case '=':
		return nodes, p.delimit(t.name)
	case '>':
		return p.include(nodes, t)
	case '<', '$':
		return nil, errors.New("templates that inherit are not supported: use a partial, {{> name}}")
	case '/':
		return p.leave(nodes, t.name)
	}
	path, err := pathOf(t.name)
	if err != nil {
		return nil, err
	}
	if path == nil && !p.inner && !slices.ContainsFunc(p.stack, section.brings) {
		return nil, errors.New("{{.}} stands for what a section is about: use it within one")
	}
	n := node{kind: variableNode, text: t.name, path: path}
	if t.sigil != '#' && t.sigil != '^' {
		return append(nodes, n), nil
	}
	if len(p.stack) == maxSections {
		return nil, fmt.Errorf("more than %d sections are open", maxSections)
	}
	if n.kind = sectionNode; t.sigil == '^' {
		n.kind = invertedNode
	}
	p.stack = append(p.stack, section{at: t.at, node: n, outer: nodes})
	return nil, nil
}

// leave closes the section that was opened last.
func (p *parser) leave(body []node, name string) ([]node, error) {
	if len(p.stack) == 0 {
		return nil, fmt.Errorf("{{/%s}} closes no section", clip(name))
	}
	s := p.stack[len(p.stack)-1]
	if s.node.text != name {
		return nil, fmt.Errorf("{{/%s}} stands where section {{%s}} must be closed", clip(name), sigilOf(s.node.kind)+s.node.text)
	}
	p.stack = p.stack[:len(p.stack)-1]
	s.node.body = body
	return append(s.outer, s.node), nil
}

// include adds a partial. One that has its line for itself is indented as it is.
func (p *parser) include(nodes []node, t tag) ([]node, error) {
	if strings.HasPrefix(t.name, ">") {
		return nil, errors.New("the text of a template can't come from a variable: its value goes in as {{name}}")
	}
	if !isName(t.name) {
		return nil, badName(t.name)
	}
	indent := ""
	if t.alone {
		indent = p.src[t.line:t.at]
	}
	partial, err := p.partial(t.name, indent)
	if err != nil {
		return nil, err
	}
	return append(nodes, node{kind: partialNode, text: t.name, partial: partial}), nil
}

// delimit changes the delimiters.
func (p *parser) delimit(text string) error {
	words := strings.Fields(text)
	if len(words) != 2 || strings.Contains(text, "=") {
		return errors.New("other delimiters are set with two words that have no =, such as {{=<% %>=}}")
	}
	p.open, p.close = words[0], words[1]
	return nil
}

// pathOf splits a name at its dots. {{.}} has no path.
func pathOf(name string) ([]string, error) {
	if name == "." {
		return nil, nil
	}
	if len(name) > maxName {
		return nil, badName(name)
	}
	path := strings.Split(name, ".")
	for _, s := range path {
		if !isName(s) {
			return nil, badName(name)
		}
	}
	return path, nil
}

// isName reports whether s is letters, digits, _ and -.
func isName(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

func badName(name string) error {
	if name == "" {
		return errors.New("a tag has no name")
	}
	return fmt.Errorf("%q is not a name, which has letters, digits, _ and -, and dots before members (where {{ is meant as it is, set other delimiters: {{=<%% %%>=}})", clip(name))
}

// clip shortens a word for an error.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
