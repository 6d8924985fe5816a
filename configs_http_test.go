package gateway_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// httpScenario is one request to the front. want has the status, the answer or the
// code of the error, and the headers about the call.
type httpScenario struct {
	name     string
	path     string // chat completions by default
	config   string // of the header; "" for none
	header   []string
	body     string // a greeting by default
	script   map[string][]vertextest.Reply
	more     func(*vertextest.Request) string
	asked    string
	want     string
	rendered bool // the answer is shown as it is
}

const chatBody = `{"model":"` + first + `","messages":[{"role":"user","content":"Hello"}]`

// TestConfigOverHTTP has the header x-gateway-config, and what a config does with
// the request's own headers.
func TestConfigOverHTTP(t *testing.T) {
	pair := fallback(to(first), to(second))
	failing := script(first, fails(500))
	one := scripts(script(first, text("one")), script(second, text("two")))
	tiers := conditional(when(`{"headers.x-tier":"gold"}`, "hot"), "cold", to(first, `"name":"cold"`), to(second, `"name":"hot"`))
	forwards := `{"forward_headers":["x-team","x-none"]}`
	teams := func(r *vertextest.Request) string { return r.Header.Get("X-Team") + r.Header.Get("X-Other") }
	list := []httpScenario{
		{name: "by id", config: "pair", script: scripts(failing, script(second, text("two"))),
			asked: "first second", want: "OK; two; attempts=2; target=vertex-ai/gemini-3-flash"},
		{name: "as JSON", config: pair, script: scripts(failing, script(second, text("two"))),
			asked: "first second", want: "OK; two; attempts=2; target=vertex-ai/gemini-3-flash"},
		{name: "no config", script: one,
			asked: "first", want: "OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "an id that nobody has", config: "pears",
			asked: "", want: "Bad Request; !invalid_config config"},
		{name: "JSON that is none", config: `{"targets":`,
			asked: "", want: "Bad Request; !invalid_request x-gateway-config"},
		{name: "a member that is unknown", config: `{"retries":1}`,
			asked: "", want: "Bad Request; !invalid_request x-gateway-config"},
		{name: "a host of its own", config: `{"custom_host":"https://evil.example"}`,
			asked: "", want: "Bad Request; !invalid_request x-gateway-config"},
		{name: "a host of its own deep within", config: fallback(to(first), `{"custom_host":"https://evil.example"}`),
			asked: "", want: "Bad Request; !invalid_request x-gateway-config"},
		{name: "a condition on a header", config: tiers, header: []string{"X-Tier", "gold"}, script: one,
			asked: "second", want: "OK; two; attempts=1; target=vertex-ai/gemini-3-flash"},
		{name: "a condition on a header that is not there", config: tiers, script: one,
			asked: "first", want: "OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "sticky by a header", config: balance("headers.x-session", weighs(first, 1), weighs(second, 0)), header: []string{"X-Session", "7"}, script: one,
			asked: "first", want: "OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "a condition on metadata", config: conditional(when(`{"metadata.plan":"gold"}`, "hot"), "cold", to(first, `"name":"cold"`), to(second, `"name":"hot"`)),
			header: []string{"X-Gateway-Metadata", `{"plan":"gold"}`}, script: one,
			asked: "second", want: "OK; two; attempts=1; target=vertex-ai/gemini-3-flash"},
		{name: "headers that are sent on", config: forwards, header: []string{"X-Team", "a", "X-Other", "b"}, script: one, more: teams,
			asked: "first[a]", want: "OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "headers that only one target gets", config: fallback(`{"forward_headers":["x-team"]}`, to(second)), header: []string{"X-Team", "a"},
			script: scripts(failing, script(second, text("two"))), more: teams,
			asked: "first[a] second[]", want: "OK; two; attempts=2; target=vertex-ai/gemini-3-flash"},
		{name: "headers of the config and of the call", config: forwards, header: []string{"X-Team", "a", "X-Other", "b", "X-Gateway-Forward-Headers", "x-other"}, script: one, more: teams,
			asked: "first[ab]", want: "OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "nobody answers", config: pair, script: scripts(failing, script(second, vertextest.RateLimited(0))),
			asked: "first second", want: "Too Many Requests; !rate_limit_exceeded; attempts=2"},
		{name: "retries are counted", config: again(first, 2), script: script(first, fails(500), fails(503), text("one")),
			asked: "first first first", want: "OK; one; attempts=3; target=vertex-ai/gemini-2.5-flash"},
		{name: "targets that were passed over are not counted", config: fallback(to(first, limits(`"tokens_per_minute":1`)), to(second)), script: one,
			asked: "second", want: "OK; two; attempts=1; target=vertex-ai/gemini-3-flash"},
		{name: "targets that can't be reached are not counted", config: fallbackOn("404", at("@nobody"), to(second)), script: one,
			asked: "second", want: "OK; two; attempts=1; target=vertex-ai/gemini-3-flash"},
		{name: "the call's provider over the config's", config: at("@eu"), header: []string{"X-Gateway-Provider", "@us"}, script: one,
			asked: "first(p-us/us-east5)", want: "OK; one; attempts=1; target=@us/gemini-2.5-flash"},
		{name: "strictness of the config", config: `{"strict_compliance":false}`, rendered: true, script: script(first, vertextest.Thought("hm", "one")),
			asked: "first", want: `OK; {"role":"assistant","content":"one","content_blocks":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one"}]}; attempts=1; target=vertex-ai/gemini-2.5-flash`},
		{name: "strictness of the header", config: `{"strict_compliance":false}`, header: []string{"X-Gateway-Strict-Compliance", "true"}, rendered: true,
			script: script(first, vertextest.Thought("hm", "one")),
			asked:  "first", want: `OK; {"role":"assistant","content":"one"}; attempts=1; target=vertex-ai/gemini-2.5-flash`},
		{name: "a cache", config: `{"cache":{"mode":"simple"}}`, script: one,
			asked: "first", want: `OK; one; attempts=1; target=vertex-ai/gemini-2.5-flash`},
		{name: "streamed, before the first output", config: pair, body: chatBody + `,"stream":true}`,
			script: scripts(script(first, text("one, and much more than that").CutAfter(20)), script(second, text("two"))),
			asked:  "first second", want: "OK; two done; attempts=2; target=vertex-ai/gemini-3-flash"},
		{name: "streamed, after the first output", config: pair, body: chatBody + `,"stream":true}`,
			script: script(first, text("one, and much more than that").FailAfterEvents(1, 503, "UNAVAILABLE", "busy")),
			asked:  "first", want: "OK; one,!service_unavailable; attempts=1; target=vertex-ai/gemini-2.5-flash"},
		{name: "streamed, nobody answers", config: pair, body: chatBody + `,"stream":true}`, script: scripts(failing, script(second, fails(503))),
			asked: "first second", want: "Service Unavailable; !service_unavailable; attempts=2"},
		{name: "Anthropic's schema", path: "/v1/messages", config: "pair", body: chatBody + `,"max_tokens":99}`, script: scripts(failing, script(second, text("two"))),
			asked: "first second", want: "OK; two; attempts=2; target=vertex-ai/gemini-3-flash"},
		{name: "embeddings", path: "/v1/embeddings", config: fallback(to("gemini-embedding-0"), to("gemini-embedding-001")), body: `{"model":"x","input":"Hello"}`,
			asked: "gemini-embedding-0 gemini-embedding-001", want: "OK; embedding; attempts=2; target=vertex-ai/gemini-embedding-001"},
		{name: "a count of tokens", path: "/v1/messages/count_tokens", config: fallback(to("gemini-9-none"), to(second)), body: chatBody + `}`,
			asked: "gemini-9-none second", want: "OK; counted; attempts=2; target=vertex-ai/gemini-3-flash"},
	}
	for i := range list {
		s := &list[i]
		t.Run(s.name, func(t *testing.T) { synctest.Test(t, s.run) })
	}
}

func (s *httpScenario) run(t *testing.T) {
	base := scenario{script: s.script, catalog: vendorsWith(`,"configs":{"pair":` + fallback(to(first), to(second)) + `}`), more: s.more, random: true}
	client, srv := base.open(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, cmp.Or(s.path, "/v1/chat/completions"), strings.NewReader(cmp.Or(s.body, chatBody+"}")))
	if s.config != "" {
		r.Header.Set("X-Gateway-Config", s.config)
	}
	for i := 0; i < len(s.header); i += 2 {
		r.Header.Set(s.header[i], s.header[i+1])
	}
	w := httptest.NewRecorder()
	client.Handler().ServeHTTP(w, r)
	var asked []string
	for _, q := range srv.Requests() {
		asked = append(asked, base.request(&q, q.Time))
	}
	saw := s.outcome(w.Result().StatusCode, w.Header(), w.Body.String())
	if d := gocmp.Diff(s.asked, strings.Join(asked, " ")); d != "" {
		t.Errorf("asked (-want +got)\n%s", d)
	}
	if d := gocmp.Diff(s.want, saw); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// outcome is the status, what was said, and what the headers tell of the way.
func (s *httpScenario) outcome(status int, h http.Header, body string) string {
	out := []string{http.StatusText(status)}
	if s.rendered {
		m := struct {
			Choices []struct{ Message json.RawMessage }
		}{}
		_ = json.Unmarshal([]byte(body), &m)
		out = append(out, string(m.Choices[0].Message))
	} else {
		out = append(out, said(body))
	}
	for _, name := range []string{"Attempts", "Target", "Warnings"} {
		if v := h.Get("X-Gateway-" + name); v != "" {
			out = append(out, strings.ToLower(name)+"="+v)
		}
	}
	return strings.Join(out, "; ")
}

// said is the text of an answer or a stream, and the code of an error.
func said(body string) string {
	var out string
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			Choices []struct {
				Message, Delta struct{ Content string }
			}
			Content []struct{ Text string }
			Error   struct {
				Code, Type, Param string
			}
			InputTokens int `json:"input_tokens"`
			Data        []struct{ Object string }
		}
		line := strings.TrimPrefix(lines.Text(), "data: ")
		if line == "[DONE]" {
			out += " done"
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		for _, c := range m.Choices {
			out += c.Message.Content + c.Delta.Content
		}
		for _, c := range m.Content {
			out += c.Text
		}
		for _, d := range m.Data {
			out += d.Object
		}
		if m.InputTokens > 0 {
			out += "counted"
		}
		if e := m.Error; e.Type != "" {
			out += "!" + cmp.Or(e.Code, e.Type)
			if e.Param != "" {
				out += " " + e.Param
			}
		}
	}
	if strings.HasPrefix(out, "Hello") {
		return "hello"
	}
	return out
}
