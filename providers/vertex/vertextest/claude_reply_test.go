package vertextest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestClaudePlaysScripts(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, c := range []struct {
		name  string
		reply vertextest.Reply
		kinds string
		text  string
		stop  string
	}{
		{"a text", vertextest.Text("There."), "text", "There.", "end_turn"},
		{"no text", vertextest.Finish("STOP", ""), "", "", "end_turn"},
		{"a reason of its own", vertextest.Finish("pause_turn", "Wait."), "text", "Wait.", "pause_turn"},
		{"the limit", vertextest.Finish("MAX_TOKENS", "There"), "text", "There", "max_tokens"},
		{"a refusal", vertextest.Finish("SAFETY", ""), "", "", "refusal"},
		{"a blocked prompt", vertextest.Blocked("SAFETY"), "", "", "refusal"},
		{"thoughts", vertextest.Thought("Hm.", "There."), "thinking text", "There.", "end_turn"},
		{"a call", vertextest.Call("f", map[string]int{"a": 1}), "tool_use", "", "tool_use"},
		{"calls", vertextest.Calls(vertextest.FunctionCall{ID: "toolu_x", Name: "f"}, vertextest.FunctionCall{Name: "g"}), "tool_use tool_use", "", "tool_use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Script(c.reply, c.reply)
			a, m := claude(t, s, sonnet45, claudeBody(asks("Hi")))
			if d := cmp.Diff([]string{c.kinds, c.text, c.stop}, []string{m.kinds(), m.text(), m.StopReason}); d != "" {
				t.Errorf("%s\n%s", d, a.body)
			}
			streamed := join(t, claudeStream(t, s, sonnet45, claudeBody(asks("Hi"))))
			if d := cmp.Diff([]string{c.kinds, c.text, c.stop}, []string{streamed.kinds(), streamed.text(), streamed.StopReason}); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("signs scripted thoughts", func(t *testing.T) {
		s.ScriptFor(sonnet45, vertextest.Thought("Hm.", "There."))
		_, m := claude(t, s, sonnet45, claudeBody(asks("Hi")))
		if want := vertextest.ClaudeSignature("Hm."); m.Content[0].Signature != want {
			t.Errorf("signature %q, want %q", m.Content[0].Signature, want)
		}
	})
}

func TestClaudeErrorsInTheRightEnvelope(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, c := range []struct {
		name   string
		reply  vertextest.Reply
		status int
		own    bool
		kind   string
	}{
		{"Anthropic's", vertextest.Error(500, "api_error", "Internal server error"), 500, true, "api_error"},
		{"Google's", vertextest.Error(503, "UNAVAILABLE", "Later"), 503, false, "UNAVAILABLE"},
		{"quota", vertextest.RateLimited(0), 429, false, "RESOURCE_EXHAUSTED"},
		{"overload", vertextest.Overloaded(), 529, true, "overloaded_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Script(c.reply, c.reply)
			body := claudeBody(asks("Hi"))
			streaming := strings.TrimSuffix(body, "}") + `,"stream":true}`
			for _, a := range []answered{
				post(t, s, claudeURL(sonnet45, "rawPredict"), body),
				post(t, s, claudeURL(sonnet45, "streamRawPredict"), streaming),
			} {
				m := a.claude(t)
				if got := m.Error.Type + m.Error.Status; a.status != c.status || got != c.kind || (m.Type == "error") != c.own {
					t.Errorf("status %d, body %s", a.status, a.body)
				}
			}
		})
	}
}

func TestFailAfterEvents(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	fail := vertextest.Text("one two three").FailAfterEvents(4, 529, "overloaded_error", "Overloaded")
	s.Script(fail, fail, vertextest.Text("a b").FailAfterEvents(0, 500, "INTERNAL", "gone"), vertextest.Text("a").FailAfterEvents(99, 500, "INTERNAL", "gone"))

	events := claudeStream(t, s, sonnet45, claudeBody(asks("Hi")))
	if last := events[len(events)-1]; len(events) != 5 || last.Type != "error" || last.Error.Type != "overloaded_error" {
		t.Errorf("events %+v", events)
	}
	if a, m := claude(t, s, sonnet45, claudeBody(asks("Hi"))); a.status != 529 || m.Error.Type != "overloaded_error" {
		t.Errorf("unary: status %d, body %s", a.status, a.body)
	}
	if a := stream(t, s, "gemini-3.8-flash", say("Hi")); a.status != 200 || !strings.Contains(string(a.body), `"status":"INTERNAL"`) || !strings.HasPrefix(string(a.body), "data: ") {
		t.Errorf("Gemini: %s", a.body)
	}
	a := post(t, s, place+"publishers/google/models/gemini-3.8-flash:streamGenerateContent", say("Hi"))
	var array []struct{ Error struct{ Status string } }
	if err := json.Unmarshal(a.body, &array); err != nil || array[len(array)-1].Error.Status != "INTERNAL" {
		t.Errorf("array: %v in %s", err, a.body)
	}
}

func TestClaudeDelivery(t *testing.T) {
	s := vertextest.New(vertextest.WithRefusedField("output_config.effort", "claude-opus-4-6"), vertextest.WithModel("claude-opus-6", opus47))
	defer s.Close()
	t.Run("named events", func(t *testing.T) {
		s.Script(vertextest.SSE(`{"type":"ping"}`))
		a := post(t, s, claudeURL(sonnet45, "streamRawPredict"), claudeBody(asks("Hi"), `"stream":true`))
		if want := "event: ping\ndata: {\"type\":\"ping\"}\n\n"; string(a.body) != want {
			t.Errorf("got %q", a.body)
		}
	})
	t.Run("no stream flag on the streaming verb", func(t *testing.T) {
		a := post(t, s, claudeURL(sonnet45, "streamRawPredict"), claudeBody(asks("Hi")))
		if m := a.claude(t); a.status != 400 || m.Error.Message != "stream: Input should be true" {
			t.Errorf("%s", a.body)
		}
	})
	t.Run("a cut", func(t *testing.T) {
		s.Script(vertextest.Auto().CutAfterEvents(2))
		a := post(t, s, claudeURL(sonnet45, "streamRawPredict"), claudeBody(asks("Hi"), `"stream":true`))
		if a.err == nil || strings.Count(string(a.body), "event: ") != 2 {
			t.Errorf("%v after %q", a.err, a.body)
		}
	})
	t.Run("a pause", func(t *testing.T) {
		s.Script(vertextest.Text("Hi").After(20 * time.Millisecond))
		start := time.Now()
		if claude(t, s, sonnet45, claudeBody(asks("Hi"))); time.Since(start) < 20*time.Millisecond {
			t.Error("no pause")
		}
	})
	t.Run("a refused field", func(t *testing.T) {
		body := claudeBody(asks("Hi"), `"output_config":{"effort":"low"}`)
		if a, m := claude(t, s, "claude-opus-4-6", body); a.status != 400 || !strings.Contains(m.Error.Message, "output_config.effort: Extra inputs") {
			t.Errorf("%s", a.body)
		}
		if a, _ := claude(t, s, "claude-opus-6", body); a.status != 200 {
			t.Errorf("another model: %s", a.body)
		}
	})
	t.Run("without checks", func(t *testing.T) {
		free := vertextest.New(vertextest.WithoutChecks())
		defer free.Close()
		if a, m := claude(t, free, sonnet45, `{"messages":[{"role":"user","content":"Hi"}],"foo":1}`); a.status != 200 || m.text() == "" {
			t.Errorf("%s", a.body)
		}
		if a, _ := claude(t, free, sonnet45, `{"messages":3}`); a.status != 200 {
			t.Errorf("%s", a.body)
		}
	})
	t.Run("another publisher's verb", func(t *testing.T) {
		a := post(t, s, strings.Replace(claudeURL("x", "rawPredict"), "anthropic", "google", 1), "{}")
		if a.status != http.StatusNotFound || a.decode(t).Error.Status != "NOT_FOUND" {
			t.Errorf("%s", a.body)
		}
	})
}

func TestWithoutPermission(t *testing.T) {
	s := vertextest.New(vertextest.WithoutPermission("claude-opus-4-6"))
	defer s.Close()
	a, m := claude(t, s, "claude-opus-4-6", claudeBody(asks("Hi")))
	if a.status != 403 || m.Error.Status != "PERMISSION_DENIED" || !strings.HasPrefix(m.Error.Message, "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/p/") {
		t.Errorf("%s", a.body)
	}
	if a, _ := claude(t, s, sonnet45, claudeBody(asks("Hi"))); a.status != 200 {
		t.Errorf("%s", a.body)
	}
	all := vertextest.New(vertextest.WithoutPermission())
	defer all.Close()
	if a := unary(t, all, "gemini-3.8-flash", say("Hi")); a.status != 403 {
		t.Errorf("%s", a.body)
	}
}
