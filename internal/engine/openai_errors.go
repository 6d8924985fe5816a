package engine

import (
	"bytes"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// The members that servers without an error envelope say what is wrong in.
var flatMessages = []string{"message", "detail"}

// isFlatError reports whether the object is an error without an envelope, such
// as {"object":"error","message":…} or {"detail":…}.
func isFlatError(body []byte) bool {
	for _, name := range flatMessages {
		if value, ok := jsonx.Lookup(body, name); ok && len(value) > 2 && (value[0] == '"' || value[0] == '[') {
			return true
		}
	}
	return false
}

// flatError reads an error without an envelope.
func flatError(status int, body []byte) *providers.Error {
	if message, ok := jsonx.Lookup(body, "message"); ok && len(message) > 0 && message[0] == '"' {
		return rawError(status, body)
	}
	detail, _ := jsonx.Lookup(body, "detail")
	s := rpcStatus{}
	r := jsonx.NewReader(detail)
	if r.Kind() == jsonx.Array { // of violations, with their places
		for r.Array(); r.NextElem(); {
			if s.message == "" {
				s.readViolation(r.Raw())
			} else {
				r.Skip()
			}
		}
	} else {
		s.message = r.String()
	}
	e := newError(max(status, 400), s.message)
	e.Param, e.Details = s.field, bytes.Clone(detail)
	return e
}

// readViolation reads {"loc":["body","messages",0],"msg":"…"}.
//
// Source: https://docs.pydantic.dev/latest/errors/errors/
func (s *rpcStatus) readViolation(raw []byte) {
	message, _ := jsonx.Lookup(raw, "msg")
	if r := jsonx.NewReader(message); r.Kind() == jsonx.String {
		s.message = r.String()
	}
	loc, _ := jsonx.Lookup(raw, "loc")
	r := jsonx.NewReader(loc)
	if r.Kind() != jsonx.Array {
		return
	}
	var path strings.Builder
	for r.Array(); r.NextElem(); {
		switch r.Kind() {
		case jsonx.String:
			if name := r.String(); name != "body" {
				if path.Len() > 0 {
					path.WriteByte('.')
				}
				path.WriteString(name)
			}
		case jsonx.Number:
			path.WriteString("[" + string(r.Raw()) + "]")
		default:
			r.Skip()
		}
	}
	s.field = path.String()
}

// openCodes maps the codes of the OpenAI error envelope that say more than the
// status.
//
// Source: https://platform.openai.com/docs/guides/error-codes
var openCodes = map[string]providers.Code{
	"context_length_exceeded":  providers.ErrContextLength,
	"content_filter":           providers.ErrContentFilter,
	"content_policy_violation": providers.ErrContentFilter,
	"model_not_found":          providers.ErrModelNotFound,
	"insufficient_quota":       providers.ErrQuotaExceeded,
}
