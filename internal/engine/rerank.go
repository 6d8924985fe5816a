package engine

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/internal/wire/rank"
	"github.com/b650d4bf/gateway/providers"
)

// RankSite is a site with models that order documents.
type RankSite interface {
	// RankURL is the address of the method that does, and the location it is in.
	RankURL(t *providers.Target) (u *url.URL, location string, err error)
}

var _ providers.Reranker = (*Engine)(nil)

// rerankParam is one row of the table of rerank requests.
type rerankParam struct {
	name string
	at   embedPlace
	note string
	link string
	// extension says that the member comes beyond the schema's own fields.
	extension bool
}

const (
	rankMethodPage = "https://cloud.google.com/generative-ai-app-builder/docs/reference/rest/v1/projects.locations.rankingConfigs/rank"
	rankPage       = "https://cloud.google.com/generative-ai-app-builder/docs/ranking"
	coherePage     = "https://docs.cohere.com/reference/rerank"
)

// rerankParams is the table of rerank requests. A member that is in no row is
// left out with a warning.
var rerankParams = []rerankParam{
	{"model", embedPlace{translate, "model"}, "slug and publisher are taken off", rankMethodPage, false},
	{"query", embedPlace{translate, "query"}, "", rankMethodPage, false},
	{"documents", embedPlace{translate, "records"}, "their places are the ids; shared among several requests where there are more than one takes", rankMethodPage, false},
	{"top_n", embedPlace{translate, "topN"}, "and again over all requests", rankMethodPage, false},
	{"return_documents", here, "true unless said otherwise; documents come back as they were given", coherePage, false},
	{"labels", embedPlace{translate, "userLabels"}, "checked before sending; also those made from metadata", rankMethodPage, false},
	{"user", here, "metadata _user of the call, for observers and logs", labelsPage, false},
	{"max_tokens_per_doc", nowhere, "the model's own limit counts", coherePage, true},
	{"max_chunks_per_doc", nowhere, "the platform reads a document in one piece", coherePage, true},
	{"rank_fields", nowhere, "title and text are read", coherePage, true},
}

// Rerank scores documents. Those beyond one request are shared among several, a
// few at a time; a score is about a document and the query alone, so that those of
// several requests are in one order.
//
// Source: https://cloud.google.com/generative-ai-app-builder/docs/ranking
func (p *Engine) Rerank(ctx context.Context, t *providers.Target, req *providers.RerankRequest) (*providers.RerankResponse, error) {
	r := &ranking{p: p, t: t, q: req}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	n := (len(req.Documents) + r.row.MaxRecords - 1) / r.row.MaxRecords
	answers := make([]rank.Answer, n)
	err := inParallel(ctx, t, n, func(ctx context.Context, i int) error {
		from := i * r.row.MaxRecords
		return r.ask(ctx, span{from, min(from+r.row.MaxRecords, len(req.Documents))}, &answers[i])
	})
	if err != nil {
		return nil, r.misnamed(err)
	}
	return r.finish(answers)
}

// ranking is one call, however many requests it takes.
type ranking struct {
	p      *Engine
	t      *providers.Target
	q      *providers.RerankRequest
	model  Model
	row    *catalog.RankModel
	u      *url.URL
	labels []byte
	remarks
}

// prepare finds the model and whatever is wrong before anything is sent.
func (r *ranking) prepare() (err error) {
	site, ok := r.p.site.(RankSite)
	if !ok {
		return badModel(r.p.site.Name() + " has no models that order documents")
	}
	if r.model, err = r.p.site.Model(r.t.Model); err != nil {
		return err
	}
	if r.model.Resource != "" || r.model.Family == FamilyEndpoint {
		return badModel("documents are ordered by models of the platform, such as semantic-ranker-default@latest")
	}
	if r.row = r.p.models.LookupRanker(r.model.Name); r.row == nil {
		r.row = &catalog.RankModel{MaxRecords: 200}
		r.warn(providers.WarnUnknownModel, "model", "the model is not in the table of models that order documents"+r.similar())
	}
	r.row = &catalog.RankModel{Name: r.row.Name, RecordTokens: r.row.RecordTokens, MaxRecords: max(1, r.row.MaxRecords)}
	var location string
	if r.u, location, err = site.RankURL(r.t); err != nil {
		return err
	}
	if location != r.t.Region && r.t.Region != "" {
		r.warn(providers.WarnAdjusted, "region", "the ranking service is in "+location+", not in "+clipped(r.t.Region))
	}
	r.leftovers()
	r.tooLong()
	r.labels, err = r.labelsOf(r.q.Labels, r.t.Labels)
	return err
}

// misnamed says of a refusal of an unknown model which ones may be meant.
func (r *ranking) misnamed(err error) error {
	e, ok := failure(err)
	if !ok || r.row.Name != "" || e.StatusCode != http.StatusBadRequest && e.StatusCode != http.StatusNotFound {
		return err
	}
	own := *e
	own.Message += " (the model is not in the table of models that order documents" + r.similar() + ")"
	if own.Param == "" {
		own.Param = "model"
	}
	return &own
}

// similar names models that may be meant.
func (r *ranking) similar() string {
	var names []string
	for _, m := range r.p.models.Rankers() {
		names = append(names, m.Name)
	}
	if found := near.Of(r.model.Name, names); len(found) > 0 {
		return "; did you mean " + strings.Join(found, ", ") + "?"
	}
	return ""
}

// leftovers warns of members that do not go to the platform.
func (r *ranking) leftovers() {
	names := make([]string, len(rerankParams))
	for i := range rerankParams {
		names[i] = rerankParams[i].name
	}
	for name, value := range r.q.Extra.All() {
		if saysNothing(value) {
			continue
		}
		if i := slices.Index(names, name); i >= 0 {
			r.warn(providers.WarnUnsupported, name, "left out: "+rerankParams[i].note)
			continue
		}
		text := "left out: the platform does not know it"
		if found := near.Of(name, names); len(found) > 0 {
			text += "; did you mean " + strings.Join(found, ", ") + "?"
		}
		r.warnOnce(name, providers.WarnUnknown, name, text)
	}
}

// tooLong warns of documents that are surely longer than what the model reads: the
// platform reads their beginning, and does not say so.
func (r *ranking) tooLong() {
	if r.row.RecordTokens == 0 {
		return
	}
	const characters = 6 // of a token, rather too many
	first, count := -1, 0
	for i := range r.q.Documents {
		d := &r.q.Documents[i]
		if n := utf8.RuneCountInString(d.Title) + utf8.RuneCountInString(d.Text); n > characters*r.row.RecordTokens {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count > 0 {
		r.warn(providers.WarnAdjusted, "documents["+strconv.Itoa(first)+"]", strconv.Itoa(count)+
			" of the documents are longer than the "+strconv.Itoa(r.row.RecordTokens)+" tokens that the model reads: only their beginning counts")
	}
}

// ask sends one request, for the documents of the span.
func (r *ranking) ask(ctx context.Context, s span, into *rank.Answer) error {
	c := &call{in: request{target: r.t, model: r.model, site: r.p.site}}
	var w jsonx.Writer
	if err := c.write(&w, func() error { return r.body(&w, s) }); err != nil {
		return err
	}
	u := *r.u
	return r.p.exchange(ctx, &u, c, into.Decode)
}

// body writes one request. The answer needs no records, which are here.
func (r *ranking) body(w *jsonx.Writer, s span) error {
	w.BeginObject()
	putText(w, "model", r.model.Name)
	putText(w, "query", r.q.Query)
	if r.q.TopN != nil {
		putNumber(w, "topN", min(*r.q.TopN, s.len()))
	}
	w.Key("ignoreRecordDetailsInResponse")
	w.Bool(true)
	w.Key("records")
	w.BeginArray()
	for i := s.from; i < s.to; i++ {
		d := &r.q.Documents[i]
		w.BeginObject()
		putText(w, "id", strconv.Itoa(i))
		putText(w, "title", d.Title)
		putText(w, "content", d.Text)
		w.EndObject()
	}
	w.EndArray()
	if r.labels != nil {
		w.Key("userLabels")
		w.Raw(r.labels)
	}
	w.EndObject()
	return w.Err()
}

// finish puts the scores into one order.
func (r *ranking) finish(answers []rank.Answer) (*providers.RerankResponse, error) {
	out := &providers.RerankResponse{Model: r.q.Model, Provider: r.p.site.Name()}
	seen := make([]bool, len(r.q.Documents))
	for i := range answers {
		for _, record := range answers[i].Records {
			at, err := strconv.Atoi(record.ID)
			if err != nil || at < 0 || at >= len(seen) || seen[at] {
				e := answerError(providers.ErrBadResponse, "the answer has a score for a document that was not asked about")
				e.Provider = r.p.site.Name()
				return nil, e
			}
			seen[at] = true
			one := providers.RerankResult{Index: at, RelevanceScore: record.Score}
			if r.q.ReturnDocuments == nil || *r.q.ReturnDocuments {
				one.Document = new(r.q.Documents[at])
			}
			out.Results = append(out.Results, one)
		}
	}
	want := len(r.q.Documents)
	if r.q.TopN != nil {
		want = min(want, *r.q.TopN)
	}
	if len(out.Results) < want {
		e := answerError(providers.ErrBadResponse, "there are "+strconv.Itoa(len(out.Results))+" scores, and "+strconv.Itoa(want)+" were asked for")
		e.Provider = r.p.site.Name()
		return nil, e
	}
	slices.SortStableFunc(out.Results, func(a, b providers.RerankResult) int {
		return cmp.Or(cmp.Compare(b.RelevanceScore, a.RelevanceScore), cmp.Compare(a.Index, b.Index))
	})
	out.Results = out.Results[:want]
	r.countUntold()
	out.Meta.Warnings = r.warnings
	return out, nil
}
