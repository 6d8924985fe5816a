package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

// embeddingsPage is the page that the tables of embeddings make.
const embeddingsPage = "../../docs/embeddings.md"

const embeddingsHead = `# What becomes of a request for embeddings

Generated from the tables in [` + "`internal/engine`" + `](../internal/engine) and [` + "`catalog`" + `](../catalog); ` + "`go test ./internal/engine -update`" + ` writes it anew.

The model's row says which method of the platform is asked. What the method can't take is left out and reported as a warning, as is a member that is in
no table. Inputs beyond one request's limit are shared among several, up to eight at a time; a limit that the platform tells in a refusal is
kept for the model and the location. Vectors of a reduced length are made unit vectors where they are none.

The Gemini API, the provider ` + "`google`" + `, has one method for all: embedContent, with its settings beside the content (see [its page](` + ownEmbedPage + `)), and
batches of ` + "100" + ` inputs.

OpenAI's API, other servers that speak its schema (the providers ` + "`openai` and `openai-compatible`" + `) and self-deployed endpoints (` + "`endpoints.NAME`" + `) are asked in that
schema: at ` + "`/embeddings`" + ` below the base URL or the endpoint, or, where the server behind an endpoint has no such path, by rawPredict with the same body. There
texts may be tokens, members that no row names go as they are, and vectors come out as they came in. A row of the table of models with the publisher
` + "`endpoints`" + ` and the endpoint's name says by which method it is asked and what its limits are, also for an endpoint that is named by its full
resource name: without a row, that is a tuned model of Google. A ` + "`Predictor`" + ` with EmbedRequest and Vectors speaks for servers with a form of their own.
Without a row, 256 inputs go at a time (2048 to OpenAI, 32 by a Predictor), and what the server says in a refusal is learnt.

## Members

Either case style is understood beyond the schema's own members.
`

func TestThePageOfEmbeddingsIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(embeddingsHead)
	b.WriteString("\n| member | predict | predict (multimodal) | embedContent | at the Gemini API | in the OpenAI schema | note | source |\n|---|---|---|---|---|---|---|---|\n")
	for i := range embedParams {
		p := &embedParams[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | [page](%s) |\n",
			p.name, placeWords(p.predict), placeWords(p.multimodal), placeWords(p.content), placeWords(p.own), placeWords(p.open), p.note, p.link)
	}
	b.WriteString("\n## Task types\n\n| task type | before the text, where the model has no parameter for it |\n|---|---|\n")
	for _, task := range embedTasks {
		text := "`task: " + task.instruction + " \\| query: …`"
		if task.instruction == "" {
			text = "`title: TITLE or none \\| text: …`"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", task.name, text)
	}
	b.WriteString("\n## Models\n\nA row answers for every name that begins with it; the longest one wins. A name that none knows gets its family's row, with a " +
		"warning. `Models.WithEmbeddings` replaces rows and adds others.\n\n" +
		"| model | method | inputs a request | tokens an input, a request | dimensions | task type | media | source |\n|---|---|---|---|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().Embeddings() {
		writeEmbedder(&b, &m)
	}
	comparePage(t, embeddingsPage, b.String())
}

func placeWords(p embedPlace) string {
	if p.wire == "" {
		return actionWords[p.action]
	}
	return "`" + p.wire + "`"
}

func writeEmbedder(b *strings.Builder, m *catalog.EmbeddingModel) {
	name, dims := m.Name, "any"
	switch {
	case m.Family:
		name = "others: " + m.Name
	case m.Publisher != "google":
		name = m.Publisher + "/" + m.Name
	}
	if m.Dimensions > 0 {
		dims = fmt.Sprintf("%d (%s)", m.Dimensions, sizes(m))
	}
	fmt.Fprintf(b, "| `%s` | %s | %d | %s, %s | %s | %s | %s | [page](%s) |\n", name, m.Method, m.MaxInputs,
		orNone(m.InputTokens), orNone(m.RequestTokens), dims, m.Tasks, strings.Join(m.Media, ", "), m.Source)
}

func orNone(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
