package front

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/messages"
	"github.com/b650d4bf/gateway/providers"
)

// invalid is a refusal with a status of HTTP's own.
func invalid(status int, param, message string) error {
	return &providers.Error{Code: providers.ErrInvalidRequest, StatusCode: status, Param: param, Message: message}
}

func errNoRoute() error {
	return invalid(http.StatusNotFound, "",
		"no such path: there are POST /v1/chat/completions, POST /v1/chat/completions/count_tokens, POST /v1/completions, POST /v1/embeddings, "+
			"POST /v1/images/generations, POST /v1/images/edits, POST /v1/audio/speech, POST /v1/rerank, "+
			"POST /v1/messages, POST /v1/messages/count_tokens, POST /v1/prompts/{id}/completions, POST /v1/prompts/{id}/render, "+
			"GET /v1/models, GET /v1/models/{id}, POST /v1beta/models/{model}:{method} and Vertex AI's paths of models, /v1/files and /v1/batches with what is below, /v1/logs and /v1/analytics with what is below, POST /v1/feedback, /v1/cached_contents and /v1/cached_contents/{name}")
}

// errOtherSchema is for the path that newer clients ask first.
func errOtherSchema() error {
	return invalid(http.StatusNotFound, "", "the Responses API is not served: set the client to chat completions, POST /v1/chat/completions")
}

func errMethod(allowed string) error {
	return invalid(http.StatusMethodNotAllowed, "", "wrong method: use "+strings.TrimSuffix(allowed, ", "+http.MethodOptions))
}

func errUnauthorized(anthropic bool) error {
	message := `a valid API key is required, as "x-gateway-api-key: KEY" or "Authorization: Bearer KEY"`
	if anthropic {
		message = `a valid API key is required, as "x-api-key: KEY", "x-gateway-api-key: KEY" or "Authorization: Bearer KEY"`
	}
	return &providers.Error{Code: providers.ErrAuthentication, Message: message}
}

// publicError returns what a client may be shown of err. The text of an error
// that is not of the gateway's making is not.
func publicError(err error) *providers.Error {
	var e *providers.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &providers.Error{Code: providers.ErrTimeout, Message: "the time for the request ran out"}
	case errors.Is(err, context.Canceled):
		return &providers.Error{Code: providers.ErrCanceled, Message: "the request was canceled"}
	}
	return &providers.Error{Code: providers.ErrServer, Message: "the gateway failed"}
}

// statusOf is the HTTP status of an error; a platform's that is none becomes
// that of a bad gateway.
func statusOf(e *providers.Error) int {
	if s := e.HTTPStatus(); s >= 400 && s <= 599 {
		return s
	}
	return http.StatusBadGateway
}

// fail answers with the error envelope of the route's schema. The id of the
// request's header serves an error that has none; without any, a new one makes
// the answer citable.
func (c *call) fail(err error) {
	e := publicError(err)
	h := c.w.Header()
	id := cmp.Or(e.RequestID, c.o.RequestID)
	if id == "" {
		id = rand.Text()
	}
	id = headerText(id)
	h.Set(headerRequestID, id)
	if len(e.Attempts) > 0 {
		h.Set(headerAttempts, strconv.Itoa(requests(e.Attempts)))
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", retryAfter(e.RetryAfter))
	}
	status := statusOf(e)
	if status == http.StatusUnauthorized {
		h.Set("Www-Authenticate", "Bearer")
	}
	buf := jsonx.GetBuffer()
	defer buf.Free()
	if c.route != nil && c.route.anthropic {
		h.Set(headerAnthropicID, id)
		buf.B = messages.AppendError(buf.B, e, id)
	} else if c.route != nil && c.route.google() {
		buf.B = appendNativeError(buf.B, e, status)
	} else {
		buf.B = e.AppendJSON(buf.B)
	}
	writeJSON(c.w, status, buf.B)
}

// retryAfter is a wait in whole seconds, rounded up.
func retryAfter(d time.Duration) string {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return strconv.FormatInt(seconds, 10)
}

// writeJSON writes a whole answer. A failure to write is the client's leaving,
// of which nobody is left to be told.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
