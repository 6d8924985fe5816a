package vertextest

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// groundingMetadata says what an answer rests on. It is empty, but there, when
// the model was given a search tool and had no need of it.
type groundingMetadata struct {
	SearchEntryPoint  *searchEntryPoint  `json:"searchEntryPoint,omitempty"`
	GroundingChunks   []groundingChunk   `json:"groundingChunks,omitempty"`
	GroundingSupports []groundingSupport `json:"groundingSupports,omitempty"`
	RetrievalMetadata *retrievalMetadata `json:"retrievalMetadata,omitempty"`
	WebSearchQueries  []string           `json:"webSearchQueries,omitempty"`
	RetrievalQueries  []string           `json:"retrievalQueries,omitempty"`
}

type searchEntryPoint struct {
	RenderedContent string `json:"renderedContent"`
}

type retrievalMetadata struct {
	Score float64 `json:"googleSearchDynamicRetrievalScore,omitempty"`
}

// groundingChunk is one source; one of its members is set.
type groundingChunk struct {
	Web              *webSource       `json:"web,omitempty"`
	RetrievedContext *retrievedSource `json:"retrievedContext,omitempty"`
	Maps             *mapsSource      `json:"maps,omitempty"`
}

type webSource struct {
	URI    string `json:"uri"`
	Title  string `json:"title"`
	Domain string `json:"domain,omitempty"`
}

type retrievedSource struct {
	URI   string `json:"uri"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type mapsSource struct {
	URI     string `json:"uri"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	PlaceID string `json:"placeId"`
}

// groundingSupport ties a piece of a text part to its sources.
type groundingSupport struct {
	Segment               segment   `json:"segment"`
	GroundingChunkIndices []int     `json:"groundingChunkIndices"`
	ConfidenceScores      []float64 `json:"confidenceScores,omitempty"` // before Gemini 2.5
}

// segment is a piece of a part. Its ends are offsets in bytes of UTF-8.
type segment struct {
	PartIndex  int    `json:"partIndex,omitempty"`
	StartIndex int    `json:"startIndex,omitempty"`
	EndIndex   int    `json:"endIndex"`
	Text       string `json:"text"`
}

// urlContextMetadata says which addresses of the prompt were read.
type urlContextMetadata struct {
	URLMetadata []urlMetadata `json:"urlMetadata"`
}

type urlMetadata struct {
	RetrievedURL       string `json:"retrievedUrl"`
	URLRetrievalStatus string `json:"urlRetrievalStatus"`
}

// urlTokens is what reading one address adds to the prompt.
const urlTokens = 400

// findings is what the tools of the platform found for a request.
type findings struct {
	grounding *groundingMetadata // nil without such a tool
	urls      *urlContextMetadata
	titles    []string // of the sources, in their order
	toolUse   int      // tokens of what the tools fed back
}

// find runs the tools that look things up. They have nothing to do after a
// function response and for a mere greeting.
func (x *exchange) find() findings {
	var f findings
	said, _ := x.lastUserText()
	for _, kind := range []string{"googleSearch", "googleSearchRetrieval", "enterpriseWebSearch", "parallelAiSearch", "exaAiSearch"} {
		if raw, ok := x.req.tool(kind); ok {
			f.searchWeb(kind, raw, said)
		}
	}
	if _, ok := x.req.tool("googleMaps"); ok {
		f.open().add("Café Exemplaire", groundingChunk{Maps: &mapsSource{
			URI: "https://maps.google.com/?cid=4242424242424242424", Title: "Café Exemplaire",
			Text: "A café that is open all day.", PlaceID: "places/ChIJexampleexampleexample",
		}})
	}
	if _, ok := x.req.tool("retrieval"); ok {
		g := f.open()
		g.grounding.RetrievalQueries = []string{said}
		g.add("handbook", groundingChunk{RetrievedContext: &retrievedSource{
			URI: "gs://example-bucket/handbook.pdf", Title: "handbook", Text: "The handbook says what there is to say.",
		}})
	}
	if _, ok := x.req.tool("urlContext"); ok {
		f.readURLs(said)
	}
	if f.grounding != nil && (!x.endsInUserText() || said == "" || isGreeting(said)) {
		return findings{grounding: &groundingMetadata{}}
	}
	return f
}

// open makes room for what is found.
func (f *findings) open() *findings {
	if f.grounding == nil {
		f.grounding = &groundingMetadata{}
	}
	return f
}

func (f *findings) add(title string, c groundingChunk) {
	f.titles = append(f.titles, title)
	f.grounding.GroundingChunks = append(f.grounding.GroundingChunks, c)
}

// searchWeb finds two pages, those left out whose domain is excluded.
func (f *findings) searchWeb(kind string, raw json.RawMessage, query string) {
	var options struct {
		ExcludeDomains []string `json:"excludeDomains"`
	}
	_ = json.Unmarshal(raw, &options) // the schema has been checked
	g := f.open().grounding
	g.WebSearchQueries = []string{query}
	if kind != "parallelAiSearch" && kind != "exaAiSearch" {
		g.SearchEntryPoint = &searchEntryPoint{`<div class="container"><a class="chip" href="https://www.google.com/search?q=` +
			url.QueryEscape(query) + `">` + html.EscapeString(query) + `</a></div>`}
	}
	if kind == "googleSearchRetrieval" {
		g.RetrievalMetadata = &retrievalMetadata{Score: 0.75}
	}
	for _, domain := range []string{"example.com", "example.org"} {
		if slices.Contains(options.ExcludeDomains, domain) {
			continue
		}
		f.add(domain, groundingChunk{Web: &webSource{
			URI:   "https://vertexaisearch.cloud.google.com/grounding-api-redirect/" + callID([]byte(domain+query), 0),
			Title: domain, Domain: domain,
		}})
	}
}

var webAddress = regexp.MustCompile(`https?://[^\s<>"'）)]+`)

// readURLs reads the addresses of the text. Hosts below .invalid can't be read.
func (f *findings) readURLs(text string) {
	f.open()
	for _, found := range webAddress.FindAllString(text, -1) {
		found = strings.TrimRight(found, ".,;:!?")
		u, err := url.Parse(found)
		if err != nil || u.Hostname() == "" {
			continue
		}
		one := urlMetadata{found, "URL_RETRIEVAL_STATUS_SUCCESS"}
		if strings.HasSuffix(u.Hostname(), ".invalid") {
			one.URLRetrievalStatus = "URL_RETRIEVAL_STATUS_ERROR"
		} else {
			f.add(u.Hostname(), groundingChunk{Web: &webSource{URI: found, Title: u.Hostname(), Domain: u.Hostname()}})
			f.toolUse += urlTokens
		}
		if f.urls == nil {
			f.urls = &urlContextMetadata{}
		}
		f.urls.URLMetadata = append(f.urls.URLMetadata, one)
	}
}

// claims returns the sentences of a grounded answer: what it says, which all
// sources support, and one more for each source.
func (f findings) claims(said string) []string {
	list := []string{said}
	for _, title := range f.titles {
		list = append(list, "So says “"+title+"”.")
	}
	return list
}

// support ties the claims to their sources, as far as they are in the text that
// is left after limits and stop sequences.
func (f findings) support(x *exchange, claims []string, parts []part) {
	at := slices.IndexFunc(parts, func(p part) bool { return p.Text != nil && !p.Thought })
	if f.grounding == nil || len(f.titles) == 0 || at < 0 || len(claims) == 0 {
		return
	}
	text, start := parts[at].text(), 0
	for i, claim := range claims {
		end := start + len(claim)
		if end > len(text) {
			return
		}
		s := groundingSupport{Segment: segment{PartIndex: at, StartIndex: start, EndIndex: end, Text: claim}, GroundingChunkIndices: []int{i - 1}}
		if i == 0 {
			s.GroundingChunkIndices = s.GroundingChunkIndices[:0]
			for n := range f.titles {
				s.GroundingChunkIndices = append(s.GroundingChunkIndices, n)
			}
		}
		if x.facts.version < 25 {
			for range s.GroundingChunkIndices {
				s.ConfidenceScores = append(s.ConfidenceScores, 0.9)
			}
		}
		f.grounding.GroundingSupports = append(f.grounding.GroundingSupports, s)
		start = end + len(" ")
	}
}
