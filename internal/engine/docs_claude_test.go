package engine

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

// claudePage is the page that the tables of Claude models make.
const claudePage = "../../docs/claude.md"

const claudeHead = `# What becomes of a request to Claude

Generated from the tables in [` + "`internal/engine`" + `](../internal/engine) and [` + "`catalog`" + `](../catalog); ` + "`go test ./internal/engine -update`" + ` writes it anew.
What the words for what happens mean is told [on the page of Gemini](gemini.md).

The same models are on Vertex AI and at Anthropic's own API, which take different things. A member that is in no table is left out with a warning. Members may
also stand within ` + "`extra_body`" + `. A note says why a member is left out or refused, where it is. Thinking goes back to either of them with the signature that the other has given.

On Vertex AI images and documents go as data alone. Anthropic's own API also takes ` + "`https`" + ` URLs, the ids of files, and ` + "`container_upload`" + ` parts.
`

func TestThePageOfClaudeIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(claudeHead)
	b.WriteString("\n## Parameters\n\n| member | Vertex AI | Anthropic's own API | becomes | note | source |\n|---|---|---|---|---|---|\n")
	for i := range claudeParams {
		p := &claudeParams[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | [page](%s) |\n", p.name, actionWords[p.vertex], actionWords[p.own], claudePlace(p), p.note, p.link)
	}
	b.WriteString("\n## Forms of members that Anthropic's own API alone takes\n\n| member | form | needs the feature | counted as a part of the prompt | source |\n|---|---|---|---|---|\n")
	for _, f := range claudeForwards {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | [page](%s) |\n", f.name, kindWords[f.kind], quoted(f.beta), yes(f.counted), f.link)
	}
	b.WriteString("\n## Tools of the platform\n\nBy the type of a tool, which has a date or gets one. Types that are not here go as they are, if they have a date.\n\n" +
		"| type | name | feature on Vertex AI | feature at Anthropic's own API | without a date | left out on Vertex AI | source |\n|---|---|---|---|---|---|---|\n")
	for _, c := range claudeTools {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | [page](%s) |\n", c.kind, quoted(c.name), quoted(c.beta), quoted(c.own), quoted(c.dated), c.refused, c.link)
	}
	b.WriteString("\n## Beta features\n\nOf the header `anthropic-beta` and the member `anthropic_beta`, with any date. Others go as they are. " +
		"One that is refused is left out, and the request is made again.\n\n| feature | on Vertex AI | at Anthropic's own API | source |\n|---|---|---|---|\n")
	for _, f := range betaFeatures {
		there := cmp.Or(quoted(f.as), "left out: "+f.note)
		own := "as it is"
		if !f.own {
			own = there
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | [page](%s) |\n", f.name, there, own, f.link)
	}
	b.WriteString("\n## Models\n\nA row answers for its name and for every longer one that goes on with `-` or `@`; the longest one wins. On Vertex AI a date follows `@`, at Anthropic's own API `-`; " +
		"either is understood in both places.\n\n| model | thinks by | efforts | output tokens | notes | source |\n|---|---|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().All() {
		if m.Publisher != "anthropic" {
			continue
		}
		fmt.Fprintf(&b, "| `%s*` | %s | %s | %d | %s | [page](%s) |\n", m.Name, claudeThinksBy(m.Thinking), strings.Join(m.Thinking.Efforts, ", "),
			m.OutputTokens, strings.Join(claudeNotes(&m), "; "), m.Source)
	}
	comparePage(t, claudePage, b.String())
}

// claudePlace is where a member goes, by both platforms.
func claudePlace(p *claudeParam) string {
	if own := p.place(true); own != p.wire {
		return "`" + p.wire + "`, or `" + own + "`"
	}
	return quoted(p.wire)
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

func claudeThinksBy(t catalog.Thinking) string {
	var ways []string
	if t.ByBudget() {
		ways = append(ways, fmt.Sprintf("budget %d–%d", t.MinBudget, t.MaxBudget))
	}
	if t.Adaptive {
		ways = append(ways, "itself")
	}
	switch {
	case len(ways) == 0:
		return "does not"
	case t.Off == "":
		ways = append(ways, "always")
	case t.Off != "disabled":
		ways = append(ways, "at least "+t.Off)
	}
	return strings.Join(ways, ", ")
}

func claudeNotes(m *catalog.Model) []string {
	var notes []string
	for _, n := range []struct {
		is   bool
		text string
	}{
		{m.Structured, "held to schemas"},
		{m.OneSampler, "temperature or top_p"},
		{m.RefusesSampling, "refuses sampling"},
		{m.NoPrefill, "refuses prefill"},
		{m.NoForcedTools, "refuses forced calls"},
		{m.Thinking.Hidden, "hides thoughts unless asked"},
	} {
		if n.is {
			notes = append(notes, n.text)
		}
	}
	return notes
}
