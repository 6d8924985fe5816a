package prices

import "time"

// both makes a row for Vertex AI, and the same one for Google's own service.
func both(model, source string, rates Rates, variants ...Variant) []Row {
	return []Row{
		{Provider: vertex, Model: model, Source: source, Read: read(), Rates: rates, Variants: variants},
		{Provider: google, Model: model, Source: source, Read: read(), Rates: rates, Variants: variants},
	}
}

// each changes every row.
func each(rows []Row, change func(Row) Row) []Row {
	for i := range rows {
		rows[i] = change(rows[i])
	}
	return rows
}

// fresh are the kinds that the discounts of batches are for: a token from a cache has
// its own.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-overview
func fresh() []Kind {
	return []Kind{Input, AudioInput, ImageInput, VideoInput, Output, Reasoning, AudioOutput, ImageOutput}
}

// textual are all kinds of tokens, cached ones included.
func textual() []Kind {
	return append(fresh(), CachedInput, CachedAudio, CacheWrite, CacheWriteHour)
}

// batchOnly are the classes of models with no prices for others; what cached tokens
// cost in the class flex is not published.
func batchAndFlex() []Variant {
	return []Variant{
		share(Batch, 50, fresh()...),
		{Class: Flex, Rates: Rates{CachedInput: Unpriced}, Percent: 50, Only: fresh()},
	}
}

// allClasses are the classes of models of 3.0 and later.
func allClasses() []Variant {
	return append(batchAndFlex(), share(Priority, 180, textual()...))
}

// long makes a variant for long prompts.
func long(above int64, rates Rates) Variant { return Variant{Above: above, Rates: rates} }

const longPrompt = 200_000

// geminiRows are the prices of Gemini up to 3.1.
func geminiRows() []Row {
	pro25 := append([]Variant{long(longPrompt, tokens(2.50, 0.25, 15))}, batchAndFlex()...)
	pro3 := append([]Variant{long(longPrompt, tokens(4, 0.40, 18))}, allClasses()...)
	var out []Row
	add := func(rows []Row) { out = append(out, rows...) }

	add([]Row{
		{
			Provider: google, Model: "gemini-1.5-pro", Source: listPage, Read: read(), Until: Day(2025, time.September, 29),
			Rates: tokens(1.25, 0, 5), Variants: []Variant{long(128_000, tokens(2.50, 0, 10))},
			Note: "On Vertex AI it was charged by the character, which nothing counts.",
		},
		{
			Provider: vertex, Model: "gemini-2.0-flash", Source: partnerReads, Read: read(),
			Rates:    tokens(0.15, 0.0375, 0.60).with(AudioInput, 1).with(Grounding, 35),
			Variants: []Variant{share(Batch, 50, fresh()...)},
		},
		{
			Provider: google, Model: "gemini-2.0-flash", Source: listPage, Read: read(),
			Rates: tokens(0.10, 0.025, 0.40).with(AudioInput, 0.70).with(Grounding, 35), Variants: []Variant{share(Batch, 50, fresh()...)},
		},
		{
			Provider: vertex, Model: "gemini-2.0-flash-lite", Source: partnerReads, Read: read(),
			Rates: tokens(0.075, 0, 0.30), Variants: []Variant{share(Batch, 50, fresh()...)},
		},
	})
	add(both("gemini-2.5-pro", vertexPage, tokens(1.25, 0.125, 10).with(Grounding, 35), pro25...))
	add(both("gemini-2.5-flash", vertexPage, tokens(0.30, 0.03, 2.50).with(AudioInput, 1).with(Grounding, 35), batchAndFlex()...))
	add(both("gemini-2.5-flash-lite", vertexPage, tokens(0.10, 0.01, 0.40).with(AudioInput, 0.30).with(Grounding, 35), batchAndFlex()...))
	add(both("gemini-3-pro", vertexPage, tokens(2, 0.20, 12).with(Search, 14), pro3...))
	add(both("gemini-3-flash", vertexPage, tokens(0.50, 0.05, 3).with(AudioInput, 1).with(Search, 14), allClasses()...))
	add(both("gemini-3.1-pro", vertexPage, tokens(2, 0.20, 12).with(Search, 14), pro3...))
	add(both("gemini-3.1-pro-preview-customtools", vertexPage, tokens(2, 0.20, 12).with(Search, 14), pro3...))
	add(both("gemini-3.1-flash-lite", vertexPage, tokens(0.25, 0.025, 1.50).with(AudioInput, 0.50).with(Search, 14),
		share(Batch, 50, fresh()...), share(Flex, 50, textual()...), share(Priority, 180, textual()...)))
	return out
}

// flashRows are the prices of the Flash models from 3.5 on, the later ones of which
// began at half of their price.
func flashRows() []Row {
	var out []Row
	add := func(rows []Row) { out = append(out, rows...) }
	newYear := Day(2027, time.January, 1)
	half, whole := tokens(0.75, 0.075, 3.75).with(Search, 14), tokens(1.50, 0.15, 7.50).with(Search, 14)
	reduced := share(Batch, 50, fresh()...)
	proportional := []Variant{reduced, share(Flex, 50, textual()...)}

	add(both("gemini-3.5-flash", geminiPage, tokens(1.50, 0.15, 9).with(Search, 14), allClasses()...))
	add(both("gemini-3.5-flash-lite", geminiPage, tokens(0.30, 0.03, 2.50).with(Search, 14), batchAndFlex()...))
	add(each(both("gemini-3.6-flash", whatsNew36, whole, reduced), func(r Row) Row {
		return r.between(Day(2026, time.July, 21), Day(2026, time.August, 13))
	}))
	add(each(both("gemini-3.6-flash", flash36Page, half, reduced), func(r Row) Row {
		return r.between(Day(2026, time.November, 1), newYear).
			noted("On which day the introductory price began is not published: from August 13 to October 31 it is left unknown.")
	}))
	add(each(both("gemini-3.6-flash", flash36Page, whole, reduced), func(r Row) Row { return r.between(newYear, time.Time{}) }))
	add(each(both("gemini-3.7-flash", flash37Page, half, proportional...), func(r Row) Row {
		return r.between(time.Time{}, newYear).noted("The source says that the introductory price ends in December 2027, and others say 2026: afterwards it is left unknown.")
	}))
	add(each(both("gemini-3.8-flash", flash38Page, half, batchAndFlex()...), func(r Row) Row { return r.between(time.Time{}, newYear) }))
	add(each(both("gemini-3.8-flash", flash38Page, whole, batchAndFlex()...), func(r Row) Row { return r.between(newYear, time.Time{}) }))
	add(each(both("gemini-3.8-flash-tts", speech38Page, spoken(0.50, 9)), func(r Row) Row { return r.between(time.Time{}, newYear) }))
	add(each(both("gemini-3.8-flash-tts", speech38Page, spoken(1, 18)), func(r Row) Row { return r.between(newYear, time.Time{}) }))
	add(each(both("gemini-3.8-flash-lite-tts", speech38Page, spoken(0.50, 6)), func(r Row) Row { return r.between(time.Time{}, newYear) }))
	add(each(both("gemini-3.8-flash-lite-tts", speech38Page, spoken(1, 12)), func(r Row) Row { return r.between(newYear, time.Time{}) }))
	return out
}

// spoken are the rates of a model that speaks: all of its completion is sound.
func spoken(input, audio float64) Rates {
	return Rates{Input: Per(Input, input), Output: Per(Output, audio), AudioOutput: Per(AudioOutput, audio)}
}

// gemini4Rows are the prices of Gemini 4, which caches by itself alone.
func gemini4Rows() []Row {
	var out []Row
	add := func(rows []Row) { out = append(out, rows...) }
	december := Day(2026, time.December, 1)
	first, then := tokens(2, 0.10, 10).with(Search, 14), tokens(4, 0.20, 20).with(Search, 14)
	half := share(Batch, 50, fresh()...)
	for _, m := range []struct{ model, source string }{{"gemini-4-argon", argonPage}, {"gemini-4-carbon", carbonPage}} {
		add(each(both(m.model, m.source, first, half), func(r Row) Row { return r.between(time.Time{}, december) }))
		add(each(both(m.model, m.source, then, half), func(r Row) Row { return r.between(december, time.Time{}) }))
	}
	add(both("gemini-4-hydrogen", hydrogenPage, tokens(1.50, 0, 7.50)))
	add(both("gemini-4-neon", neonPage, tokens(3, 0, 15)))
	return out
}

// drawingRows are the prices of models that draw: Imagen's by the image, and Gemini's by
// the token, of which larger images have more.
func drawingRows() []Row {
	var out []Row
	for _, m := range []struct {
		model string
		price float64
	}{
		{"imagen-4.0-generate", 0.04}, {"imagen-4.0-fast-generate", 0.02}, {"imagen-4.0-ultra-generate", 0.06},
		{"imagen-3.0-generate", 0.04}, {"imagen-3.0-fast-generate", 0.02}, {"imagen-3.0-capability", 0.04}, {"imagegeneration", 0.02},
	} {
		out = append(out, both(m.model, vertexPage, Rates{Image: Per(Image, m.price)})...)
	}
	half := share(Batch, 50, fresh()...)
	out = append(out, both("gemini-2.5-flash-image", vertexPage, tokens(0.30, 0.03, 2.50).with(ImageOutput, 30), half)...)
	out = append(out, both("gemini-3-pro-image", vertexPage, tokens(2, 0, 12).with(ImageOutput, 120).with(Search, 14), half)...)
	out = append(out, both("gemini-3.1-flash-image", vertexPage, tokens(0.50, 0, 3).with(ImageOutput, 60).with(Search, 14), half)...)
	return append(out, both("gemini-nano-banana-2.1", bananaPage, tokens(1.50, 0, 7.50).with(ImageOutput, 30))...)
}

// embeddingRows are the prices of models that embed, and of those that order
// documents.
func embeddingRows() []Row {
	var out []Row
	for _, model := range []string{"text-embedding-004", "text-embedding-005", "text-multilingual-embedding-002"} {
		out = append(out, Row{
			Provider: vertex, Model: model, Source: vertexPage, Read: read(), Rates: Rates{Character: Per(Character, 0.025)},
			Variants: []Variant{{Class: Batch, Rates: Rates{Character: Per(Character, 0.02)}}},
		})
	}
	out = append(out,
		Row{
			Provider: vertex, Model: "gemini-embedding-001", Source: vertexPage, Read: read(), Rates: Rates{Input: Per(Input, 0.15)},
			Variants: []Variant{{Class: Batch, Rates: Rates{Input: Per(Input, 0.12)}}},
		},
		Row{
			Provider: google, Model: "gemini-embedding-001", Source: geminiPage, Read: read(), Rates: Rates{Input: Per(Input, 0.15)},
			Variants: []Variant{share(Batch, 50)},
		})
	out = append(out, each(both("gemini-embedding-2", embedding2Doc, Rates{Input: Per(Input, 0.20)}), func(r Row) Row {
		return r.noted("The price is that of text. Images, sound and videos have others, and the platform does not count them apart: calls with media are unknown.")
	})...)
	for _, model := range []string{"semantic-ranker-default", "semantic-ranker-fast", "semantic-ranker-512"} {
		out = append(out, Row{Provider: vertex, Model: model, Source: rankPage, Read: read(), Rates: Rates{Rerank: Per(Rerank, 1)}})
	}
	return out
}
