package logsapi

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/near"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

// maxFeedback bounds a body, in bytes.
const maxFeedback = 64 << 10

// FeedbackTaker is a source of reports that must be told of feedback, since it
// reads no store.
type FeedbackTaker interface {
	// AddFeedback adds what was said of the record.
	AddFeedback(r *logs.Record, f logs.Feedback)
}

// said is the body of feedback.
type said struct {
	logs.Feedback
	trace string
	value bool // there was one
}

// feedbackMember reads one member of the body.
type feedbackMember struct {
	name string
	read func(s *said, raw json.RawMessage) (problem string)
}

func feedbackMembers() []feedbackMember {
	return []feedbackMember{
		{"value", func(s *said, raw json.RawMessage) string {
			var f float64
			if json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > 10 {
				return "must be a whole number from -10 to 10"
			}
			s.Value, s.value = int(f), true
			return ""
		}},
		{"weight", func(s *said, raw json.RawMessage) string {
			if json.Unmarshal(raw, &s.Weight) != nil || !(s.Weight > 0 && s.Weight <= 1) {
				return "must be a number over 0 and at most 1; without one it is 1"
			}
			return ""
		}},
		{"comment", func(s *said, raw json.RawMessage) string {
			return read(raw, &s.Comment, "must be a text")
		}},
		{"metadata", func(s *said, raw json.RawMessage) string {
			return read(raw, &s.Metadata, "must be an object of texts")
		}},
		{"record_id", func(s *said, raw json.RawMessage) string { return read(raw, &s.RecordID, "must be the id of a record") }},
		{"trace_id", func(s *said, raw json.RawMessage) string { return read(raw, &s.trace, "must be the id of a record") }},
	}
}

// read reads a member, and returns the problem if it is of another kind.
func read(raw json.RawMessage, to any, problem string) string {
	if json.Unmarshal(raw, to) != nil {
		return problem
	}
	return ""
}

// feedbackOf serves POST logs/{id}/feedback.
func (q *request) feedbackOf() (*Answer, error) {
	s, err := q.said()
	if err != nil {
		return nil, err
	}
	if s.trace != "" || s.RecordID != "" && s.RecordID != q.rest {
		return nil, providers.Invalid("record_id", "the path names the record: leave record_id and trace_id out, or POST to feedback")
	}
	s.RecordID = q.rest
	return q.keep(s)
}

// feedback serves POST feedback.
func (q *request) feedback() (*Answer, error) {
	s, err := q.said()
	if err != nil {
		return nil, err
	}
	if (s.RecordID == "") == (s.trace == "") {
		return nil, providers.Invalid("record_id", "name one record: by record_id, or by the trace_id that its call was given; they are the same")
	}
	s.RecordID += s.trace
	return q.keep(s)
}

// said reads the body.
func (q *request) said() (*said, error) {
	if _, err := q.params(nil, nil); err != nil {
		return nil, err
	}
	if err := checkType(q.http.Header); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(q.http.Body, maxFeedback+1))
	switch {
	case err != nil:
		return nil, providers.Invalid("", "the body can't be read")
	case len(body) > maxFeedback:
		return nil, &providers.Error{Code: providers.ErrTooLarge, Message: "the body is over the limit of " + strconv.Itoa(maxFeedback) + " bytes"}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, providers.Invalid("", `the body must be a JSON object, such as {"value":1}`)
	}
	out := new(said)
	for _, m := range feedbackMembers() {
		raw, ok := members[m.name]
		delete(members, m.name)
		if !ok || string(raw) == "null" {
			continue
		}
		if problem := m.read(out, raw); problem != "" {
			return nil, providers.Invalid(m.name, problem)
		}
	}
	for name := range members {
		return nil, errNoMember(name)
	}
	if !out.value {
		return nil, providers.Invalid("value", "is missing: it must be a whole number from -10 to 10")
	}
	return out, nil
}

// checkType accepts JSON, or nothing said: what a foreign page can have a browser
// send without asking is something else.
func checkType(h http.Header) error {
	given := h.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(given)
	if given != "" && (err != nil || kind != "application/json") {
		return &providers.Error{
			Code: providers.ErrInvalidRequest, StatusCode: http.StatusUnsupportedMediaType, Param: "content-type", Message: "content-type: must be application/json",
		}
	}
	return nil
}

func errNoMember(name string) error {
	var names []string
	for _, m := range feedbackMembers() {
		names = append(names, m.name)
	}
	slices.Sort(names)
	if like := near.Of(name, names); len(like) > 0 {
		return providers.Invalid(shown(name), "there is no such member: did you mean "+strings.Join(like, ", ")+"?")
	}
	return providers.Invalid(shown(name), "there is no such member: there are "+strings.Join(names, ", "))
}

// keep keeps the feedback, if the record may be seen.
func (q *request) keep(s *said) (*Answer, error) {
	s.Time = q.Now().UTC()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	r, err := q.get(s.RecordID)
	if err != nil {
		return nil, err
	}
	if err := q.store.AddFeedback(q.ctx, s.Feedback); err != nil {
		if errors.Is(err, logs.ErrNotFound) {
			return nil, errNotFound()
		}
		return nil, err
	}
	if live, ok := q.source.(FeedbackTaker); ok {
		live.AddFeedback(r, s.Feedback)
	}
	return answer(http.StatusCreated, s.Feedback)
}
