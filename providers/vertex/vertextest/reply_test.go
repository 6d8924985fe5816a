package vertextest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const flash = "gemini-3.8-flash"

// scripted posts a simple request to a server with one scripted reply.
func scripted(t *testing.T, reply vertextest.Reply, streamed bool) answered {
	t.Helper()
	s := vertextest.New()
	s.Script(reply)
	if streamed {
		return stream(t, s, flash, say("a"))
	}
	return unary(t, s, flash, say("a"))
}

func TestScriptsAreTakenInOrder(t *testing.T) {
	s := vertextest.New()
	s.Script(vertextest.Text("one"), vertextest.Text("two"))
	s.ScriptFor("gemini-2.5-flash", vertextest.Text("mine"))
	if got := s.Pending(); got != 3 {
		t.Errorf("%d pending, want 3", got)
	}
	unary(t, s, flash, `{"contents":[]}`) // a refused request takes none
	var got []string
	for _, model := range []string{flash, "gemini-2.5-flash", "gemini-2.5-flash", flash} {
		got = append(got, unary(t, s, model, say("a")).decode(t).text())
	}
	if diff := cmp.Diff([]string{"one", "mine", "two", `You said: "a".`}, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	s.Script(vertextest.Text("late"))
	s.Reset()
	if got := s.Pending(); got != 0 {
		t.Errorf("%d pending after Reset", got)
	}
}

func TestModelReplies(t *testing.T) {
	type outcome struct{ Text, Thought, Finish, Block string }
	for name, tc := range map[string]struct {
		reply vertextest.Reply
		want  outcome
	}{
		"auto":    {vertextest.Auto(), outcome{Text: `You said: "a".`, Finish: "STOP"}},
		"text":    {vertextest.Text("some words here"), outcome{Text: "some words here", Finish: "STOP"}},
		"thought": {vertextest.Thought("hm", "yes"), outcome{Text: "yes", Thought: "hm", Finish: "STOP"}},
		"finish":  {vertextest.Finish("SAFETY", ""), outcome{Finish: "SAFETY"}},
		"blocked": {vertextest.Blocked("SAFETY"), outcome{Block: "SAFETY"}},
	} {
		t.Run(name, func(t *testing.T) {
			for form, list := range map[string][]message{
				"unary":  {scripted(t, tc.reply, false).decode(t)},
				"stream": scripted(t, tc.reply, true).events(t),
			} {
				var got outcome
				for _, m := range list {
					got.Text += m.text()
					got.Block += m.PromptFeedback.BlockReason
					for _, c := range m.Candidates {
						got.Finish += c.FinishReason
					}
					for _, p := range m.parts() {
						if p.Thought {
							got.Thought += p.Text
						}
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
				if u := list[len(list)-1].UsageMetadata; u.PromptTokenCount == 0 || u.TotalTokenCount < u.PromptTokenCount {
					t.Errorf("%s: usage %+v", form, u)
				}
			}
		})
	}
}

func TestCallReplies(t *testing.T) {
	s := vertextest.New()
	s.Script(vertextest.Calls(vertextest.FunctionCall{Name: "f", Args: map[string]int{"a": 1}}, vertextest.FunctionCall{ID: "mine", Name: "g"}))
	parts := unary(t, s, flash, say("a")).decode(t).parts()
	if len(parts) != 2 {
		t.Fatalf("got %+v", parts)
	}
	f, g := parts[0], parts[1]
	if f.FunctionCall.ID == "" || f.FunctionCall.Name != "f" || f.FunctionCall.Args["a"] != 1.0 || f.ThoughtSignature == "" {
		t.Errorf("first call: %+v", f)
	}
	if g.FunctionCall.ID != "mine" || g.FunctionCall.Name != "g" || g.FunctionCall.Args == nil || g.ThoughtSignature != "" {
		t.Errorf("second call: %+v", g)
	}
}

func TestArgumentsThatAreNoObjectFailTheRequest(t *testing.T) {
	for _, args := range []any{1, "x", []int{1}, func() {}} {
		got := scripted(t, vertextest.Call("f", args), false)
		if m := got.decode(t); got.status != http.StatusInternalServerError || m.Error.Status != "INTERNAL" {
			t.Errorf("%T: %d %s", args, got.status, got.body)
		}
	}
}

func TestFixedReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		reply      vertextest.Reply
		status     int
		kind, body string
	}{
		"JSON":   {vertextest.JSON(203, `{"a": 1}`), 203, "application/json; charset=UTF-8", `{"a": 1}`},
		"raw":    {vertextest.Raw(502, "text/plain", "bad gateway"), 502, "text/plain", "bad gateway"},
		"SSE":    {vertextest.SSE(`{"a":1}`, `{"b":2}`), 200, "text/event-stream", "data: {\"a\":1}\r\n\r\ndata: {\"b\":2}\r\n\r\n"},
		"no SSE": {vertextest.SSE(), 200, "text/event-stream", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := scripted(t, tc.reply, false)
			type head struct {
				Status     int
				Kind, Body string
			}
			want := head{tc.status, tc.kind, tc.body}
			if diff := cmp.Diff(want, head{got.status, got.header.Get("Content-Type"), string(got.body)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := scripted(t, vertextest.HTML404(), false); got.status != 404 || !strings.Contains(string(got.body), "<b>404.</b>") {
		t.Errorf("HTML404: %d %s", got.status, got.body)
	}
}

func TestErrorReplies(t *testing.T) {
	m := scripted(t, vertextest.Error(503, "UNAVAILABLE", "busy", map[string]string{"@type": "x"}), false).decode(t)
	if m.Error.Code != 503 || m.Error.Status != "UNAVAILABLE" || m.Error.Message != "busy" || m.Error.Details[0]["@type"] != "x" {
		t.Errorf("got %+v", m.Error)
	}
	got := scripted(t, vertextest.RateLimited(1500*time.Millisecond), true)
	m = got.decode(t)
	want := []map[string]any{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}}
	if diff := cmp.Diff(want, m.Error.Details); diff != "" || got.status != 429 || m.Error.Status != "RESOURCE_EXHAUSTED" {
		t.Errorf("got %d %+v (-want +got):\n%s", got.status, m.Error, diff)
	}
	if m = scripted(t, vertextest.RateLimited(0), false).decode(t); len(m.Error.Details) != 0 {
		t.Errorf("details without a delay: %v", m.Error.Details)
	}
	got = scripted(t, vertextest.Error(500, "INTERNAL", "x", func() {}), false)
	if m = got.decode(t); got.status != 500 || !strings.Contains(m.Error.Message, "unsupported type") {
		t.Errorf("details that can't be encoded: %d %s", got.status, got.body)
	}
}

func TestCuts(t *testing.T) {
	events := vertextest.SSE("1", "2", "3")
	const each = len("data: 1\r\n\r\n")
	for name, tc := range map[string]struct {
		reply vertextest.Reply
		bytes int
		cut   bool
	}{
		"whole":                {events, 3 * each, false},
		"after two events":     {events.CutAfterEvents(2), 2 * each, true},
		"before the first":     {events.CutAfterEvents(0), 0, true},
		"after the last":       {events.CutAfterEvents(3), 3 * each, true},
		"beyond the last":      {events.CutAfterEvents(4), 3 * each, false},
		"after bytes":          {events.CutAfter(15), 15, true},
		"after no bytes":       {events.CutAfter(0), 0, true},
		"after all bytes":      {events.CutAfter(3 * each), 3 * each, true},
		"beyond all bytes":     {events.CutAfter(3*each + 1), 3 * each, false},
		"in pieces":            {events.InPieces(4).CutAfter(13), 13, true},
		"of an unary answer":   {vertextest.JSON(200, "0123456789").CutAfter(4), 4, true},
		"the smaller of both":  {events.CutAfter(15).CutAfterEvents(1), each, true},
		"the other is smaller": {events.CutAfter(5).CutAfterEvents(1), 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := scripted(t, tc.reply, true)
			if len(got.body) != tc.bytes || errors.Is(got.err, io.ErrUnexpectedEOF) != tc.cut {
				t.Errorf("%d bytes and %v, want %d and cut %v", len(got.body), got.err, tc.bytes, tc.cut)
			}
		})
	}
}

func TestRepliesCanBeShared(t *testing.T) {
	base := vertextest.JSON(200, "{}").WithHeader("A", "1")
	_ = base.WithHeader("A", "2").CutAfter(0)
	got := scripted(t, base.WithHeader("B", "3"), false)
	if got.header.Get("A") != "1" || got.header.Get("B") != "3" || got.err != nil {
		t.Errorf("a modifier changed the reply it was called on: %v %v", got.header, got.err)
	}
}

func TestTimesOfReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		opts       []vertextest.Option
		reply      vertextest.Reply
		head, body time.Duration
	}{
		"at once":             {nil, vertextest.SSE("1", "2", "3"), 0, 0},
		"after and paced":     {nil, vertextest.SSE("1", "2", "3").After(time.Minute).Paced(time.Second), time.Minute, 2 * time.Second},
		"server's defaults":   {[]vertextest.Option{vertextest.WithLatency(time.Hour), vertextest.WithChunkDelay(time.Minute)}, vertextest.SSE("1", "2"), time.Hour, time.Minute},
		"reply over defaults": {[]vertextest.Option{vertextest.WithLatency(time.Hour), vertextest.WithChunkDelay(time.Hour)}, vertextest.SSE("1", "2").After(0).Paced(time.Second), 0, time.Second},
		"pieces aren't paced": {nil, vertextest.JSON(200, "0123456789").InPieces(1).Paced(time.Second), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := vertextest.New(tc.opts...)
				s.Script(tc.reply)
				start := time.Now()
				res, err := s.Transport().RoundTrip(newPost(t, place+"publishers/google/models/gemini-2.5-flash:generateContent", say("a")))
				if err != nil {
					t.Fatal(err)
				}
				head := time.Since(start)
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					t.Fatal(err)
				}
				if err := res.Body.Close(); err != nil {
					t.Fatal(err)
				}
				if head != tc.head || time.Since(start)-head != tc.body {
					t.Errorf("head after %v, body after %v more; want %v and %v", head, time.Since(start)-head, tc.head, tc.body)
				}
			})
		})
	}
}
