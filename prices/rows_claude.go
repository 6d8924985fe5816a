package prices

import "time"

// claudePrice is one line of the table of prices of Claude, in dollars for a million
// tokens.
type claudePrice struct {
	model                                string
	input, write, writeHour, hit, output float64
	// regional says that on Vertex AI regions cost more than "global", and
	// residency that the vendor's own service takes more for staying in a country.
	regional, residency bool
	variants            []Variant
}

// claudePrices is the table of [claudePage]. What a cache is written and read for is
// not there for the models before caching.
func claudePrices() []claudePrice {
	longSonnet := []Variant{{Above: longPrompt, Rates: claudeRates(6, 7.50, 12, 0.60, 22.50)}}
	longHaiku := []Variant{{Above: 100_000, Rates: claudeRates(0.50, 0.625, 1, 0.05, 2.50)}}
	return []claudePrice{
		{model: "claude-3-opus", input: 15, write: 18.75, writeHour: 30, hit: 1.50, output: 75},
		{model: "claude-3-sonnet", input: 3, output: 15},
		{model: "claude-3-haiku", input: 0.25, write: 0.30, writeHour: 0.50, hit: 0.03, output: 1.25},
		{model: "claude-3-5-sonnet", input: 3, write: 3.75, writeHour: 6, hit: 0.30, output: 15},
		{model: "claude-3-5-haiku", input: 0.80, write: 1, writeHour: 1.60, hit: 0.08, output: 4},
		{model: "claude-3-7-sonnet", input: 3, write: 3.75, writeHour: 6, hit: 0.30, output: 15},
		{model: "claude-opus-4", input: 15, write: 18.75, writeHour: 30, hit: 1.50, output: 75},
		{model: "claude-opus-4-1", input: 15, write: 18.75, writeHour: 30, hit: 1.50, output: 75},
		{model: "claude-sonnet-4", input: 3, write: 3.75, writeHour: 6, hit: 0.30, output: 15, variants: longSonnet},
		{model: "claude-sonnet-4-5", input: 3, write: 3.75, writeHour: 6, hit: 0.30, output: 15, regional: true, variants: longSonnet},
		{model: "claude-haiku-4-5", input: 1, write: 1.25, writeHour: 2, hit: 0.10, output: 5, regional: true},
		{model: "claude-opus-4-5", input: 5, write: 6.25, writeHour: 10, hit: 0.50, output: 25, regional: true},
		{model: "claude-sonnet-4-6", input: 3, write: 3.75, writeHour: 6, hit: 0.30, output: 15, regional: true, residency: true},
		{model: "claude-opus-4-6", input: 5, write: 6.25, writeHour: 10, hit: 0.50, output: 25, regional: true, residency: true},
		{model: "claude-opus-4-7", input: 5, write: 6.25, writeHour: 10, hit: 0.50, output: 25, regional: true, residency: true},
		{model: "claude-opus-4-8", input: 5, write: 6.25, writeHour: 10, hit: 0.50, output: 25, regional: true, residency: true},
		{model: "claude-sonnet-5", input: 2, write: 2.50, writeHour: 4, hit: 0.20, output: 10, regional: true, residency: true},
		{model: "claude-opus-5", input: 5, write: 6.25, writeHour: 10, hit: 0.50, output: 25, regional: true, residency: true},
		{model: "claude-fable-5", input: 10, write: 12.50, writeHour: 20, hit: 1, output: 50, regional: true, residency: true},
		{model: "claude-mythos-5", input: 10, write: 12.50, writeHour: 20, hit: 1, output: 50, regional: true, residency: true},
		{model: "claude-fable-5-1", input: 10, write: 12.50, writeHour: 20, hit: 0.25, output: 50, regional: true, residency: true},
		{model: "claude-mythos-5-1", input: 10, write: 12.50, writeHour: 20, hit: 0.25, output: 50, regional: true, residency: true},
		{model: "claude-opus-5-5", input: 4, write: 5, writeHour: 8, hit: 0.20, output: 20, regional: true, residency: true},
		{model: "claude-haiku-5-5", input: 0.10, write: 0.125, writeHour: 0.20, hit: 0.01, output: 0.50, regional: true, residency: true, variants: longHaiku},
	}
}

func claudeRates(input, write, writeHour, hit, output float64) Rates {
	out := tokens(input, hit, output)
	if write > 0 {
		out[CacheWrite], out[CacheWriteHour] = Per(CacheWrite, write), Per(CacheWriteHour, writeHour)
	}
	return out
}

// claudeRows are the prices of Claude, which are those of the vendor's own service on
// Vertex AI too, but for the place.
//
// Sonnet 5.5 has two: what a cache is read for was halved.
func claudeRows() []Row {
	var out []Row
	for _, p := range claudePrices() {
		out = append(out, p.rows()...)
	}
	sonnet := claudePrice{model: "claude-sonnet-5-5", input: 2, write: 2.50, writeHour: 4, hit: 0.20, output: 10, regional: true, residency: true}
	cut := Day(2026, time.October, 7)
	out = append(out, each(sonnet.rows(), func(r Row) Row { return r.between(time.Time{}, cut) })...)
	sonnet.hit = 0.10
	return append(out, each(sonnet.rows(), func(r Row) Row { return r.between(cut, time.Time{}) })...)
}

// rows are those of Vertex AI and of the vendor's own service.
func (p *claudePrice) rows() []Row {
	const searches = 10
	rates := claudeRates(p.input, p.write, p.writeHour, p.hit, p.output).with(Search, searches)
	row := Row{Model: p.model, Source: claudePage, Read: read(), Rates: rates}
	row = row.variants(p.variants...).variants(share(Batch, 50, textual()...))
	premium := Variant{Regional: true, Percent: 110, Only: textual()}
	own, platform := row, row
	own.Provider, platform.Provider = anthropic, vertex
	if p.residency {
		own = own.variants(premium)
	}
	if p.regional {
		platform = platform.variants(premium)
	}
	return []Row{platform, own}
}
