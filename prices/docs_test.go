package prices_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/prices"
)

// pricesPage is the page that the table makes.
const pricesPage = "../docs/prices.md"

const pricesHead = `# What calls cost

Generated from the table in [` + "`prices`" + `](../prices); ` + "`go test ./prices -update`" + ` writes it anew. They are list prices in US dollars, read on the days that the last
column says from copies of the sources, which may be older, and no bill: see the caveats of the package. A price that is not here is unknown to the
gateway, and so is what a call costs that needs it. Give your own with ` + "`prices.Default().With(rows…)`, or as JSON with `prices.ParseTable`" + `; a row with a slug is for the
calls through that entry of the catalog.

A row is for its model, with or without its publisher, and for versions of it: ` + "`claude-sonnet-4` is also `claude-sonnet-4@20250514`, and not `claude-sonnet-4-5`" + `.

## Kinds

| kind | price for | what it is |
|---|---|---|
`

// about says what the kinds are.
var about = map[prices.Kind]string{
	prices.Input: "the prompt, without what has a kind of its own", prices.CachedInput: "read from a cache of the platform's",
	prices.CacheWrite: "written to such a cache, for five minutes where there is a choice", prices.CacheWriteHour: "written to it for an hour",
	prices.AudioInput: "sound in the prompt; as `input` where it has no price", prices.ImageInput: "images in the prompt; as `input` where they have no price",
	prices.VideoInput: "videos in the prompt; as `input` where they have no price", prices.CachedAudio: "sound read from a cache, where sound has a price of its own",
	prices.Output: "the completion, without what has a kind of its own", prices.Reasoning: "thoughts; as `output` where they have no price",
	prices.AudioOutput: "sound in the completion", prices.ImageOutput: "images in the completion", prices.Image: "images that were drawn",
	prices.Search: "queries to a web search; free ones are not subtracted", prices.Grounding: "requests with a web search; free ones are not subtracted",
	prices.Maps: "requests that a map service grounded", prices.CodeExecution: "runs of code on the platform", prices.Rerank: "queries of at most 100 documents",
	prices.Character: "characters that were embedded or spoken", prices.CacheStorage: "storage of cached content: no part of a call's cost",
}

func TestThePageOfPricesIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString(pricesHead)
	for k := prices.Input; k <= prices.CacheStorage; k++ {
		if about[k] == "" {
			t.Errorf("%s is not described", k)
		}
		fmt.Fprintf(&b, "| `%s` | %s %s | %s |\n", k, amountOf(k.Per()), k.Unit(), about[k])
	}
	rows := prices.Default().Rows()
	slices.SortStableFunc(rows, func(a, b prices.Row) int { return strings.Compare(a.Provider, b.Provider) })
	provider := ""
	for i := range rows {
		r := &rows[i]
		if r.Provider != provider {
			provider = r.Provider
			fmt.Fprintf(&b, "\n## %s\n\n| model | days | prices | for some calls | source |\n|---|---|---|---|---|\n", provider)
		}
		variants := make([]string, 0, len(r.Variants))
		for j := range r.Variants {
			variants = append(variants, variantText(&r.Variants[j]))
		}
		note := ""
		if r.Note != "" {
			note = " " + r.Note
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |%s [page](%s), %s |\n", r.Model, days(r), ratesText(r.Rates), strings.Join(variants, "; "), note, r.Source, r.Read.Format(time.DateOnly))
	}
	if testkit.Updating() {
		if err := os.WriteFile(pricesPage, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(pricesPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(data)); diff != "" {
		t.Errorf("the page is not that of the table (-want +got, -update writes it)\n%s", diff)
	}
}

func amountOf(n int64) string {
	switch n {
	case 1_000_000:
		return "a million"
	case 1000:
		return "a thousand"
	}
	return "one of the"
}

func days(r *prices.Row) string {
	var out []string
	if !r.From.IsZero() {
		out = append(out, "from "+r.From.Format(time.DateOnly))
	}
	if !r.Until.IsZero() {
		out = append(out, "before "+r.Until.Format(time.DateOnly))
	}
	return strings.Join(out, ", ")
}

func ratesText(rates prices.Rates) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(rates)) {
		price := "unknown"
		if rates[k] != prices.Unpriced {
			price = "$" + strconv.FormatFloat(rates[k].Dollars(k), 'f', -1, 64)
		}
		out = append(out, k.String()+" "+price)
	}
	return strings.Join(out, ", ")
}

func variantText(v *prices.Variant) string {
	var when, what []string
	if v.Class != prices.Standard {
		when = append(when, string(v.Class))
	}
	if v.Above > 0 {
		when = append(when, fmt.Sprintf("prompts above %d tokens", v.Above))
	}
	if v.Regional {
		when = append(when, "regions (at the vendor's own service: staying in the US)")
	}
	if v.Size != "" {
		when = append(when, v.Size)
	}
	if len(v.Rates) > 0 {
		what = append(what, ratesText(v.Rates))
	}
	if v.Percent > 0 {
		of := ""
		if len(v.Only) > 0 {
			of = " of tokens"
			if !slices.Contains(v.Only, prices.CachedInput) {
				of = " of tokens that are not cached"
			}
		}
		what = append(what, fmt.Sprintf("%d %%%s", v.Percent, of))
	}
	return strings.Join(when, ", ") + ": " + strings.Join(what, ", ")
}
