package pipeline

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/b650d4bf/gateway/internal/served"
	"github.com/b650d4bf/gateway/providers"
)

// recorder follows one call for its observers and its logger. It belongs to the
// goroutine that runs the call.
type recorder struct {
	observers [2][]providers.Observer // the client's and the call's
	logger    *zap.Logger
	ctx       context.Context // the call's, as the observers made it
	record    providers.Record
	route     route        // where the call goes, once that is known
	strict    bool         // what the answer is projected to
	planned   bool         // a plan keeps the trail
	begun     bool         // a stream has given something out
	spared    bool         // no request was made for the call
	alone     bool         // nothing else has the recorder
	spot      place        // of a call without a plan
	waiting   *pending     // what the cache may keep of it
	share     *share       // of a stream that several read
	carried   int          // attempts of requests that were not the last
	guards    *guardLog    // nil when there are none
	silent    bool         // the call said debug=false
	content   *content     // nil when nobody wants to see it
	server    *served.Note // where requests go; nil when nobody is told
	pace      pacing
	refused   error // by an observer
}

// recorder returns a recorder as newRecorder does, one that was used before if there
// is any.
func (e *Engine) recorder(client, call *Settings, operation, model string, own map[string]string) *recorder {
	r, ok := e.recorders.Get().(*recorder)
	if !ok {
		r = new(recorder)
	}
	r.set(client, call, operation, model, own)
	return r
}

// free takes a recorder back that nothing else has, when its call has ended. Others
// may be held by what goes on: a stream, a flight, a hedge.
func (e *Engine) free(r *recorder) {
	if r.alone {
		*r = recorder{}
		e.recorders.Put(r)
	}
}

// newRecorder returns a recorder of an operation on a model, with the metadata
// that the request brought.
func newRecorder(client, call *Settings, operation, model string, own map[string]string) *recorder {
	r := new(recorder)
	r.set(client, call, operation, model, own)
	return r
}

func (r *recorder) set(client, call *Settings, operation, model string, own map[string]string) {
	r.observers = [2][]providers.Observer{client.Observers, call.Observers}
	r.logger, r.strict = client.Logger, strict(client, call)
	if call.Logger != nil {
		r.logger = call.Logger
	}
	id := call.RequestID
	if id == "" {
		id = newID()
	}
	c := &r.record.Call
	c.ID, c.Operation, c.Model, c.Start = id, operation, model, time.Now()
	c.Metadata = metadata(metadata(client.Metadata, own), call.Metadata)
	c.Surface, c.ConfigID, c.KeyID = first(call.Surface, providers.SurfaceGo), configID(client, call), call.KeyID
	r.silent = !either(call.Debug, client.Debug, true)
	r.record.Meta.RequestID, r.record.Meta.CacheStatus = id, providers.CacheDisabled // the rest is zero
	r.prompt(call.Prompt)
}

// configID names the config of the catalog that says where a call goes; empty for
// none, and for a config that came along. It goes with [Engine.choose].
func configID(client, call *Settings) string {
	switch {
	case call.Plan != nil || call.Config != nil:
		return ""
	case call.ConfigID != "" || client.Plan != nil:
		return call.ConfigID
	}
	return client.ConfigID
}

// newID returns 24 random characters. An id is no secret, so it needs no
// unpredictable ones.
func newID() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var id [24]byte
	const half = len(id) / 2 // 12 characters of 5 bits are in one number
	n, m := rand.Uint64(), rand.Uint64()
	for i := range half {
		id[i], id[half+i] = alphabet[n%32], alphabet[m%32]
		n, m = n/32, m/32
	}
	return string(id[:])
}

// metadataOf returns the request's own metadata, with the end user's id, for
// which the platform has no place.
func metadataOf(req *providers.ChatCompletionRequest) map[string]string {
	return metadata(userMetadata(req.User), req.Metadata)
}

// userMetadata is the metadata that an end user's id becomes.
func userMetadata(user string) map[string]string {
	if user == "" {
		return nil
	}
	return map[string]string{providers.UserKey: user}
}

// labels makes labels for the platform from the metadata, when that is switched
// on.
func labels(client, call *Settings, entries map[string]string) map[string]string {
	prefix := call.LabelPrefix
	if prefix == nil {
		prefix = client.LabelPrefix
	}
	if prefix == nil || len(entries) == 0 {
		return nil
	}
	out := make(map[string]string, len(entries))
	for k, v := range entries {
		out[*prefix+k] = v
	}
	return out
}

// metadata lays entries over those below.
func metadata(below, above map[string]string) map[string]string {
	switch {
	case len(above) == 0:
		return below
	case len(below) == 0:
		return above
	}
	out := make(map[string]string, len(below)+len(above))
	maps.Copy(out, below)
	maps.Copy(out, above)
	return out
}

func (r *recorder) start(ctx context.Context) context.Context {
	ctx, r.server = r.noted(ctx)
	for _, list := range r.observers {
		for _, o := range list {
			ctx = o.CallStart(ctx, r.record.Call)
		}
	}
	r.ctx = ctx
	r.admit()
	return ctx
}

// admit asks the observers that can refuse the call, up to the first that does.
func (r *recorder) admit() {
	for _, list := range r.observers {
		for _, o := range list {
			if a, ok := o.(providers.Admitter); ok && r.refused == nil {
				r.refused = a.Admit(r.ctx, r.record.Call)
			}
		}
	}
}

// allowed reports why the call must not go on: the client is closed, or an observer
// refused it.
func (e *Engine) allowed(r *recorder) error {
	if e.closed.Load() {
		return errClosed()
	}
	return r.refused
}

// routed notes where the call goes.
func (r *recorder) routed() {
	t, m := &r.route.target, &r.record.Meta
	m.Provider, m.Slug, m.Model = t.Provider, t.Slug, t.Model
	r.record.Billed.Region = t.Region
}

// answer notes what came back, and lays the provider's warnings into the meta.
func (r *recorder) answer(c *providers.ChatCompletion) {
	r.warnings(c.Meta.Warnings)
	r.record.ResponseID, r.record.ResponseModel = c.ID, c.Model
	r.usage(c.Usage)
	observed := r.observed()
	if observed {
		r.record.Billed.AddAnswer(c.Extra)
	}
	for i := range c.Choices {
		if observed {
			r.record.Billed.AddChoice(c.Choices[i].Extra)
		}
		if i == 0 {
			r.record.FinishReason = c.Choices[0].FinishReason
		}
		r.finished(i, c.Choices[i].FinishReason)
	}
	r.attempt(nil)
}

func (r *recorder) firstChunk(c *providers.ChatCompletionChunk) {
	r.begun, r.record.FirstChunk = true, time.Since(r.record.Start)
	r.record.ResponseID, r.record.ResponseModel = c.ID, c.Model
	if c.Meta != nil {
		r.warnings(c.Meta.Warnings)
	}
	r.attempt(nil)
	r.verdicts()
	r.paced()
	c.Meta = new(r.record.Meta)
}

// chunk notes what later chunks say.
func (r *recorder) chunk(c *providers.ChatCompletionChunk) {
	r.pulled()
	r.piece(c)
	r.usage(c.Usage)
	observed := r.observed()
	if observed {
		r.record.Billed.AddAnswer(c.Extra)
	}
	for i := range c.Choices {
		if observed {
			r.record.Billed.AddChoice(c.Choices[i].Extra)
		}
		f := c.Choices[i].FinishReason
		if f == "" {
			continue
		}
		if c.Choices[i].Index == 0 {
			r.record.FinishReason = f
			r.record.ResponseID, r.record.ResponseModel = c.ID, c.Model
		}
		r.finished(c.Choices[i].Index, f)
	}
}

// usage notes the tokens. Observers get a copy of their own: the caller's may
// be projected.
func (r *recorder) usage(u *providers.Usage) {
	if u == nil {
		return
	}
	if r.observed() {
		u = new(*u)
	}
	r.record.Usage = u
}

// attempt adds the request to the trail.
func (r *recorder) attempt(err *providers.Error) {
	m := &r.record.Meta
	if m.Provider == "" || r.planned || r.spared {
		return
	}
	a := providers.Attempt{
		Provider: m.Provider, Slug: m.Slug, Model: m.Model,
		StatusCode: 200, Start: r.record.Start, Duration: time.Since(r.record.Start),
		Server: r.server.Server(),
	}
	if err != nil {
		a.StatusCode, a.Code = err.StatusCode, err.Code
	}
	m.Attempts = append(m.Attempts, a)
}

// fail notes the error of the call and returns it with the call's id. It is
// always an [providers.Error], and a copy: a provider may share its own.
func (r *recorder) fail(err error) error {
	e := r.known(err)
	e.RequestID = r.record.ID
	if e.Sent && e.Provider == "" {
		e.Provider = r.record.Meta.Provider
	}
	switch m := &r.record.Meta; {
	case r.planned && !r.begun, r.spared: // the trail says it
	case e.Code == providers.ErrGuardDenied: // the target did well
	case len(m.Attempts) > r.carried && e.Code != providers.ErrCanceled: // broken on the way
		m.Attempts = slices.Clone(m.Attempts) // the first chunk shares them
		m.Attempts[len(m.Attempts)-1].Code = e.Code
	case len(m.Attempts) == r.carried && e.Provider != "":
		r.attempt(e)
	}
	if m := &r.record.Meta; m.Retry > 0 {
		m.Retry = providers.RetryFailed // the stream broke that a retry had opened
	}
	e.Attempts = r.record.Meta.Attempts
	r.partial(e)
	r.record.Err = withoutAnswer(e)
	if r.strict && e.Partial != nil {
		projectCompletion(e.Partial)
	}
	return e
}

// withoutAnswer is what observers see of an error: they see no answer.
func withoutAnswer(e *providers.Error) *providers.Error {
	if e.Partial == nil {
		return e
	}
	bare := *e
	bare.Partial = nil
	return &bare
}

// known returns err as an Error. Callers tell the end of a stream by io.EOF, so
// that an Error must not be mistaken for it.
func (r *recorder) known(err error) *providers.Error {
	var e *providers.Error
	if !errors.As(err, &e) {
		return &providers.Error{Code: codeOf(err), Provider: r.record.Meta.Provider, Sent: true, Err: whole(err)}
	}
	own := *e
	if error(e) != err && !errors.Is(err, io.EOF) { //nolint:errorlint // asks whether it is wrapped
		own.Err = err
	}
	own.Err = whole(own.Err)
	return &own
}

// codeOf is the kind of an error that does not say it.
func codeOf(err error) providers.Code {
	switch {
	case errors.Is(err, context.Canceled):
		return providers.ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return providers.ErrTimeout
	}
	return providers.ErrServer
}

// whole returns err, or in place of an io.EOF the error that says it came too
// early.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *recorder) end() {
	r.record.Duration = time.Since(r.record.Start)
	r.verdicts()
	n := 0
	for _, list := range r.observers {
		for _, o := range list {
			r.tell(o, n)
			o.CallEnd(r.ctx, r.record)
			n++
		}
	}
	if r.logger != nil {
		r.log()
	}
}

// log writes one entry without any prompt, answer, header or token.
func (r *recorder) log() {
	rec := &r.record
	fields := []zap.Field{
		zap.String("request_id", rec.ID), zap.String("operation", rec.Operation),
		zap.String("provider", rec.Meta.Provider), zap.String("slug", rec.Meta.Slug),
		zap.String("model", first(rec.Meta.Model, rec.Model)), zap.Bool("stream", rec.Stream),
		zap.Duration("duration", rec.Duration), zap.Stringer("cache_status", rec.Meta.CacheStatus),
		zap.Stringer("retry_status", rec.Meta.Retry), zap.Stringer("fallback_status", rec.Meta.Fallback),
		zap.Stringer("loadbalance_status", rec.Meta.LoadBalance),
		zap.String("finish_reason", rec.FinishReason), zap.Int("warnings", len(rec.Meta.Warnings)),
	}
	if rec.Prompt != "" {
		fields = append(fields, zap.String("prompt_id", rec.Prompt), zap.String("prompt_version", rec.PromptVersion))
	}
	if u := rec.Usage; u != nil {
		fields = append(fields, zap.Int64("prompt_tokens", u.PromptTokens),
			zap.Int64("completion_tokens", u.CompletionTokens), zap.Int64("total_tokens", u.TotalTokens))
	}
	if err := rec.Meta.Cache.Err; err != nil {
		fields = append(fields, zap.NamedError("cache_error", err))
	}
	if names := r.denied(); len(names) > 0 {
		fields = append(fields, zap.Strings("guards_denied", names))
	}
	if e, ok := errors.AsType[*providers.Error](rec.Err); ok {
		cause := e.Err
		if e.Code == providers.ErrGuardDenied {
			cause = nil // it may quote what it judged
		}
		r.logger.Warn(operations[rec.Operation]+" failed", append(fields,
			zap.String("code", string(e.Code)), zap.String("param", e.Param), zap.Int("status", e.StatusCode),
			zap.Bool("sent", e.Sent), zap.NamedError("cause", cause))...)
		return
	}
	r.logger.Info(operations[rec.Operation], fields...)
}
