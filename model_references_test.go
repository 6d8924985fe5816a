package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/testkit"
)

// references has each form of a model reference, with an example.
var references = []struct {
	form, ref, region, note string
}{
	{"`MODEL`", "gemini-3-pro", "global", "a model of google"},
	{"`@SLUG/MODEL`", "@eu/gemini-2.5-flash", "", "through the catalog entry of that slug, which has a region here"},
	{"`google.MODEL`, `google/MODEL`", "google.gemini-2.5-flash", "us-central1", "with its publisher"},
	{"`publishers/PUBLISHER/models/MODEL`", "publishers/google/models/gemini-2.5-flash", "us", "likewise"},
	{"`projects/P/locations/L/endpoints/ID`", "projects/p1/locations/us-east4/endpoints/42", "", "a tuned Gemini, used as it is"},
	{"`projects/P/locations/L/models/ID`", "projects/p1/locations/us-east4/models/42", "", "likewise"},
	{"`projects/P/locations/L/publishers/PUBLISHER/models/MODEL`", "projects/p1/locations/eu/publishers/google/models/gemini-2.5-pro", "", "a published model, used as it is"},
	{"`anthropic.MODEL[@VERSION]`", "anthropic.claude-sonnet-4-5@20250929", "us-east5", "a Claude model"},
	{"`anthropic.MODEL-DATE`", "anthropic.claude-sonnet-4-5-20250929", "global", "the vendor's own spelling of the version"},
	{"`anthropic/MODEL`", "anthropic/claude-opus-4-6", "eu", "likewise"},
	{"`MODEL` that the rows of one publisher alone know", "claude-sonnet-4-5@20250929", "global", "a Claude model; so with the open models of the table"},
	{"`meta.MODEL`", "meta.llama-4-maverick-17b-128e-instruct-maas", "us-east5", "an open model"},
	{"`mistralai.MODEL[@VERSION]`", "mistralai.mistral-medium-3", "us-central1", "a model of Mistral, Codestral among them"},
	{"`ai21.MODEL`", "ai21.jamba-1.5-large@001", "us-central1", "a model that is spoken to like Mistral's"},
	{"`qwen.MODEL`", "qwen.qwen3-coder-480b-a35b-instruct-maas", "us-south1", "an open model"},
	{"`deepseek-ai.MODEL`", "deepseek-ai.deepseek-v3.2-maas", "global", "likewise"},
	{"`deepseek.MODEL`", "deepseek.deepseek-r1-0528-maas", "us-central1", "the same publisher"},
	{"`openai.MODEL`", "openai.gpt-oss-120b-maas", "us-central1", "an open model"},
	{"`moonshotai.MODEL`, `moonshot-ai.MODEL`", "moonshotai.kimi-k2-thinking-maas", "global", "likewise"},
	{"`zai-org.MODEL`", "zai-org.glm-5-maas", "global", "likewise"},
	{"`minimaxai.MODEL`, `minimax.MODEL`", "minimaxai.minimax-m2-maas", "global", "likewise"},
	{"`xai.MODEL`", "xai.grok-4.1-fast-reasoning", "global", "a model of a partner"},
	{"`nvidia.MODEL`", "nvidia.nemotron-3-nano-30b-maas", "global", "an open model"},
	{"`google.gemma-MODEL`", "google.gemma-4-26b-a4b-it-maas", "global", "an open model of google, by its row in the table of models"},
	{"`endpoints.NAME`", "endpoints.1234567890", "us-central1", "a self-deployed endpoint; its own host is looked up when it has one"},
	{"`the service.NAME`", "the service.1234567890", "us-central1", "likewise"},
	{"`@SLUG/MODEL`", "@google/gemini-2.5-flash", "", "an entry of the provider google, which is the Gemini API"},
	{"`@SLUG/MODEL`", "@anthropic/claude-sonnet-4-5-20250929", "", "an entry of the provider anthropic"},
	{"`@SLUG/MODEL`", "@openai/gpt-5", "", "an entry of the provider openai: any name that OpenAI's API has"},
	{"`@SLUG/MODEL`", "@local/llama3:8b", "", "an entry of the provider openai-compatible: any name that the server has"},
	{"`@SLUG/MODEL`", "@azure/d", "", "likewise, with an api_version and a key among the entry's headers"},
}

const referencesPage = "docs/models.md"

const referencesHead = `# Model references

Each form of the field ` + "`model`" + ` with an example, and where a request for it goes, unary and as a stream. The project is ` + "`p`" + ` unless the form names one.
` + "`go test . -update`" + ` writes this page anew, from the requests that were sent. A base URL takes the place of scheme and host.

| form | example | region | goes to | as a stream | note |
|---|---|---|---|---|---|
`

func TestThePageOfModelReferencesIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(referencesHead)
	for _, r := range references {
		region := r.region
		if region == "" {
			region = "-"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | `%s` | `%s` | %s |\n", r.form, r.ref, region, urlOf(t, r.ref, r.region, false), urlOf(t, r.ref, r.region, true), r.note)
	}
	if testkit.Updating() {
		if err := os.WriteFile(referencesPage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	page, err := os.ReadFile(referencesPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(page), b.String()); diff != "" {
		t.Errorf("%s is not where requests go (-page +requests, -update rewrites it)\n%s", referencesPage, diff)
	}
}

var errSeen = errors.New("the request was seen")

// urlKeeper is a transport that keeps where requests go, and sends none.
type urlKeeper struct{ urls []string }

func (s *urlKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	s.urls = append(s.urls, r.URL.String())
	return nil, errSeen
}

// urlOf returns where a request for the model goes.
func urlOf(t *testing.T, ref, region string, stream bool) string {
	t.Helper()
	rt := new(urlKeeper)
	entries, err := catalog.New(
		catalog.Entry{Slug: "eu", Provider: "vertex-ai", ProjectID: "p", Region: "eu", AccessToken: "t"},
		catalog.Entry{Slug: "google", Provider: "google", APIKey: "k"},
		catalog.Entry{Slug: "anthropic", Provider: "anthropic", APIKey: "k"},
		catalog.Entry{Slug: "openai", Provider: "openai", APIKey: "k"},
		catalog.Entry{Slug: "local", Provider: "openai-compatible", BaseURL: "http://localhost:11434/v1", Auth: catalog.AuthNone},
		catalog.Entry{Slug: "azure", Provider: "openai-compatible", BaseURL: "https://r.openai.azure.com/openai/deployments/d", APIVersion: "2024-10-21", Auth: catalog.AuthNone, Headers: map[string]catalog.Secret{"api-key": "k"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	opts := []gateway.ClientOption{
		gateway.WithHTTPClient(&http.Client{Transport: rt}), gateway.WithProjectID("p"), gateway.WithAccessToken("t"), gateway.WithCatalog(entries),
	}
	if region != "" {
		opts = append(opts, gateway.WithRegion(region))
	}
	client, err := gateway.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	req := &gateway.ChatCompletionRequest{Model: ref, Messages: []gateway.Message{gateway.UserMessage("hi")}}
	if stream {
		_, err = client.Chat.Completions.CreateStream(t.Context(), req)
	} else {
		_, err = client.Chat.Completions.Create(t.Context(), req)
	}
	if !errors.Is(err, errSeen) || len(rt.urls) == 0 {
		t.Fatalf("%s: %v after %v", ref, err, rt.urls)
	}
	return slices.Compact(rt.urls)[0]
}
