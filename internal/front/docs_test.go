package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/logsapi"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
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
	{
		"The log", "With `gateway.WithLog` there is a record of each call, the newest first. The query has `from` and `to` (RFC 3339 or Unix seconds), `q` (a text that is looked for), " +
			"`limit` (50, 1000 at most), `cursor` (the `next_cursor` of the page before) and conditions on fields: `FIELD=a,b`, or `FIELD[op]=value` with `eq`, `ne`, `lt`, `lte`, `gt`, `gte`, " +
			"`in`, `nin`, `prefix` and `missing`. `metadata.KEY` is a field too. Whatever else is in the query is refused. `GET /v1/logs/fields` lists the fields, and `GET /v1/logs/export`, " +
			"with `format=jsonl` or `format=csv`, streams all that the query means. Where the front has API keys, each sees the records of its own calls; with admin keys, these see all of them and " +
			"other keys none. Answers are of the moment: `Cache-Control: no-store`.",
		"GET", "/v1/logs?model=gemini-2.5-flash&cost_usd[gte]=0.001&limit=1", "",
	},
	{"", "One record has its content, if the log keeps any. Its id is the `x-gateway-request-id` of the answer; `export` and `fields` are no ids here.", "GET", "/v1/logs/r-1", ""},
	{
		"", "What somebody said of an answer: a `value` from -10 to 10, with a `weight` over 0 and up to 1, a `comment` and `metadata` as one likes. `POST /v1/feedback` does the same for the call " +
			"that `record_id` or `trace_id` names.",
		"POST", "/v1/logs/r-1/feedback", `{"value":7,"weight":0.5,"comment":"To the point."}`,
	},
	{
		"Reports", "`from`, `to` and conditions are those of the log; `group_by` has names of fields between commas, `every` makes a series of steps such as `15m`, `1h` or `1d`, and `top` bounds " +
			"the groups. [A page of its own](analytics.md) defines each number, and lists the reports of one thing below `/v1/analytics/`.",
		"GET", "/v1/analytics?from=2026-01-31T00:00:00Z&to=2026-02-01T00:00:00Z&group_by=model", "",
	},
	{"", "", "GET", "/v1/analytics/cache?from=2026-01-31T00:00:00Z&to=2026-02-01T00:00:00Z", ""},
}

// logged is a backend with a log of one hour.
type logged struct {
	*fake
	api *logsapi.Handler
}

func newLogged(t *testing.T, f *fake) *logged {
	t.Helper()
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	store, one := logs.NewMemory(0), logs.Record{
		ID: "r-1", Time: at, Surface: "http", Operation: "chat", RequestedModel: "@vx/gemini-2.5-flash", Provider: "vertex-ai", Slug: "vx", Model: "gemini-2.5-flash",
		ResponseModel: "gemini-2.5-flash", ResponseID: "a-1", User: "ann", Metadata: map[string]string{"team": "search"}, CacheStatus: "Cache Miss", RetryStatus: "Not Triggered",
		FallbackStatus: "Disabled", LoadBalanceStatus: "Disabled", Tokens: &logs.Tokens{Prompt: 1000, Completion: 400, Total: 1400, Reasoning: 250},
		Cost: new(prices.Amount(1_300_000)), Duration: logs.Milliseconds(2 * time.Second), FinishReason: "stop",
		Attempts: []logs.Attempt{{Provider: "vertex-ai", Slug: "vx", Model: "gemini-2.5-flash", StatusCode: 200, Start: at, Duration: logs.Milliseconds(2 * time.Second)}},
	}
	hit := one
	hit.ID, hit.Time, hit.CacheStatus, hit.Cost, hit.Saved = "r-0", at.Add(-time.Hour), "Cache Hit", new(prices.Amount(0)), one.Cost
	hit.Duration, hit.TimeSaved, hit.Attempts = logs.Milliseconds(4*time.Millisecond), logs.Milliseconds(1996*time.Millisecond), nil
	if err := store.Write(t.Context(), []logs.Record{hit, one}); err != nil {
		t.Fatal(err)
	}
	b := &logged{f, logsapi.New(store, nil)}
	b.api.Now = func() time.Time { return at.Add(time.Minute) }
	return b
}

// Logs answers for the log.
func (b *logged) Logs(r *http.Request, path string, keyID *string) (*LogsAnswer, error) {
	a, err := b.api.Answer(r, path, keyID)
	return (*LogsAnswer)(a), err
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
	res := ask(t, Config{}, newLogged(t, backend), s.method, s.path, s.body)
	if res.StatusCode/100 != 2 {
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
