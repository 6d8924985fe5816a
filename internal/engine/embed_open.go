package engine

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/embed"
	"github.com/b650d4bf/gateway/providers"
)

// The limits of servers that no row of the table is about. Those of OpenAI's API
// are documented; other servers tell theirs in a refusal, which is learnt.
//
// Source: https://platform.openai.com/docs/api-reference/embeddings/create
const (
	openInputs    = 2048
	openRequest   = 300_000 // tokens
	serverInputs  = 256
	predictInputs = 32
)

// The methods of servers that speak the OpenAI schema. An endpoint whose server
// has no such path may have one for raw predictions that takes the same body.
//
// Source: https://cloud.google.com/vertex-ai/docs/predictions/get-online-predictions
const (
	embeddingsPath = "/embeddings"
	rawPredictVerb = "rawPredict"
)

// serverRow finds the facts of a model of an endpoint's server, or of a vendor's
// service, whose name says nothing.
func (e *embedding) serverRow() {
	row, known := e.p.models.LookupEmbedding(e.model.Publisher, e.model.Name)
	switch {
	case known:
	case e.predicts():
		row = &catalog.EmbeddingModel{Method: catalog.EmbedPredict, MaxInputs: predictInputs, Tasks: catalog.TaskParameter}
	case e.model.Family == FamilyOpenAI:
		row = &catalog.EmbeddingModel{Method: catalog.EmbedOpenAI, MaxInputs: openInputs, RequestTokens: openRequest, Tasks: catalog.TaskNone}
	default:
		row = &catalog.EmbeddingModel{Method: catalog.EmbedOpenAI, MaxInputs: serverInputs, Tasks: catalog.TaskNone}
	}
	e.row, e.known = row, true
	if e.model.Own && row.Method != catalog.EmbedOpenAI { // whose server has no other method
		own := *row
		own.Method = catalog.EmbedOpenAI
		e.row = &own
	}
}

// isServer reports whether the model belongs to a server that has its models by
// names of its own.
func (m *Model) isServer() bool { return m.Family == FamilyEndpoint || m.Family == FamilyOpenAI }

// predicts reports whether a function of the caller's speaks for the endpoint.
func (e *embedding) predicts() bool {
	return e.model.Predictor != nil && e.model.Predictor.EmbedRequest != nil
}

// isOpen reports whether the model is asked in the OpenAI schema.
func (e *embedding) isOpen() bool { return e.row.Method == catalog.EmbedOpenAI && !e.predicts() }

// openVerb is the method that the server is asked by.
func (e *embedding) openVerb() string {
	if e.p.learnt.isRaw(e.lessonKey()) {
		return rawPredictVerb
	}
	return embeddingsPath
}

// hasNoPath recognises that the server behind an endpoint does not have the path,
// and learns it. What the platform itself refuses has a status in capitals.
func (e *embedding) hasNoPath(verb string, err error) bool {
	refused, ok := errors.AsType[*providers.Error](err)
	if !ok || verb != embeddingsPath || e.model.Own || e.model.Family != FamilyEndpoint {
		return false
	}
	if status := refused.NativeStatus; status != "" && status == strings.ToUpper(status) {
		return false
	}
	switch refused.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		e.p.learnt.setRaw(e.lessonKey())
		return true
	}
	return false
}

// isRaw reports whether an endpoint is asked by raw predictions.
func (l *lessons) isRaw(key string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.raw[key]
}

func (l *lessons) setRaw(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw == nil {
		l.raw = map[string]bool{}
	}
	if len(l.raw) < maxLessons {
		l.raw[key] = true
	}
}

// readOpen reads the members beside the input for a server: those that no row is
// about go as they are, since servers differ in what they know.
func (e *embedding) readOpen() error {
	if len(e.q.Labels) > 0 || len(e.t.Labels) > 0 {
		e.warn(providers.WarnUnsupported, "labels", "left out: the server takes no labels")
	}
	if e.truncate != nil {
		e.truncate = nil
		e.warn(providers.WarnUnsupported, "auto_truncate", "left out: the schema has no such member, and servers that have one name it differently")
	}
	for name, value := range e.q.Extra.All() {
		p := findEmbedParam(name)
		switch {
		case saysNothing(value):
		case p == nil, p.open.action == forward:
			e.raw = jsonx.AppendMember(e.raw, name, value)
		case p.name == "output_dimensionality":
			r := jsonx.NewReader(value)
			n := int(r.Int())
			switch {
			case r.End() != nil || n < 1:
				return providers.Invalid(name, "not a value of the kind that the member has")
			case e.dimensions == 0:
				e.dimensions = n
			case e.dimensions != n:
				e.warn(providers.WarnConflict, name, "left out: dimensions is given too, and wins")
			}
		default:
			e.warn(providers.WarnUnsupported, name, "left out: it is for models of the platform")
		}
	}
	for i := range e.items {
		for name := range e.items[i].Extra.All() {
			e.warnOnce("input."+name, providers.WarnUnknown, e.q.InputPath(i)+"."+name, "left out: the schema does not have it")
		}
	}
	return nil
}

// openBody writes a request in the OpenAI schema. A server behind an endpoint
// has one model, which needs no name.
func (e *embedding) openBody(w *jsonx.Writer, s span) {
	w.Key("model")
	if e.model.Own {
		w.String(e.model.Name)
	} else {
		w.String("")
	}
	w.Key("input")
	if single := e.q.Input.Single && len(e.items) == 1; single {
		writeOpenInput(w, &e.items[0])
	} else {
		w.BeginArray()
		for i := s.from; i < s.to; i++ {
			writeOpenInput(w, &e.items[i])
		}
		w.EndArray()
	}
	putNumber(w, "dimensions", e.dimensions)
	putText(w, "encoding_format", e.q.EncodingFormat)
	putText(w, "user", e.q.User)
	w.Members(e.raw)
}

// writeOpenInput writes a text, as itself or as tokens.
func writeOpenInput(w *jsonx.Writer, it *providers.EmbeddingItem) {
	if it.Tokens == nil {
		w.String(it.Text)
		return
	}
	w.BeginArray()
	for _, n := range it.Tokens {
		w.Int(n)
	}
	w.EndArray()
}

// batchLimits are the words after which servers name the most inputs of a
// request: those of TEI, of OpenAI's API and of Azure.
//
// Sources: https://github.com/huggingface/text-embeddings-inference,
// https://platform.openai.com/docs/api-reference/embeddings/create and
// https://learn.microsoft.com/azure/ai-services/openai/reference
var batchLimits = []string{"maximum allowed batch size ", "array with maximum length ", "max number of inputs is ", "array size must be "}

// batchLimit reads the most inputs of a request from a refusal, 0 for none.
func batchLimit(text string) int {
	for _, words := range batchLimits {
		_, after, ok := strings.Cut(text, words)
		if !ok {
			continue
		}
		after = strings.TrimPrefix(after, "less than or equal to ")
		end := strings.IndexFunc(after, func(c rune) bool { return c < '0' || c > '9' })
		if end < 0 {
			end = len(after)
		}
		if n, err := strconv.Atoi(after[:end]); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// learnOpen reads a server's refusal of a request with several inputs, as learn
// does.
func (e *embedding) learnOpen(s span, refused *providers.Error, text string) []span {
	halves := func() []span {
		middle := s.from + s.len()/2
		return []span{{s.from, middle}, {middle, s.to}}
	}
	switch refused.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return nil
	}
	if n := batchLimit(text); n > 0 {
		e.p.learnt.setInputs(e.lessonKey(), min(n, s.len()-1))
		return e.plan(s)
	}
	if refused.StatusCode == http.StatusRequestEntityTooLarge || strings.Contains(text, "tokens per request") {
		return halves()
	}
	return nil
}

// preparePredictor finds what is wrong with a request that a caller's function
// writes, which is told the whole of it.
func (e *embedding) preparePredictor() error {
	if e.model.Predictor.Vectors == nil {
		return badPredictor("a predictor that embeds needs both functions, EmbedRequest and Vectors")
	}
	if e.q.Dimensions != nil {
		e.dimensions = *e.q.Dimensions
	}
	if len(e.q.Labels) > 0 || len(e.t.Labels) > 0 {
		e.warn(providers.WarnUnsupported, "labels", "left out: the platform takes no labels for embeddings")
	}
	return nil
}

// ownBody writes what a caller's own function makes of the request.
func (e *embedding) ownBody(w *jsonx.Writer, s span) error {
	own := *e.q
	own.Model = e.model.Name
	own.Input = providers.EmbeddingInput{Items: e.items[s.from:s.to:s.to]}
	body, err := e.model.Predictor.EmbedRequest(&own)
	switch {
	case err != nil:
		return asError(err, providers.ErrInvalidRequest, "the endpoint's predictor refuses the request")
	case !jsonx.Valid(body):
		return badPredictor("what the predictor's EmbedRequest wrote is not JSON")
	}
	w.Append(func(dst []byte) []byte { return append(dst, body...) })
	return w.Err()
}

// readOwn reads an answer with a caller's own function.
func (x *embedExchange) readOwn(own *providers.Predictor, body []byte) error {
	if !jsonx.Valid(body) {
		return unreadable(http.StatusOK, body)
	}
	if raw, ok := errorMember(body); ok {
		return rawError(http.StatusOK, raw)
	}
	p, err := own.Vectors(body)
	if err != nil {
		e := answerError(providers.ErrBadResponse, "the endpoint's predictor can't read the answer")
		e.Err = err
		return e
	}
	x.answer.Vectors = make([]embed.Vector, len(p.Vectors))
	for i, v := range p.Vectors {
		x.answer.Vectors[i].Values = v
	}
	x.answer.Tokens, x.answer.Counted = p.Tokens, p.Tokens > 0
	return nil
}
