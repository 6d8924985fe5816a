package logstest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/providers"
)

func feedback(t *testing.T, s logs.Store) {
	list := Records()
	write(t, s, list...)
	at := start.Add(time.Hour)
	given := []logs.Feedback{
		{RecordID: "call-3", Time: at, Value: 10, Weight: 0.5, Comment: "good é \"", Metadata: map[string]string{"by": "me"}},
		{RecordID: "call-3", Time: at.Add(time.Second), Value: -5},
		{RecordID: "call-5", Time: at, Value: 0, Weight: 1},
	}
	for _, f := range given {
		if err := s.AddFeedback(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	list[3].Feedback, list[5].Feedback = given[:2], given[2:]
	for _, i := range []int{3, 5, 6} {
		equal(t, list[i].ID, &list[i], get(t, s, list[i].ID))
	}
	p, err := s.Query(t.Context(), logs.Query{Search: "call-3"})
	if err != nil || len(p.Records) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	equal(t, "page", list[3].Feedback, p.Records[0].Feedback)
	for _, op := range []logs.Op{logs.Eq, logs.Gt, logs.Lt, logs.Gte, logs.Lte, logs.Ne} {
		checkQuery(t, s, list, logs.Query{Filters: []logs.Filter{{Field: "feedback", Op: op, Values: []string{"0"}}}})
	}
	for _, v := range []string{"true", "false"} {
		checkQuery(t, s, list, logs.Query{Filters: []logs.Filter{{Field: "feedback", Op: logs.Missing, Values: []string{v}}}})
	}
}

func wrongFeedback(t *testing.T, s logs.Store) {
	write(t, s, Records()[:1]...)
	for _, tt := range []struct {
		param string
		f     logs.Feedback
	}{
		{"record_id", logs.Feedback{Value: 1}},
		{"value", logs.Feedback{RecordID: "call-0", Value: 11}},
		{"value", logs.Feedback{RecordID: "call-0", Value: -11}},
		{"weight", logs.Feedback{RecordID: "call-0", Weight: 1.1}},
		{"weight", logs.Feedback{RecordID: "call-0", Weight: -0.1}},
		{"comment", logs.Feedback{RecordID: "call-0", Comment: strings.Repeat("x", 5000)}},
		{"metadata", logs.Feedback{RecordID: "call-0", Metadata: map[string]string{"k": strings.Repeat("x", 5000)}}},
	} {
		err := s.AddFeedback(t.Context(), tt.f)
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Param != tt.param {
			t.Errorf("%s: %v", tt.param, err)
		}
	}
	if n := len(get(t, s, "call-0").Feedback); n != 0 {
		t.Errorf("%d were kept", n)
	}
}
