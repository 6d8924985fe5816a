package analytics

// Definition says exactly what one number of [Totals] is.
type Definition struct {
	// Name is the path of the member in JSON, such as "cache.hit_rate".
	Name string
	// Unit is what it counts.
	Unit string
	// Doc says what is in it.
	Doc string
}

// Definitions returns the table of all numbers of [Totals], in the order of its
// JSON. The members of a [Latency] are in it once, as "latency.…".
func Definitions() []Definition {
	return []Definition{
		{"requests", "calls", "All records of the range, failed ones and those of every operation included. A call is in the range if it came in at or after from, and before to."},
		{"errors", "calls", "Calls with an error, those that the caller gave up (canceled) included."},
		{"error_rate", "share", "errors / requests; 0 without requests."},
		{"tokens.prompt", "tokens", "Tokens of prompts, those that the platform had cached included. Of all tokens: those of answers from the response cache, and of answers that another call had made at the same time, are not counted, since nobody paid for them; those of failed calls are, as far as the platform counted any."},
		{"tokens.completion", "tokens", "Tokens of answers, reasoning included."},
		{"tokens.total", "tokens", "The totals of the platform."},
		{"tokens.cached", "tokens", "The part of prompts that the platform had cached."},
		{"tokens.cache_write", "tokens", "The part of prompts that the platform's cache took in."},
		{"tokens.reasoning", "tokens", "The part of answers that is reasoning."},
		{"tokens.audio_in", "tokens", "The part of prompts that is audio."},
		{"tokens.audio_out", "tokens", "The part of answers that is audio."},
		{"cost_usd", "US dollars", "Sum of the costs that are known, exact to a billionth. Answers from the response cache cost nothing."},
		{"unpriced", "calls", "Calls with tokens and without a known cost, answers from the response cache apart: cost_usd lacks them."},
		{"duration_ms", "latency", "Time to the end of the answer, of the calls without an error. Answers from the response cache are in it: it is what callers saw."},
		{"first_chunk_ms", "latency", "Time to the first chunk, of the streams without an error."},
		{"cache.hits", "calls", `Calls with the status "Cache Hit".`},
		{"cache.semantic_hits", "calls", `Calls with the status "Cache Semantic Hit".`},
		{"cache.misses", "calls", `Calls with the status "Cache Miss", failed ones included.`},
		{"cache.refreshes", "calls", `Calls with the status "Cache Refreshed": they did not look, since they were told not to.`},
		{"cache.disabled", "calls", "All other calls. The five sum up to requests."},
		{"cache.hit_rate", "share", "(hits + semantic_hits) / (hits + semantic_hits + misses): refreshes and calls without the cache are in neither; 0 if nothing was looked for. The daily hit rate is that of a series by 1d, whose days are those of UTC."},
		{"cache.latency_ms", "latency", "Time to the end of the answer, of the hits of both kinds without an error; its mean is the average latency of the cache."},
		{"cache.time_saved_ms", "milliseconds", "Sum over the hits of both kinds of what each was faster than the call that made its answer, and 0 where it was not."},
		{"cache.money_saved_usd", "US dollars", "Sum over the hits of both kinds of what the call that made the answer would have cost again, where that is known."},
		{"feedback.count", "opinions", "Feedback of the calls of the range, whenever it was given. feedback is left out without any."},
		{"feedback.mean", "-10 to 10", "Sum of value × weight / sum of weights, weights to a millionth."},
		{"feedback.positive", "opinions", "Those with a value over 0."},
		{"feedback.negative", "opinions", "Those with a value below 0."},
		{"latency.count", "calls", "How many are in the distribution."},
		{"latency.mean", "milliseconds", "Their exact mean, to the microsecond that each is rounded to."},
		{"latency.p50", "milliseconds", "The smallest duration that half of them do not exceed, within 1 %: from a sketch, so that distributions can be merged."},
		{"latency.p90", "milliseconds", "Likewise of 90 %."},
		{"latency.p95", "milliseconds", "Likewise of 95 %."},
		{"latency.p99", "milliseconds", "Likewise of 99 %."},
		{"latency.max", "milliseconds", "The longest, exact."},
	}
}
