package vertextest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const (
	sonnet45 = "claude-sonnet-4-5@20250929"
	opus47   = "claude-opus-4-7"
)

func TestClaudeAnswers(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	image := `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},` +
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}},{"type":"text","text":"What is it?"}]}`
	call := asks("weather?") + "," + says(usedTool) + "," + results(toolResult)
	for _, c := range []struct{ name, model, body, kinds, text, reason string }{
		{"greets", sonnet45, claudeBody(asks("Hello!")), "text", "Hello! How can I help you today?", "end_turn"},
		{"echoes", sonnet45, claudeBody(asks("Good bread")), "text", `You said: "Good bread".`, "end_turn"},
		{"sees media", sonnet45, claudeBody(image), "text", `You sent image/png, application/pdf and said: "What is it?".`, "end_turn"},
		{"calls a tool", sonnet45, claudeBody(asks("The weather in Paris?"), claudeWeather), "tool_use", "", "tool_use"},
		{"calls twice", sonnet45, claudeBody(asks("The weather in Paris and Rome?"), claudeWeather), "tool_use tool_use", "", "tool_use"},
		{"calls once when asked to", sonnet45, claudeBody(asks("The weather in Paris and Rome?"), claudeWeather, `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`), "tool_use", "", "tool_use"},
		{"calls when it has to", sonnet45, claudeBody(asks("Something"), claudeWeather, `"tool_choice":{"type":"any"}`), "tool_use", "", "tool_use"},
		{"calls none", sonnet45, claudeBody(asks("The weather in Paris?"), claudeWeather, `"tool_choice":{"type":"none"}`), "text", `You said: "The weather in Paris?".`, "end_turn"},
		{"reports a result", sonnet45, claudeBody(call, claudeWeather), "text", `get_weather answered: "sunny"`, "end_turn"},
		{"thinks with a budget", sonnet45, claudeBody(asks("Hi"), think), "thinking text", "Hello! How can I help you today?", "end_turn"},
		{"thinks by itself on 5", "claude-sonnet-5", claudeBody(asks("Hi")), "thinking text", "Hello! How can I help you today?", "end_turn"},
		{"doesn't think when disabled", "claude-sonnet-5", claudeBody(asks("Hi"), `"thinking":{"type":"disabled"}`), "text", "Hello! How can I help you today?", "end_turn"},
		{"thinks before a call", sonnet45, claudeBody(asks("The weather in Paris?"), claudeWeather, think), "thinking tool_use", "", "tool_use"},
		{"thinks in secret", sonnet45, claudeBody(asks("ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_46C9"), think), "redacted_thinking text", `You said: "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_46C9".`, "end_turn"},
		{"refuses", sonnet45, claudeBody(asks("ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL_1FAE")), "", "", "refusal"},
		{"stops at a sequence", sonnet45, claudeBody(asks("one two three"), `"stop_sequences":["three"," two"]`), "text", `You said: "one`, "stop_sequence"},
		{"stops at the limit", sonnet45, claudeBody(asks("one two three"), `"max_tokens":2`), "text", "You said", "max_tokens"},
		{"fits a schema", sonnet45, claudeBody(asks("in Rome"), format(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)), "text", "{\n  \"city\": \"Rome\"\n}", "end_turn"},
		{"uses a tool of the API", sonnet45, claudeBody(asks("Run a shell command"), claudeTool(`"type":"bash_20250124","name":"bash"`)), "tool_use", "", "tool_use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, m := claude(t, s, c.model, c.body)
			if a.status != http.StatusOK {
				t.Fatalf("status %d, body %s", a.status, a.body)
			}
			if d := cmp.Diff([]string{c.kinds, c.text, c.reason}, []string{m.kinds(), m.text(), m.StopReason}); d != "" {
				t.Error(d)
			}
			streamed := join(t, claudeStream(t, s, c.model, c.body))
			m.ID, streamed.ID, m.StopDetails = "", "", nil
			if d := cmp.Diff(plain(m), plain(streamed)); d != "" {
				t.Error("unary and stream differ:", d)
			}
		})
	}
}

// plain makes raw members and absent ones comparable.
func plain(m claudeMessage) claudeMessage {
	for i := range m.Content {
		b := &m.Content[i]
		if b.Type != "tool_use" {
			b.Input = nil
		}
		b.ID = "" // it depends on the request
		for j := range b.Citations {
			b.Citations[j].Title = ""
		}
		b.Content = nil
	}
	if len(m.Content) == 0 {
		m.Content = nil
	}
	return m
}

func TestClaudeEnvelope(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	a, m := claude(t, s, sonnet45, claudeBody(asks("The weather in Paris and Rome?"), claudeWeather))
	if m.Type != "message" || m.Role != "assistant" || m.Model != "claude-sonnet-4-5-20250929" || !strings.HasPrefix(m.ID, "msg_vrtx_01") {
		t.Errorf("%s", a.body)
	}
	if !strings.HasPrefix(m.Content[0].ID, "toolu_vrtx_01") || m.Content[0].ID == m.Content[1].ID || string(m.Content[0].Input) != `{"city":"Paris"}` {
		t.Errorf("%+v", m.Content)
	}
	if !bytes.Contains(a.body, []byte(`"stop_sequence":null`)) || a.header.Get("Content-Type") != "application/json" || !strings.HasPrefix(a.header.Get("Request-Id"), "req_vrtx_") {
		t.Errorf("header %v, body %s", a.header, a.body)
	}
	_, next := claude(t, s, sonnet45, claudeBody(asks("Hi")))
	if next.ID == m.ID {
		t.Error("two messages have one id")
	}
	_, refused := claude(t, s, sonnet45, claudeBody(asks("ANTHROPIC_MAGIC_STRING_TRIGGER_REFUSAL_1FAE")))
	if !bytes.Contains(refused.StopDetails, []byte(`"type":"refusal"`)) {
		t.Errorf("stop_details %s", refused.StopDetails)
	}
}

func TestClaudeThoughtsComeBack(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	for _, c := range []struct{ name, model, text, thinking, shown string }{
		{"summarised", sonnet45, "The weather in Paris?", think, "**Reading"},
		{"omitted", opus47, "The weather in Paris?", `"thinking":{"type":"adaptive"}`, ""},
		{"redacted", sonnet45, "The weather in Paris? ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_46C9", think, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, m := claude(t, s, c.model, claudeBody(asks(c.text), claudeWeather, c.thinking))
			if !strings.HasPrefix(m.Content[0].Thinking, c.shown) || (c.shown == "") != (m.Content[0].Thinking == "") {
				t.Errorf("thoughts %q", m.Content[0].Thinking)
			}
			if m.Usage.Details["thinking_tokens"] == 0 || m.Usage.OutputTokens <= m.Usage.Details["thinking_tokens"] {
				t.Errorf("usage %+v", m.Usage)
			}
			var whole struct{ Content json.RawMessage }
			if err := json.Unmarshal(a.body, &whole); err != nil {
				t.Fatal(err)
			}
			history := asks(c.text) + `,{"role":"assistant","content":` + string(whole.Content) + `},` +
				results(strings.Replace(toolResult, "toolu_1", m.Content[1].ID, 1))
			if a, m := claude(t, s, c.model, claudeBody(history, claudeWeather, c.thinking)); m.StopReason != "end_turn" {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
		})
	}
}

func TestClaudeStreamEvents(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	events := claudeStream(t, s, sonnet45, claudeBody(asks("The weather in Paris?"), claudeWeather, think))
	var got []string
	for _, e := range events {
		name := e.Type
		if e.Delta.Type != "" {
			name = e.Delta.Type
		}
		if len(got) == 0 || got[len(got)-1] != name {
			got = append(got, name)
		}
	}
	want := []string{
		"message_start", "content_block_start", "ping", "thinking_delta", "signature_delta", "content_block_stop",
		"content_block_start", "input_json_delta", "content_block_stop", "message_delta", "message_stop",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if u := events[0].Message.Usage; u.OutputTokens != 1 || u.InputTokens == 0 {
		t.Errorf("usage at the start: %+v", u)
	}
}

func TestClaudeSearches(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	search := claudeTool(`"type":"web_search_20250305","name":"web_search","blocked_domains":["example.org"]`)
	body := claudeBody(asks("Who won?"), search)
	a, m := claude(t, s, sonnet45, body)
	if m.kinds() != "server_tool_use web_search_tool_result text text" || !strings.HasPrefix(m.Content[0].ID, "srvtoolu_vrtx_") {
		t.Fatalf("%s", a.body)
	}
	if string(m.Content[0].Input) != `{"query":"Who won?"}` || m.Usage.ServerToolUse["web_search_requests"] != 1 {
		t.Errorf("%s", a.body)
	}
	if c := m.Content[2].Citations; len(c) != 1 || c[0].URL != "https://example.com/" {
		t.Errorf("citations %+v", c)
	}
	streamed := join(t, claudeStream(t, s, sonnet45, body))
	if streamed.text() != m.text() || len(streamed.Content[2].Citations) != 1 {
		t.Errorf("stream %+v", streamed)
	}
	var whole struct{ Content json.RawMessage }
	if err := json.Unmarshal(a.body, &whole); err != nil {
		t.Fatal(err)
	}
	history := asks("Who won?") + `,{"role":"assistant","content":` + string(whole.Content) + `},` + asks("Hi")
	if a, m := claude(t, s, sonnet45, claudeBody(history, search)); m.kinds() != "text" {
		t.Errorf("status %d, body %s", a.status, a.body)
	}
}

func TestClaudeCountsTokens(t *testing.T) {
	s := vertextest.New()
	defer s.Close()
	url := claudeURL("count-tokens", "rawPredict")
	body := `{"anthropic_version":"vertex-2023-10-16","model":"` + sonnet45 + `","messages":[` + asks("Count me, please.") + `]}`
	a := post(t, s, url, body)
	_, m := claude(t, s, sonnet45, claudeBody(asks("Count me, please.")))
	if n := a.claude(t).InputTokens; a.status != 200 || n == 0 || n != m.Usage.InputTokens {
		t.Errorf("counted %d, used %d: %s", n, m.Usage.InputTokens, a.body)
	}
	if err := vertextest.CheckMessagesCount([]byte(body)); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct{ body, want string }{
		"without model":        {claudeBody(asks("a")), "model: Field required"},
		"with a limit":         {strings.Replace(body, `"model"`, `"max_tokens":1,"model"`, 1), "max_tokens: Extra inputs"},
		"unknown model":        {strings.Replace(body, sonnet45, "claude-1", 1), "NOT_FOUND"},
		"a form of the answer": {strings.Replace(body, `"model"`, `"output_config":{"effort":"low"},"model"`, 1), "output_config: Extra inputs"},
		"choice without tools": {strings.Replace(body, `"model"`, `"tool_choice":{"type":"auto"},"model"`, 1), "only be specified while providing tools"},
	} {
		t.Run(name, func(t *testing.T) {
			if a := post(t, s, url, c.body); a.status == 200 || !strings.Contains(string(a.body), c.want) {
				t.Errorf("status %d, body %s", a.status, a.body)
			}
		})
	}
	last := s.Requests()[0]
	if last.Model != "count-tokens" || last.Verb != "rawPredict" {
		t.Errorf("recorded %s %s", last.Model, last.Verb)
	}
	s.Script(vertextest.Text("not for a count"))
	s.ScriptFor("count-tokens", vertextest.Error(404, "NOT_FOUND", "not here"))
	if a := post(t, s, url, body); a.status != 404 || s.Pending() != 1 {
		t.Errorf("status %d, pending %d", a.status, s.Pending())
	}
}

func TestClaudeCachesPrefixes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := vertextest.New()
		defer s.Close()
		long := strings.Repeat("abcd", 1100)
		system := `"system":[{"type":"text","text":"` + long + `",` + marked + `}]`
		ask := func(body string) claudeUsage {
			t.Helper()
			a, m := claude(t, s, sonnet45, body)
			if a.status != 200 {
				t.Fatalf("%s", a.body)
			}
			return m.Usage
		}
		first := ask(claudeBody(asks("Hello"), system))
		if first.CacheCreation != 1100 || first.ByTTL["ephemeral_5m_input_tokens"] != 1100 || first.CacheRead != 0 || first.InputTokens != 1 {
			t.Errorf("first %+v", first)
		}
		again := ask(claudeBody(asks("Other words"), system))
		if again.CacheCreation != 0 || again.CacheRead != 1100 {
			t.Errorf("again %+v", again)
		}
		unmarked := ask(claudeBody(asks("Hello"), `"system":"`+long+`"`))
		if unmarked.CacheRead != 0 || unmarked.InputTokens != 1101 {
			t.Errorf("without a mark %+v", unmarked)
		}
		hour := strings.Replace(asks(strings.Repeat("efgh", 500)), `"}]`, `","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, 1)
		if u := ask(claudeBody(hour, strings.Replace(system, `"ephemeral"`, `"ephemeral","ttl":"1h"`, 1))); u.CacheRead != 1100 || u.ByTTL["ephemeral_1h_input_tokens"] != 500 {
			t.Errorf("longer prefix %+v", u)
		}
		// The mark moves with the end of the conversation.
		if u := ask(claudeBody(hour+","+says(`{"type":"text","text":"Well"}`)+","+asks("More"), `"system":"`+long+`"`, `"cache_control":{"type":"ephemeral"}`, `"tools":[]`)); u.CacheRead != 1600 || u.CacheCreation == 0 {
			t.Errorf("a moved mark %+v", u)
		}
		time.Sleep(6 * time.Minute)
		if u := ask(claudeBody(asks("Short"), strings.Replace(system, "abcd", "wxyz", 1))); u.CacheRead != 0 || u.CacheCreation != 1100 {
			t.Errorf("another prefix %+v", u)
		}
		time.Sleep(2 * time.Hour)
		if u := ask(claudeBody(asks("Hello"), system)); u.CacheRead != 0 || u.CacheCreation != 1100 {
			t.Errorf("after its end %+v", u)
		}
		if u := ask(claudeBody(asks("Hello"), `"system":[{"type":"text","text":"brief",`+marked+`}]`)); u.CacheCreation != 0 {
			t.Errorf("too short to cache: %+v", u)
		}
	})
}
