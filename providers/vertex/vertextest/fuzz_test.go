package vertextest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// FuzzGenerate holds the emulator to two promises: no body makes it fail, and
// what it answers by itself fits the schema.
func FuzzGenerate(f *testing.F) {
	for _, r := range references() {
		f.Add(r.model, r.body)
	}
	for _, r := range slices.Concat(refusals(), acceptances(), furtherRefusals(), furtherAcceptances()) {
		if len(r.body) < 4096 {
			f.Add(r.model, r.body)
		}
	}
	f.Add(flash, say("weather in Paris and Rome", weatherTool))
	s, unchecked := vertextest.New(), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, model, body string) {
		const known = "gemini-3.8-flash"
		for _, m := range []string{"gemini-2.5-flash", known} {
			got := unary(t, s, m, body)
			if got.status != http.StatusOK && got.status != http.StatusBadRequest {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			got.decode(t)
		}
		if got := unary(t, unchecked, known, body); got.status >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		r := newPost(t, place, body)
		r.URL.Path = "/v1/projects/p/locations/us/publishers/google/models/" + model + ":streamGenerateContent"
		if got := do(t, s, r); got.status >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		for _, method := range []string{known + ":generateContent", known + ":countTokens", "gemini-embedding-001:batchEmbedContents"} {
			if got := postDirect(t, s, method, "k", body); got.status != http.StatusOK && got.status != http.StatusBadRequest {
				t.Fatalf("the Gemini API: status %d: %s", got.status, got.body)
			}
		}
		s.Reset()
		unchecked.Reset()
	})
}

// FuzzSignature checks that no string crashes the verification, and that no
// altered signature passes it.
func FuzzSignature(f *testing.F) {
	own, err := vertextest.Signature(flash, vertextest.FunctionCall{Name: "f", Args: map[string]any{"a": "x"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own[:12])
	f.Add("Evv/YwM")
	s := vertextest.New()
	f.Fuzz(func(t *testing.T, sig string) {
		if vertextest.Check("GenerateContentRequest", []byte(step(sig))) != nil || sig == "" || len(sig) >= len(own)-4 {
			t.Skip()
		}
		if got := unary(t, s, flash, step(sig)); got.status != http.StatusBadRequest {
			t.Fatalf("signature %q gives %d", sig, got.status)
		}
		s.Reset()
	})
}

// step is a function call with a signature, and its response.
func step(sig string) string {
	return turns(user(ask), model(call("", "x", sig)), user(result("", "f")))
}

// FuzzOtherCalls holds calls about tokens and caches to the same promises.
func FuzzOtherCalls(f *testing.F) {
	f.Add(toCache("gemini-2.5-flash", 2, `"ttl":"60s"`), "updateMask=ttl&pageSize=1&pageToken=1")
	f.Add(toCache("gemini-3-flash-preview", 2, weatherTool, `"systemInstruction":{"parts":[{"text":"b"}]}`), "updateMask=expireTime")
	f.Add(`{"expireTime":"2100-01-01T00:00:00Z"}`, "updateMask=expireTime")
	f.Add(holding(inline("image/png", onePixel)), "pageSize=-1")
	s, unchecked := vertextest.New(vertextest.WithCacheMinimum(0)), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, body, query string) {
		s.Reset()
		unchecked.Reset()
		one := create(t, s, toCache("gemini-2.5-flash", 1)).at()
		for _, server := range []*vertextest.Server{s, unchecked} {
			for _, c := range []struct{ method, url, message string }{
				{http.MethodPost, cachesURL, "CachedContent"},
				{http.MethodPatch, one, "CachedContent"},
				{http.MethodGet, cachesURL, "ListCachedContentsResponse"},
				{http.MethodPost, place + "publishers/google/models/gemini-2.5-flash:countTokens", "CountTokensResponse"},
			} {
				r := newPost(t, c.url, body)
				r.Method, r.URL.RawQuery = c.method, query
				got := do(t, server, r)
				if got.status >= http.StatusInternalServerError {
					t.Fatalf("%s %s: status %d: %s", c.method, c.url, got.status, got.body)
				}
				if got.status != http.StatusOK || server == unchecked {
					continue
				}
				if err := vertextest.Check(c.message, got.body); err != nil {
					t.Fatalf("%s %s: %v in %s", c.method, c.url, err, got.body)
				}
			}
		}
	})
}

// FuzzMessages holds the emulator's Claudes to three promises: no body makes them
// fail, none that CheckMessages refuses is taken, and what they say can be sent
// back to them.
func FuzzMessages(f *testing.F) {
	for _, r := range general() {
		if len(r.body) < 4096 {
			f.Add(r.body)
		}
	}
	f.Add(claudeBody(asks("The weather in Paris?"), claudeWeather, think))
	f.Add(claudeBody(asks("Who won?"), claudeTool(`"type":"web_search_20250305","name":"web_search"`), `"cache_control":{"type":"ephemeral"}`))
	f.Add(ownBody("claude-sonnet-4-5", asks("a"), `"tools":[{"type":"mcp_toolset","mcp_server_name":"x"}],"container":{},"mcp_servers":[]`))
	s, unchecked := vertextest.New(vertextest.WithCacheMinimum(0)), vertextest.New(vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, body string) {
		s.Reset()
		unchecked.Reset()
		for _, verb := range []string{"rawPredict", "streamRawPredict"} {
			if got := post(t, unchecked, claudeURL(sonnet45, verb), body); got.status >= http.StatusInternalServerError {
				t.Fatalf("%s: status %d: %s", verb, got.status, got.body)
			}
		}
		own := ownPost(t, s, ownPlace, body)
		if own.status >= http.StatusInternalServerError {
			t.Fatalf("own: status %d: %s", own.status, own.body)
		}
		if bad := vertextest.CheckOwnMessages([]byte(body)); own.status == http.StatusOK && bad != nil {
			t.Fatalf("taken, though %v", bad)
		}
		got := post(t, s, claudeURL(sonnet45, "rawPredict"), body)
		bad := vertextest.CheckMessages([]byte(body))
		switch {
		case got.status >= http.StatusInternalServerError:
			t.Fatalf("status %d: %s", got.status, got.body)
		case got.status != http.StatusOK:
			return
		case bad != nil:
			t.Fatalf("taken, though %v", bad)
		}
		m := got.claude(t)
		var whole struct{ Content json.RawMessage }
		if err := json.Unmarshal(got.body, &whole); err != nil {
			t.Fatal(err)
		}
		if m.StopReason != "end_turn" || len(m.Content) == 0 {
			return
		}
		history := asks("a") + `,{"role":"assistant","content":` + string(whole.Content) + `},` + asks("b")
		if again := post(t, s, claudeURL(sonnet45, "rawPredict"), claudeBody(history)); again.status != http.StatusOK {
			t.Fatalf("%s isn't taken back: %s", got.body, again.body)
		}
	})
}

// FuzzChat checks that no body makes a model on OpenAI's wire fail.
func FuzzChat(f *testing.F) {
	f.Add(chatBody(llama, told("user", "The weather in Paris?"), chatWeather, `"stream":true`))
	f.Add(chatBody("", told("user", "a")+`,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]},{"role":"tool","tool_call_id":"a","content":[]}`))
	f.Add(`{"instances":[{"messages":[{"role":"user","content":"a"}]},{"prompt":"b"}]}`)
	e := vertextest.WithDeployed(vertextest.Endpoint{ID: "7"})
	s, unchecked := vertextest.New(e), vertextest.New(e, vertextest.WithoutChecks())
	f.Fuzz(func(t *testing.T, body string) {
		for _, server := range []*vertextest.Server{s, unchecked} {
			server.Reset()
			for _, path := range []string{"endpoints/openapi/chat/completions", "endpoints/7/chat/completions", "endpoints/7:predict", "publishers/mistralai/models/codestral-2:rawPredict"} {
				if got := post(t, server, place+path, body); got.status >= http.StatusInternalServerError {
					t.Fatalf("%s: status %d: %s", path, got.status, got.body)
				}
			}
		}
	})
}
