package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/testkit"
)

// geminiPage is the page that the tables make.
const geminiPage = "../../docs/gemini.md"

const pageHead = `# What becomes of a request to Gemini

Generated from the tables in [` + "`internal/engine`" + `](../internal/engine) and [` + "`catalog`" + `](../catalog); ` + "`go test ./internal/engine -update`" + ` writes it anew.

What happens to a member is one of:

| word | meaning |
|---|---|
| forwarded | sent as it is, under the platform's name |
| translated | sent in another form; what the model can't take as it is given is adjusted and reported as a warning |
| warned | left out, and reported as a warning beside the answer |
| refused | an error before anything is sent |
| used here | for the gateway itself, not sent |

A member that is in no table is left out with a warning. Members may also stand within ` + "`extra_body` and `google`" + `, as clients nest them, and those that are
not in the OpenAI schema in either case style. Members of ` + "`generation_config`" + ` are the platform's own: those of the tables go as they are, whatever the model,
unless the request has the same by another name. Of many warnings 128 are listed.
`

var actionWords = map[action]string{
	forward: "forwarded", translate: "translated", warn: "warned", reject: "refused", local: "used here",
}

func TestThePageOfTablesIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("\n## Parameters\n\n")
	writeRows(&b, params)
	b.WriteString("\n## Content parts\n\n")
	writeRows(&b, contentParts)
	b.WriteString("\n## At the Gemini API\n\nThe provider `google`, Google's own service, does otherwise with these members and parts; a dot is a member within another one. " +
		"[Labels](https://pkg.go.dev/google.golang.org/genai#GenerateContentConfig) go to it as to Vertex AI, and are left out from then on where it refuses them.\n\n")
	writeRows(&b, ownParams)
	b.WriteString("\nParts:\n\n")
	writeRows(&b, ownParts)
	b.WriteString("\n## Tools of the platform\n\nAsked for by the type of a tool; those with a star also by the name of a function, and any other function is the caller's own. Options stand in the tool, in a member of the tool's name, or in " +
		"`function.parameters`; `retrieval_config` of `google_maps` becomes `toolConfig.retrievalConfig`. The Gemini API also takes " +
		"`mcpServers`, in the platform's own form.\n\n| names | becomes | options on Vertex AI | options at the Gemini API |\n|---|---|---|---|\n")
	for _, p := range platformTools {
		star := ""
		if p.byName {
			star = " *"
		}
		fmt.Fprintf(&b, "| `%s`%s | `%s` | %s | %s |\n", strings.Join(p.names, "`, `"), star, p.wire, optionsAt(p.options, p.link), optionsAt(p.own, p.ownLink))
	}
	b.WriteString("\n## Models\n\nA row answers for its name and for every longer one that goes on with `-` or `@`; the longest one wins. An unknown name gets the facts of the newest row, with a warning. " +
		"`WithModels` replaces rows and adds others.\n\n")
	writeModels(&b)
	comparePage(t, geminiPage, b.String())
}

// openPage is the page that the tables of the other families make.
const openPage = "../../docs/open-models.md"

const openHead = `# What becomes of a request to open models, Mistral's, self-deployed endpoints and OpenAI's API

Generated from the tables in [` + "`internal/engine`" + `](../internal/engine) and [` + "`catalog`" + `](../catalog); ` + "`go test ./internal/engine -update`" + ` writes it anew.
What the words for what happens mean is told [on the page of Gemini](gemini.md).

A member that is in no table goes as it is to open models, to endpoints and other servers, and to OpenAI's API, which differ in what they know, and is left out
with a warning for Mistral's models. Members of Gemini alone, such as ` + "`safety_settings`" + `, are left out with a warning. Members may also stand within ` + "`extra_body`" + `.
`

const openForeign = `
## Members of Anthropic's schema and Gemini's tools

Members within messages and tools go as they are too, but for Mistral's models, and but for these, which requests to ` + "`/v1/messages`" + ` have.

| member | of | what happens | source |
|---|---|---|---|
`

const openTools = `
Tools that the platform runs for Gemini, by any of [their names](gemini.md#tools-of-the-platform) such as ` + "`google_search`" + ` or ` + "`web_search`" + `, are left out with a warning, but for
endpoints and other servers, which may have tools of these names. A function of such a name is the caller's own.
`

func TestThePageOfOpenModelsIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(openHead)
	b.WriteString("\n## Parameters\n\n| member | open models | endpoints | Mistral's | OpenAI's | becomes | note | source |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range openParams {
		wire := ""
		if p.wire != "" {
			wire = "`" + p.wire + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | [page](%s) |\n", p.name,
			actionWords[p.open], actionWords[p.endpoint], actionWords[p.mistral], actionWords[p.openai], wire, p.note, p.link)
	}
	b.WriteString(openForeign)
	for _, m := range foreignMembers {
		fmt.Fprintf(&b, "| `%s` | %s | left out, with a warning | [page](%s) |\n", m.name, m.where, m.link)
	}
	b.WriteString("| `is_error` | tool messages | said in the text, as `{\"error\":…}` | [page](https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls) |\n")
	b.WriteString(openTools)
	b.WriteString("\n## Models\n\n| publisher | model | thinking is chosen by | thoughts come | source |\n|---|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().All() {
		if family := testFamilies[m.Publisher]; family == FamilyOpen || family == FamilyMistral || m.Wire != "" {
			fmt.Fprintf(&b, "| `%s` | `%s*` | %s | %s | [page](%s) |\n", m.Publisher, m.Name, chosenBy(m.Thinking), thoughtsCome(m.Thinking), m.Source)
		}
	}
	comparePage(t, openPage, b.String())
}

func chosenBy(t catalog.Thinking) string {
	switch {
	case t.ByLevel():
		return "`reasoning_effort` " + strings.ToLower(strings.Join(t.Levels, ", "))
	case t.Switch != "":
		return "`chat_template_kwargs." + t.Switch + "`"
	}
	return "nothing"
}

func thoughtsCome(t catalog.Thinking) string {
	switch t.Tags {
	case thoughtOpen:
		return "in the content, between `<think>` and `</think>`"
	case thoughtClose:
		return "in the content, before `</think>`"
	}
	return "in a member of their own, if at all"
}

func comparePage(t *testing.T, path, got string) {
	t.Helper()
	if testkit.Updating() {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path) // #nosec G304 -- a page of this repository
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the tables say (-page +tables, -update rewrites it)\n%s", path, diff)
	}
}

func writeRows(b *strings.Builder, rows []param) {
	b.WriteString("| member | what happens | becomes | note | source |\n|---|---|---|---|---|\n")
	for _, p := range rows {
		wire := ""
		if p.wire != "" {
			wire = "`" + p.wire + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | [page](%s) |\n", p.name, actionWords[p.gemini], wire, p.note, p.link)
	}
}

// optionsAt lists the options of a tool where its page is, or says that it is not
// there.
func optionsAt(options []string, link string) string {
	if link == "" {
		return "not there"
	}
	return strings.TrimSpace(codes(options) + " [page](" + link + ")")
}

func codes(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`, `") + "`"
}

func writeModels(b *strings.Builder) {
	b.WriteString("| model | thinks by | answers with | context, output tokens | notes | source |\n|---|---|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().All() {
		if m.Publisher != "google" || m.Wire != "" {
			continue
		}
		outputs := "TEXT"
		if m.Outputs != nil {
			outputs = strings.Join(m.Outputs, ", ")
		}
		name := m.Name
		if m.Family {
			name += "*"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %d, %d | %s | [page](%s) |\n",
			name, thinksBy(m.Thinking), outputs, m.ContextTokens, m.OutputTokens, strings.Join(notesOf(&m), "; "), m.Source)
	}
}

func thinksBy(t catalog.Thinking) string {
	switch {
	case t.ByBudget() && t.CanDisable:
		return fmt.Sprintf("budget %d–%d, or off", t.MinBudget, t.MaxBudget)
	case t.ByBudget():
		return fmt.Sprintf("budget %d–%d", t.MinBudget, t.MaxBudget)
	case t.ByLevel():
		return "level " + strings.Join(t.Levels, ", ")
	}
	return "does not"
}

func notesOf(m *catalog.Model) []string {
	var notes []string
	for _, n := range []struct {
		is   bool
		text string
	}{
		{m.NeedsSignatures, "insists on signatures"},
		{m.CallIDs, "takes ids of calls"},
		{m.MixesTools, "mixes tools"},
		{m.JSONWithTools, "JSON beside tools"},
		{m.MaxCandidates > 1, fmt.Sprintf("%d choices a request", m.MaxCandidates)},
		{m.IgnoresSampling, "ignores sampling"},
		{m.NoPenalties, "refuses penalties"},
		{m.NoPrefill, "refuses prefill"},
		{m.SchemaForm, "older schema form"},
		{m.ChainOfThought, "chain of thought in content"},
		{m.RetrievalOnly, "search by retrieval"},
		{m.OfficeFiles, "reads office files"},
		{m.NoExplicitCache, "no caches by name"},
		{m.PartResolution, "resolution by part"},
		{m.ToolMedia, "media in tool results"},
		{m.StreamsArguments, "streams arguments"},
	} {
		if n.is {
			notes = append(notes, n.text)
		}
	}
	return notes
}
