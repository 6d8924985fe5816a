package vertextest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

const direct = "https://generativelanguage.googleapis.com/v1beta/models/"

// postDirect posts a body to the Gemini API with a key.
func postDirect(t *testing.T, s *vertextest.Server, method, key, body string) answered {
	t.Helper()
	r := newPost(t, direct+method, body)
	r.Header.Del("Authorization")
	if key != "" {
		r.Header.Set("X-Goog-Api-Key", key)
	}
	return do(t, s, r)
}

// errorIn returns the error of an answer.
func errorIn(t *testing.T, got answered) (e struct{ Message, Status string }) {
	t.Helper()
	body := struct {
		Error *struct{ Message, Status string }
	}{&e}
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	return e
}

func TestTheGeminiAPIWantsAKey(t *testing.T) {
	const method = "gemini-2.5-flash:generateContent"
	for name, tt := range map[string]struct {
		options []vertextest.Option
		key     string
		status  int
		want    string
	}{
		"any":            {nil, "k", 200, ""},
		"none":           {nil, "", 403, "PERMISSION_DENIED"},
		"the right one":  {[]vertextest.Option{vertextest.WithToken("k")}, "k", 200, ""},
		"a wrong one":    {[]vertextest.Option{vertextest.WithToken("k")}, "x", 400, "INVALID_ARGUMENT"},
		"none is wanted": {[]vertextest.Option{vertextest.WithoutAuth()}, "", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := postDirect(t, vertextest.New(tt.options...), method, tt.key, say("hi"))
			e := errorIn(t, got)
			if got.status != tt.status || e.Status != tt.want {
				t.Fatalf("%d %s, want %d %s: %s", got.status, e.Status, tt.status, tt.want, got.body)
			}
			if tt.status == http.StatusBadRequest && !strings.Contains(string(got.body), `"reason": "API_KEY_INVALID"`) {
				t.Errorf("no reason in %s", got.body)
			}
		})
	}
}

func TestTheGeminiAPIAnswersInItsOwnWay(t *testing.T) {
	srv := vertextest.New()
	got := postDirect(t, srv, "gemini-2.5-flash:generateContent", "k", say("hi", `"serviceTier":"flex"`))
	if body := string(got.body); got.status != 200 || !strings.Contains(body, `"serviceTier": "flex"`) ||
		strings.Contains(body, "trafficType") || strings.Contains(body, "createTime") {
		t.Errorf("%d %s", got.status, body)
	}
	got = postDirect(t, srv, "gemini-2.5-flash:streamGenerateContent?alt=sse", "k", say("hi"))
	if !strings.HasPrefix(string(got.body), "data: ") || !strings.Contains(string(got.body), `"serviceTier": "standard"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	got = postDirect(t, srv, "gemini-9:generateContent", "k", say("hi"))
	if e := errorIn(t, got); got.status != 404 || !strings.HasPrefix(e.Message, "models/gemini-9 is not found for API version v1beta") {
		t.Errorf("%d %s", got.status, got.body)
	}
	got = postDirect(t, srv, "gemini-2.5-flash:countTokens", "k", `{"generateContentRequest":{"model":"models/gemini-2.5-flash",`+strings.TrimPrefix(say("hi"), "{")+`}`)
	if got.status != 200 || !strings.Contains(string(got.body), "totalTokens") || strings.Contains(string(got.body), "Billable") {
		t.Errorf("%d %s", got.status, got.body)
	}
	want := []string{"generateContent", "streamGenerateContent", "generateContent", "countTokens"}
	var verbs []string
	for _, r := range srv.Requests() {
		verbs = append(verbs, r.Verb)
	}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Error(diff)
	}
}

func TestTheGeminiAPIRefusesWhatItDoesNotKnow(t *testing.T) {
	const functions = `{"functionDeclarations":[{"name":"f"}]}`
	for name, tt := range map[string]struct{ method, body, want string }{
		"a member of Vertex AI":     {"", say("hi", `"modelArmorConfig":{}`), `Unknown name "modelArmorConfig"`},
		"a nested member":           {"", say("hi", `"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF","method":"SEVERITY"}]`), `Unknown name "method" at 'safety_settings[0]'`},
		"a tool of Vertex AI":       {"", say("hi", `"tools":[{"enterpriseWebSearch":{}}]`), `Unknown name "enterpriseWebSearch" at 'tools[0]'`},
		"an unknown member":         {"", say("hi", `"zeta":1`), `Unknown name "zeta"`},
		"an unknown class":          {"", say("hi", `"serviceTier":"dedicated"`), "service_tier"},
		"tools that are not told":   {"", say("hi", `"tools":[`+functions+`,{"googleSearch":{}}]`), "Please enable tool_config.include_server_side_tool_invocations"},
		"a cache of Vertex AI":      {"", say("hi", `"cachedContent":"projects/p/locations/l/cachedContents/1"`), "cachedContents/{id}"},
		"an object in storage":      {"", `{"contents":[{"parts":[{"fileData":{"mimeType":"image/png","fileUri":"gs://b/a.png"}}]}]}`, "unsupported file uri"},
		"a bare count with tools":   {"gemini-2.5-flash:countTokens", say("hi", `"tools":[`+functions+`]`), `Unknown name "tools"`},
		"a count of another model":  {"gemini-2.5-flash:countTokens", `{"generateContentRequest":{"model":"models/x"}}`, "must be models/gemini-2.5-flash"},
		"a count of both":           {"gemini-2.5-flash:countTokens", `{"contents":[],"generateContentRequest":{"model":"models/gemini-2.5-flash"}}`, "mutually exclusive"},
		"settings of Vertex AI":     {"gemini-embedding-001:embedContent", `{"content":{"parts":[{"text":"a"}]},"embedContentConfig":{}}`, `Unknown name "embedContentConfig"`},
		"a batch without its model": {"gemini-embedding-001:batchEmbedContents", `{"requests":[{"content":{"parts":[{"text":"a"}]}}]}`, "must be models/gemini-embedding-001"},
	} {
		t.Run(name, func(t *testing.T) {
			method := tt.method
			if method == "" {
				method = "gemini-3.5-flash:generateContent"
			}
			got := postDirect(t, vertextest.New(), method, "k", tt.body)
			if e := errorIn(t, got); got.status != 400 || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%d %s, want %s", got.status, got.body, tt.want)
			}
		})
	}
}

func TestTheGeminiAPITakesWhatVertexAIDoesNot(t *testing.T) {
	for name, body := range map[string]string{
		"tools that are told": say("hi", `"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}],"toolConfig":{"includeServerSideToolInvocations":true}`),
		"labels and a log":    say("hi", `"labels":{"a":"b"},"store":false`),
		"a cache":             say("hi", `"cachedContent":"cachedContents/1"`),
		"a file of its own":   `{"contents":[{"parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/1"}}]}]}`,
		"calls of its tools":  `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"toolCall":{"toolType":"FILE_SEARCH"}},{"text":"b"}]},{"parts":[{"text":"c"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := postDirect(t, vertextest.New(), "gemini-3.5-flash:generateContent", "k", body); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

func TestTheGeminiAPIEmbeds(t *testing.T) {
	one := postDirect(t, vertextest.New(), "gemini-embedding-001:embedContent", "k",
		`{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]},"taskType":"CLUSTERING","outputDimensionality":4}`)
	many := postDirect(t, vertextest.New(), "gemini-embedding-001:batchEmbedContents", "k",
		`{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]},"taskType":"CLUSTERING","outputDimensionality":4}]}`)
	if one.status != 200 || many.status != 200 {
		t.Fatalf("%s %s", one.body, many.body)
	}
	vectors := func(body []byte) string {
		text := strings.Join(strings.Fields(string(body)), "")
		from := strings.Index(text, `"values":[`)
		return text[from : from+strings.Index(text[from:], "]")]
	}
	if a, b := vectors(one.body), vectors(many.body); a != b || slices.Contains([]string{a, b}, "") {
		t.Errorf("%s and %s", a, b)
	}
	if got := postDirect(t, vertextest.New(), "multimodalembedding:embedContent", "k", `{"content":{"parts":[{"text":"a"}]}}`); got.status == 200 {
		t.Errorf("a model of Vertex AI alone: %s", got.body)
	}
}
