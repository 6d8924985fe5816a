package gatewayotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// The metrics. What each of them is stands in the table of metrics.
const (
	nameDuration        = "gen_ai.client.inference.duration"
	nameFirstChunk      = "gen_ai.client.inference.time_to_first_chunk"
	namePerChunk        = "gen_ai.client.inference.time_per_output_chunk"
	nameInput           = "gen_ai.client.inference.usage.input_tokens"
	nameOutput          = "gen_ai.client.inference.usage.output_tokens"
	nameCacheRead       = "gen_ai.client.inference.usage.cache_read.input_tokens"
	nameCacheWrite      = "gen_ai.client.inference.usage.cache_write.input_tokens"
	nameReasoning       = "gen_ai.client.inference.usage.reasoning.output_tokens"
	nameInputEach       = "gen_ai.client.inference.operation.input_tokens"
	nameOutputEach      = "gen_ai.client.inference.operation.output_tokens"
	nameOperation       = "gen_ai.client.operation.duration"
	nameFormerFirst     = "gen_ai.client.operation.time_to_first_chunk"
	nameFormerPer       = "gen_ai.client.operation.time_per_output_chunk"
	nameFormerUsage     = "gen_ai.client.token.usage"
	nameAttempt         = "gateway.attempt.duration"
	nameCacheDuration   = "gateway.cache.duration"
	nameEmbeddingTokens = "gateway.embeddings.usage.input_tokens"
)

// instrument is what a metric is.
type instrument struct {
	name    string
	kind    string // histogram or counter
	unit    string
	says    string
	former  bool   // of v1.41
	latest  bool   // of the latest conventions, or this module's own
	instead string // of a former one: what took its place
	page    string
}

const (
	histogram = "histogram"
	counter   = "counter"
	inSeconds = "s"
	inTokens  = "{token}"
)

// instruments are all metrics, by any conventions.
var instruments = []instrument{
	{nameDuration, histogram, inSeconds, "Duration of an inference, to the end of its answer", false, true, "", inferenceMetricsPage + "#metric-gen_aiclientinferenceduration"},
	{nameFirstChunk, histogram, inSeconds, "Time to the first chunk of a stream", false, true, "", inferenceMetricsPage + "#metric-gen_aiclientinferencetime_to_first_chunk"},
	{namePerChunk, histogram, inSeconds, "Time from one chunk of a stream to the next", false, true, "", inferenceMetricsPage + "#metric-gen_aiclientinferencetime_per_output_chunk"},
	{nameInput, counter, inTokens, "Tokens of prompts, cached ones included", false, true, "", tokensPage + "#metric-gen_aiclientinferenceusageinput_tokens"},
	{nameOutput, counter, inTokens, "Tokens of answers, reasoning included", false, true, "", tokensPage + "#metric-gen_aiclientinferenceusageoutput_tokens"},
	{nameCacheRead, counter, inTokens, "Tokens of prompts from the platform's context cache", false, true, "", tokensPage + "#metric-gen_aiclientinferenceusagecache_readinput_tokens"},
	{nameCacheWrite, counter, inTokens, "Tokens of prompts into the platform's context cache", false, true, "", tokensPage + "#metric-gen_aiclientinferenceusagecache_writeinput_tokens"},
	{nameReasoning, counter, inTokens, "Tokens of reasoning", false, true, "", tokensPage + "#metric-gen_aiclientinferenceusagereasoningoutput_tokens"},
	{nameInputEach, histogram, inTokens, "Tokens of the prompt of an inference", false, true, "", tokensPage + "#metric-gen_aiclientinferenceoperationinput_tokens"},
	{nameOutputEach, histogram, inTokens, "Tokens of the answer of an inference", false, true, "", tokensPage + "#metric-gen_aiclientinferenceoperationoutput_tokens"},
	{nameOperation, histogram, inSeconds, "Duration of an operation: of the latest conventions those that are no inference, of v1.41 all", true, true, nameDuration + " for inference", migrationPage},
	{nameFormerFirst, histogram, inSeconds, "Time to the first chunk of a stream", true, false, nameFirstChunk, migrationPage},
	{nameFormerPer, histogram, inSeconds, "Time from one chunk of a stream to the next", true, false, namePerChunk, migrationPage},
	{nameFormerUsage, histogram, inTokens, "Tokens of an operation, by gen_ai.token.type", true, false, nameInput + ", " + nameOutput + ", " + nameInputEach + ", " + nameOutputEach, migrationPage},
	{nameAttempt, histogram, inSeconds, "Time from a request to its answer, or to the first chunk", true, true, "", ownPage},
	{nameCacheDuration, histogram, inSeconds, "Duration of a call that the response cache answered, or another call's answer", true, true, "", ownPage},
	{nameEmbeddingTokens, counter, inTokens, "Tokens of texts that were embedded", false, true, "", ownPage},
}

const inferenceMetricsPage = genaiPages + "gen-ai/client-inference.md"

// The boundaries of histograms, in seconds and in tokens.
//
// Sources:
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md#metric-gen_aiclientinferenceduration
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-token-metrics.md#metric-gen_aiclientinferenceoperationinput_tokens
var (
	secondBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// meters are the instruments by their names. Those that the conventions in use do
// not have are left out.
type meters struct {
	seconds map[string]metric.Float64Histogram
	sizes   map[string]metric.Int64Histogram
	sums    map[string]metric.Int64Counter
}

// enabled reports whether anything is done with what is measured.
func (m *meters) enabled(ctx context.Context) bool {
	for _, in := range m.seconds {
		if in.Enabled(ctx) {
			return true
		}
	}
	for _, in := range m.sums {
		if in.Enabled(ctx) {
			return true
		}
	}
	for _, in := range m.sizes {
		if in.Enabled(ctx) {
			return true
		}
	}
	return false
}

// make makes the instruments of the conventions.
func (m *meters) make(meter metric.Meter, c Conventions) error {
	m.seconds, m.sizes, m.sums = map[string]metric.Float64Histogram{}, map[string]metric.Int64Histogram{}, map[string]metric.Int64Counter{}
	var errs []error
	for _, in := range instruments {
		if !(in.latest && c.latest() || in.former && c.former()) {
			continue
		}
		var err error
		switch {
		case in.kind == counter:
			m.sums[in.name], err = meter.Int64Counter(in.name, metric.WithUnit(in.unit), metric.WithDescription(in.says))
		case in.unit == inTokens:
			m.sizes[in.name], err = meter.Int64Histogram(in.name, metric.WithUnit(in.unit), metric.WithDescription(in.says),
				metric.WithExplicitBucketBoundaries(tokenBounds...))
		default:
			m.seconds[in.name], err = meter.Float64Histogram(in.name, metric.WithUnit(in.unit), metric.WithDescription(in.says),
				metric.WithExplicitBucketBoundaries(secondBounds...))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
