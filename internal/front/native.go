package front

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// NativeBackend answers in Google's own schema.
type NativeBackend interface {
	// Native returns a whole answer. It must not keep the request's body.
	Native(ctx context.Context, req *providers.NativeRequest, o *Overrides) (*providers.NativeAnswer, error)
	// NativeStream returns once the first event is there, so that a failure before it
	// is an error here. It must not keep the request's body.
	NativeStream(ctx context.Context, req *providers.NativeRequest, o *Overrides) (NativeStream, error)
}

// NativeStream is a streamed answer in Google's own schema. It belongs to the
// goroutine that serves the request.
type NativeStream interface {
	// Recv returns the data of the next event, valid until the next call, or io.EOF
	// after the last one of a whole answer.
	Recv() ([]byte, error)
	// Meta says what the gateway did, as far as it is known.
	Meta() providers.Meta
	// Close releases the stream. It is called once, whether or not the stream
	// has ended.
	Close() error
}

const headerGoogleKey = "X-Goog-Api-Key"

// admit checks the API key of the gateway as the route's schema sends it.
func (c *call) admit() (token, id string, err error) {
	rt := c.route
	if rt == nil || !rt.google() {
		return c.keys.admit(c.r.Header, rt != nil && rt.anthropic)
	}
	in := c.r.Header
	given := in[headerGoogleKey]
	if len(given) == 0 {
		given = c.r.URL.Query()["key"]
	}
	if token, err := bearer(in["Authorization"]); c.keys.on && len(given) > 0 && len(in[headerAPIKey]) == 0 && (err != nil || !c.keys.match(token)) {
		in = http.Header{"Authorization": in["Authorization"], headerAPIKey: given}
	}
	if token, id, err = c.keys.admit(in, false); errors.Is(err, providers.ErrAuthentication) {
		err = &providers.Error{
			Code:    providers.ErrAuthentication,
			Message: `a valid API key is required, as "x-goog-api-key: KEY", "x-gateway-api-key: KEY" or "Authorization: Bearer KEY"`,
		}
	}
	return token, id, err
}

// native serves what is in Google's own schema.
func (c *call) native() error {
	path := c.r.URL.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	p, err := parseNative(path)
	if err != nil {
		return err
	}
	isGet := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
	switch {
	case isGet && p.method == "":
		return c.nativeModels(&p)
	case p.method == "" || c.r.Method != http.MethodPost:
		allowed := "POST"
		if p.method == "" {
			allowed = "GET"
		}
		c.w.Header().Set("Allow", allowed)
		return invalid(http.StatusMethodNotAllowed, "", "wrong method: a model is asked by POST models/MODEL:METHOD, and looked up by GET")
	}
	if c.o.Provider == "" && c.o.ConfigID == "" && c.o.Config == nil && !strings.HasPrefix(p.model, "@") {
		c.o.PathProject, c.o.PathRegion = p.project, p.region
	}
	return c.askNative(&p)
}

// askNative asks the model of a path.
func (c *call) askNative(p *nativePath) error {
	stream := p.method == providers.NativeStream
	if err := checkQuery(c.r.URL.Query(), stream); err != nil {
		return err
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := c.readBody(buf); err != nil {
		return err
	}
	req := &providers.NativeRequest{Model: p.model, Method: p.method, Beta: p.beta, Body: buf.B}
	if stream {
		s, err := c.backend.NativeStream(c.r.Context(), req, &c.o)
		if err != nil {
			return err
		}
		meta := s.Meta()
		setMeta(c.w.Header(), &meta)
		c.sendEvents(&nativeEvents{stream: s})
		return nil
	}
	out, err := c.backend.Native(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	setMeta(c.w.Header(), &out.Meta)
	writeJSON(c.w, http.StatusOK, out.Body)
	return nil
}

// checkQuery refuses what the gateway would not pass on.
func checkQuery(q url.Values, stream bool) error {
	for name, values := range q {
		switch alt := strings.Join(values, ","); {
		case name == "key" || name == "prettyPrint" || name == "$prettyPrint":
		case name != "alt" && name != "$alt":
			return providers.Invalid(headerText(name), "the query has a member that the gateway does not pass on: it takes alt and key")
		case stream && alt == "sse", !stream && alt == "json":
		default:
			return providers.Invalid("alt", "alt must be sse for streamGenerateContent, and json or absent for the other methods")
		}
	}
	if stream && q.Get("alt") == "" && q.Get("$alt") == "" {
		return providers.Invalid("alt", "streams are event streams here: ask for streamGenerateContent?alt=sse")
	}
	return nil
}

// nativeEvents are the events of an answer in Google's own schema. What breaks is
// told by an event with the error in it, and by the end of the connection: clients
// take a clean end for that of the answer.
type nativeEvents struct {
	stream NativeStream
	failed bool
}

func (n *nativeEvents) next(dst []byte) ([]byte, bool) {
	data, err := n.stream.Recv()
	var fault *providers.Error // which may have io.EOF for a cause
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &fault):
		return dst, false
	case err != nil:
		n.failed = true
		e := publicError(err)
		data = appendNativeError(nil, e, statusOf(e))
	}
	dst = append(append(append(dst, "data: "...), data...), "\r\n\r\n"...)
	return dst, err == nil
}

func (n *nativeEvents) close()       { _ = n.stream.Close() }
func (n *nativeEvents) free()        {}
func (n *nativeEvents) broken() bool { return n.failed }

// isBroken reports whether events ended in a failure that the end of the connection
// has to tell.
func isBroken(ev events) bool {
	b, ok := ev.(interface{ broken() bool })
	return ok && b.broken()
}

// breakOff has the connection end without the end of a whole body.
func breakOff(flush *http.ResponseController) { _ = flush.SetWriteDeadline(time.Unix(1, 0)) }

// bodyEnd is what a body ends with behind its last event.
func bodyEnd(ev events) error {
	if isBroken(ev) {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// rpcWords are the words of google.rpc.Code for statuses of HTTP; the others are
// INVALID_ARGUMENT below 500 and INTERNAL from there on.
//
// Source: https://cloud.google.com/apis/design/errors#handling_errors
var rpcWords = map[int]string{
	401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 405: "UNIMPLEMENTED", 408: "DEADLINE_EXCEEDED", 409: "ABORTED",
	429: "RESOURCE_EXHAUSTED", 446: "FAILED_PRECONDITION", 499: "CANCELLED",
	501: "UNIMPLEMENTED", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED", 529: "UNAVAILABLE",
}

// rpcWord is the word for an error: the platform's, where it is one of Google's.
func rpcWord(e *providers.Error, status int) string {
	word := rpcWords[status]
	switch {
	case e.NativeStatus != "" && strings.Trim(e.NativeStatus, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "":
		return e.NativeStatus
	case e.Code == providers.ErrInvalidConfig && word == "":
		return "FAILED_PRECONDITION"
	case word != "":
		return word
	case status >= 500:
		return "INTERNAL"
	}
	return "INVALID_ARGUMENT"
}

// appendNativeError appends Google's error envelope,
// {"error":{"code","message","status","details"}}.
func appendNativeError(dst []byte, e *providers.Error, status int) []byte {
	var w jsonx.Writer
	w.BeginObject()
	w.Key("error")
	w.BeginObject()
	w.Key("code")
	w.Int(int64(status))
	w.Key("message")
	w.String(cmp.Or(e.Message, strings.ReplaceAll(string(e.Code), "_", " ")))
	w.Key("status")
	w.String(rpcWord(e, status))
	w.Key("details")
	if r := jsonx.NewReader(e.Details); len(e.Details) > 0 && r.Kind() == jsonx.Array && jsonx.Valid(e.Details) {
		w.Raw(e.Details)
	} else {
		writeErrorInfo(&w, e)
	}
	w.EndObject()
	w.EndObject()
	return append(dst, w.Bytes()...)
}

// writeErrorInfo writes what the gateway knows of an error in the form that Google
// has for such things.
//
// Source: https://cloud.google.com/apis/design/errors#error_info
func writeErrorInfo(w *jsonx.Writer, e *providers.Error) {
	w.BeginArray()
	w.BeginObject()
	w.Key("@type")
	w.String("type.googleapis.com/google.rpc.ErrorInfo")
	w.Key("reason")
	w.String(strings.ToUpper(string(e.Code)))
	w.Key("domain")
	w.String("gateway")
	w.Key("metadata")
	w.BeginObject()
	for _, m := range [...][2]string{{"param", e.Param}, {"provider", e.Provider}, {"request_id", e.RequestID}} {
		if m[1] != "" {
			w.Key(m[0])
			w.String(m[1])
		}
	}
	w.EndObject()
	w.EndObject()
	w.EndArray()
}

// nativeModels serves the list of models that can be asked in Google's own schema,
// or what is known of one.
func (c *call) nativeModels(p *nativePath) error {
	all, err := c.backend.Models(c.r.Context())
	if err != nil {
		return err
	}
	var list []Model
	for i := range all {
		if all[i].isNative() {
			list = append(list, all[i])
		}
	}
	if p.model != "" {
		at := slices.IndexFunc(list, func(m Model) bool { return m.ID == p.model })
		if at < 0 {
			return &providers.Error{Code: providers.ErrModelNotFound, Param: "model", Message: "no such model: GET models lists those that are known by name"}
		}
		return c.writeModels(func(w *jsonx.Writer) { list[at].encodeNative(w, p.vertex) })
	}
	from, to, err := page(c.r.URL.Query(), len(list))
	if err != nil {
		return err
	}
	return c.writeModels(func(w *jsonx.Writer) {
		name := "models"
		if p.vertex {
			name = "publisherModels"
		}
		w.BeginObject()
		w.Key(name)
		w.BeginArray()
		for i := range list[from:to] {
			list[from+i].encodeNative(w, p.vertex)
		}
		w.EndArray()
		if to < len(list) {
			w.Key("nextPageToken")
			w.String(strconv.Itoa(to))
		}
		w.EndObject()
	})
}

// isNative reports whether the model can be asked in Google's own schema.
func (m *Model) isNative() bool {
	f := m.Facts
	return m.OwnedBy == "google" && f != nil && len(nativeTypes[f.Type]) > 0 && (f.Provider == "vertex-ai" || f.Provider == "google")
}

// page reads which part of a list is asked for.
func page(q url.Values, n int) (from, to int, err error) {
	size := n
	if s := q.Get("pageSize"); s != "" {
		if size, err = strconv.Atoi(s); err != nil || size < 0 {
			return 0, 0, providers.Invalid("pageSize", "must be a number")
		}
		if size == 0 {
			size = n
		}
	}
	if s := q.Get("pageToken"); s != "" {
		if from, err = strconv.Atoi(s); err != nil || from < 0 || from > n {
			return 0, 0, providers.Invalid("pageToken", "is none that the gateway gave")
		}
	}
	return from, from + min(size, n-from), nil
}

// nativeTypes are the methods of models by their type.
var nativeTypes = map[string][]string{
	"chat":      {providers.NativeGenerate, providers.NativeStream, providers.NativeCount},
	"embedding": {providers.NativeEmbed},
	"image":     {providers.NativePredict},
}

// encodeNative writes the model as Google's schema has it: with the name that a
// client asks for it by.
//
// Source: https://ai.google.dev/api/models#Model and
// https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models#PublisherModel
func (m *Model) encodeNative(w *jsonx.Writer, vertex bool) {
	w.BeginObject()
	w.Key("name")
	if slug, name, ok := strings.Cut(m.ID, "/"); vertex && ok && strings.HasPrefix(slug, "@") {
		w.String("publishers/" + slug + "/models/" + name)
	} else if vertex {
		w.String("publishers/google/models/" + m.ID)
	} else {
		w.String("models/" + m.ID)
		w.Key("displayName")
		w.String(m.ID)
		putCount(w, "inputTokenLimit", max(m.Facts.ContextWindow, m.Facts.MaxInputTokens))
		putCount(w, "outputTokenLimit", m.Facts.MaxOutputTokens)
		putWords(w, "supportedGenerationMethods", nativeTypes[m.Facts.Type])
	}
	w.EndObject()
}
