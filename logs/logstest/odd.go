package logstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/logs"
)

// odd has texts that some databases can't hold: NUL bytes, and bytes that are no
// UTF-8. A store may replace these, but nothing else.
func odd(t *testing.T, s logs.Store) {
	list := Records()[:4]
	list[0].Metadata = map[string]string{"nul": "a\x00b", "k\x00": "v", "bad": "x\xffy", "": "no key", "emoji": "👩‍🚀", "rtl": "שלום", "u2028": "\u2028"}
	list[0].User = "u\x00"
	list[0].Content = &logs.Content{Request: json.RawMessage(`{"text":"\u0000 \ud83d\ude80 \ud800"}`)}
	list[1].Error = &logs.Error{Code: "bad_response", Message: "line\nbreak \x00 \xff"}
	list[2].RequestedModel = strings.Repeat("é", 3000)
	write(t, s, list...)
	if got, want := ids(t, s, logs.Query{}), []string{"call-3", "call-2", "call-1", "call-0"}; !slices.Equal(want, got) {
		t.Fatalf("there are %v, want %v", got, want)
	}
	r := get(t, s, "call-0")
	for _, key := range []string{"", "emoji", "rtl", "u2028"} {
		if r.Metadata[key] != list[0].Metadata[key] {
			t.Errorf("metadata[%q] = %q", key, r.Metadata[key])
		}
	}
	for key, ends := range map[string][2]string{"nul": {"a", "b"}, "bad": {"x", "y"}} {
		if v := r.Metadata[key]; !strings.HasPrefix(v, ends[0]) || !strings.HasSuffix(v, ends[1]) {
			t.Errorf("metadata[%q] = %q", key, v)
		}
	}
	if r.Content == nil || !json.Valid(r.Content.Request) {
		t.Errorf("the content is %+v", r.Content)
	}
	if m := get(t, s, "call-1").Error.Message; !strings.HasPrefix(m, "line\nbreak ") {
		t.Errorf("the message is %q", m)
	}
	if got := get(t, s, "call-2").RequestedModel; got != list[2].RequestedModel {
		t.Error("a long text is another one")
	}
	for _, q := range []logs.Query{
		{Search: "\x00"}, {Search: "\xff"}, {Search: "👩‍🚀"}, {Search: "שלום"},
		{Filters: []logs.Filter{{Field: "metadata.rtl", Op: logs.Eq, Values: []string{"שלום"}}}},
		{Filters: []logs.Filter{{Field: "metadata.k\x00", Op: logs.Eq, Values: []string{"a\x00b"}}}},
		{Filters: []logs.Filter{{Field: "user", Op: logs.Prefix, Values: []string{"u\xff"}}}},
	} {
		if _, err := s.Query(t.Context(), q); err != nil {
			t.Errorf("Query(%+v): %v", q, err)
		}
	}
	if got := ids(t, s, logs.Query{Search: "👩‍🚀"}); !slices.Equal([]string{"call-0"}, got) {
		t.Errorf("found %v", got)
	}
	if err := s.AddFeedback(t.Context(), logs.Feedback{RecordID: "call-0", Time: start, Value: 1, Comment: "a\x00\xff"}); err != nil {
		t.Error(err)
	}
}

func huge(t *testing.T, s logs.Store) {
	list := Records()[:3]
	text, err := json.Marshal(strings.Repeat("0123456789abcdef", 1<<17)) // 2 MiB
	if err != nil {
		t.Fatal(err)
	}
	list[1].Content = &logs.Content{Request: text, Response: text}
	write(t, s, list...)
	equal(t, "huge", &list[1], get(t, s, "call-1"))
	if got, want := ids(t, s, logs.Query{}), []string{"call-2", "call-1", "call-0"}; !slices.Equal(want, got) {
		t.Errorf("there are %v, want %v", got, want)
	}
}

// owned changes what it gave and what it got.
func owned(t *testing.T, s logs.Store) {
	list, want := Records()[:1], Records()[:1]
	write(t, s, list...)
	spoil := func(r *logs.Record) {
		r.ID = "spoilt"
		r.Metadata["team"] = "spoilt"
		r.Attempts[0].Provider, r.Warnings[0].Code, r.Denied[0] = "spoilt", "spoilt", "spoilt"
		r.Tokens.Prompt, *r.Cost = -1, -1
		if r.Content != nil {
			copy(r.Content.Request, "spoilt")
		}
	}
	spoil(&list[0])
	spoil(get(t, s, "call-0"))
	p, err := s.Query(t.Context(), logs.Query{})
	if err != nil || len(p.Records) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	spoil(&p.Records[0])
	equal(t, "spoilt", &want[0], get(t, s, "call-0"))
}

func concurrent(t *testing.T, s logs.Store) {
	const writers, each = 4, 25
	var all sync.WaitGroup
	fail := make(chan error, 3*writers*each)
	for w := range writers {
		all.Go(func() {
			for i := range each {
				r := Records()[0]
				r.ID, r.Time = fmt.Sprintf("c-%d-%02d", w, i), start.Add(time.Duration(i)*time.Millisecond)
				fail <- s.Write(t.Context(), []logs.Record{r})
				fail <- s.AddFeedback(t.Context(), logs.Feedback{RecordID: r.ID, Time: start, Value: 1})
				_, err := s.Query(t.Context(), logs.Query{Limit: 5, Search: "flash"})
				fail <- err
			}
		})
	}
	all.Wait()
	close(fail)
	for err := range fail {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := ids(t, s, logs.Query{Limit: 7, Filters: []logs.Filter{{Field: "feedback", Op: logs.Eq, Values: []string{"1"}}}}); len(got) != writers*each {
		t.Errorf("%d records, want %d", len(got), writers*each)
	}
}
