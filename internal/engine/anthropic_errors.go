package engine

import (
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// claudeErrors gives the HTTP status of each type of error of Claude models, for
// one that comes inside an answer.
//
// Source: https://platform.claude.com/docs/en/api/errors
var claudeErrors = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529, // its own: no other service has it
}

// claudeError reads the error envelope of Claude models, which stands beside the
// platform's own: {"type":"error","error":{"type","message"},"request_id"}. It
// returns nil for any other.
func claudeError(status int, body []byte) *providers.Error {
	var s struct{ envelope, kind, message, id string }
	r := jsonx.NewReader(body)
	for r.Object(); r.NextKey(); {
		switch key := string(r.Key()); {
		case key == "type" && r.Kind() == jsonx.String:
			s.envelope = r.String()
		case key == "request_id" && r.Kind() == jsonx.String:
			s.id = r.String()
		case key == "error" && r.Kind() == jsonx.Object:
			for r.Object(); r.NextKey(); {
				switch key := string(r.Key()); {
				case key == "type" && r.Kind() == jsonx.String:
					s.kind = r.String()
				case key == "message" && r.Kind() == jsonx.String:
					s.message = r.String()
				default:
					r.Skip()
				}
			}
		default:
			r.Skip()
		}
	}
	if whole := r.End() == nil; !whole || s.envelope != "error" {
		return nil
	}
	if status < 400 {
		if status = claudeErrors[s.kind]; status == 0 {
			status = http.StatusInternalServerError
		}
	}
	e := newError(status, s.message)
	e.NativeStatus = s.kind
	e.Param = sentenceMember(s.message)
	if s.id != "" {
		e.Details = requestDetails(s.id)
	}
	return e
}

// requestDetails are the details of an error that has no others: the name that
// the vendor's support knows the request by.
//
// Source: https://platform.claude.com/docs/en/api/errors#request-id
func requestDetails(id string) []byte {
	var w jsonx.Writer
	w.BeginObject()
	w.Key("request_id")
	w.String(id)
	w.EndObject()
	return w.Bytes()
}

// sentenceMember returns the member of the request that a sentence such as
// "temperature: range: 0..1" is about, or "".
func sentenceMember(message string) string {
	path, _, ok := strings.Cut(message, ": ")
	if !ok || strings.ContainsAny(path, " `'\"") {
		return ""
	}
	for i := range claudeParams { // the first place of a row is what it is about
		if place, _, _ := strings.Cut(claudeParams[i].wire, ", "); within(path, place) {
			return claudeParams[i].name
		}
	}
	return ""
}
