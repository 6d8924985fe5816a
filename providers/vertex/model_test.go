package vertex

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

func TestParseModelReadsTheGrammar(t *testing.T) {
	type parsed struct{ Publisher, Name, Resource, Location string }
	for ref, want := range map[string]parsed{
		"gemini-2.5-flash":                          {Publisher: "google", Name: "gemini-2.5-flash"},
		"gemini-2.5-flash@001":                      {Publisher: "google", Name: "gemini-2.5-flash@001"},
		"google.gemini-2.5-flash":                   {Publisher: "google", Name: "gemini-2.5-flash"},
		"google/gemini-2.5-flash":                   {Publisher: "google", Name: "gemini-2.5-flash"},
		"models/gemini-2.5-flash":                   {Publisher: "google", Name: "gemini-2.5-flash"},
		"publishers/google/models/gemini-2.5-flash": {Publisher: "google", Name: "gemini-2.5-flash"},
		"googlex.gemini":                            {Publisher: "google", Name: "googlex.gemini"},
		"unknown.model":                             {Publisher: "google", Name: "unknown.model"},
		"claude-opus-4-6":                           {Publisher: "anthropic", Name: "claude-opus-4-6"},
		"claude-sonnet-4-5@20250929":                {Publisher: "anthropic", Name: "claude-sonnet-4-5@20250929"},
		"claude-sonnet-4-5-20250929":                {Publisher: "anthropic", Name: "claude-sonnet-4-5@20250929"},
		"models/claude-haiku-5-5":                   {Publisher: "anthropic", Name: "claude-haiku-5-5"},
		"claude-unheard-of":                         {Publisher: "google", Name: "claude-unheard-of"},
		"llama-3.3-70b-instruct-maas":               {Publisher: "meta", Name: "llama-3.3-70b-instruct-maas"},
		"gemma-4-26b-a4b-it-maas":                   {Publisher: "google", Name: "gemma-4-26b-a4b-it-maas"},
		"google.claude-opus-4-6":                    {Publisher: "google", Name: "claude-opus-4-6"},
		"anthropic.claude-sonnet-5":                 {Publisher: "anthropic", Name: "claude-sonnet-5"},
		"anthropic.claude-sonnet-4-5@20250929":      {Publisher: "anthropic", Name: "claude-sonnet-4-5@20250929"},
		"anthropic/claude-sonnet-4-5-20250929":      {Publisher: "anthropic", Name: "claude-sonnet-4-5@20250929"},
		"anthropic.claude-3-5-sonnet-20241022":      {Publisher: "anthropic", Name: "claude-3-5-sonnet-v2@20241022"},
		"anthropic.claude-3-5-sonnet-20240620":      {Publisher: "anthropic", Name: "claude-3-5-sonnet@20240620"},
		"anthropic.claude-opus-4-2025092x":          {Publisher: "anthropic", Name: "claude-opus-4-2025092x"},
		"anthropic.-20250929":                       {Publisher: "anthropic", Name: "-20250929"},
		"projects/42/locations/us-east5/publishers/anthropic/models/claude-x-20250929": {
			Publisher: "anthropic", Name: "claude-x-20250929", Location: "us-east5",
			Resource: "projects/42/locations/us-east5/publishers/anthropic/models/claude-x-20250929",
		},
		"projects/p/locations/us-central1/endpoints/123": {
			Publisher: "google", Name: "123", Location: "us-central1",
			Resource: "projects/p/locations/us-central1/endpoints/123",
		},
		"projects/example.com:p/locations/eu/models/123@2": {
			Publisher: "google", Name: "123@2", Location: "eu",
			Resource: "projects/example.com:p/locations/eu/models/123@2",
		},
		"projects/42/locations/global/publishers/google/models/gemini-4-neon": {
			Publisher: "google", Name: "gemini-4-neon", Location: "global",
			Resource: "projects/42/locations/global/publishers/google/models/gemini-4-neon",
		},
		"qwen.qwen3-coder-480b-a35b-instruct-maas": {Publisher: "qwen", Name: "qwen3-coder-480b-a35b-instruct-maas"},
		"qwen/qwen3":                                         {Publisher: "qwen", Name: "qwen3"},
		"publishers/meta/models/llama":                       {Publisher: "meta", Name: "llama"},
		"deepseek.deepseek-v3.2-maas":                        {Publisher: "deepseek-ai", Name: "deepseek-v3.2-maas"},
		"deepseek-ai/deepseek-v3.2-maas":                     {Publisher: "deepseek-ai", Name: "deepseek-v3.2-maas"},
		"minimax.minimax-m2-maas":                            {Publisher: "minimaxai", Name: "minimax-m2-maas"},
		"mistralai.mistral-small-2503@001":                   {Publisher: "mistralai", Name: "mistral-small-2503@001"},
		"endpoints.123":                                      {Publisher: "endpoints", Name: "123"},
		"the service.my-endpoint":                            {Publisher: "endpoints", Name: "my-endpoint"},
		"projects/p/locations/l/publishers/qwen/models/qwen": {Publisher: "qwen", Name: "qwen", Location: "l", Resource: "projects/p/locations/l/publishers/qwen/models/qwen"},
	} {
		t.Run(ref, func(t *testing.T) {
			m, err := parseModel(ref, catalog.DefaultModels())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, parsed{m.Publisher, m.Name, m.Resource, m.Location}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestABareNameBelongsToTheOnlyOneWhoKnowsIt adds rows to the table of models.
func TestABareNameBelongsToTheOnlyOneWhoKnowsIt(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  catalog.Model
		ref  string
		want string
	}{
		{"a new row", catalog.Model{Publisher: "anthropic", Name: "claude-nova"}, "claude-nova-2", "anthropic"},
		{"of google too", catalog.Model{Publisher: "google", Name: "claude-opus-4-6"}, "claude-opus-4-6", "google"},
		{"of two others", catalog.Model{Publisher: "meta", Name: "claude-opus-4-6"}, "claude-opus-4-6", "google"},
		{"of an endpoint too", catalog.Model{Publisher: "endpoints", Name: "claude-opus-4-6"}, "claude-opus-4-6", "anthropic"},
		{"of nobody who is known", catalog.Model{Publisher: "acme", Name: "rocket"}, "rocket-1", "google"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parseModel(tt.ref, catalog.DefaultModels().With(tt.row))
			if err != nil || m.Publisher != tt.want {
				t.Errorf("%+v %v, want a model of %s", m, err, tt.want)
			}
		})
	}
	own := publisher{name: "acme", family: engine.FamilyOpen}
	if m, err := parseModel("rocket-1", catalog.DefaultModels().With(catalog.Model{Publisher: "acme", Name: "rocket"}), own, own); err != nil || m.Publisher != "acme" {
		t.Errorf("%+v %v, want a model of the caller's publisher", m, err)
	}
}

func TestARowChoosesTheWire(t *testing.T) {
	const tuned = "projects/p/locations/l/endpoints/42"
	for _, tt := range []struct {
		name, publisher, model, wire, ref string
		want                              engine.Family
	}{
		{"of a shipped row", "acme", "x", "", "google.gemma-4-26b-a4b-it-maas", engine.FamilyOpen},
		{"by its full name", "acme", "x", "", "projects/p/locations/global/publishers/google/models/gemma-4-26b-a4b-it-maas", engine.FamilyOpen},
		{"of the caller's row", "google", "gemini-x", "mistral", "gemini-x-1", engine.FamilyMistral},
		{"back again", "google", "gemma-4", "gemini", "gemma-4-26b-a4b-it-maas", engine.FamilyGemini},
		{"under another name", "deepseek-ai", "deepseek-v9", "gemini", "deepseek.deepseek-v9", engine.FamilyGemini},
		{"no word", "anthropic", "claude-x", "", "anthropic.claude-x", engine.FamilyClaude},
		{"of a tuned model", "google", "42", "openai", tuned, engine.FamilyGemini},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parseModel(tt.ref, catalog.DefaultModels().With(catalog.Model{Publisher: tt.publisher, Name: tt.model, Wire: tt.wire}))
			if err != nil || m.Family != tt.want {
				t.Errorf("%+v %v, want family %d", m, err, tt.want)
			}
		})
	}
	_, err := parseModel("gemini-x", catalog.DefaultModels().With(catalog.Model{Publisher: "google", Name: "gemini-x", Wire: "telepathy"}))
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.Code != providers.ErrInvalidConfig || e.Param != "models" {
		t.Errorf("%v, want %s", err, providers.ErrInvalidConfig)
	}
}

func TestParseModelRefusesWhatIsNoModel(t *testing.T) {
	for ref, fragment := range map[string]string{
		"":                                       "a model name has",
		"google.":                                "a model name has",
		"..":                                     "a model name has",
		"google/..":                              "a model name has",
		"a/b":                                    "a model name has",
		"gemini?key=x":                           "a model name has",
		"gemini#x":                               "a model name has",
		"gemini%2F..":                            "a model name has",
		"gemini 2.5":                             "a model name has",
		"gemini:predict":                         "a model name has",
		"gémini":                                 "a model name has",
		"publishers/google":                      "a model name has",
		"publishers/google/models/":              "a model name has",
		"publishers/../models/x":                 "publisher is not a known one",
		"publishers/a?b/models/x":                "publisher is not a known one",
		"publishers/google/x/models/y":           "publisher is not a known one",
		"qwen/":                                  "a model name has",
		"qwen.a/b":                               "a model name has",
		"endpoints.":                             "an endpoint's name has",
		"endpoints.1/2":                          "an endpoint's name has",
		"endpoints...":                           "an endpoint's name has",
		"the service.a:b":                        "an endpoint's name has",
		"endpoints.openapi":                      "the endpoint of the open models",
		"projects/p":                             "a full resource name is",
		"projects//locations/l/endpoints/1":      "a full resource name is",
		"projects/p/locations//endpoints/1":      "a full resource name is",
		"projects/p/locations/l/endpoints/":      "a model name has",
		"projects/p/locations/l/endpoints/..":    "a model name has",
		"projects/p/locations/l/endpoints/1:x":   "a model name has",
		"projects/p/locations/l/other/1":         "a full resource name is",
		"projects/../locations/l/endpoints/1":    "a full resource name is",
		"projects/p/locations/evil.com/models/1": "a full resource name is",
	} {
		t.Run(ref, func(t *testing.T) {
			_, err := parseModel(ref, catalog.DefaultModels())
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != "model" || !strings.Contains(e.Message, fragment) {
				t.Errorf("%v, want an invalid model with %q", err, fragment)
			}
		})
	}
}

func TestEveryPublisherHasItsSource(t *testing.T) {
	for _, p := range publishers {
		if _, err := url.ParseRequestURI(p.source); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if !isSegment(p.name) {
			t.Errorf("%q is no path segment", p.name)
		}
	}
}

func FuzzModel(f *testing.F) {
	for _, ref := range []string{
		"gemini-2.5-flash", "google.x@1", "publishers/google/models/x", "projects/p/locations/l/endpoints/1",
		"projects/a:b/locations/us/publishers/google/models/m", "projects/a:b::/locations/us/publishers/google/models/m", "..", "a/../b", "x?y", "projects//locations//models/",
		"qwen.qwen3", "endpoints.1", "the service.x", "mistralai/m@1", "projects/p/locations/eu/publishers/meta/models/m",
	} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		m, err := parseModel(ref, catalog.DefaultModels())
		if err != nil {
			if !errors.Is(err, providers.ErrInvalidRequest) {
				t.Errorf("%v is not %s", err, providers.ErrInvalidRequest)
			}
			return
		}
		u, err := endpoint(&providers.Target{ProjectID: "p", Region: "us-central1"}, &m, "generateContent", "alt=sse")
		if err != nil {
			t.Fatalf("%q has no endpoint: %v", ref, err)
		}
		checkURL(t, &m, u)
	})
}

// checkURL parses the URL as a server would and wants nothing but the resource
// in its path.
func checkURL(t *testing.T, m *engine.Model, u *url.URL) {
	t.Helper()
	location, path := "us-central1", "projects/p/locations/us-central1/publishers/google/models/"+m.Name
	if m.Resource != "" {
		location, path = m.Location, m.Resource
	}
	switch place, _, _ := strings.Cut(path, "/publishers/"); m.Family {
	case engine.FamilyMistral:
		path = strings.Replace(path, "/google/", "/"+m.Publisher+"/", 1)
	case engine.FamilyOpen:
		path = place + "/endpoints/openapi"
	case engine.FamilyEndpoint:
		path = place + "/endpoints/" + m.Name
	}
	var host strings.Builder
	writeHost(&host, location, "")
	got, err := url.Parse(u.String())
	if err != nil {
		t.Fatal(err)
	}
	want := &url.URL{Scheme: "https", Host: host.String(), Path: "/v1/" + path + ":generateContent", RawQuery: "alt=sse"}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Path != want.Path || got.JoinPath().Path != got.Path || strings.Count(got.Path, ":") > 2 || got.RawPath != "" {
		t.Errorf("the path %q is not plain", got.Path)
	}
	if !strings.HasSuffix(got.Host, "aiplatform.googleapis.com") && !strings.HasSuffix(got.Host, ".rep.googleapis.com") {
		t.Errorf("the host %q is not the platform's", got.Host)
	}
}

// TestThePageOfModelReferencesHasEveryPublisher keeps the page, whose test does
// not see the table, from missing a row.
func TestThePageOfModelReferencesHasEveryPublisher(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range publishers {
		if !strings.Contains(string(page), "`"+p.name+".MODEL") {
			t.Errorf("docs/models.md has no row for %s", p.name)
		}
	}
}
