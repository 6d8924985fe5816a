package engine

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// rpcStatus is google.rpc.Status with the details that say more.
//
// Source: https://cloud.google.com/apis/design/errors
type rpcStatus struct {
	code    int
	message string
	status  string
	details []byte
	field   string        // the first BadRequest violation
	retry   time.Duration // RetryInfo
	daily   bool          // QuotaFailure or ErrorInfo: it is the quota of a day

	// Members of the OpenAI envelope.
	kind, word, param string
}

// statusCodes maps an HTTP status to the kind of error.
var statusCodes = map[int]providers.Code{
	400: providers.ErrInvalidRequest,
	401: providers.ErrAuthentication,
	403: providers.ErrPermission,
	404: providers.ErrModelNotFound,
	408: providers.ErrTimeout,
	413: providers.ErrTooLarge,
	429: providers.ErrRateLimited,
	499: providers.ErrCanceled,
	500: providers.ErrServer,
	503: providers.ErrUnavailable,
	504: providers.ErrTimeout,
	529: providers.ErrUnavailable,
}

// messageCodes tells apart what the platform answers with the same status. A
// fragment is looked for in the lower-cased message.
var messageCodes = []struct {
	status   int
	fragment string
	code     providers.Code
}{
	{400, "exceeds the maximum number of tokens", providers.ErrContextLength},
	{400, "input token count", providers.ErrContextLength},
	{400, "prompt is too long", providers.ErrContextLength},
	{400, "exceed context limit", providers.ErrContextLength},
	{400, "maximum context length", providers.ErrContextLength},
	{400, "multiple tools are supported only when", providers.ErrOneToolOnly},
	{400, "only one tool", providers.ErrOneToolOnly},
	{400, "api key not valid", providers.ErrAuthentication},
	{400, "api key expired", providers.ErrAuthentication},
	{400, "api key not found", providers.ErrAuthentication},
	{400, "payload size exceeds the limit", providers.ErrTooLarge},
	{429, "provisioned throughput", providers.ErrQuotaExceeded}, // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/error-code-429
	{429, "per_day", providers.ErrQuotaExceeded},
	{429, "per day", providers.ErrQuotaExceeded},
	{403, "cachedcontent not found", providers.ErrCacheNotFound},
	{404, "cached content", providers.ErrCacheNotFound},
	{404, "cache content", providers.ErrCacheNotFound},
}

// responseError turns a refusal into an error.
func responseError(status int, header http.Header, body []byte) *providers.Error {
	e := bodyError(status, body)
	if d := retryAfter(header); d > 0 {
		e.RetryAfter = d
	}
	if id := header.Get("Request-Id"); id != "" && len(e.Details) == 0 {
		e.Details = requestDetails(id)
	}
	return e
}

// bodyError reads an error body: the envelope, the same in a one-element list,
// or something that is no JSON at all.
func bodyError(status int, body []byte) *providers.Error {
	r := jsonx.NewReader(body)
	if r.Kind() == jsonx.Array {
		r.Array()
		if !r.NextElem() {
			return unreadable(status, body)
		}
	}
	if r.Kind() != jsonx.Object {
		return unreadable(status, body)
	}
	object := r.Raw()
	if e := claudeError(status, object); e != nil {
		return e
	}
	if raw, ok := errorMember(object); ok {
		return rawError(status, raw)
	}
	if isFlatError(object) {
		return flatError(status, object)
	}
	return unreadable(status, body)
}

// errorMember returns the value of "error" in an answer. Servers that write all
// their members say null when there is none.
func errorMember(object []byte) (raw []byte, ok bool) {
	raw, ok = jsonx.Lookup(object, "error")
	return raw, ok && string(raw) != "null"
}

// rawError reads the value of "error". A status below 400 is replaced by the
// one in the error, which came inside an answer that had begun well.
func rawError(status int, raw []byte) *providers.Error {
	var s rpcStatus
	r := jsonx.NewReader(raw)
	if r.Kind() == jsonx.String {
		s.message = r.String()
	} else {
		s.decode(&r)
	}
	if status < 400 {
		status = s.code
	}
	if status < 400 {
		status = http.StatusInternalServerError
	}
	e := newError(status, s.message)
	e.NativeStatus, e.RetryAfter = s.status, s.retry
	e.Details = bytes.Clone(s.details)
	e.Param = cmp.Or(s.field, s.param)
	if e.NativeStatus == "" {
		e.NativeStatus = s.kind
	}
	if code, ok := openCodes[s.word]; ok {
		e.Code = code
	}
	if status == http.StatusTooManyRequests && s.daily {
		e.Code = providers.ErrQuotaExceeded
	}
	if status == http.StatusBadRequest {
		explain(e, &s)
	}
	return e
}

func newError(status int, message string) *providers.Error {
	code, ok := statusCodes[status]
	switch {
	case ok:
	case status >= 500:
		code = providers.ErrServer
	default:
		code = providers.ErrInvalidRequest
	}
	lower := strings.ToLower(message)
	for _, m := range messageCodes {
		if m.status == status && strings.Contains(lower, m.fragment) {
			code = m.code
			break
		}
	}
	return &providers.Error{
		Code: code, Message: message, StatusCode: status,
		// Refusals are not billed; a failure in the middle may be.
		Sent: status >= 500,
	}
}

// answerError is an error about an answer that the platform began to give, and
// may bill.
func answerError(code providers.Code, message string) *providers.Error {
	return &providers.Error{Code: code, Message: message, Sent: true}
}

// unreadable is the error for a body that is not the platform's.
func unreadable(status int, body []byte) *providers.Error {
	e := newError(max(status, 400), http.StatusText(status))
	if status < 400 {
		e = answerError(providers.ErrBadResponse, "")
	}
	switch text := bytes.TrimSpace(body); {
	case len(text) == 0:
		e.Message = "the answer has no body"
	case text[0] == '<':
		e.Message = "the answer is HTML, not JSON: the host, region or base URL may be wrong"
	default:
		e.Message = "the answer is not the platform's JSON"
	}
	return e
}

func (s *rpcStatus) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "code":
			if r.Kind() == jsonx.Number {
				s.code = int(r.Int())
			} else {
				s.word = wordOf(r)
			}
		case "message":
			s.message = wordOf(r)
		case "status":
			s.status = wordOf(r)
		case "type":
			s.kind = wordOf(r)
		case "param":
			s.param = memberPath(wordOf(r))
		case "details":
			s.details = r.Raw()
			s.readDetails()
		default:
			r.Skip()
		}
	}
}

// wordOf reads a string; another value is "".
func wordOf(r *jsonx.Reader) string {
	if r.Kind() != jsonx.String {
		r.Skip()
		return ""
	}
	return r.String()
}

func (s *rpcStatus) readDetails() {
	r := jsonx.NewReader(s.details)
	if r.Kind() != jsonx.Array {
		return
	}
	for r.Array(); r.NextElem(); {
		if r.Kind() != jsonx.Object {
			r.Skip()
			continue
		}
		for r.Object(); r.NextKey(); {
			s.readDetail(&r)
		}
	}
}

// readDetail reads the members that matter; each belongs to one detail type.
func (s *rpcStatus) readDetail(r *jsonx.Reader) {
	key := string(r.Key())
	switch {
	case key == "retryDelay" && r.Kind() == jsonx.String:
		d, _ := time.ParseDuration(r.String())
		s.retry = seconds(d.Seconds())
	case key == "fieldViolations" && s.field == "":
		s.field = firstField(r)
	case key == "violations" || key == "metadata":
		s.daily = s.daily || isDaily(r.Raw())
	default:
		r.Skip()
	}
}

// isDaily reports whether a detail names the quota of a day, as in
// GenerateRequestsPerDayPerProjectPerModel.
func isDaily(detail []byte) bool {
	lower := bytes.ToLower(detail)
	return bytes.Contains(lower, []byte("perday")) || bytes.Contains(lower, []byte("per_day"))
}

func firstField(r *jsonx.Reader) string {
	raw := r.Raw()
	l := jsonx.NewReader(raw)
	if l.Kind() != jsonx.Array {
		return ""
	}
	l.Array()
	if !l.NextElem() {
		return ""
	}
	field, _ := jsonx.Lookup(l.Raw(), "field")
	f := jsonx.NewReader(field)
	return memberPath(f.String())
}

// retryAfter reads the waiting time of a header: milliseconds, seconds or a
// date.
//
// Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if t, err := http.ParseTime(v); err == nil {
		return seconds(time.Until(t).Seconds())
	}
	return 0
}

// maxRetryAfter bounds the waiting time that is believed.
const maxRetryAfter = 24 * time.Hour

// seconds turns a waiting time from outside into a duration that is neither
// negative nor beyond reason.
func seconds(s float64) time.Duration {
	switch {
	case s >= maxRetryAfter.Seconds():
		return maxRetryAfter
	case s > 0:
		return time.Duration(s * float64(time.Second))
	}
	return 0
}
