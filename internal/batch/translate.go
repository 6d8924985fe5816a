package batch

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

const (
	// maxCustomID is the most characters of a custom_id.
	maxCustomID = 512
	// maxBadLines and maxBadBytes bound the lines that are wrong: a file with more
	// of them is wrong as a whole.
	maxBadLines, maxBadBytes = 10_000, 8 << 20
	// maxKinds bounds the kinds of warnings that are kept of a batch.
	maxKinds = 32
	// pieceSize is how much is translated at a time.
	pieceSize = 64 << 10
)

// translation is a reader of a batch's lines as the platform reads them, which
// are translated as they are read. What it holds does not grow with the lines
// but for 16 bytes of each id.
type translation struct {
	ctx      context.Context //nolint:containedctx // of the upload that reads
	s        *Service
	rec      *record
	in       *lines
	runner   providers.BatchRunner
	target   *providers.Target
	format   providers.BatchLines // nil before the first line
	first    int64                // the line that named the model
	seen     map[[16]byte]struct{}
	chat     providers.ChatCompletionRequest
	out      []byte
	pos      int
	bad      []byte // lines of the error file
	failed   int64
	valid    int64
	warnings []providers.Warning
	counts   []int
}

// Read translates on. Its error is about the file as a whole.
func (t *translation) Read(p []byte) (int, error) {
	if t.pos == len(t.out) {
		t.out, t.pos = t.out[:0], 0
		for len(t.out) < pieceSize {
			if err := t.step(); err != nil {
				if errors.Is(err, io.EOF) && len(t.out) > 0 {
					break
				}
				return 0, err
			}
		}
	}
	n := copy(p, t.out[t.pos:])
	t.pos += n
	return n, nil
}

// inputLine is one line as it was given.
type inputLine struct {
	id, method, url string
	body            []byte
	unknown         string // the first member that means nothing
}

// step translates one line.
func (t *translation) step() error {
	if t.rec.total&1023 == 0 {
		if err := t.ctx.Err(); err != nil {
			return &providers.Error{Code: providers.ErrCanceled, Message: "the caller's context ended", Err: context.Cause(t.ctx)}
		}
	}
	line, long, err := t.in.next()
	if err != nil {
		return err
	}
	t.rec.total++
	if long {
		return t.reject("", &providers.Error{Code: providers.ErrTooLarge, Message: "the line is over " + strconv.Itoa(maxLine) + " bytes"})
	}
	var l inputLine
	if err := l.decode(line); err != nil {
		return t.reject(l.id, err)
	}
	if err := t.unique(l.id); err != nil {
		return err
	}
	before := len(t.out)
	warnings, err := t.translate(&l)
	if err != nil {
		t.out = t.out[:before]
		if whole, ok := errors.AsType[*wholeError](err); ok {
			return whole.e
		}
		return t.reject(l.id, err)
	}
	t.out = append(t.out, '\n')
	if t.valid++; t.valid > int64(t.format.MaxLines()) {
		return providers.Invalid("input_file_id", "the file has more than "+strconv.Itoa(t.format.MaxLines())+" lines, which is what the platform takes at once: share them among several")
	}
	if l.unknown != "" {
		warnings = append(warnings, leftOut(inLine, l.unknown))
	}
	t.warn(warnings)
	return nil
}

// wholeError is about the file as a whole.
type wholeError struct{ e *providers.Error }

func (w *wholeError) Error() string { return w.e.Error() }

// decode reads a line and checks what it must have.
func (l *inputLine) decode(line []byte) error {
	r := jsonx.NewReader(line)
	if r.Kind() != jsonx.Object {
		return providers.Invalid("", "the line is no JSON object")
	}
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "custom_id":
			l.id = r.String()
		case "method":
			l.method = r.String()
		case "url":
			l.url = r.String()
		case "body":
			l.body = r.Raw()
		default:
			if l.unknown == "" {
				l.unknown = clip(string(r.Key()))
			}
			r.Skip()
		}
	}
	if err := r.End(); err != nil {
		return badJSON("", err)
	}
	switch {
	case l.id == "":
		return providers.Invalid("custom_id", "each line needs an id of its own")
	case utf8.RuneCountInString(l.id) > maxCustomID:
		l.id = ""
		return providers.Invalid("custom_id", "must have at most "+strconv.Itoa(maxCustomID)+" characters")
	case l.method != "POST":
		return providers.Invalid("method", "must be POST")
	case len(l.body) == 0 || l.body[0] != '{':
		return providers.Invalid("body", "the request is required, as an object")
	}
	return nil
}

func clip(s string) string {
	if len(s) > 64 {
		s = s[:64]
	}
	return s
}

// badJSON tells of a mistake in JSON, without what is there.
func badJSON(under string, err error) error {
	e, ok := errors.AsType[*jsonx.Error](err)
	if !ok {
		return lineError(err)
	}
	path := e.Path
	if under != "" && path != "" {
		path = under + "." + path
	}
	return providers.Invalid(path, "at byte "+strconv.Itoa(e.Offset)+": "+e.Msg)
}

// unique notes an id. One that comes twice would have two answers.
func (t *translation) unique(id string) error {
	sum := sha256.Sum256([]byte(id))
	key := [16]byte(sum[:16])
	if _, twice := t.seen[key]; twice {
		return providers.Invalid("custom_id", "line "+strconv.FormatInt(t.in.n, 10)+" has the custom_id of an earlier line: answers are told apart by it")
	}
	t.seen[key] = struct{}{}
	return nil
}

// translate appends the platform's line.
func (t *translation) translate(l *inputLine) ([]providers.Warning, error) {
	if l.url != t.rec.endpoint {
		return nil, providers.Invalid("url", "must be "+t.rec.endpoint+", the batch's endpoint")
	}
	if t.rec.endpoint == providers.BatchEmbeddings {
		return t.embedding(l)
	}
	q := &t.chat
	*q = providers.ChatCompletionRequest{}
	if err := q.UnmarshalJSON(l.body); err != nil {
		return nil, badJSON("body", err)
	}
	if err := t.choose(q.Model); err != nil {
		return nil, err
	}
	if q.Stream {
		return nil, providers.Invalid("body.stream", "a batch has no streams: leave it out")
	}
	if err := q.Validate(); err != nil {
		return nil, below(err)
	}
	var warnings []providers.Warning
	var err error
	t.out, warnings, err = t.format.AppendChat(t.out, l.id, q)
	return warnings, below(err)
}

func (t *translation) embedding(l *inputLine) ([]providers.Warning, error) {
	var q providers.EmbeddingRequest
	if err := q.UnmarshalJSON(l.body); err != nil {
		return nil, badJSON("body", err)
	}
	if err := t.choose(q.Model); err != nil {
		return nil, err
	}
	if err := q.Validate(); err != nil {
		return nil, below(err)
	}
	var warnings []providers.Warning
	var err error
	t.out, warnings, err = t.format.AppendEmbedding(t.out, l.id, &q)
	return warnings, below(err)
}

// below says where in the line a member of the body is.
func below(err error) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Param == "" || e.Param == "custom_id" || e.Param == "url" {
		return err
	}
	own := *e
	own.Param = "body." + e.Param
	return &own
}

// choose takes the model of the first line for all: a job has one.
func (t *translation) choose(model string) error {
	switch {
	case model == "":
		return providers.Invalid("body.model", "a model is required")
	case t.format != nil && model != t.rec.model:
		return &wholeError{providers.Invalid("body.model", "line "+strconv.FormatInt(t.in.n, 10)+" asks another model than line "+
			strconv.FormatInt(t.first, 10)+": a batch has one, so make a file for each")}
	case t.format != nil:
		return nil
	}
	runner, target, err := t.s.Resolve(t.ctx, model)
	if err == nil {
		t.format, err = runner.BatchLines(target, &providers.BatchFormat{Endpoint: t.rec.endpoint})
	}
	if err != nil {
		e := lineError(err)
		return &wholeError{e}
	}
	t.runner, t.target, t.first, t.rec.model = runner, target, t.in.n, model
	return nil
}

func lineError(err error) *providers.Error {
	if e, ok := errors.AsType[*providers.Error](err); ok {
		return e
	}
	return &providers.Error{Code: providers.ErrInvalidRequest, Message: "the line can't be read", Err: err}
}

// reject puts a line into the error file.
func (t *translation) reject(id string, err error) error {
	x := providers.BatchResult{CustomID: id, Line: t.in.n, Err: lineError(err)}
	var failed error
	if t.bad, failed = x.AppendJSON(t.bad, requestID(t.rec.key, t.in.n)); failed != nil {
		return failed
	}
	t.bad = append(t.bad, '\n')
	if t.failed++; t.failed > maxBadLines || len(t.bad) > maxBadBytes {
		return providers.Invalid("input_file_id", strconv.FormatInt(t.failed, 10)+" of "+strconv.FormatInt(t.rec.total, 10)+
			" lines are wrong, the last one because: "+describe(x.Err))
	}
	return nil
}

func describe(e *providers.Error) string {
	if e.Param == "" {
		return e.Message
	}
	return e.Param + ": " + e.Message
}

// requestID names a line of a batch's output.
func requestID(key string, line int64) string {
	return "batch_req_" + key + "_" + strconv.FormatInt(line, 10)
}

// warn counts warnings by their kind, and keeps the first one of each.
func (t *translation) warn(list []providers.Warning) {
next:
	for i := range list {
		for j := range t.warnings {
			if t.warnings[j].Code == list[i].Code && t.warnings[j].Param == list[i].Param {
				t.counts[j]++
				continue next
			}
		}
		if len(t.warnings) < maxKinds {
			t.warnings, t.counts = append(t.warnings, list[i]), append(t.counts, 1)
		}
	}
}

// summary are the warnings of all lines.
func (t *translation) summary() []providers.Warning {
	for i, n := range t.counts {
		if n > 1 {
			t.warnings[i].Message += " (in " + strconv.Itoa(n) + " places of the batch)"
		}
	}
	return t.warnings
}
