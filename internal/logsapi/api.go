// Package logsapi answers requests about the log over HTTP: records, what was said
// of them, and reports. Its paths are below a prefix that is the caller's:
//
//	GET  logs                  a page of records
//	GET  logs/{id}             one record, with its content
//	POST logs/{id}/feedback    says something of a record
//	GET  logs/export           all records, as lines of JSON or as CSV
//	GET  logs/fields           what can be asked for
//	POST feedback              says something of the record that the body names
//	GET  analytics             a report
//	GET  analytics/{name}      a part of one, see [Reports]
//
// Queries are those of package logs; what they do not know is an error, and so is
// every other parameter that has no meaning.
package logsapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/analytics"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// Handler answers. It is safe for concurrent use.
type Handler struct {
	// Now is the clock, [time.Now] unless it is set before the first request.
	Now func() time.Time
	// Flush is called before a record counts as not there: a log writes in the
	// background. nil is for stores that are never behind.
	Flush func(context.Context) error

	store  logs.Store
	source analytics.Source
	routes []route
}

var _ http.Handler = (*Handler)(nil)

// New returns the handler of a store and a source of reports; without a source,
// they are made of the store's records. What needs one that is not there is
// refused.
func New(store logs.Store, source analytics.Source) *Handler {
	if source == nil && store != nil {
		source = analytics.Over(store)
	}
	return &Handler{Now: time.Now, store: store, source: source, routes: routes()}
}

// Answer is what a request is answered with.
type Answer struct {
	Status int
	// Header has the type of the body, and more.
	Header http.Header
	// JSON is the whole body; it is nil where there is a Stream.
	JSON []byte
	// Stream is a body that is made as it is read, and must be closed.
	Stream io.ReadCloser
}

// request is one request on its way.
type request struct {
	*Handler
	ctx  context.Context
	http *http.Request
	rest string // what stands for the star of the route
	// keyID is the only key whose records are there; nil for all.
	keyID *string
}

// route is one operation. A star in the path takes one segment.
type route struct {
	method, path string
	serve        func(*request) (*Answer, error)
}

func routes() []route {
	return []route{
		{http.MethodGet, "logs", (*request).list},
		{http.MethodGet, "logs/export", (*request).export},
		{http.MethodGet, "logs/fields", (*request).fields},
		{http.MethodGet, "logs/*", (*request).show},
		{http.MethodPost, "logs/*/feedback", (*request).feedbackOf},
		{http.MethodPost, "feedback", (*request).feedback},
		{http.MethodGet, "analytics", (*request).report},
		{http.MethodGet, "analytics/*", (*request).narrow},
	}
}

// match reports whether the path is the route's, and what stands for its star.
func (rt *route) match(path string) (rest string, ok bool) {
	before, behind, starred := strings.Cut(rt.path, "*")
	if !starred {
		return "", path == rt.path
	}
	if rest, ok = strings.CutPrefix(path, before); ok {
		rest, ok = strings.CutSuffix(rest, behind)
	}
	return rest, ok && rest != "" && !strings.Contains(rest, "/")
}

// Answer answers a request for a path below the prefix. With a keyID there are no
// other records than those of that key, whatever the request asks for. An error is
// a *[providers.Error], or one that is not to be shown.
func (h *Handler) Answer(r *http.Request, path string, keyID *string) (*Answer, error) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	q := &request{Handler: h, ctx: r.Context(), http: r, keyID: keyID}
	var allowed []string
	for i := range h.routes {
		rt := &h.routes[i]
		rest, ok := rt.match(path)
		if !ok {
			continue
		}
		if rt.method == method {
			if h.lacks(rt) {
				return nil, ErrNoLog()
			}
			q.rest = rest
			out, err := rt.serve(q)
			if errors.Is(err, logs.ErrNotFound) {
				err = errNotFound()
			}
			return out, err
		}
		allowed = append(allowed, rt.method)
		break
	}
	if allowed == nil {
		return nil, errNoPath()
	}
	return nil, &providers.Error{
		Code: providers.ErrInvalidRequest, StatusCode: http.StatusMethodNotAllowed, Message: "wrong method: use " + allowed[0],
	}
}

// lacks reports whether the route needs what is not there.
func (h *Handler) lacks(rt *route) bool {
	if strings.HasPrefix(rt.path, "analytics") {
		return h.source == nil
	}
	return h.store == nil
}

// ErrNoLog says that no records are kept, and how they are.
func ErrNoLog() error {
	return &providers.Error{
		Code: providers.ErrNotFound, Message: "this gateway keeps no log: gateway.WithLog, with a log that has a store, makes it keep one",
	}
}

// ServeHTTP answers with all records. Whoever may not see them must not get here.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := h.Answer(r, strings.Trim(r.URL.Path, "/"), nil)
	if err != nil {
		a = failure(err)
	}
	header := w.Header()
	maps.Copy(header, a.Header)
	if a.Stream == nil {
		header.Set("Content-Length", strconv.Itoa(len(a.JSON)))
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.JSON) // nobody is left to be told
		return
	}
	defer func() { _ = a.Stream.Close() }()
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, a.Stream); err != nil {
		// So that what is cut can't look whole.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	}
}

// failure is the answer to what went wrong, in the error envelope.
func failure(err error) *Answer {
	var e *providers.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.DeadlineExceeded):
		e = &providers.Error{Code: providers.ErrTimeout, Message: "the time for the request ran out"}
	case errors.Is(err, context.Canceled):
		e = &providers.Error{Code: providers.ErrCanceled, Message: "the request was canceled"}
	default:
		e = &providers.Error{Code: providers.ErrServer, Message: "the log failed"}
	}
	out := &Answer{Status: e.HTTPStatus(), Header: jsonHeader(), JSON: e.AppendJSON(nil)}
	return out
}

func errNoPath() error {
	list := make([]string, 0, 8)
	for _, rt := range routes() {
		list = append(list, rt.method+" "+strings.Replace(rt.path, "*", "{id}", 1))
	}
	slices.Sort(list)
	return &providers.Error{
		Code: providers.ErrInvalidRequest, StatusCode: http.StatusNotFound, Message: "no such path: there are " + strings.Join(list, ", "),
	}
}

func errNotFound() error {
	return &providers.Error{Code: providers.ErrNotFound, Message: "no such record: it was never kept, is not kept any more, or is not yours"}
}

// jsonHeader is that of every JSON answer: what it says is of the moment, and may
// be private.
func jsonHeader() http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"}}
}

// answer is a JSON answer.
func answer(status int, v any) (*Answer, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &Answer{Status: status, Header: jsonHeader(), JSON: b}, nil
}

// mine reports whether the record may be seen. Those that came without a key are no
// key's.
func (q *request) mine(r *logs.Record) bool {
	return q.keyID == nil || *q.keyID != "" && r.KeyID == *q.keyID
}

// restrict adds the condition that the records are of the key.
func (q *request) restrict(filters []logs.Filter) []logs.Filter {
	if q.keyID == nil {
		return filters
	}
	return append(slices.Clip(filters), logs.Filter{Field: "key_id", Op: logs.Eq, Values: []string{*q.keyID}})
}

// list serves GET logs.
func (q *request) list() (*Answer, error) {
	ask, err := q.params(nil, pageParams)
	if err != nil {
		return nil, err
	}
	page, err := q.store.Query(q.ctx, ask.Query)
	if err != nil {
		return nil, err
	}
	if page.Records == nil {
		page.Records = []logs.Record{}
	}
	return answer(http.StatusOK, page)
}

// show serves GET logs/{id}.
func (q *request) show() (*Answer, error) {
	if _, err := q.params(nil, nil); err != nil {
		return nil, err
	}
	r, err := q.get(q.rest)
	if errors.Is(err, providers.ErrNotFound) && q.keyID != nil {
		r, err = q.older(q.rest, err)
	}
	if err != nil {
		return nil, err
	}
	return answer(http.StatusOK, r)
}

// older returns the newest record of the key with an id that a call of somebody else
// took again later, without content; with none the error.
func (q *request) older(id string, missing error) (*logs.Record, error) {
	ask := logs.Query{Filters: q.restrict([]logs.Filter{{Field: "id", Op: logs.Eq, Values: []string{id}}}), Limit: 1}
	if ask.Validate() != nil { // no call has such an id
		return nil, missing
	}
	page, err := q.store.Query(q.ctx, ask)
	if err != nil {
		return nil, err
	}
	if len(page.Records) == 0 {
		return nil, missing
	}
	return &page.Records[0], nil
}

// get returns a record that may be seen.
func (q *request) get(id string) (*logs.Record, error) {
	r, err := q.store.Get(q.ctx, id)
	if errors.Is(err, logs.ErrNotFound) && q.Flush != nil {
		_ = q.Flush(q.ctx) // the store may have it, whatever another sink has not
		r, err = q.store.Get(q.ctx, id)
	}
	if err != nil {
		return nil, err
	}
	if !q.mine(r) {
		return nil, errNotFound()
	}
	return r, nil
}

// fields serves GET logs/fields.
func (q *request) fields() (*Answer, error) {
	if _, err := q.params(nil, nil); err != nil {
		return nil, err
	}
	type field struct {
		Name string    `json:"name"`
		Kind string    `json:"kind"`
		Doc  string    `json:"doc"`
		Ops  []logs.Op `json:"ops"`
	}
	all := append(logs.Fields(), logs.Field{Name: "metadata.KEY", Kind: logs.Word, Doc: "an entry of the metadata"})
	out := make([]field, len(all))
	for i, f := range all {
		out[i] = field{f.Name, f.Kind.String(), f.Doc, opsOf(f.Name, f.Kind)}
	}
	return answer(http.StatusOK, map[string]any{"data": out})
}

// opsOf lists the comparisons that a field has.
func opsOf(name string, k logs.Kind) []logs.Op {
	value := map[logs.Kind]string{logs.Word: "a", logs.Number: "1", logs.Flag: "true"}[k]
	var out []logs.Op
	for _, op := range []logs.Op{logs.In, logs.NotIn, logs.Eq, logs.Ne, logs.Lt, logs.Lte, logs.Gt, logs.Gte, logs.Prefix, logs.Missing} {
		v := value
		if op == logs.Missing {
			v = "true"
		}
		if (&logs.Query{Filters: []logs.Filter{{Field: name, Op: op, Values: []string{v}}}}).Validate() == nil {
			out = append(out, op)
		}
	}
	return out
}
