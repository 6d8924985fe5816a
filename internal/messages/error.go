package messages

import (
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// errorTypes says what an error is in the schema; what is in no row is
// api_error.
//
// Source: https://platform.claude.com/docs/en/api/errors
var errorTypes = map[providers.Code]string{
	providers.ErrInvalidRequest:   "invalid_request_error",
	providers.ErrInvalidConfig:    "invalid_request_error",
	providers.ErrOneToolOnly:      "invalid_request_error",
	providers.ErrContextLength:    "invalid_request_error",
	providers.ErrContentFilter:    "invalid_request_error",
	providers.ErrGuardDenied:      "invalid_request_error",
	providers.ErrClosed:           "invalid_request_error",
	providers.ErrProviderNotFound: "not_found_error",
	providers.ErrModelNotFound:    "not_found_error",
	providers.ErrCacheNotFound:    "not_found_error",
	providers.ErrTooLarge:         "request_too_large",
	providers.ErrAuthentication:   "authentication_error",
	providers.ErrPermission:       "permission_error",
	providers.ErrRateLimited:      "rate_limit_error",
	providers.ErrQuotaExceeded:    "rate_limit_error",
	providers.ErrTimeout:          "timeout_error",
	providers.ErrUnavailable:      "overloaded_error",
}

// AppendError appends the error as the schema has it. The cause stays inside: it
// may name hosts and files of this side.
func AppendError(dst []byte, e *providers.Error, requestID string) []byte {
	var w jsonx.Writer
	w.Reset(dst[len(dst):])
	w.BeginObject()
	w.Key("type")
	w.String("error")
	w.Key("error")
	w.BeginObject()
	w.Key("type")
	w.String(errorType(e))
	w.Key("message")
	w.String(errorMessage(e))
	w.EndObject()
	if requestID != "" {
		w.Key("request_id")
		w.String(requestID)
	}
	w.EndObject()
	return append(dst, w.Bytes()...)
}

func errorType(e *providers.Error) string {
	if e.Code == providers.ErrInvalidRequest && e.StatusCode == http.StatusNotFound {
		return "not_found_error"
	}
	if kind := errorTypes[e.Code]; kind != "" {
		return kind
	}
	return "api_error"
}

// errorMessage is the message with the member at fault, which the schema has no
// place for.
func errorMessage(e *providers.Error) string {
	message := e.Message
	if message == "" {
		message = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	if e.Param == "" || strings.HasPrefix(message, e.Param+":") {
		return message
	}
	return e.Param + ": " + message
}
