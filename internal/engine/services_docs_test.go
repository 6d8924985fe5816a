package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
)

// The pages that the tables of images, speech and reranking make.
const (
	imagesPage     = "../../docs/images.md"
	speechDocsPage = "../../docs/speech.md"
	rerankPage     = "../../docs/rerank.md"
)

const generated = "\n\nGenerated from the tables in [`internal/engine`](../internal/engine) and [`catalog`](../catalog); " +
	"`go test ./internal/engine -update` writes it anew.\n\n"

const imagesHead = "# What becomes of a request for images" + generated +
	"`Images.Generate` and `Images.Edit`, and POST /v1/images/generations and POST /v1/images/edits over HTTP, the latter as a form with files or as JSON.\n" +
	"The model's row says which method of the platform is asked: `predict` of Imagen, or a conversation with a model whose answer has images. What the\n" +
	"method or the model can't take is left out and reported as a warning, as is a member that is in no table; what would make another image than the one\n" +
	"that was asked for is an error. Images beyond one request's limit are shared among several, up to eight at a time; the first failure ends them all.\n\n" +
	"Images that the platform filtered out are missing from the answer, which a warning tells with the platform's reason. If all are, the call fails with\n" +
	"`content_filter`. The answer's `output_format` and `size` are those of the first file; `usage` is there where the platform counts tokens, which\n" +
	"`predict` does not. With strict compliance off, an image has the `text` that a model said beside it, and Imagen's `safety_attributes`.\n\n" +
	"The provider `google` has the models of Gemini alone. Other providers draw nothing.\n\n" +
	"## Members\n\nEither case style is understood of the members beyond the schema. With `generateContent`, members of a " +
	"[chat completion](gemini.md) go along too, such as `temperature` or `tools`.\n\n"

const speechHead = "# What becomes of a request for speech" + generated +
	"`Audio.Speech.Create` and `CreateStream`, and POST /v1/audio/speech over HTTP. The input is spoken by a model of Gemini that answers with audio, as in a\n" +
	"[chat completion](gemini.md). The platform gives samples: 16 bits, low byte first, one channel, 24,000 a second. `pcm` is these, as `audio/pcm; rate=24000`, and\n" +
	"`wav` puts a header before them. Over HTTP `pcm` is sent as it comes, and `wav` whole, with its length in the header; a `pcm` answer that breaks off\n" +
	"ends the connection without the end of the body.\n\n## Members\n\n"

const rerankHead = "# What becomes of a request for reranking" + generated +
	"`Rerank.Create`, and POST /v1/rerank over HTTP. The platform's ranking service, which is that of Vertex AI Search, gives each document a score from 0 to 1,\n" +
	"with two decimals. It is at `discoveryengine.googleapis.com`, needs the Discovery Engine API switched on in the project and the permission\n" +
	"`discoveryengine.rankingConfigs.rank`, and is in `global`, `us` and `eu`: for any other region `global` is asked, with a warning. A base URL replaces its host as\n" +
	"it does the platform's.\n\n" +
	"Documents beyond one request's limit are shared among several, up to eight at a time. A score is about one document and the query, so that those of several\n" +
	"requests are put into one order; equal scores keep the order of the documents. Of a document that is longer than what the model reads, only the\n" +
	"beginning counts: the platform does not say so, and a warning does where it is sure. The service tells no usage.\n\n" +
	"A document is a string, or an object with `text`, `title` and `id`; its other members come back as they were given, and are not read.\n\n## Members\n\n"

func TestThePageOfImagesIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(imagesHead)
	b.WriteString("| member | predict | generateContent | note | source |\n|---|---|---|---|---|\n")
	for i := range imageParams {
		p := &imageParams[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | [page](%s) |\n", p.name, placeWords(p.predict), placeWords(p.content), p.note, p.link)
	}
	b.WriteString("\n## Models\n\nA row answers for every name that begins with it; the longest one wins. A name that none knows gets its family's row, with a warning. " +
		"`Models.WithImages` replaces rows and adds others. 1K is the size of all models; 1K means a square of 1024 pixels, or another shape of about that area.\n\n" +
		"| model | method | draws | changes | images a request | aspect ratios | sizes beside 1K | files | does not take | source |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().Images() {
		name, edits := m.Name, "no"
		if m.Family {
			name = "others: " + m.Name
		}
		if m.Edits > 0 {
			edits = fmt.Sprintf("%d at most", m.Edits)
		}
		if m.Masks {
			edits += ", with a mask"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %d | %s | %s | %s | %s | [page](%s) |\n", name, m.Method, yesNo(m.Draws), edits, m.MaxImages,
			strings.Join(m.Ratios, ", "), strings.Join(m.Sizes, ", "), strings.ReplaceAll(strings.Join(m.Formats, ", "), "image/", ""), strings.Join(m.Without, ", "), m.Source)
	}
	comparePage(t, imagesPage, b.String())
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestThePageOfSpeechIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(speechHead)
	b.WriteString("| member | becomes | note | source |\n|---|---|---|---|\n")
	for i := range speechParams {
		p := &speechParams[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | [page](%s) |\n", p.name, placeWords(p.at), p.note, p.link)
	}
	b.WriteString("\nOther members of a chat completion go along; others yet are left out with a warning.\n" +
		"\n## Voices\n\nThe platform's own voices go as they are given. Names of OpenAI's stand for these, with a warning:\n\n" +
		"| OpenAI's voice | the platform's | manner |\n|---|---|---|\n")
	for _, v := range voiceNames {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", v.name, v.voice, v.manner)
	}
	b.WriteString("\n## Models\n\n| model | source |\n|---|---|\n")
	for _, m := range catalog.DefaultModels().All() {
		if m.Gives("AUDIO") {
			fmt.Fprintf(&b, "| `%s` | [page](%s) |\n", m.Name, m.Source)
		}
	}
	comparePage(t, speechDocsPage, b.String())
}

func TestThePageOfRerankingIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(rerankHead)
	b.WriteString("| member | becomes | note | source |\n|---|---|---|---|\n")
	for i := range rerankParams {
		p := &rerankParams[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | [page](%s) |\n", p.name, placeWords(p.at), p.note, p.link)
	}
	b.WriteString("\nAnother member is left out with a warning, which names a known one that is spelt alike.\n" +
		"\n## Models\n\nA name goes with or without its @version. A name that is not in the table is tried, with a warning. `Models.WithRankers` replaces rows and adds others.\n\n" +
		"| model | tokens of a document | documents a request | source |\n|---|---|---|---|\n")
	for _, m := range catalog.DefaultModels().Rankers() {
		fmt.Fprintf(&b, "| `%s` | %d | %d | [page](%s) |\n", m.Name, m.RecordTokens, m.MaxRecords, m.Source)
	}
	comparePage(t, rerankPage, b.String())
}
