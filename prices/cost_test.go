package prices_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// november is a day on which all of the newest models have a price.
var november = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// use is a use of Vertex AI in the location "global".
func use(model string, u *providers.Usage) prices.Use {
	return prices.Use{Provider: "vertex-ai", Model: model, Time: november, Region: "global", Usage: u}
}

// counted is a usage of tokens alone.
func counted(prompt, completion int64) *providers.Usage {
	return &providers.Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

// costs checks one cost, in dollars as they are written.
func costs(t *testing.T, want string, c prices.Cost) {
	t.Helper()
	got := c.Total.String()
	if !c.Known {
		got = fmt.Sprint(c.Reason, c.Unknown)
	}
	if got != want {
		t.Errorf("%s, want %s: %+v", got, want, c.Parts)
	}
}

// The examples that vendors and others who read their pages publish.
func TestPublishedExamples(t *testing.T) {
	table := prices.Default()
	for _, tt := range []struct {
		name, source, want string
		use                prices.Use
	}{
		{"thoughts are paid as output", "https://docs.laozhang.ai/en/announcements/gemini-4-carbon-2026-11", "0.002042", use("gemini-4-carbon", &providers.Usage{
			PromptTokens: 46, CompletionTokens: 195, TotalTokens: 241, CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 188},
		})},
		{"many thoughts", "https://docs.laozhang.ai/en/announcements/gemini-4-argon-2026-10", "0.008486", use("gemini-4-argon", &providers.Usage{
			PromptTokens: 53, CompletionTokens: 838, CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 832},
		})},
		{"a short prompt", "https://deploybase.ai/articles/gemini-api-pricing-2026", "0.00625", use("gemini-2.5-pro", counted(1000, 500))},
		{"an image of 2.5 Flash is $0.039", "https://ai.google.dev/gemini-api/docs/pricing", "0.0387", use("gemini-2.5-flash-image", drawn(1290))},
		{"an image of 3 Pro in 1K is $0.134", "https://ai.google.dev/gemini-api/docs/pricing", "0.1344", use("gemini-3-pro-image-preview", drawn(1120))},
		{"and in 4K is $0.24", "https://ai.google.dev/gemini-api/docs/pricing", "0.24", use("gemini-3-pro-image-preview", drawn(2000))},
		{"an image of Nano Banana 2.1 is $0.0336", "https://github.com/BerriAI/litellm/discussions/44983", "0.0336", use("gemini-nano-banana-2.1", drawn(1120))},
	} {
		t.Run(tt.name, func(t *testing.T) { costs(t, tt.want, table.Price(&tt.use)) })
	}
}

// drawn is the usage of an image alone.
func drawn(tokens int64) *providers.Usage {
	u := counted(0, tokens)
	u.CompletionTokensDetails.Extra = providers.Extra(fmt.Sprintf(`{"image_tokens":%d}`, tokens))
	return u
}

// claude is a usage as the engine makes it of a Claude's.
func claude(prompt, completion, cached int64, extra string) *providers.Usage {
	u := counted(prompt, completion)
	u.PromptTokensDetails.CachedTokens, u.Extra = cached, providers.Extra(extra)
	return u
}

func TestCostOfTokens(t *testing.T) {
	const written = `{"cache_creation_input_tokens":3000,"cache_read_input_tokens":5000,"cache_creation":{"ephemeral_5m_input_tokens":2000,"ephemeral_1h_input_tokens":1000}}`
	at := func(u prices.Use, region string) prices.Use { u.Region = region; return u }
	in := func(u prices.Use, class prices.Class) prices.Use { u.Class = class; return u }
	own := func(u prices.Use) prices.Use { u.Provider = "anthropic"; return u }
	audio := counted(1000, 0)
	audio.PromptTokensDetails.AudioTokens = 600
	cachedAudio := counted(1000, 0)
	cachedAudio.PromptTokensDetails.AudioTokens, cachedAudio.PromptTokensDetails.CachedTokens = 600, 500
	told := counted(1000, 0)
	told.PromptTokensDetails = providers.PromptTokensDetails{AudioTokens: 600, CachedTokens: 400, Extra: providers.Extra(`{"cached_audio_tokens":0}`)}
	for name, tt := range map[string]struct {
		use  prices.Use
		want string
	}{
		"the short context ends at 200k":       {use("gemini-2.5-pro", counted(200_000, 1000)), "0.26"},
		"above it all of the call costs more":  {use("gemini-2.5-pro", counted(200_001, 1000)), "0.5150025"},
		"caches are read, and written for two": {use("claude-sonnet-4-6", claude(10_000, 100, 5000, written)), "0.0225"},
		"regions cost more":                    {at(use("claude-sonnet-4-6", claude(10_000, 100, 5000, written)), "europe-west1"), "0.02475"},
		"not with older models":                {at(use("claude-opus-4-1@20250805", counted(1000, 1000)), "us-east5"), "0.09"},
		"a resource name says the region":      {at(use("projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-4-5@20251101", counted(1000, 1000)), ""), "0.033"},
		"batches are half, caches too":         {in(use("claude-sonnet-4-6", claude(10_000, 100, 5000, written)), prices.Batch), "0.01125"},
		"batches of Gemini keep caches":        {in(use("gemini-2.5-flash", claude(1000, 100, 400, "")), prices.Batch), "0.000227"},
		"batches of long prompts":              {in(use("gemini-2.5-pro", counted(300_000, 0)), prices.Batch), "0.375"},
		"staying in a country costs more":      {own(use("claude-opus-5", claude(1000, 0, 0, `{"inference_geo":"us"}`))), "0.0055"},
		"elsewhere not":                        {own(use("claude-opus-5-20260724", claude(1000, 0, 0, `{"inference_geo":"global"}`))), "0.005"},
		"a long prompt of Haiku":               {use("claude-haiku-5-5", counted(100_001, 1000)), "0.0525005"},
		"flex of what was told":                {use("gemini-3.1-flash-lite", claude(1000, 0, 400, `{"traffic_type":"ON_DEMAND_FLEX"}`)), "0.00008"},
		"priority of what was told":            {use("gemini-3.1-pro-preview", claude(1000, 1000, 0, `{"traffic_type":"ON_DEMAND_PRIORITY"}`)), "0.0252"},
		"sound costs more":                     {use("gemini-2.5-flash", audio), "0.00072"},
		"sound in a cache can't be told apart": {use("gemini-2.5-flash", cachedAudio), "usage[]"},
		"unless it is":                         {use("gemini-2.5-flash", told), "0.000612"},
		"sound that costs the same":            {use("gemini-2.5-pro", cachedAudio), "0.0006875"},
		"cached tokens of flex are unknown":    {use("gemini-2.5-flash", claude(1000, 0, 400, `{"traffic_type":"ON_DEMAND_FLEX"}`)), "no_price[cached_input]"},
		"a class without prices":               {use("gemini-2.5-flash", claude(1000, 0, 0, `{"traffic_type":"ON_DEMAND_PRIORITY"}`)), "class[]"},
		"what was paid for beforehand":         {use("gemini-2.5-flash", claude(1000, 0, 0, `{"traffic_type":"PROVISIONED_THROUGHPUT"}`)), "class[]"},
		"a class that nobody knows":            {use("gemini-2.5-flash", claude(1000, 0, 0, `{"service_tier":"velvet"}`)), "class[]"},
		"fast Claude":                          {own(use("claude-opus-4-6", claude(1000, 0, 0, `{"speed":"fast"}`))), "class[]"},
		"more cached than there is":            {use("gemini-2.5-pro", claude(100, 0, 101, "")), "usage[]"},
		"a negative count":                     {use("gemini-2.5-pro", counted(-1, 0)), "usage[]"},
		"more than an amount holds":            {use("gemini-2.5-pro", counted(math.MaxInt64, 0)), "usage[]"},
		"an image where none has a price":      {use("gemini-2.5-flash", drawn(100)), "no_price[image_output]"},
		"a cache without a price":              {use("llama-3.3-70b-instruct-maas", claude(100, 0, 100, "")), "no_price[cached_input]"},
		"an unknown model":                     {use("gemini-9", counted(1, 1)), "no_row[]"},
		"an own endpoint":                      {use("endpoints.123", counted(1, 1)), "no_row[]"},
		"a tuned model":                        {use("projects/p/locations/l/endpoints/5", counted(1, 1)), "no_row[]"},
		"nobody counted":                       {use("gemini-2.5-pro", nil), "no_usage[]"},
		"nothing was used":                     {use("gemini-2.5-pro", counted(0, 0)), "0"},
	} {
		t.Run(name, func(t *testing.T) { costs(t, tt.want, prices.Default().Price(&tt.use)) })
	}
}

func TestCostOfWhatIsNoToken(t *testing.T) {
	with := func(u prices.Use, set func(*prices.Use)) prices.Use { set(&u); return u }
	for name, tt := range map[string]struct {
		use  prices.Use
		want string
	}{
		"searches by the request":             {with(use("gemini-2.5-flash", counted(0, 0)), func(u *prices.Use) { u.Searches = 3 }), "0.035"},
		"searches by the query":               {with(use("gemini-3-flash-preview", counted(0, 0)), func(u *prices.Use) { u.Searches = 3 }), "0.042"},
		"searches without a price":            {with(use("gemini-2.0-flash-lite", counted(0, 0)), func(u *prices.Use) { u.Searches = 3 }), "no_price[search]"},
		"searches of Claude":                  {use("claude-opus-4-8", claude(0, 0, 0, `{"server_tool_use":{"web_search_requests":2}}`)), "0.02"},
		"code of Claude":                      {use("claude-opus-4-8", claude(0, 0, 0, `{"server_tool_use":{"code_execution_requests":1}}`)), "no_price[code_execution]"},
		"maps":                                {with(use("gemini-2.5-flash", counted(0, 0)), func(u *prices.Use) { u.Maps = true }), "no_price[maps]"},
		"images by the image":                 {with(use("imagen-4.0-ultra-generate-001", nil), func(u *prices.Use) { u.Images, u.Size = 3, "2048x2048" }), "0.18"},
		"images by the token":                 {with(use("gemini-2.5-flash-image", drawn(1290)), func(u *prices.Use) { u.Images = 1 }), "0.0387"},
		"images by the token without a count": {with(use("gemini-2.5-flash-image", nil), func(u *prices.Use) { u.Images = 1 }), "no_price[image]"},
		"characters that are embedded":        {use("text-embedding-005", &providers.Usage{PromptTokens: 300, Extra: providers.Extra(`{"billable_characters":1000}`)}), "0.000025"},
		"and in batches":                      {with(use("text-embedding-005", &providers.Usage{PromptTokens: 300, Extra: providers.Extra(`{"billable_characters":1000}`)}), func(u *prices.Use) { u.Class = prices.Batch }), "0.00002"},
		"characters that nobody counted":      {use("text-embedding-005", counted(300, 0)), "usage[]"},
		"tokens that are embedded":            {use("gemini-embedding-001", counted(1000, 0)), "0.00015"},
		"media that is embedded":              {with(use("gemini-embedding-2", counted(1000, 0)), func(u *prices.Use) { u.Media = true }), "usage[]"},
		"a hundred documents are one query":   {with(use("semantic-ranker-default-004", nil), func(u *prices.Use) { u.Documents = 100 }), "0.001"},
		"one more is two":                     {with(use("semantic-ranker-default@latest", nil), func(u *prices.Use) { u.Documents = 101 }), "0.002"},
		"characters that are spoken by token": {with(use("gemini-3.8-flash-tts", &providers.Usage{PromptTokens: 10, CompletionTokens: 100, CompletionTokensDetails: providers.CompletionTokensDetails{AudioTokens: 100}}), func(u *prices.Use) { u.Characters = 40 }), "0.000905"},
	} {
		t.Run(name, func(t *testing.T) { costs(t, tt.want, prices.Default().Price(&tt.use)) })
	}
}

func TestPricesHaveDays(t *testing.T) {
	second := time.Second
	for _, tt := range []struct {
		model string
		at    time.Time
		want  string
	}{
		{"gemini-4-argon", prices.Day(2026, time.December, 1).Add(-second), "2"},
		{"gemini-4-argon", prices.Day(2026, time.December, 1), "4"},
		{"gemini-3.8-flash", prices.Day(2026, time.December, 31), "0.75"},
		{"gemini-3.8-flash", prices.Day(2027, time.January, 1), "1.5"},
		{"gemini-3.6-flash", prices.Day(2026, time.August, 1), "1.5"},
		{"gemini-3.6-flash", prices.Day(2026, time.September, 1), "no_row[]"},
		{"gemini-3.6-flash", november, "0.75"},
		{"gemini-3.7-flash", prices.Day(2027, time.February, 1), "no_row[]"},
		{"gemini-3.6-flash", prices.Day(2026, time.November, 1).In(time.FixedZone("", -3600)), "0.75"},
	} {
		t.Run(tt.model+" "+tt.at.Format(time.DateTime), func(t *testing.T) {
			u := use(tt.model, counted(1_000_000, 0))
			u.Time = tt.at
			costs(t, tt.want, prices.Default().Price(&u))
		})
	}
}

func TestNamesFindTheirRow(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-2.5-flash": "gemini-2.5-flash", "google.gemini-2.5-flash-001": "gemini-2.5-flash", "publishers/google/models/gemini-2.5-flash@default": "gemini-2.5-flash",
		"gemini-2.5-flash-preview-09-2025": "gemini-2.5-flash", "gemini-2.5-flash-preview-05-20": "gemini-2.5-flash", "models/gemini-2.5-flash": "gemini-2.5-flash",
		"gemini-2.5-flash-latest": "gemini-2.5-flash", "gemini-2.5-flash-lite": "gemini-2.5-flash-lite", "gemini-2.5-flash-tts": "", "gemini-2.5-flash-09": "",
		"gemini-2.5-flash-exp-09": "", "gemini-2.5-flash-001-09": "", "claude-opus-4": "claude-opus-4", "claude-opus-4-10": "", "claude-opus-4-1-20250805": "claude-opus-4-1",
		"anthropic/claude-3-5-sonnet-v2@20241022": "claude-3-5-sonnet", "claude-opus-6": "", "claude-sonnet-5-6": "", "mistralai/mistral-small-2503@001": "mistral-small-2503",
		"mistral-small": "", "qwen.qwen3-coder-480b-a35b-instruct-maas": "qwen3-coder-480b-a35b-instruct-maas", "": "", "-": "", "projects/": "",
		"projects/p/locations/global/publishers/google/models/gemini-2.5-pro": "gemini-2.5-pro",
	} {
		t.Run(name, func(t *testing.T) {
			u := use(name, counted(1, 1))
			got := ""
			if row := prices.Default().Price(&u).Row; row != nil {
				got = row.Model
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func record(model string, u *providers.Usage) *providers.Record {
	return &providers.Record{
		Call:  providers.Call{Operation: "chat", Start: november},
		Meta:  providers.Meta{Provider: "vertex-ai", Model: model, CacheStatus: providers.CacheDisabled},
		Usage: u, Billed: providers.Billed{Region: "global"},
	}
}

func TestPartsAddUp(t *testing.T) {
	u := counted(1_000_000, 100_000)
	u.PromptTokensDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens = 400_000, 60_000
	got := prices.Default().Cost(record("gemini-2.5-flash", u))
	want := []prices.Part{
		{Kind: prices.Input, Units: 600_000, Rate: 300_000, Amount: 180e6}, {Kind: prices.CachedInput, Units: 400_000, Rate: 30_000, Amount: 12e6},
		{Kind: prices.Output, Units: 100_000, Rate: 2_500_000, Amount: 250e6},
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" || got.Total != 442e6 {
		t.Errorf("%v %s", got.Total, diff)
	}
}

// Sums are rounded once, half up: two halves of a billionth are one.
func TestSumsAreRoundedOnce(t *testing.T) {
	table, err := prices.NewTable(prices.Row{Provider: "p", Model: "m", Rates: prices.Rates{prices.Input: 500, prices.Output: 499}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		input, output int64
		want          prices.Amount
	}{{1, 0, 1}, {0, 1, 0}, {1, 1, 1}, {2, 0, 1}, {3, 0, 2}, {0, 3, 1}} {
		if got := table.Price(&prices.Use{Provider: "p", Model: "m", Usage: counted(tt.input, tt.output)}); got.Total != tt.want {
			t.Errorf("%d and %d: %d, want %d", tt.input, tt.output, got.Total, tt.want)
		}
	}
}

func TestCostOfRecords(t *testing.T) {
	table := prices.Default()
	used := counted(1_000_000, 0)
	failed := func(e *providers.Error, u *providers.Usage) *providers.Record {
		r := record("gemini-2.5-pro", u)
		r.Err = e
		return r
	}
	change := func(set func(*providers.Record)) *providers.Record {
		r := record("gemini-2.5-flash", used)
		set(r)
		return r
	}
	type got struct {
		Cost, Saved string
		AtLeast     bool
		Uncounted   int
		Reason      prices.Reason
	}
	for name, tt := range map[string]struct {
		record *providers.Record
		want   got
	}{
		"a call":      {record("gemini-2.5-flash", used), got{Cost: "0.3"}},
		"a hit":       {change(func(r *providers.Record) { r.Meta.CacheStatus = providers.CacheHit }), got{Cost: "0", Saved: "0.3"}},
		"by meaning":  {change(func(r *providers.Record) { r.Meta.CacheStatus = providers.CacheSemanticHit }), got{Cost: "0", Saved: "0.3"}},
		"shared":      {change(func(r *providers.Record) { r.Meta.CacheStatus, r.Meta.Cache.Shared = providers.CacheMiss, true }), got{Cost: "0", Saved: "0.3"}},
		"a miss":      {change(func(r *providers.Record) { r.Meta.CacheStatus = providers.CacheMiss }), got{Cost: "0.3"}},
		"unknown hit": {change(func(r *providers.Record) { r.Meta.CacheStatus, r.Meta.Model = providers.CacheHit, "x" }), got{Cost: "0", Reason: prices.ReasonNoRow}},
		"unknown":     {record("x", used), got{Reason: prices.ReasonNoRow}},
		"not sent":    {failed(&providers.Error{Code: providers.ErrRateLimited}, nil), got{Cost: "0"}},
		"sent":        {failed(&providers.Error{Code: providers.ErrTimeout, Sent: true}, nil), got{Reason: prices.ReasonNoUsage}},
		"denied":      {failed(&providers.Error{Code: providers.ErrGuardDenied, Sent: true}, used), got{Cost: "2.5"}},
		"broken stream": {change(func(r *providers.Record) {
			r.Stream, r.Err = true, &providers.Error{Code: providers.ErrCanceled, Sent: true}
		}), got{Cost: "0.3", AtLeast: true}},
		"tries that may be billed": {change(func(r *providers.Record) {
			r.Meta.Attempts = []providers.Attempt{
				{Code: providers.ErrTimeout}, {Code: providers.ErrRateLimited, StatusCode: 429}, {Code: providers.ErrServer, StatusCode: 500},
				{Skipped: providers.SkipCooldown, Code: providers.ErrTimeout}, {StatusCode: 200},
			}
		}), got{Cost: "0.3", Uncounted: 2}},
		"not sent at last": {change(func(r *providers.Record) {
			r.Usage, r.Err = nil, &providers.Error{Code: providers.ErrConnection}
			r.Meta.Attempts = []providers.Attempt{{Code: providers.ErrTimeout}, {Code: providers.ErrConnection}}
		}), got{Uncounted: 1, Reason: prices.ReasonNoUsage}},
		"a token count":     {change(func(r *providers.Record) { r.Operation, r.Usage = "count_tokens", nil }), got{Cost: "0"}},
		"a file":            {change(func(r *providers.Record) { r.Operation, r.Usage = "file.create", nil }), got{Cost: "0"}},
		"a batch":           {change(func(r *providers.Record) { r.Operation, r.Usage = "batch.create", nil }), got{Reason: prices.ReasonLater}},
		"a cache is made":   {change(func(r *providers.Record) { r.Operation, r.Usage = "cache.create", nil }), got{Reason: prices.ReasonNoUsage}},
		"tier of an answer": {change(func(r *providers.Record) { r.Billed.ServiceTier = "flex" }), got{Cost: "0.15"}},
		"usual tier":        {change(func(r *providers.Record) { r.Billed.ServiceTier = "default" }), got{Cost: "0.3"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := table.Cost(tt.record)
			cost, saved := table.Record(tt.record)
			if diff := cmp.Diff(tt.want, got{text(cost), text(saved), c.AtLeast, c.Uncounted, c.Reason}); diff != "" {
				t.Error(diff)
			}
			if c.Known && cost != nil && *cost != c.Total || c.Known != (c.Reason == "") {
				t.Errorf("%v and %+v", *cost, c)
			}
		})
	}
}

func text(a *prices.Amount) string {
	if a == nil {
		return ""
	}
	return a.String()
}
