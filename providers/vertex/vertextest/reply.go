package vertextest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"
)

// Reply is one scripted answer. The functions that return one are the only way
// to make it; the methods return changed copies, so replies can be shared. The
// zero Reply equals [Auto].
type Reply struct {
	render    func(*exchange) (response, error)
	delay     *time.Duration
	pace      *time.Duration
	cutEvents *int
	cutBytes  *int
	piece     int
	header    http.Header
	failAt    *int
	fail      *statusError
}

// FunctionCall is a call in a scripted answer. Args is encoded with
// encoding/json and has to become an object; nil means no arguments. Without an
// ID, models that have ids get one.
type FunctionCall struct {
	ID   string
	Name string
	Args any
}

// Auto is the answer the emulator would give by itself, for use with modifiers.
func Auto() Reply { return Reply{} }

// Text answers with the given text, unary or streamed as the request asks.
func Text(text string) Reply { return Finish("STOP", text) }

// Finish answers with the given text, which may be empty, and finishReason.
func Finish(reason, text string) Reply {
	return answering(func(x *exchange) (answer, error) {
		a := answer{reason: reason}
		if text != "" {
			a.parts = []part{x.signedText(text)}
		}
		return a, nil
	})
}

// Thought answers with a thought summary, whether or not the request includes
// thoughts, and then with the given text.
func Thought(thought, text string) Reply {
	return answering(func(x *exchange) (answer, error) {
		parts := []part{{Text: &thought, Thought: true}, x.signedText(text)}
		return answer{reason: "STOP", parts: parts, thoughts: tokens(len(thought))}, nil
	})
}

// Call answers with one function call; args is as in [FunctionCall].
func Call(name string, args any) Reply { return Calls(FunctionCall{Name: name, Args: args}) }

// Calls answers with parallel function calls. The first one carries the thought
// signature.
func Calls(calls ...FunctionCall) Reply {
	return answering(func(x *exchange) (answer, error) {
		a := answer{reason: "STOP"}
		for i, c := range calls {
			args, err := encodeArgs(c.Args)
			if err != nil {
				return answer{}, err
			}
			a.parts = append(a.parts, x.callPart(i, c.ID, c.Name, args))
		}
		return a, nil
	})
}

// Blocked answers 200 without candidates: the prompt was refused for a
// blockReason such as SAFETY or PROHIBITED_CONTENT.
func Blocked(reason string) Reply {
	return answering(func(*exchange) (answer, error) {
		return answer{blocked: &promptFeedback{BlockReason: reason, BlockReasonMessage: "The prompt was blocked."}}, nil
	})
}

// JSON answers with a body of type application/json, given byte for byte.
func JSON(status int, body string) Reply { return Raw(status, jsonHeader().Get("Content-Type"), body) }

// Raw answers with a body given byte for byte.
func Raw(status int, contentType, body string) Reply {
	return fixed(response{
		status: status,
		header: http.Header{"Content-Type": {contentType}},
		events: [][]byte{[]byte(body)},
	})
}

// SSE answers 200 with an event stream; each string is the data of one event. To
// a Claude the event has the name that is the type in its data.
func SSE(events ...string) Reply {
	return Reply{render: func(x *exchange) (response, error) {
		res := response{status: http.StatusOK, header: x.streamHeader(), asIs: true}
		for _, e := range events {
			res.events = append(res.events, x.frame([]byte(e)))
		}
		return res, nil
	}}
}

// Error answers with an HTTP code, a message and a status. A status in lower
// case, such as overloaded_error, is one of the models' own and goes into the
// envelope of the model asked; any other, such as UNAVAILABLE, makes a
// google.rpc.Status, which front ends and quotas send on every wire. The details
// are Google's, encoded with encoding/json.
func Error(code int, status, message string, details ...any) Reply {
	return Reply{render: func(*exchange) (response, error) {
		return response{}, newStatus(code, status, message, details...)
	}}
}

// RateLimited answers 429 RESOURCE_EXHAUSTED. A positive retryDelay is told in a
// RetryInfo; shared capacity gives no such hint on the platform.
func RateLimited(retryDelay time.Duration) Reply {
	var details []any
	if retryDelay > 0 {
		delay := fmt.Sprintf("%gs", retryDelay.Seconds())
		details = append(details, detail("RetryInfo", map[string]any{"retryDelay": delay}))
	}
	return Error(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.", details...)
}

// Overloaded answers that the model has no room: 529 overloaded_error from a
// Claude, 503 UNAVAILABLE from any other model.
func Overloaded() Reply {
	return Reply{render: func(x *exchange) (response, error) {
		if x.route.wire == wireClaude {
			return response{}, &statusError{Code: statusOverloaded, Status: "overloaded_error", Message: "Overloaded", own: true}
		}
		return response{}, &statusError{Code: http.StatusServiceUnavailable, Status: "UNAVAILABLE", Message: "The model is overloaded. Please try again later."}
	}}
}

// HTML404 answers with the page that front ends send for unknown paths.
func HTML404() Reply {
	return Reply{render: func(x *exchange) (response, error) { return pageNotFound("/" + x.target.resource()), nil }}
}

// After waits for d before the head of the answer.
func (r Reply) After(d time.Duration) Reply {
	r.delay = &d
	return r
}

// Paced waits for d between the events of a stream.
func (r Reply) Paced(d time.Duration) Reply {
	r.pace = &d
	return r
}

// CutAfter breaks the connection after n bytes of the body. A shorter body is
// left whole.
func (r Reply) CutAfter(n int) Reply {
	r.cutBytes = new(max(n, 0))
	return r
}

// CutAfterEvents breaks the connection after n events of a stream; a unary
// answer is one event. A shorter stream is left whole.
func (r Reply) CutAfterEvents(n int) Reply {
	r.cutEvents = new(max(n, 0))
	return r
}

// FailAfterEvents puts an error in place of the events of a stream after the
// first n, in the form the wire has for it, and ends the stream properly. It is
// worded as by [Error]. At the latest it comes in place of the last event. Unary
// answers have no events: they are replaced by the error.
func (r Reply) FailAfterEvents(n, code int, status, message string) Reply {
	r.failAt = new(max(n, 0))
	r.fail = newStatus(code, status, message)
	return r
}

// WithHeader sets a header of the answer.
func (r Reply) WithHeader(name, value string) Reply {
	r.header = maps.Clone(r.header)
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(name, value)
	return r
}

// InPieces sends the body in writes of n bytes, each flushed. Pieces ignore the
// borders of lines and characters.
func (r Reply) InPieces(n int) Reply {
	r.piece = max(n, 1)
	return r
}

// answering makes a reply that is rendered as the request asks for it.
func answering(produce func(*exchange) (answer, error)) Reply {
	return Reply{render: func(x *exchange) (response, error) {
		a, err := produce(x)
		if err != nil {
			return response{}, err
		}
		return a.render(x)
	}}
}

// fixed makes a reply that is the same for every request.
func fixed(res response) Reply {
	res.asIs = true
	return Reply{render: func(*exchange) (response, error) { return res, nil }}
}

// encodeArgs encodes the arguments of a scripted call.
func encodeArgs(args any) (json.RawMessage, error) {
	if args == nil {
		return json.RawMessage("{}"), nil
	}
	b, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("arguments of a scripted call: %w", err)
	}
	if len(b) == 0 || b[0] != '{' {
		return nil, fmt.Errorf("arguments of a scripted call have to be an object")
	}
	return b, nil
}

// sseEvent frames the data of one event.
func sseEvent(data []byte) []byte {
	return append(append([]byte("data: "), data...), "\r\n\r\n"...)
}
