package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// extensionsPage is the page about what the front serves beyond the schemas.
const extensionsPage = "../../docs/http-extensions.md"

// shown is one request of the page, with what is said of it.
type shown struct{ title, text, method, path, body string }

var shownRequests = []shown{
	{
		"What is known of a model", "`GET /v1/models` and `GET /v1/models/{id}` have members beside the schema's own, from the tables of the catalog. What is not known is left out. " +
			"`type` is `chat` or `embedding`; a model that embeds has `dimensions`, `min_dimensions` or `dimension_sizes`, `max_input_tokens` and `max_inputs`.",
		"GET", "/v1/models/@vx/gemini-2.5-flash", "",
	},
	{"", "", "GET", "/v1/models/@vx/text-embedding-005", ""},
	{
		"How long a prompt is", "The body is that of a chat completion; nothing is answered. `by_modality` is left out when the platform does not say.",
		"POST", "/v1/chat/completions/count_tokens", `{"model":"@vx/gemini-2.5-flash","messages":[{"role":"user","content":"Hello there"}]}`,
	},
	{
		"Context caching", "The platform keeps the beginning of a prompt, and requests name it as `cached_content`. `model`, `messages`, `tools` and `tool_choice` are as in a chat " +
			"completion; `ttl` is in seconds or a duration such as `\"90m\"`, `expire_time` in Unix seconds or as of RFC 3339; `display_name` and `kms_key_name` may be given. " +
			"Other members are refused. A name in a path is the `id` of an answer, or the part after its last slash; the provider is chosen by `x-gateway-provider`.",
		"POST", "/v1/cached_contents", `{"model":"@vx/gemini-2.5-flash","messages":[{"role":"user","content":"A long book…"}],"display_name":"a book","ttl":3600}`,
	},
	{"", "", "GET", "/v1/cached_contents/7", ""},
	{"", "One page after the other: `?page_token=` takes the `next_page_token` of the page before.", "GET", "/v1/cached_contents", ""},
	{"", "Nothing but the end of a cached content can be changed.", "PATCH", "/v1/cached_contents/7", `{"ttl":"90m"}`},
	{"", "", "DELETE", "/v1/cached_contents/7", ""},
}

func TestThePageOfExtensionsIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What the HTTP front serves beyond the schemas\n\nGenerated from the answers of [`internal/front`](../internal/front); " +
		"`go test ./internal/front -update` writes it anew.\n\nKeys, headers and errors are those of the other paths. What becomes of text completions is told by [a page of its own](completions.md).\n")
	for _, s := range shownRequests {
		s.write(t, &b)
	}
	if testkit.Updating() {
		if err := os.WriteFile(extensionsPage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(extensionsPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), b.String()); d != "" {
		t.Errorf("%s is not what is served (-page +served, -update rewrites it)\n%s", extensionsPage, d)
	}
}

// write asks, and shows request and answer.
func (s *shown) write(t *testing.T, b *strings.Builder) {
	t.Helper()
	backend := &fake{
		count:  providers.TokenCount{TotalTokens: 3, ByModality: map[string]int64{"text": 3}},
		caches: fakeCaches{next: "ChAKBg"},
		models: []Model{
			{ID: "@vx/gemini-2.5-flash", OwnedBy: "google", Facts: &ModelFacts{
				Type: "chat", Provider: "vertex-ai", Family: "google", ContextWindow: 1048576, MaxOutputTokens: 65535,
				InputModalities: []string{"text", "image", "audio", "video", "file"}, OutputModalities: []string{"text"}, Tools: new(true),
				Thinking: &ThinkingFacts{MinBudget: 1, MaxBudget: 24576, CanDisable: true},
			}},
			{ID: "@vx/text-embedding-005", OwnedBy: "google", Facts: &ModelFacts{
				Type: "embedding", Provider: "vertex-ai", Family: "google", MaxInputTokens: 2048, MaxInputs: 250,
				InputModalities: []string{"text"}, OutputModalities: []string{"embedding"}, Dimensions: 768, MinDimensions: 1,
			}},
		},
	}
	res := ask(t, Config{}, backend, s.method, s.path, s.body)
	if res.StatusCode != 200 {
		t.Fatalf("%s %s: status %d", s.method, s.path, res.StatusCode)
	}
	if s.title != "" {
		fmt.Fprintf(b, "\n## %s\n", s.title)
	}
	if s.text != "" {
		fmt.Fprintf(b, "\n%s\n", s.text)
	}
	fmt.Fprintf(b, "\n`%s %s`\n", s.method, s.path)
	for _, text := range []string{s.body, readBody(t, res)} {
		if text == "" {
			continue
		}
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "\n```json\n%s\n```\n", out.String())
	}
}
