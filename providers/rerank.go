package providers

import (
	"context"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Reranker is the ability to order documents by how well they answer a query. A
// [Provider] that has it implements this too.
type Reranker interface {
	// Rerank scores the documents. The provider must not keep or change req.
	Rerank(ctx context.Context, t *Target, req *RerankRequest) (*RerankResponse, error)
}

// RerankRequest is the body of POST /v1/rerank, as several vendors have it in
// common. A nil pointer or an empty value is "not given". Members that it does
// not name are kept in Extra: what becomes of each is told in docs/rerank.md.
//
// Source: https://docs.cohere.com/reference/rerank and https://jina.ai/reranker/,
// extended by the members marked below.
type RerankRequest struct {
	// Model is a model reference: "@slug/model" or "model", such as
	// "semantic-ranker-default@latest".
	Model string
	// Query is what the documents are held against.
	Query string
	// Documents are what is ordered.
	Documents []RerankDocument
	// TopN is how many results are wanted; default is all.
	TopN *int
	// ReturnDocuments puts each document into its result; default true.
	ReturnDocuments *bool
	// Labels are cost-attribution labels for the platform (extension).
	Labels map[string]string
	// User is the end user's id (extension).
	User string
	// Extra keeps the members that are not named above.
	Extra Extra
}

// RerankDocument is a document. Its JSON is a string, or an object where there is
// more than a text.
type RerankDocument struct {
	// Text is the document; one without it has a title.
	Text string
	// Title is read before the text.
	Title string
	// ID is the caller's own name for it, which is given back.
	ID string
	// Extra keeps the members that are not named above. They are given back, and
	// not read.
	Extra Extra
}

// RerankTexts are documents of a text each.
func RerankTexts(texts ...string) []RerankDocument {
	out := make([]RerankDocument, len(texts))
	for i := range texts {
		out[i].Text = texts[i]
	}
	return out
}

// RerankResponse has the results, the most relevant first.
type RerankResponse struct {
	// Model is the model reference of the request.
	Model string
	// Results are in the order of their scores, and those of equal scores in the
	// order of the documents.
	Results []RerankResult
	// Provider is the id of the provider that answered.
	Provider string
	// Extra keeps the members that are not named above.
	Extra Extra
	// Meta says what the gateway did. It is no part of the JSON.
	Meta Meta
}

// RerankResult is what became of one document.
type RerankResult struct {
	// Index is the document's place in the request.
	Index int
	// RelevanceScore is from 0 to 1; more is better.
	RelevanceScore float64
	// Document is the document as it was given, nil where that was not wanted.
	Document *RerankDocument
	// Extra keeps the members that are not named above.
	Extra Extra
}

// maxRerankDocuments bounds the documents of one call.
const maxRerankDocuments = 10_000

// Validate checks what no provider could send. The error is an
// [ErrInvalidRequest] that names the member.
func (q *RerankRequest) Validate() error {
	switch {
	case q.Model == "":
		return Invalid("model", `a model is required, such as "semantic-ranker-default@latest" or "@slug/model"`)
	case strings.TrimSpace(q.Query) == "":
		return Invalid("query", "a query is required: what the documents are held against")
	case len(q.Documents) == 0:
		return Invalid("documents", "documents are required: texts, or objects with a text")
	case len(q.Documents) > maxRerankDocuments:
		return Invalid("documents", strconv.Itoa(len(q.Documents))+" documents are too many for one call: "+strconv.Itoa(maxRerankDocuments)+" at most")
	case q.TopN != nil && *q.TopN < 1:
		return Invalid("top_n", "must be positive: leave it out for all")
	}
	for i := range q.Documents {
		if d := &q.Documents[i]; strings.TrimSpace(d.Text) == "" && strings.TrimSpace(d.Title) == "" {
			return Invalid("documents["+strconv.Itoa(i)+"]", "there is nothing to read: give a text that is not empty")
		}
	}
	return nil
}

// MarshalJSON encodes the request as POST /v1/rerank takes it.
func (q RerankRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *RerankRequest) UnmarshalJSON(data []byte) error {
	*q = RerankRequest{}
	return decode(data, q.decode)
}

func (q *RerankRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("model")
	w.String(q.Model)
	w.Key("query")
	w.String(q.Query)
	w.Key("documents")
	list(w, q.Documents, (*RerankDocument).encode)
	putInt(w, "top_n", q.TopN)
	putBool(w, "return_documents", q.ReturnDocuments)
	putMap(w, "labels", q.Labels)
	putString(w, "user", q.User)
	w.Members(q.Extra)
	w.EndObject()
}

func (q *RerankRequest) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "query":
			q.Query = r.String()
		case "documents":
			q.Documents = getList(r, (*RerankDocument).decode)
		case "top_n":
			q.TopN = getInt(r)
		case "return_documents":
			q.ReturnDocuments = optional(r, r.Bool)
		case "labels":
			q.Labels = getMap(r)
		case "user":
			q.User = r.String()
		default:
			q.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes a string, or an object where there is more than a text.
func (d RerankDocument) MarshalJSON() ([]byte, error) { return encode(d.encode) }

// UnmarshalJSON decodes a string or an object.
func (d *RerankDocument) UnmarshalJSON(data []byte) error {
	*d = RerankDocument{}
	return decode(data, d.decode)
}

func (d *RerankDocument) encode(w *jsonx.Writer) {
	if d.Title == "" && d.ID == "" && len(d.Extra) == 0 {
		w.String(d.Text)
		return
	}
	d.object(w)
}

func (d *RerankDocument) object(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "id", d.ID)
	putString(w, "title", d.Title)
	putString(w, "text", d.Text)
	w.Members(d.Extra)
	w.EndObject()
}

func (d *RerankDocument) decode(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.String:
		d.Text = r.String()
		return
	case jsonx.Object:
	default:
		r.Failf("expected a string or an object")
		return
	}
	words := []word{{"id", &d.ID}, {"title", &d.Title}, {"text", &d.Text}}
	for r.Object(); r.NextKey(); {
		if !readWord(words, r) {
			d.Extra.keep(r)
		}
	}
}

// AppendJSON appends the answer's JSON to dst.
func (a *RerankResponse) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	a.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the answer.
func (a RerankResponse) MarshalJSON() ([]byte, error) { return encode(a.encode) }

// UnmarshalJSON decodes an answer.
func (a *RerankResponse) UnmarshalJSON(data []byte) error {
	*a = RerankResponse{}
	return decode(data, a.decode)
}

func (a *RerankResponse) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("object")
	w.String("list")
	w.Key("model")
	w.String(a.Model)
	w.Key("results")
	list(w, a.Results, (*RerankResult).encode)
	putString(w, "provider", a.Provider)
	w.Members(a.Extra)
	w.EndObject()
}

func (a *RerankResponse) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "object":
			r.Skip()
		case "model":
			a.Model = r.String()
		case "results":
			a.Results = getList(r, (*RerankResult).decode)
		case "provider":
			a.Provider = r.String()
		default:
			a.Extra.keep(r)
		}
	}
}

// encode writes the document as an object, whatever the request had, as the
// vendors do.
func (s *RerankResult) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Int(int64(s.Index))
	w.Key("relevance_score")
	w.Float(s.RelevanceScore)
	if s.Document != nil {
		w.Key("document")
		s.Document.object(w)
	}
	w.Members(s.Extra)
	w.EndObject()
}

func (s *RerankResult) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			s.Index = int(r.Int())
		case "relevance_score":
			s.RelevanceScore = r.Float()
		case "document":
			s.Document = getObject(r, (*RerankDocument).decode)
		default:
			s.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the result.
func (s RerankResult) MarshalJSON() ([]byte, error) { return encode(s.encode) }

// UnmarshalJSON decodes a result.
func (s *RerankResult) UnmarshalJSON(data []byte) error {
	*s = RerankResult{}
	return decode(data, s.decode)
}
