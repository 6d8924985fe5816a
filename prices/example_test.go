package prices_test

import (
	"fmt"
	"time"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// What a call costs, and what it is made of.
func ExampleTable_Price() {
	cost := prices.Default().Price(&prices.Use{
		Provider: "vertex-ai", Model: "gemini-2.5-flash", Time: prices.Day(2026, time.November, 1),
		Usage: &providers.Usage{PromptTokens: 10_000, CompletionTokens: 500, PromptTokensDetails: providers.PromptTokensDetails{CachedTokens: 8000}},
	})
	for _, p := range cost.Parts {
		fmt.Println(p.Units, p.Kind, p.Amount)
	}
	fmt.Println(cost.Known, cost.Total)
	// Output:
	// 2000 input 0.0006
	// 8000 cached_input 0.00024
	// 500 output 0.00125
	// true 0.00209
}

// A price of your own wins over that of the list.
func ExampleTable_With() {
	own, err := prices.ParseTable([]byte(`{"rows": [
		{"slug": "deal", "model": "gemini-2.5-flash", "rates": {"input": 0.2, "output": 2}},
		{"provider": "vertex-ai", "model": "endpoints.mine", "rates": {"input": 0.01, "output": 0.01}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := prices.Default().With(own.Rows()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	use := prices.Use{Provider: "vertex-ai", Slug: "deal", Model: "gemini-2.5-flash", Usage: &providers.Usage{PromptTokens: 1_000_000}}
	fmt.Println(table.Price(&use).Total)
	// Output: 0.2
}
