package vertextest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"unicode"
)

// statusOverloaded is the status of an Anthropic model without room.
//
// Source: https://docs.claude.com/en/api/errors
const statusOverloaded = 529

// newStatus returns a scripted error; the spelling of the status says whose it is.
func newStatus(code int, status, message string, details ...any) *statusError {
	own := status != "" && unicode.IsLower(rune(status[0]))
	return &statusError{Code: code, Status: status, Message: message, Details: details, own: own}
}

// refuse renders an error in the envelope of whose error it is.
func (x *exchange) refuse(err error) response {
	st, ok := errors.AsType[*statusError](err)
	header := x.ownHeader()
	if ok && x.route.own {
		tellRetry(header, st)
		st = ownStatus(st)
	}
	if !ok || !st.own || x.route.wire == wireGemini || x.route.wire == wirePredict {
		return errorResponse(err, x.inArray())
	}
	body, encodeErr := json.Marshal(x.ownError(st))
	if encodeErr != nil {
		return errorResponse(encodeErr, x.inArray())
	}
	return response{status: st.Code, header: header, events: [][]byte{body}}
}

// ownError returns the envelope that the wire's models have for an error.
func (x *exchange) ownError(st *statusError) any {
	switch x.route.wire {
	case wireClaude:
		return claudeError{Type: "error", Error: claudeFault{Type: st.Status, Message: st.Message}, RequestID: x.claudeRequestID()}
	case wireMistral:
		e := mistralError{Object: "error", Message: st.Message, Type: st.Status, Code: st.Code}
		if len(st.Details) > 0 {
			e.Message = map[string]any{"detail": st.Details}
		}
		return e
	}
	if x.route.wire == wireOpenAI {
		return x.openaiError(st)
	}
	return chatError{chatFault{Message: st.Message, Type: st.Status, Code: st.Code}}
}

// ownHeader returns the head of a JSON answer of a model on its own wire.
func (x *exchange) ownHeader() http.Header {
	h := jsonHeader()
	h.Set("Content-Type", "application/json")
	if x.route.wire == wireClaude {
		h.Set("Request-Id", x.claudeRequestID())
	}
	return h
}

// streamHeader returns the head of an event stream.
func (x *exchange) streamHeader() http.Header {
	h := sseHeader()
	switch x.route.wire {
	case wireGemini:
	case wireClaude:
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Request-Id", x.claudeRequestID())
		h.Del("Content-Disposition")
	default:
		h.Del("Content-Disposition")
	}
	return h
}

// frame frames the data of one event the way the wire does.
func (x *exchange) frame(data []byte) []byte {
	switch x.route.wire {
	case wireGemini:
		return sseEvent(data)
	case wireClaude:
		var event struct{ Type string }
		if json.Unmarshal(data, &event) == nil && event.Type != "" {
			return slices.Concat([]byte("event: "+event.Type+"\ndata: "), data, []byte("\n\n"))
		}
	}
	return slices.Concat([]byte("data: "), data, []byte("\n\n"))
}

// failing puts the error of a reply into its stream, or in place of an answer
// that isn't one.
func (x *exchange) failing(reply Reply, res response) (Reply, response) {
	if reply.fail == nil {
		return reply, res
	}
	if !x.streams() || res.status != http.StatusOK {
		return reply, x.refuse(reply.fail)
	}
	n := max(min(*reply.failAt, len(res.events)-1), 0)
	body, err := json.Marshal(x.streamError(reply.fail))
	if err != nil {
		return reply, errorResponse(err, x.inArray())
	}
	event := x.frame(body)
	if x.route.wire == wireGemini && !x.sse {
		open := ",\r\n"
		if n == 0 {
			open = "["
		}
		event = []byte(open + string(pretty(body)) + "]\n")
	}
	res.events = append(slices.Clone(res.events[:n]), event)
	return reply, res
}

// streamError returns the data of an event that is an error.
func (x *exchange) streamError(st *statusError) any {
	if x.route.own {
		st = ownStatus(st)
	}
	if st.own && x.route.wire != wireGemini {
		return x.ownError(st)
	}
	return map[string]*statusError{"error": st}
}

// WithoutPermission denies the use of models or endpoints, which are named as
// for [Server.ScriptFor]: their calls get the 403 of a caller without the
// permission aiplatform.endpoints.predict. Without names, all are denied.
func WithoutPermission(names ...string) Option {
	return func(c *config) { c.denied = append(c.denied, forModels(names)) }
}

// checkPermission refuses a caller who may not call the target.
//
// Source: https://cloud.google.com/vertex-ai/docs/general/iam-permissions
func (x *exchange) checkPermission() error {
	if !x.route.generates() {
		return nil
	}
	for _, names := range x.cfg.denied {
		if names.include(x.target.called(), x.target.model) {
			if x.target.direct {
				return directDenied(x.target)
			}
			return denied("aiplatform.endpoints.predict", x.target.resource())
		}
	}
	return nil
}

// denied returns the 403 for a permission that the caller lacks.
func denied(permission, resource string) error {
	resource = "//aiplatform.googleapis.com/" + resource
	return &statusError{
		Code: http.StatusForbidden, Status: "PERMISSION_DENIED",
		Message: "Permission '" + permission + "' denied on resource '" + resource + "' (or it may not exist).",
		Details: []any{detail("ErrorInfo", map[string]any{
			"reason":   "IAM_PERMISSION_DENIED",
			"domain":   "aiplatform.googleapis.com",
			"metadata": map[string]string{"permission": permission, "resource": resource},
		})},
	}
}
