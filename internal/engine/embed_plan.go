package engine

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/wire/embed"
	"github.com/b650d4bf/gateway/providers"
)

// maxAtOnce is the most requests of one call that are under way.
const maxAtOnce = 8

// span is the inputs of one request, from the first to before the last.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// outcome is how a request ended: with an answer, an error, or in parts that it
// has to be asked in instead.
type outcome struct {
	span   span
	answer *embed.Answer
	parts  []span
	err    error
}

// run asks for all inputs. A call that fits into one request costs no goroutine.
func (e *embedding) run(ctx context.Context) error {
	all := span{0, len(e.items)}
	if total := e.t.Timeouts.Total; total > 0 && all.len() > 1 { // which may take several requests
		limited, cancel := context.WithTimeout(ctx, total)
		defer cancel()
		ctx = limited
	}
	if e.fits(all) {
		o := e.try(ctx, all)
		switch {
		case o.err != nil:
			return o.err
		case o.answer != nil:
			e.count(o.span, o.answer)
			e.progress(len(e.items))
			return nil
		}
		return e.dispatch(ctx, o.parts)
	}
	return e.dispatch(ctx, e.plan(all))
}

// dispatch works the queue off, with several requests at a time. It returns when
// none is left under way.
func (e *embedding) dispatch(ctx context.Context, queue []span) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		ended        = make(chan outcome)
		active, done int
		failed       error
	)
	for active > 0 || len(queue) > 0 {
		for ; active < maxAtOnce && len(queue) > 0; active++ {
			next := queue[0]
			queue = queue[1:]
			go func() { ended <- e.try(ctx, next) }()
		}
		o := <-ended
		active--
		switch {
		case o.err != nil:
			if failed == nil {
				failed = o.err
			}
			queue = nil
			cancel()
		case failed != nil: // what else comes back is of no use
		case o.answer == nil:
			queue = append(queue, o.parts...)
		default:
			e.count(o.span, o.answer)
			done += o.span.len()
			e.progress(done)
		}
	}
	return spent(failed, done > 0)
}

// spent says of an error that something was sent, when an earlier request was.
func spent(err error, sent bool) error {
	if e, ok := errors.AsType[*providers.Error](err); ok && sent && !e.Sent {
		own := *e
		own.Sent = true
		return &own
	}
	return err
}

func (e *embedding) progress(done int) {
	if e.t.Progress != nil {
		e.t.Progress(done, len(e.items))
	}
}

// lessonKey is what a limit is learnt for: it may differ by location, and each
// project, or catalog entry, has endpoints and servers of its own.
func (e *embedding) lessonKey() string {
	if e.model.isServer() {
		return e.t.UniverseDomain + e.t.BaseURL + "/" + e.t.Slug + "/" + e.t.ProjectID + "/" + e.t.Region + "/" + e.model.Publisher + "/" + e.model.Name + e.model.Resource
	}
	return e.t.UniverseDomain + e.t.BaseURL + "/" + e.t.Region + "/" + e.model.Publisher + "/" + e.model.Name + e.model.Resource
}

// fits reports whether one request can take all inputs of the span, as far as is
// known by now.
func (e *embedding) fits(s span) bool {
	if s.len() == 1 {
		return true
	}
	return s.len() <= e.most() && (e.row.RequestTokens == 0 || e.estimates(s) <= e.row.RequestTokens)
}

// most is how many inputs one request can have, as far as is known by now.
func (e *embedding) most() int {
	return max(1, e.p.learnt.inputs(e.lessonKey(), e.row.MaxInputs))
}

// plan shares inputs among as few requests as the limits allow.
func (e *embedding) plan(s span) []span {
	most := e.most()
	parts := make([]span, 0, (s.len()+most-1)/most)
	from, tokens := s.from, 0
	for i := s.from; i < s.to; i++ {
		size := 0
		if e.row.RequestTokens > 0 {
			size = e.estimate(i)
		}
		if n := i - from; n == most || n > 0 && size > 0 && tokens+size > e.row.RequestTokens {
			parts = append(parts, span{from, i})
			from, tokens = i, 0
		}
		tokens += size
	}
	return append(parts, span{from, s.to})
}

// estimate is about how many tokens an input has, rather too many: one for three
// characters of ASCII, and for each other one.
func (e *embedding) estimate(i int) int {
	if tokens := e.items[i].Tokens; tokens != nil {
		return len(tokens)
	}
	ascii, other := 0, 0
	for _, c := range []byte(e.items[i].Text) {
		switch {
		case c < utf8.RuneSelf:
			ascii++
		case utf8.RuneStart(c):
			other++
		}
	}
	return ascii/3 + other + 1
}

// try asks for the inputs of a span, unless it is known by now that they are too
// many for one request, or the platform says so.
func (e *embedding) try(ctx context.Context, s span) outcome {
	if !e.fits(s) {
		return outcome{span: s, parts: e.plan(s)}
	}
	answer, err := e.ask(ctx, s)
	if err == nil {
		return outcome{span: s, answer: answer}
	}
	if parts := e.learn(s, err); parts != nil {
		return outcome{span: s, parts: parts}
	}
	return outcome{span: s, err: e.locate(s, err)}
}

// learn reads a refusal of a request with several inputs. It returns the parts
// that may be taken, or nil when smaller requests are no help.
func (e *embedding) learn(s span, err error) []span {
	refused, ok := errors.AsType[*providers.Error](err)
	if !ok || s.len() < 2 {
		return nil
	}
	text := strings.ToLower(refused.Message)
	if e.isOpen() {
		return e.learnOpen(s, refused, text)
	}
	switch {
	case refused.StatusCode == http.StatusBadRequest && strings.Contains(text, "instance(s) is allowed"):
		e.p.learnt.setInputs(e.lessonKey(), min(instances(text), s.len()-1))
		return e.plan(s)
	case e.row.Method == catalog.EmbedContent && refusesBatches(refused, text):
		e.p.learnt.setInputs(e.lessonKey(), 1)
		return e.plan(s)
	case refused.Code == providers.ErrContextLength && e.row.RequestTokens > 0 && e.estimates(s) > e.row.RequestTokens/2:
		middle := s.from + s.len()/2
		return []span{{s.from, middle}, {middle, s.to}}
	}
	return nil
}

// instances reads the number before "instance(s) is allowed", at least 1.
func instances(text string) int {
	before, _, _ := strings.Cut(text, "instance(s)")
	words := strings.Fields(before)
	if len(words) == 0 {
		return 1
	}
	n, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return 1
	}
	return max(1, n)
}

// refusesBatches recognises that batchEmbedContents is not there, or not for the
// model. A model that is not there has a status of the platform's own.
func refusesBatches(e *providers.Error, text string) bool {
	switch e.StatusCode {
	case http.StatusNotFound:
		return e.NativeStatus == ""
	case http.StatusNotImplemented:
		return true
	}
	return e.StatusCode == http.StatusBadRequest && strings.Contains(text, "batch") && strings.Contains(text, "support")
}

func (e *embedding) estimates(s span) int {
	sum := 0
	for i := s.from; i < s.to; i++ {
		sum += e.estimate(i)
	}
	return sum
}

// locate names the input that a refusal is about, where there is only one.
func (e *embedding) locate(s span, err error) error {
	if refused, ok := errors.AsType[*providers.Error](err); ok && refused.StatusCode == http.StatusBadRequest &&
		refused.Param == "" && s.len() == 1 && len(e.items) > 1 {
		own := *refused
		own.Param = e.q.InputPath(s.from)
		return &own
	}
	return err
}

// truncationWarning tells which inputs were cut.
func (e *embedding) truncationWarning() {
	const most = 8 // paths that are listed
	if len(e.truncated) == 0 {
		return
	}
	slices.Sort(e.truncated)
	var paths []string
	for _, i := range e.truncated[:min(most, len(e.truncated))] {
		paths = append(paths, e.q.InputPath(i))
	}
	text := strings.Join(paths, ", ")
	if more := len(e.truncated) - most; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	// Not bounded like the rest: it is about the answer, and comes last.
	e.warnings = append(e.warnings, providers.Warning{
		Code: providers.WarnAdjusted, Param: paths[0],
		Message: "the platform cut what was too long for the model: " + text + "; auto_truncate false makes it an error",
	})
}

// embedExchange is one request with its answer.
type embedExchange struct {
	call   call
	answer embed.Answer
}

// do sends the request for the inputs of a span and decodes the vectors that
// answer it, in one pass.
func (x *embedExchange) do(ctx context.Context, e *embedding, s span) error {
	verb := e.verb(s.len())
	err := x.send(ctx, e, s, verb)
	if e.hasNoPath(verb, err) {
		err = x.send(ctx, e, s, rawPredictVerb)
	}
	if err != nil {
		return err
	}
	return x.call.named(x.read(e))
}

// send sends the request to where the model is, which for an endpoint may take
// some tries.
func (x *embedExchange) send(ctx context.Context, e *embedding, s span, verb string) error {
	c := &x.call
	u, err := e.p.site.URL(e.t, &c.in.model, verb, "")
	if err != nil {
		return err
	}
	if site, ok := e.p.site.(Locator); ok && e.model.Family == FamilyEndpoint {
		return site.Locate(ctx, e.t, &c.in.model, u, func(u *url.URL) error { return x.post(ctx, e, s, u) })
	}
	return x.post(ctx, e, s, u)
}

// post writes the request and sends it once.
func (x *embedExchange) post(ctx context.Context, e *embedding, s span, u *url.URL) error {
	var w jsonx.Writer
	if err := x.call.write(&w, func() error { return e.body(&w, s) }); err != nil {
		return err
	}
	var err error
	x.call.res, err = e.p.send(ctx, &x.call, u)
	return err
}

// read decodes the answer that came.
func (x *embedExchange) read(e *embedding) error {
	defer func() { _ = x.call.res.Close() }()
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if err := x.call.res.ReadInto(buf, e.p.limit); err != nil {
		return err
	}
	if e.predicts() {
		return x.readOwn(e.model.Predictor, buf.B)
	}
	r := jsonx.NewReader(buf.B)
	if r.Kind() != jsonx.Object {
		return unreadable(http.StatusOK, buf.B)
	}
	if e.isOpen() {
		x.answer.DecodeOpenAI(&r)
	} else {
		x.answer.Decode(&r)
	}
	switch err := r.End(); {
	case x.answer.Error != nil:
		return rawError(http.StatusOK, x.answer.Error)
	case e.isOpen() && len(x.answer.Vectors) == 0 && isFlatError(buf.B):
		return flatError(http.StatusOK, buf.B)
	case err != nil:
		e := answerError(providers.ErrBadResponse, "the platform's answer can't be understood")
		e.Err = err
		return e
	}
	return nil
}
