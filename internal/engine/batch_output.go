package engine

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// outputLine is one line of a job's output, undecoded.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-from-cloud-storage,
// https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/batch and
// https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/batch-prediction-genai-embeddings
type outputLine struct {
	id     string // custom_id or key beside the answer
	labels []byte // of the request
	inner  string // custom_id of the instance

	status                        []byte // a text or an object
	response, predictions, failed []byte
}

// readOutputLine splits a line.
func readOutputLine(line []byte) (*outputLine, error) {
	l := new(outputLine)
	r := jsonx.NewReader(line)
	if r.Kind() != jsonx.Object {
		return nil, badOutputLine()
	}
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "custom_id", "key":
			l.id = r.String()
		case "request":
			l.labels, _ = jsonx.Lookup(r.Raw(), "labels")
		case "instance":
			if raw, ok := jsonx.Lookup(r.Raw(), "custom_id"); ok {
				inner := jsonx.NewReader(raw)
				l.inner = inner.String()
			}
		case "status":
			l.status = r.Raw()
		case "response":
			l.response = r.Raw()
		case "predictions":
			l.predictions = r.Raw()
		case "error":
			l.failed = r.Raw()
		default:
			r.Skip()
		}
	}
	if r.End() != nil {
		return nil, badOutputLine()
	}
	return l, nil
}

func badOutputLine() error {
	return answerError(providers.ErrBadResponse, "a line of the platform's output can't be understood")
}

// customID finds the id that the line's request had, and the container of its
// audio.
func (l *outputLine) customID(claude bool) (id, audio string, err error) {
	ok := l.id != ""
	switch {
	case claude:
		id, ok = claudeID(l.id)
	case l.labels != nil:
		id, audio, ok = splitLabels(l.labels)
	default:
		id = l.id
	}
	if !ok || id == "" {
		return "", "", answerError(providers.ErrBadResponse, "a line of the platform's output has no id")
	}
	return id, audio, nil
}

// fault is why the line has no answer, nil if it has one.
func (l *outputLine) fault(provider string) *providers.Error {
	var e *providers.Error
	switch {
	case isSaid(l.failed):
		e = failedFault(l.failed)
	case isSaid(l.status):
		e = statusFault(l.status)
	case !isSaid(l.response) && !isSaid(l.predictions):
		e = answerError(providers.ErrEmptyResponse, "the platform gave no answer to the line")
	default:
		return nil
	}
	e.Provider, e.Sent = provider, true
	return e
}

// isSaid reports whether a member says anything.
func isSaid(raw []byte) bool {
	switch text := string(bytes.TrimSpace(raw)); text {
	case "", `""`, "null", "{}", "[]":
		return false
	}
	return true
}

// statusFault reads the status of a line that failed: a google.rpc.Status, or a
// text that may end in the platform's error.
func statusFault(raw []byte) *providers.Error {
	if raw[0] == '{' {
		return rpcFault(raw)
	}
	r := jsonx.NewReader(raw)
	text := string(raw)
	if r.Kind() == jsonx.String {
		text = strings.TrimSpace(r.String())
	}
	if at := strings.IndexByte(text, '{'); at >= 0 {
		if body := []byte(text[at:]); jsonx.Valid(body) {
			if inner, ok := jsonx.Lookup(body, "error"); ok {
				return rpcFault(inner)
			}
			return rpcFault(body)
		}
	}
	return newError(http.StatusInternalServerError, text)
}

// failedFault reads the error of a line: Google's, or that of a Claude model,
// with its envelope or without.
func failedFault(raw []byte) *providers.Error {
	if raw[0] != '{' {
		return statusFault(raw)
	}
	if kind, ok := jsonx.Lookup(raw, "type"); ok {
		envelope := raw
		if string(kind) != `"error"` {
			envelope = append(append([]byte(`{"type":"error","error":`), raw...), '}')
		}
		if e := claudeError(0, envelope); e != nil {
			return e
		}
	}
	return rpcFault(raw)
}

// rpcStatuses are the HTTP statuses of the codes that a google.rpc.Status has
// where no HTTP is around it.
//
// Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
var rpcStatuses = [...]int{
	1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500, 14: 503, 15: 500, 16: 401,
}

// rpcFault reads a google.rpc.Status, whose code may be HTTP's or its own.
func rpcFault(raw []byte) *providers.Error {
	code := int64(0)
	if at, ok := jsonx.Lookup(raw, "code"); ok {
		r := jsonx.NewReader(at)
		code = r.LooseInt()
	}
	if code > 0 && code < int64(len(rpcStatuses)) {
		return rawError(rpcStatuses[code], raw)
	}
	return rawError(0, raw)
}

// lineError is an error about one line.
func lineError(err error) *providers.Error {
	if e, ok := err.(*providers.Error); ok { //nolint:errorlint // what engines return is one
		return e
	}
	e := answerError(providers.ErrBadResponse, "the answer can't be understood")
	e.Err = err
	return e
}
