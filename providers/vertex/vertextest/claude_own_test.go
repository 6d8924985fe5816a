package vertextest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const ownPlace = "https://api.anthropic.com/v1/messages"

// ownBody is a body for Anthropic's own API.
func ownBody(model, messages string, more ...string) string {
	return strings.Replace(claudeBody(messages, more...), `"anthropic_version":"vertex-2023-10-16"`, `"model":"`+model+`"`, 1)
}

// ownPost posts with an API key, and header lines as pairs.
func ownPost(t *testing.T, s *vertextest.Server, url, body string, header ...string) answered {
	t.Helper()
	r := newPost(t, url, body)
	r.Header.Del("Authorization")
	r.Header.Set("X-Api-Key", "key")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for pair := range slices.Chunk(header, 2) {
		if r.Header.Del(pair[0]); pair[1] != "" {
			r.Header.Set(pair[0], pair[1])
		}
	}
	return do(t, s, r)
}

func TestOwnAPIAnswers(t *testing.T) {
	s := vertextest.New()
	for _, model := range []string{"claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "claude-sonnet-5"} {
		a := ownPost(t, s, ownPlace, ownBody(model, asks("Who is there?")))
		m := a.claude(t)
		if a.status != http.StatusOK || !strings.Contains(m.text(), "Who is there?") || m.Model != model {
			t.Fatalf("%d: %s", a.status, a.body)
		}
		if strings.Contains(string(a.body), "vrtx") || !strings.HasPrefix(m.ID, "msg_01") || !strings.HasPrefix(a.header.Get("Request-Id"), "req_01") {
			t.Errorf("ids of the platform: %s, %s", a.body, a.header.Get("Request-Id"))
		}
	}
	last := s.Requests()[2]
	if last.Model != "claude-sonnet-5" || last.Verb != "messages" || last.Project != "" {
		t.Errorf("%+v", last)
	}
}

func TestOwnAPIStreamsWhereTheBodySaysSo(t *testing.T) {
	a := ownPost(t, vertextest.New(), ownPlace, ownBody("claude-sonnet-5", asks("hello"), `"stream":true`))
	if a.status != http.StatusOK || !strings.HasPrefix(string(a.body), "event: message_start\ndata: {") || !strings.HasSuffix(string(a.body), `{"type":"message_stop"}`+"\n\n") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

func TestOwnAPICounts(t *testing.T) {
	s := vertextest.New()
	body := strings.Replace(ownBody("claude-sonnet-5", asks("hello"), claudeWeather), `,"max_tokens":4096`, "", 1)
	if m := ownPost(t, s, ownPlace+"/count_tokens", body).claude(t); m.InputTokens == 0 {
		t.Errorf("%+v", m)
	}
	if a := ownPost(t, s, ownPlace+"/count_tokens", ownBody("claude-sonnet-5", asks("hello"))); a.status != http.StatusBadRequest {
		t.Errorf("max_tokens is counted: %d %s", a.status, a.body)
	}
	if err := vertextest.CheckOwnMessagesCount([]byte(body)); err != nil {
		t.Error(err)
	}
}

func TestOwnAPIRefuses(t *testing.T) {
	s := vertextest.New(vertextest.WithToken("key"))
	const beta = "Anthropic-Beta"
	good := ownBody("claude-sonnet-5", asks("hello"))
	with := func(member string) string { return ownBody("claude-sonnet-5", asks("hello"), member) }
	for _, tt := range []struct {
		name, body string
		header     []string
		status     int
		kind, says string
	}{
		{"no key", good, []string{"X-Api-Key", ""}, 401, "authentication_error", "x-api-key header is required"},
		{"a bearer token", good, []string{"X-Api-Key", "", "Authorization", "Bearer key"}, 401, "authentication_error", "x-api-key"},
		{"a wrong key", good, []string{"X-Api-Key", "other"}, 401, "authentication_error", "invalid x-api-key"},
		{"no version", good, []string{"Anthropic-Version", ""}, 400, "invalid_request_error", "anthropic-version: header is required"},
		{"a version nobody knows", good, []string{"Anthropic-Version", "1"}, 400, "invalid_request_error", "not a valid version"},
		{"another type", good, []string{"Content-Type", "text/plain"}, 400, "invalid_request_error", "content type"},
		{"no model", strings.Replace(good, `"model":"claude-sonnet-5",`, "", 1), nil, 400, "invalid_request_error", "model: Field required"},
		{"an unknown model", ownBody("claude-0", asks("a")), nil, 404, "not_found_error", "model: claude-0"},
		{"the platform's spelling", ownBody("claude-sonnet-4-5@20250929", asks("a")), nil, 404, "not_found_error", "model: "},
		{"the platform's version", with(`"anthropic_version":"vertex-2023-10-16"`), nil, 400, "invalid_request_error", "anthropic_version: Extra inputs"},
		{"an unknown member", with(`"seed":1`), nil, 400, "invalid_request_error", "seed: Extra inputs"},
		{"servers without their feature", with(`"mcp_servers":[{"type":"url","url":"https://x","name":"x"}]`), nil, 400, "invalid_request_error", "mcp_servers: Extra inputs"},
		{"an unknown feature", good, []string{beta, "a-2025-01-01"}, 400, "invalid_request_error", "`a-2025-01-01` for the `anthropic-beta` header"},
		{"another class of service", with(`"service_tier":"flex"`), nil, 400, "invalid_request_error", "service_tier"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := ownPost(t, s, ownPlace, tt.body, tt.header...)
			m := a.claude(t)
			if a.status != tt.status || m.Type != "error" || m.Error.Type != tt.kind || !strings.Contains(m.Error.Message, tt.says) || m.RequestID == "" {
				t.Errorf("%d: %s", a.status, a.body)
			}
		})
	}
}

func TestOwnAPITakesWhatThePlatformDoesNot(t *testing.T) {
	s := vertextest.New()
	block := func(b string) string {
		return `{"role":"user","content":[` + b + `,{"type":"text","text":"See?"}]}`
	}
	for name, body := range map[string]string{
		"an image by URL":  ownBody("claude-sonnet-5", block(`{"type":"image","source":{"type":"url","url":"https://x/a.png"}}`)),
		"a file":           ownBody("claude-sonnet-5", block(`{"type":"document","source":{"type":"file","file_id":"file_1"}}`)),
		"an upload":        ownBody("claude-sonnet-5", block(`{"type":"container_upload","file_id":"file_1"}`)),
		"its tools":        ownBody("claude-sonnet-5", asks("a"), `"tools":[{"type":"code_execution_20250825","name":"code_execution"},{"type":"web_fetch_20250910","name":"web_fetch"},{"type":"mcp_toolset","mcp_server_name":"x"}]`),
		"members":          ownBody("claude-sonnet-5", asks("a"), `"container":"c","service_tier":"auto","inference_geo":"us","speed":"fast","diagnostics":{}`),
		"servers of tools": ownBody("claude-sonnet-5", asks("a"), `"mcp_servers":[{"type":"url","url":"https://x","name":"x"}]`),
	} {
		t.Run(name, func(t *testing.T) {
			a := ownPost(t, s, ownPlace, body, "Anthropic-Beta", "mcp-client-2025-11-20")
			if a.status != http.StatusOK {
				t.Errorf("%d: %s", a.status, a.body)
			}
			if err := vertextest.CheckOwnMessages([]byte(body)); err != nil {
				t.Error(err)
			}
			platform := strings.Replace(body, `"model":"claude-sonnet-5"`, `"anthropic_version":"vertex-2023-10-16"`, 1)
			if a, _ := claude(t, s, "claude-sonnet-5", platform); a.status != http.StatusBadRequest {
				t.Errorf("the platform takes it: %d", a.status)
			}
		})
	}
}

// Scripts go by the model of the body, and errors of the platform take the
// vendor's form.
func TestOwnAPIPlaysScripts(t *testing.T) {
	s := vertextest.New()
	s.ScriptFor("claude-sonnet-5", vertextest.RateLimited(1500*time.Millisecond))
	s.Script(vertextest.Overloaded(), vertextest.Text("whole").FailAfterEvents(2, 500, "INTERNAL", "oops"))
	var got []string
	for _, more := range []string{`"top_k":1`, `"stream":false`, `"stream":true`} {
		body := ownBody("claude-sonnet-5", asks("a"), more)
		if more == `"top_k":1` {
			body = ownBody("claude-sonnet-5", asks("a"))
		}
		a := ownPost(t, s, ownPlace, body)
		said := string(a.body)
		_, said, _ = strings.Cut(said[strings.LastIndex(said, `"error":{`):], `"type":"`)
		said, _, _ = strings.Cut(said, `"`)
		got = append(got, said+" "+a.header.Get("Retry-After"))
	}
	if diff := cmp.Diff([]string{"rate_limit_error 2", "overloaded_error ", "api_error "}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
