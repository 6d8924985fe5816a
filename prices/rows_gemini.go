package prices

import "time"

const (
	geminiPage = "https://cloud.google.com/vertex-ai/generative-ai/pricing"
)

func geminiRows() []Row {
	return []Row{{
		Provider: "vertex-ai", Model: "gemini-2.5-flash", Source: geminiPage, Read: Day(2026, time.October, 7),
		Rates: Rates{Input: Per(Input, 0.30), AudioInput: Per(Input, 1), CachedInput: Per(Input, 0.03), Output: Per(Output, 2.50)},
	}}
}
