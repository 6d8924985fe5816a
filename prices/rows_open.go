package prices

// openPrice is what the platform asks for an open or a partner's model, in dollars for
// a million tokens; cached is 0 where that is not known. batch says that batches cost
// half.
type openPrice struct {
	model                 string
	input, cached, output float64
	batch                 bool
	source                string
}

// openPrices lists them. Where the pages of others and the list of prices differ, those
// who read the platform's own page last count, and are the source.
func openPrices() []openPrice {
	return []openPrice{
		{"llama-3.1-405b-instruct-maas", 5, 0, 16, false, partnerReads},
		{"llama-3.3-70b-instruct-maas", 0.72, 0, 0.72, true, partnerReads},
		{"llama-4-maverick-17b-128e-instruct-maas", 0.35, 0, 1.15, true, partnerPage},
		{"llama-4-scout-17b-16e-instruct-maas", 0.25, 0, 0.70, true, partnerPage},
		{"qwen3-235b-a22b-instruct-2507-maas", 0.22, 0, 0.88, false, partnerReads},
		{"qwen3-coder-480b-a35b-instruct-maas", 0.22, 0.022, 1.80, false, partnerReads},
		{"qwen3-next-80b-a3b-instruct-maas", 0.15, 0, 1.20, false, partnerPage},
		{"qwen3-next-80b-a3b-thinking-maas", 0.15, 0, 1.20, false, partnerPage},
		{"deepseek-r1-0528-maas", 1.35, 0, 5.40, true, partnerPage},
		{"deepseek-v3.1-maas", 0.60, 0.06, 1.70, true, partnerReads},
		{"deepseek-v3.2-maas", 0.56, 0.056, 1.68, true, partnerPage},
		{"gpt-oss-120b-maas", 0.09, 0, 0.36, false, partnerReads},
		{"gpt-oss-20b-maas", 0.07, 0.007, 0.25, true, partnerReads},
		{"kimi-k2-thinking-maas", 0.60, 0.06, 2.50, false, partnerPage},
		{"glm-4.7-maas", 0.60, 0, 2.20, false, partnerPage},
		{"glm-5-maas", 1, 0.10, 3.20, false, partnerPage},
		{"minimax-m2-maas", 0.30, 0.03, 1.20, false, partnerPage},
		{"grok-4.1-fast-non-reasoning", 0.20, 0.05, 0.50, false, listPage},
		{"grok-4.1-fast-reasoning", 0.20, 0.05, 0.50, false, listPage},
		{"grok-4.20-non-reasoning", 2, 0.20, 6, false, listPage},
		{"grok-4.20-reasoning", 2, 0.20, 6, false, listPage},
		{"codestral-2", 0.30, 0, 0.90, false, partnerReads},
		{"codestral-2501", 0.20, 0, 0.60, false, listPage},
		{"mistral-small-2503", 0.10, 0, 0.30, false, partnerReads},
		{"mistral-medium-3", 0.40, 0, 2, false, partnerPage},
		{"mistral-large-2411", 2, 0, 6, false, listPage},
		{"jamba-1.5-large", 2, 0, 8, false, listPage},
		{"jamba-1.5-mini", 0.20, 0, 0.40, false, listPage},
		{"gemma-4-26b-a4b-it-maas", 0.15, 0, 0.60, false, listPage},
	}
}

func openRows() []Row {
	var out []Row
	for _, p := range openPrices() {
		row := Row{Provider: vertex, Model: p.model, Source: p.source, Read: read(), Rates: tokens(p.input, p.cached, p.output)}
		if p.batch {
			row = row.variants(share(Batch, 50, fresh()...))
		}
		out = append(out, row)
	}
	return out
}

// openaiRows are the prices of OpenAI's own API. Prompts beyond what the shorter
// context took cost more with the newest models, how much is not in the source.
func openaiRows() []Row {
	const shortContext = 272_000
	longer := long(shortContext, Rates{Input: Unpriced, CachedInput: Unpriced, Output: Unpriced})
	half := share(Batch, 50, fresh()...)
	var out []Row
	for _, p := range []struct {
		model                 string
		input, cached, output float64
		source                string
		variants              []Variant
	}{
		{"gpt-4o", 2.50, 1.25, 10, openaiPage, []Variant{half}},
		{"gpt-4o-mini", 0.15, 0.075, 0.60, openaiPage, []Variant{half}},
		{"gpt-4.1", 2, 0.50, 8, openaiPage, []Variant{half}},
		{"gpt-4.1-mini", 0.40, 0.10, 1.60, openaiPage, []Variant{half}},
		{"gpt-4.1-nano", 0.10, 0.025, 0.40, openaiPage, []Variant{half}},
		{"o3", 2, 0.50, 8, openaiPage, []Variant{half}},
		{"o4-mini", 1.10, 0.275, 4.40, openaiPage, []Variant{half}},
		{"gpt-5.4", 2.50, 0.25, 15, openaiPage, []Variant{longer, half}},
		{"gpt-5.4-mini", 0.75, 0.075, 4.50, openaiPage, []Variant{longer, half}},
		{"gpt-5.4-nano", 0.20, 0.02, 1.25, openaiPage, []Variant{longer, half}},
		{"gpt-5.5", 5, 0.50, 30, openaiPage, []Variant{longer, half}},
	} {
		out = append(out, Row{
			Provider: openai, Model: p.model, Source: p.source, Read: read(), Rates: tokens(p.input, p.cached, p.output), Variants: p.variants,
		})
	}
	for _, p := range []struct {
		model string
		input float64
	}{{"text-embedding-3-small", 0.02}, {"text-embedding-3-large", 0.13}, {"text-embedding-ada-002", 0.10}} {
		out = append(out, Row{
			Provider: openai, Model: p.model, Source: openaiPage, Read: read(), Rates: Rates{Input: Per(Input, p.input)}, Variants: []Variant{share(Batch, 50)},
		})
	}
	return out
}
