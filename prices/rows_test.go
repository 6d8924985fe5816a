package prices_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/prices"
)

// unlisted are models that have a price and no row among the facts of the catalog, or
// none of that name, with the reason.
var unlisted = map[string]string{
	"gemini-3.8-flash-tts":               "newer than the facts, those of gemini-3.8-flash are used",
	"gemini-3.8-flash-lite-tts":          "newer than the facts, those of gemini-3.8-flash are used",
	"imagegeneration":                    "before Imagen 3, whose family answers for it",
	"gemini-3.1-pro-preview-customtools": "a variant of gemini-3.1-pro",
	"gpt-4o":                             "OpenAI's own models need no facts",
	"gpt-4o-mini":                        "OpenAI's own models need no facts",
	"gpt-4.1":                            "OpenAI's own models need no facts",
	"gpt-4.1-mini":                       "OpenAI's own models need no facts",
	"gpt-4.1-nano":                       "OpenAI's own models need no facts",
	"o3":                                 "OpenAI's own models need no facts",
	"o4-mini":                            "OpenAI's own models need no facts",
	"gpt-5.4":                            "OpenAI's own models need no facts",
	"gpt-5.4-mini":                       "OpenAI's own models need no facts",
	"gpt-5.4-nano":                       "OpenAI's own models need no facts",
	"gpt-5.5":                            "OpenAI's own models need no facts",
}

// facts reports whether the catalog knows a model.
func facts(models *catalog.Models, name string) bool {
	for _, publisher := range []string{
		"google", "anthropic", "meta", "qwen", "deepseek-ai", "openai", "moonshotai", "zai-org", "minimaxai", "xai", "nvidia", "mistralai", "ai21",
	} {
		if _, known := models.Lookup(publisher, name); known {
			return true
		}
	}
	if _, known := models.LookupImage("google", name+"-001"); known {
		return true
	}
	for _, e := range models.Embeddings() {
		if e.Name == name {
			return true
		}
	}
	return models.LookupRanker(name) != nil
}

func TestEveryRowIsWhole(t *testing.T) {
	table, err := prices.NewTable(prices.Default().Rows()...)
	if err != nil {
		t.Fatal(err)
	}
	models, rows := catalog.DefaultModels(), table.Rows()
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	for i := range rows {
		r := &rows[i]
		t.Run(r.Provider+" "+r.Model, func(t *testing.T) {
			if u, err := url.ParseRequestURI(r.Source); err != nil || u.Scheme != "https" {
				t.Errorf("source %q", r.Source)
			}
			if r.Read.IsZero() || r.Read.After(time.Now()) || r.Slug != "" {
				t.Errorf("read %v, slug %q", r.Read, r.Slug)
			}
			for k, rate := range r.Rates {
				if rate <= 0 {
					t.Errorf("%s costs %d", k, rate)
				}
			}
			for _, v := range r.Variants {
				for k, rate := range v.Rates {
					if rate <= 0 && rate != prices.Unpriced {
						t.Errorf("%s costs %d", k, rate)
					}
				}
				for k, rate := range r.Rates { // a share must be exact
					if len(v.Only) == 0 || slices.Contains(v.Only, k) {
						if v.Percent > 0 && int64(rate)*int64(v.Percent)%100 != 0 {
							t.Errorf("%d %% of %s is rounded", v.Percent, k)
						}
					}
				}
			}
			why, exempt := unlisted[r.Model]
			if known := facts(models, r.Model); known == exempt && !strings.HasPrefix(why, "newer") && !strings.HasPrefix(why, "a variant") {
				t.Errorf("the catalog knows it: %v, exempt: %v", known, exempt)
			}
			got := table.Price(&prices.Use{Provider: r.Provider, Model: r.Model, Time: r.From, Searches: 1}).Row
			if got == nil || got.Model != r.Model || !got.From.Equal(r.From) || !got.Until.Equal(r.Until) {
				t.Errorf("%+v stands before it", got)
			}
		})
	}
}

// unpriced are the models of the catalog without a price, with the reason. Families
// are priced by their members.
var unpriced = map[string]string{
	"gemini-2.0-flash-thinking-exp":       "experimental, it had no price",
	"gemini-2.5-flash-tts":                "no source at hand",
	"gemini-2.5-pro-tts":                  "no source at hand",
	"gemini-2.5-flash-preview-tts":        "no source at hand",
	"gemini-2.5-pro-preview-tts":          "no source at hand",
	"gemini-2.5-flash-lite-preview-tts":   "no source at hand",
	"gemini-3.1-flash-tts":                "no source at hand",
	"gemini-3.1-flash-lite-image":         "no source at hand",
	"multimodalembedding":                 "charged by characters and by media, which the platform does not count",
	"multilingual-e5-small-maas":          "no source at hand",
	"multilingual-e5-large-instruct-maas": "no source at hand",
}

func TestEveryModelOfTheCatalogHasAPriceOrAReason(t *testing.T) {
	table, models := prices.Default(), catalog.DefaultModels()
	var names []string
	for _, m := range models.All() {
		if !m.Family {
			names = append(names, m.Name)
		}
	}
	for _, m := range models.Embeddings() {
		if !m.Family {
			names = append(names, m.Name)
		}
	}
	for _, m := range models.Images() {
		if !m.Family {
			names = append(names, m.Name)
		}
	}
	for _, m := range models.Rankers() {
		names = append(names, m.Name)
	}
	today := prices.Day(2026, time.November, 22)
	for _, name := range names {
		priced := false
		for _, provider := range []string{"vertex-ai", "openai"} {
			priced = priced || table.Price(&prices.Use{Provider: provider, Model: name, Time: today, Searches: 1}).Row != nil
		}
		if _, exempt := unpriced[name]; priced == exempt {
			t.Errorf("%s has a price: %v, and a reason not to: %v", name, priced, exempt)
		}
	}
}
