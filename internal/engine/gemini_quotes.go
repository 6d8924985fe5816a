package engine

import (
	"slices"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// quoteMembers are the members of a text that is quoted from elsewhere: a search
// result or a document of blocks, in the form of Claude's schema. Here it is
// text, with what names it above it.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/search-results
var quoteMembers = []string{"title", "source", "context", "content"}

func isQuote(kind string) bool { return kind == "search_result" || kind == "document" }

// quotedText is the text of a quote. What is wrong with it is told with the
// remedy.
func quotedText(p *providers.ContentPart) (text, member, fault string) {
	content, _ := p.Extra.Get("content")
	names := []string{"title", "source", "context"}
	member = "content"
	if p.Type == "document" {
		source, _ := p.Extra.Get("source")
		content, _ = jsonx.Lookup(source, "content")
		names, member = []string{"title", "context"}, "source.content"
	}
	var b strings.Builder
	for _, name := range names {
		if s := extraText(p.Extra, name); s != "" {
			b.WriteString(s + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	r := jsonx.NewReader(content)
	if r.Kind() == jsonx.String {
		b.WriteString(r.String())
		return b.String(), "", ""
	}
	if r.Kind() != jsonx.Array {
		return "", member, "must be a list of text blocks"
	}
	first := true
	for r.Array(); r.NextElem(); first = false {
		var block providers.ContentPart
		if err := block.UnmarshalJSON(r.Raw()); err != nil || block.Type != providers.PartText {
			return "", member, "a quoted text has text blocks alone: send other media in blocks of their own"
		}
		if !first {
			b.WriteString("\n\n")
		}
		b.WriteString(block.Text)
	}
	return b.String(), "", ""
}

// quote writes a quote as text.
func (e *geminiEncoder) quote(role string, i, j int, p *providers.ContentPart) error {
	text, member, fault := quotedText(p)
	if fault != "" {
		return providers.Invalid(partPath(i, j, member), fault)
	}
	e.textPart(role, text, p.Signature)
	return nil
}

// resultText is the text of a tool's result, quotes among it.
func resultText(i int, c *providers.Content) (string, error) {
	parts := c.Parts()
	if !slices.ContainsFunc(parts, func(p providers.ContentPart) bool { return isQuote(p.Type) }) {
		return c.Text(), nil
	}
	var texts []string
	for j := range parts {
		p := &parts[j]
		switch {
		case p.Type == providers.PartText:
			texts = append(texts, p.Text)
		case isQuote(p.Type):
			text, member, fault := quotedText(p)
			if fault != "" {
				return "", providers.Invalid(partPath(i, j, member), fault)
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}
