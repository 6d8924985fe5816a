package vertextest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// jobCall is one call about objects or batches.
type jobCall struct {
	*exchange
	method string
	serve  func() (response, error)
	open   bool // the address says by itself who may
	store  bool // errors are the store's
}

// serveJobs serves a call about objects or batches, and reports whether it is
// one.
func (s *Server) serveJobs(ctx context.Context, w http.ResponseWriter, r *http.Request, body []byte) bool {
	c := &jobCall{
		method: r.Method,
		exchange: &exchange{
			server: s, cfg: &s.cfg, host: r.Host, header: r.Header, query: r.URL.Query(), body: body,
		},
	}
	ours := c.findStore(r.URL.EscapedPath()) || c.findBatch(r.URL.EscapedPath())
	if !ours {
		return false
	}
	s.record(Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body,
		Project: c.target.project, Location: c.target.location, Verb: c.route.verb, Time: time.Now(),
	})
	if c.serve == nil {
		s.deliver(ctx, w, HTML404(), pageNotFound(r.URL.Path))
		return true
	}
	reply, res := c.respond()
	s.deliver(ctx, w, reply, res)
	return true
}

// respond checks who asks, then gives the scripted reply or does what is asked.
func (c *jobCall) respond() (Reply, response) {
	if !c.open {
		if err := c.checkToken(); err != nil {
			return Reply{}, c.refuse(err)
		}
	}
	reply := c.server.next(c.route, c.target)
	if reply.render != nil {
		res, err := reply.render(c.exchange)
		if err != nil {
			return reply, c.refuse(err)
		}
		return reply, res
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.settleJobs(time.Now())
	res, err := c.serve()
	if err != nil {
		return reply, c.refuse(err)
	}
	return reply, res
}

// refuse renders an error in the envelope of whose it is.
func (c *jobCall) refuse(err error) response {
	var st *statusError
	if !c.store || !errors.As(err, &st) {
		return errorResponse(err, false)
	}
	if c.query.Get("alt") == "media" {
		return response{status: st.Code, header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}}, events: [][]byte{[]byte(st.Message)}}
	}
	res, encodeErr := storeJSON(st.Code, map[string]any{"error": map[string]any{
		"code": st.Code, "message": st.Message, "errors": []any{map[string]string{"message": st.Message, "domain": "global"}},
	}})
	if encodeErr != nil {
		return errorResponse(encodeErr, false)
	}
	return res
}

// storeJSON renders an answer of the store.
func storeJSON(status int, v any) (response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return response{}, err
	}
	return response{status: status, header: jsonHeader(), events: [][]byte{pretty(body)}}, nil
}

// findStore reads a path of the store's JSON API.
func (c *jobCall) findStore(path string) bool {
	upload := strings.HasPrefix(path, "/upload/")
	rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "/upload"), "/storage/v1/b/")
	if !ok {
		return false
	}
	seg := strings.Split(rest, "/")
	for i := range seg {
		plain, err := url.PathUnescape(seg[i])
		if err != nil {
			return true
		}
		seg[i] = plain
	}
	c.store = true
	if len(seg) < 2 || len(seg) > 3 || seg[0] == "" || seg[1] != "o" || len(seg) == 3 && seg[2] == "" {
		return true
	}
	one := &storeCall{jobCall: c, bucket: seg[0]}
	if len(seg) == 3 {
		one.name = seg[2]
	}
	session := c.query.Get("upload_id") != ""
	for _, r := range []struct {
		method, verb            string
		upload, session, object bool
		media                   bool
		serve                   func() (response, error)
	}{
		{http.MethodPost, "insertObject", true, false, false, false, one.serveInsert},
		{http.MethodPut, "uploadChunk", true, true, false, false, one.serveChunk},
		{http.MethodDelete, "cancelUpload", true, true, false, false, one.serveChunk},
		{http.MethodGet, "listObjects", false, false, false, false, one.serveList},
		{http.MethodGet, "statObject", false, false, true, false, one.serveStat},
		{http.MethodGet, "getObject", false, false, true, true, one.serveBytes},
		{http.MethodPatch, "patchObject", false, false, true, false, one.servePatch},
		{http.MethodDelete, "deleteObject", false, false, true, false, one.serveDelete},
	} {
		if r.method == c.method && r.upload == upload && r.session == session && r.object == (len(seg) == 3) && r.media == (c.query.Get("alt") == "media") {
			c.serve, c.open = r.serve, session
			c.route = route{verb: r.verb, http: r.method, rpc: "storage." + r.verb}
			c.target.verb = r.verb
			return true
		}
	}
	return true
}

// findBatch reads a path of batch prediction jobs.
func (c *jobCall) findBatch(path string) bool {
	seg := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(seg) < 6 || len(seg) > 7 || !slices.Contains([]string{"v1", "v1beta1"}, seg[0]) || seg[1] != "projects" || seg[3] != "locations" || seg[5] != "batchPredictionJobs" {
		return false
	}
	c.target = target{version: seg[0], project: seg[2], location: seg[4]}
	one := &batchCall{jobCall: c}
	verb := ""
	if len(seg) == 7 {
		one.id, verb, _ = strings.Cut(seg[6], ":")
	}
	for _, r := range []struct {
		method, verb, name, rpc string
		object                  bool
		serve                   func() (response, error)
	}{
		{http.MethodPost, "", "createBatchPredictionJob", "CreateBatchPredictionJob", false, one.create},
		{http.MethodGet, "", "listBatchPredictionJobs", "ListBatchPredictionJobs", false, one.list},
		{http.MethodGet, "", "getBatchPredictionJob", "GetBatchPredictionJob", true, one.get},
		{http.MethodPost, "cancel", "cancelBatchPredictionJob", "CancelBatchPredictionJob", true, one.cancel},
		{http.MethodDelete, "", "deleteBatchPredictionJob", "DeleteBatchPredictionJob", true, one.remove},
	} {
		if r.method == c.method && r.verb == verb && r.object == (one.id != "") {
			c.serve = r.serve
			c.route = route{verb: r.name, http: r.method, rpc: "JobService." + r.rpc}
			c.target.verb = r.name
			return true
		}
	}
	return true
}
