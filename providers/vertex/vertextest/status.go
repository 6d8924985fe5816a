package vertextest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// statusError is a google.rpc.Status on its way to the caller.
type statusError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`

	own bool // the model's, not Google's
}

// Error returns the status and its message.
func (e *statusError) Error() string { return e.Status + ": " + e.Message }

// detail returns a google.rpc detail called kind with the given members.
func detail(kind string, members map[string]any) map[string]any {
	members["@type"] = "type.googleapis.com/google.rpc." + kind
	return members
}

// invalid returns a 400 INVALID_ARGUMENT with a formatted message.
func invalid(format string, args ...any) error {
	return &statusError{Code: http.StatusBadRequest, Status: "INVALID_ARGUMENT", Message: fmt.Sprintf(format, args...)}
}

// outOfRange returns the platform's refusal of a number outside [low, high).
func outOfRange(field string, value, low, high any) error {
	return invalid("Unable to submit request because it has a %s value of %v but the supported range is from %v (inclusive) to %v (exclusive). Update the value and try again.",
		field, value, low, high)
}

// unknownName returns the refusal of a member the platform doesn't know. The
// parent is in the platform's spelling (snake case) and empty at the root.
func unknownName(name, parent string) error {
	return violations{{field: parent, text: unknownNameText(name, parent)}}.asError()
}

func unknownNameText(name, parent string) string {
	if parent == "" {
		return fmt.Sprintf("Invalid JSON payload received. Unknown name %q: Cannot find field.", name)
	}
	return fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", name, parent)
}

// notFound returns the 404 for a model that doesn't exist at its place.
func notFound(t target) error {
	if t.direct {
		return directNotFound(t)
	}
	return &statusError{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: fmt.Sprintf(
		"Publisher Model `%s` was not found or your project does not have access to it. Please ensure you are using a valid model version. For more information, see: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versions",
		t.resource())}
}

// unauthenticated returns the 401 for a missing or a wrong token.
func unauthenticated(missing bool, rpc string) error {
	message, reason := "Request had invalid authentication credentials.", "ACCESS_TOKEN_EXPIRED"
	if missing {
		message, reason = "Request is missing required authentication credential.", "CREDENTIALS_MISSING"
	}
	return &statusError{
		Code:   http.StatusUnauthorized,
		Status: "UNAUTHENTICATED",
		Message: message + " Expected OAuth 2 access token, login cookie or other valid authentication credential." +
			" See https://developers.google.com/identity/sign-in/web/devconsole-project.",
		Details: []any{detail("ErrorInfo", map[string]any{
			"reason": reason,
			"domain": "googleapis.com",
			"metadata": map[string]string{
				"method":  "google.cloud.aiplatform.v1." + rpc,
				"service": "aiplatform.googleapis.com",
			},
		})},
	}
}

// internal returns the 500 for a fault of the emulator or of its script.
func internal(err error) *statusError {
	return &statusError{Code: http.StatusInternalServerError, Status: "INTERNAL", Message: "vertextest: " + err.Error()}
}

// errorResponse renders err as Google's; inArray wraps it in an array, as the
// streaming verb does without alt=sse.
func errorResponse(err error, inArray bool) response {
	var st *statusError
	if !errors.As(err, &st) {
		st = internal(err)
	}
	var v any = map[string]*statusError{"error": st}
	if inArray {
		v = []any{v}
	}
	body, encodeErr := json.Marshal(v)
	if encodeErr != nil {
		return errorResponse(internal(encodeErr), inArray)
	}
	r := response{status: st.Code, header: jsonHeader(), events: [][]byte{pretty(body)}}
	if st.Code == http.StatusUnauthorized {
		r.header.Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/"`)
	}
	return r
}
