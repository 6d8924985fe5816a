package providers

import (
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Code says what kind of failure an [Error] is. A Code is itself an error, so
// that errors.Is(err, ErrRateLimited) asks for the kind.
type Code string

// Error returns the code's word.
func (c Code) Error() string { return string(c) }

// The codes, grouped by who can mend it.
const (
	ErrInvalidRequest   Code = "invalid_request"         // the request is wrong; Param names the member
	ErrInvalidConfig    Code = "invalid_config"          // an option, catalog or setting is wrong or missing
	ErrProviderNotFound Code = "provider_not_found"      // no such slug in the catalog
	ErrModelNotFound    Code = "model_not_found"         // the platform does not have the model there
	ErrCacheNotFound    Code = "cache_not_found"         // no such cached content: it expired, or is elsewhere
	ErrPromptNotFound   Code = "prompt_not_found"        // no such prompt, version or label in the library
	ErrFileNotFound     Code = "file_not_found"          // no such file or object: it was deleted, expired, or is elsewhere
	ErrBatchNotFound    Code = "batch_not_found"         // no such batch in the bucket
	ErrNotFound         Code = "not_found"               // no such record in the log: it was deleted, or never kept
	ErrTooLarge         Code = "request_too_large"       // a body is over its limit
	ErrContextLength    Code = "context_length_exceeded" // more tokens than the model takes
	ErrOneToolOnly      Code = "one_tool_only"           // the model takes one kind of tool at a time
	ErrContentFilter    Code = "content_filter"          // the prompt was blocked
	ErrGuardDenied      Code = "guard_denied"            // a guard of the client's or a config's refused it
	ErrAuthentication   Code = "authentication_failed"   // no valid credentials
	ErrPermission       Code = "permission_denied"       // valid credentials without the right
	ErrRateLimited      Code = "rate_limit_exceeded"     // too many requests, or no capacity
	ErrQuotaExceeded    Code = "insufficient_quota"      // what was bought, or the day's quota, is used up; an ErrRateLimited too
	ErrTimeout          Code = "timeout"                 // a limit of ours, or the platform's, ran out
	ErrCanceled         Code = "canceled"                // the caller's context ended
	ErrUnavailable      Code = "service_unavailable"     // the platform is overloaded or down
	ErrServer           Code = "server_error"            // the platform failed
	ErrConnection       Code = "connection_error"        // no connection, or it broke before an answer
	ErrStreamCut        Code = "stream_interrupted"      // the answer ended before it was whole
	ErrBadResponse      Code = "bad_response"            // the platform's answer can't be understood
	ErrEmptyResponse    Code = "empty_response"          // the platform answered with nothing
	ErrClosed           Code = "client_closed"           // the client was closed
)

// codeFacts says, for each code, the `type` of the OpenAI error envelope, the
// status where the platform gave none, and whether another try may succeed.
var codeFacts = map[Code]struct {
	kind   string
	status int
	retry  bool
}{
	ErrInvalidRequest:   {"invalid_request_error", 400, false},
	ErrInvalidConfig:    {"invalid_request_error", 400, false},
	ErrProviderNotFound: {"invalid_request_error", 404, false},
	ErrModelNotFound:    {"invalid_request_error", 404, false},
	ErrCacheNotFound:    {"invalid_request_error", 404, false},
	ErrPromptNotFound:   {"invalid_request_error", 404, false},
	ErrFileNotFound:     {"invalid_request_error", 404, false},
	ErrBatchNotFound:    {"invalid_request_error", 404, false},
	ErrNotFound:         {"invalid_request_error", 404, false},
	ErrTooLarge:         {"invalid_request_error", 413, false},
	ErrContextLength:    {"invalid_request_error", 400, false},
	ErrOneToolOnly:      {"invalid_request_error", 400, false},
	ErrContentFilter:    {"invalid_request_error", 400, false},
	ErrGuardDenied:      {"invalid_request_error", 446, false}, // of its own, so that on_status_codes can name it alone
	ErrAuthentication:   {"authentication_error", 401, false},
	ErrPermission:       {"permission_error", 403, false},
	ErrRateLimited:      {"rate_limit_error", 429, true},
	ErrQuotaExceeded:    {"rate_limit_error", 429, false},
	ErrTimeout:          {"timeout_error", 504, true},
	ErrCanceled:         {"canceled_error", 499, false},
	ErrUnavailable:      {"api_error", 503, true},
	ErrServer:           {"api_error", 500, true},
	ErrConnection:       {"api_error", 502, true},
	ErrStreamCut:        {"api_error", 502, true},
	ErrBadResponse:      {"api_error", 502, false},
	ErrEmptyResponse:    {"api_error", 502, true},
	ErrClosed:           {"invalid_request_error", 400, false},
}

// Error is the one type of failure that the gateway returns. It never holds a
// request, a header, a token or a prompt.
type Error struct {
	// Code is the kind of failure; errors.Is finds it.
	Code Code
	// Message is the platform's sentence, or ours with the remedy.
	Message string
	// Param is the path of the request member at fault, such as
	// "messages[2].role"; empty when it is not about one.
	Param string
	// Provider is the id of the provider that answered; empty for an error
	// found before anything was sent.
	Provider string
	// RequestID is the gateway's own id of the call.
	RequestID string
	// StatusCode is the platform's HTTP status; 0 when it gave none.
	StatusCode int
	// NativeStatus is the platform's own word, such as "RESOURCE_EXHAUSTED".
	NativeStatus string
	// Details is the platform's machine-readable detail, raw JSON or nil.
	Details []byte
	// RetryAfter is how long the platform asks to wait; 0 when it does not.
	RetryAfter time.Duration
	// Sent says that the request may have reached a model, and may be billed.
	Sent bool
	// Partial is what had come of an answer that broke off after its first
	// output; nil for every other error, and where nobody kept it. It is in no
	// text and no JSON of the error, and observers do not see it.
	Partial *ChatCompletion `json:"-"`
	// Attempts is the trail of the call, as in [Meta]. It is in no text and no
	// JSON of the error.
	Attempts []Attempt `json:"-"`
	// Err is the cause below, such as a context or network error.
	Err error
}

// Error returns the code, the member at fault, the message and, unless the
// message has it, the cause. The cause of an [ErrGuardDenied] is left out, since
// it may quote what it judged.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	if e.Provider != "" {
		b.WriteString(": " + e.Provider)
		if e.StatusCode != 0 {
			b.WriteString(" answered " + strconv.Itoa(e.StatusCode))
		}
	}
	for _, s := range []string{e.Param, e.Message} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	if e.Err != nil && e.Code != ErrGuardDenied && !strings.Contains(e.Message, e.Err.Error()) {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's code. A quota that is used up is a
// rate limit too.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && (c == e.Code || c == ErrRateLimited && e.Code == ErrQuotaExceeded)
}

// Retryable reports whether the same request may succeed later. It says nothing
// of whether a second try is wanted: see Sent.
func (e *Error) Retryable() bool { return codeFacts[e.Code].retry }

// HTTPStatus is the status to answer an HTTP client with: the platform's where
// it refused, else the code's own.
func (e *Error) HTTPStatus() int {
	if e.StatusCode >= 400 {
		return e.StatusCode
	}
	if f, ok := codeFacts[e.Code]; ok {
		return f.status
	}
	return 500
}

// AppendJSON appends the OpenAI error envelope,
// {"error":{"message","type","param","code"},"provider"}.
func (e *Error) AppendJSON(dst []byte) []byte {
	w := writer(dst)
	w.BeginObject()
	w.Key("error")
	w.BeginObject()
	w.Key("message")
	w.String(e.publicMessage())
	w.Key("type")
	kind := codeFacts[e.Code].kind
	if kind == "" {
		kind = "api_error"
	}
	w.String(kind)
	w.Key("param")
	if e.Param == "" {
		w.Null()
	} else {
		w.String(e.Param)
	}
	w.Key("code")
	w.String(string(e.Code))
	e.appendNative(&w)
	w.EndObject()
	if e.Provider != "" {
		w.Key("provider")
		w.String(e.Provider)
	}
	w.EndObject()
	return append(dst, w.Bytes()...)
}

// appendNative writes what the platform said beyond the OpenAI envelope.
func (e *Error) appendNative(w *jsonx.Writer) {
	if e.NativeStatus != "" {
		w.Key("native_status")
		w.String(e.NativeStatus)
	}
	if jsonx.Valid(e.Details) {
		w.Key("details")
		w.Raw(e.Details)
	}
}

// publicMessage is the message for a client over HTTP. The cause stays inside:
// it may name hosts and files of this side.
func (e *Error) publicMessage() string {
	if e.Message == "" {
		return strings.ReplaceAll(string(e.Code), "_", " ")
	}
	return e.Message
}

// MarshalJSON renders the OpenAI error envelope.
func (e *Error) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// Invalid returns an [ErrInvalidRequest] about the member at path.
func Invalid(param, message string) *Error {
	return &Error{Code: ErrInvalidRequest, Param: param, Message: message}
}
