package gcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"
)

// ErrClosed is the cause of every error of a source after [Source.Close].
var ErrClosed error = closedError{}

// closedError is the type of [ErrClosed].
type closedError struct{}

func (closedError) Error() string { return "the source is closed" }

// SourceClosed lets callers that do not know this package tell the error from a
// refusal of the credentials.
func (closedError) SourceClosed() bool { return true }

// Error says what failed for which kind of credentials, and what to do about it.
// It holds no secret: of an answer by a token endpoint it keeps the status and
// the error code.
type Error struct {
	Op   string // what was attempted, such as "fetch token"
	Kind Kind
	// Permanent reports that trying again soon won't help.
	Permanent bool
	// Remedy is a sentence for the operator, or "".
	Remedy string
	Err    error
}

// Error joins the operation, the cause and the remedy.
func (e *Error) Error() string {
	text := fmt.Sprintf("gcpauth: %s with %s: %v", e.Op, e.Kind, e.Err)
	if e.Remedy != "" {
		text += " (" + e.Remedy + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// StatusError is the answer of a token endpoint that isn't a token.
type StatusError struct {
	Host   string // "" when unknown
	Status int    // of HTTP; 0 when unknown
	Code   string // such as "invalid_grant" or "PERMISSION_DENIED"; "" when unknown
}

// Error names the host, the status and the code.
func (e *StatusError) Error() string {
	host := e.Host
	if host == "" {
		host = "the token endpoint"
	}
	text := host + " refused"
	if e.Status != 0 {
		text = host + " answered " + strconv.Itoa(e.Status)
	}
	if e.Code != "" {
		text += " " + e.Code
	}
	return text
}

// permanent reports whether the same exchange would be refused again.
func (e *StatusError) permanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return e.Status != 0 && e.Status < 500
}

// remedy returns what usually helps against the answer.
func (e *StatusError) remedy() string {
	switch {
	case e.Code == "invalid_grant":
		return "the key or login was revoked or has expired, or the clock of this machine is wrong: " +
			"check the clock, create a new key or log in again"
	case e.Code == "invalid_target":
		return "the audience or the provider of the identity pool is wrong or disabled"
	case e.Status == http.StatusUnauthorized:
		return "the credentials aren't accepted: check that they are current"
	case e.Status == http.StatusForbidden:
		return "grant the caller the right to get tokens, for impersonation roles/iam.serviceAccountTokenCreator"
	}
	return ""
}

// permanentError marks a cause that trying again won't cure.
type permanentError struct{ err error }

func (e permanentError) Error() string { return e.err.Error() }
func (e permanentError) Unwrap() error { return e.err }

// fault makes err fit to be shown: without secrets and with a verdict.
func fault(op string, kind Kind, err error) error {
	if done, ok := errors.AsType[*Error](err); ok {
		return done
	}
	out := &Error{Op: op, Kind: kind, Err: sanitize(err)}
	if _, ok := errors.AsType[permanentError](err); ok || errors.Is(err, errRedirect) || errors.Is(err, ErrClosed) {
		out.Permanent = true
	}
	if status, ok := errors.AsType[*StatusError](out.Err); ok {
		out.Permanent, out.Remedy = status.permanent(), status.remedy()
	}
	return out
}

// isPermanent reports whether err, made by fault, says so.
func isPermanent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Permanent
}

// sanitize returns err without the text of foreign answers. Errors known to carry
// a response are reduced to a [StatusError], network and file errors to their
// cause, since their text may hold an address with a key in it. What remains is
// cut where libraries append a response body.
func sanitize(err error) error {
	if own, ok := errors.AsType[*StatusError](err); ok {
		return own
	}
	if e, ok := errors.AsType[*auth.Error](err); ok {
		return answer(e.Response, e.Body)
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return answer(e.Response, e.Body)
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled, ErrClosed, errRedirect, errNoDefault} {
		if errors.Is(err, known) {
			return known
		}
	}
	if e, ok := errors.AsType[permanentError](err); ok {
		return e.err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return sanitize(e.Err)
	}
	return errors.New(brief(err.Error()))
}

// answer reduces a response to its status and error code.
func answer(resp *http.Response, body []byte) error {
	e := &StatusError{Code: errorCode(body)}
	if resp != nil {
		e.Status = resp.StatusCode
		if resp.Request != nil && resp.Request.URL != nil {
			e.Host = resp.Request.URL.Hostname()
		}
	}
	return e
}

// errorCode finds the error code in the body of an answer: that of OAuth, or the
// status of Google's own APIs. Only what looks like one is repeated.
// [RFC 6749, section 5.2]: https://www.rfc-editor.org/rfc/rfc6749#section-5.2
func errorCode(body []byte) string {
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return ""
	}
	var code string
	var google struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(doc.Error, &code) != nil && json.Unmarshal(doc.Error, &google) == nil {
		code = google.Status
	}
	isWord := func(letters string) bool { return strings.TrimLeft(code, letters+"_") == "" }
	if len(code) > 40 || !isWord("abcdefghijklmnopqrstuvwxyz") && !isWord("ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return ""
	}
	return code
}

// maxBrief bounds foreign error text, in bytes.
const maxBrief = 200

// brief returns the first line of a foreign error, without the response body that
// Google's library appends after "status code NNN:".
func brief(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	const mark = "status code "
	if i := strings.Index(text, mark); i >= 0 {
		if j := strings.IndexByte(text[i:], ':'); j >= 0 {
			text = text[:i+j]
		}
	}
	if len(text) > maxBrief {
		text = text[:maxBrief] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}
