package prices_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

func record(model string, u *providers.Usage) *providers.Record {
	return &providers.Record{
		Call:  providers.Call{Operation: "chat", Start: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		Meta:  providers.Meta{Provider: "vertex-ai", Model: model, CacheStatus: providers.CacheDisabled},
		Usage: u,
	}
}

func TestACallCostsWhatItsTokensDo(t *testing.T) {
	r := record("google.gemini-2.5-flash-001", &providers.Usage{
		PromptTokens: 1_000_000, CompletionTokens: 100_000, TotalTokens: 1_100_000,
		PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: 400_000},
		CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 60_000},
	})
	cost, saved := prices.Default().Record(r)
	if want := 442 * prices.Dollar / 1000; cost == nil || *cost != want || saved != nil { // .6*.30 + .4*.03 + .1*2.50
		t.Errorf("%v, saved %v, want %v", cost, saved, want)
	}
	r.Meta.CacheStatus = providers.CacheHit
	cost, saved = prices.Default().Record(r)
	if cost == nil || *cost != 0 || saved == nil || *saved != 442*prices.Dollar/1000 {
		t.Errorf("a hit: %v, saved %v", cost, saved)
	}
	got := prices.Default().Cost(r)
	want := []prices.Part{
		{Kind: prices.Input, Units: 600_000, Rate: 300_000, Amount: 180e6}, {Kind: prices.CachedInput, Units: 400_000, Rate: 30_000, Amount: 12e6},
		{Kind: prices.Output, Units: 100_000, Rate: 2_500_000, Amount: 250e6},
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" {
		t.Error(diff)
	}
}
