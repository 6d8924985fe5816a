package gatewayotel_test

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	former "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	stable "go.opentelemetry.io/otel/semconv/v1.43.0"

	gatewayotel "github.com/b650d4bf/gateway/otel"
)

// TestNamesAreThoseOfTheConventions holds the tables against what was read on the
// conventions' pages.
func TestNamesAreThoseOfTheConventions(t *testing.T) {
	want := conventions(t)
	seen := map[string]bool{}
	check := func(name, kind, page string) {
		t.Helper()
		if seen[name] {
			t.Errorf("%s has two rows", name)
		}
		seen[name] = true
		own := strings.HasPrefix(name, "gateway.")
		c, ok := want[name]
		switch {
		case own != (page == ""):
			t.Errorf("%s is from the page %q", name, page)
		case own:
		case !ok:
			t.Errorf("%s is no name of the conventions", name)
		case !strings.HasPrefix(page, "https://github.com/open-telemetry/semantic-conventions"):
			t.Errorf("%s is from the page %s", name, page)
		case c.kind != kind && (c.kind != "any" || kind != "string"): // any is written as JSON
			t.Errorf("%s is a %s: the conventions have %s", name, kind, c.kind)
		}
	}
	for _, r := range gatewayotel.Attributes() {
		check(string(r.Key), kinds[r.Kind], r.Page)
	}
	for _, in := range gatewayotel.Instruments() {
		check(in.Name, in.Kind+" "+in.Unit, in.Page)
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("%s was looked up and has no row", name)
		}
	}
}

// TestNamesAreThoseOfThePackages holds the tables against the constants that
// OpenTelemetry publishes for Go, for the names that these have.
func TestNamesAreThoseOfThePackages(t *testing.T) {
	published := []attribute.Key{
		former.GenAIOperationNameKey, former.GenAIProviderNameKey, former.GenAIRequestModelKey, former.GenAIRequestStreamKey,
		former.GenAIRequestMaxTokensKey, former.GenAIRequestTemperatureKey, former.GenAIRequestTopPKey, former.GenAIRequestTopKKey,
		former.GenAIRequestSeedKey, former.GenAIRequestStopSequencesKey, former.GenAIRequestPresencePenaltyKey,
		former.GenAIRequestFrequencyPenaltyKey, former.GenAIRequestChoiceCountKey, former.GenAIRequestEncodingFormatsKey,
		former.GenAIEmbeddingsDimensionCountKey, former.GenAIOutputTypeKey, former.GenAIConversationIDKey, former.GenAIPromptNameKey,
		former.GenAIResponseIDKey, former.GenAIResponseModelKey, former.GenAIResponseFinishReasonsKey, former.GenAIResponseTimeToFirstChunkKey,
		former.GenAIUsageInputTokensKey, former.GenAIUsageOutputTokensKey, former.GenAIUsageCacheReadInputTokensKey,
		former.GenAIUsageCacheCreationInputTokensKey, former.GenAIUsageReasoningOutputTokensKey, former.GenAIInputMessagesKey,
		former.GenAIOutputMessagesKey, former.GenAISystemInstructionsKey, former.GenAIToolDefinitionsKey, former.GenAITokenTypeKey,
		stable.ServerAddressKey, stable.ServerPortKey, stable.ErrorTypeKey, stable.HTTPResponseStatusCodeKey, stable.HTTPRequestResendCountKey,
	}
	// newer are the names that no package has yet.
	newer := map[string]bool{
		"gen_ai.request.reasoning.level": true, "gen_ai.prompt.version": true, "gen_ai.usage.cache_write.input_tokens": true,
		"gen_ai.usage.text.input_tokens": true, "gen_ai.usage.audio.input_tokens": true, "gen_ai.usage.image.input_tokens": true,
		"gen_ai.usage.text.output_tokens": true, "gen_ai.usage.audio.output_tokens": true, "gen_ai.usage.image.output_tokens": true,
		"gen_ai.token.modality": true,
	}
	have := map[attribute.Key]bool{}
	for _, k := range published {
		have[k] = true
	}
	for _, r := range gatewayotel.Attributes() {
		if r.Page != "" && !have[r.Key] && !newer[string(r.Key)] {
			t.Errorf("%s is in no package, and not known as newer", r.Key)
		}
	}
	metrics := map[string]string{
		genaiconv.ClientOperationDuration{}.Name():           genaiconv.ClientOperationDuration{}.Unit(),
		genaiconv.ClientOperationTimeToFirstChunk{}.Name():   genaiconv.ClientOperationTimeToFirstChunk{}.Unit(),
		genaiconv.ClientOperationTimePerOutputChunk{}.Name(): genaiconv.ClientOperationTimePerOutputChunk{}.Unit(),
		genaiconv.ClientTokenUsage{}.Name():                  genaiconv.ClientTokenUsage{}.Unit(),
	}
	for _, in := range gatewayotel.Instruments() {
		if in.Former && in.Page != "" && metrics[in.Name] != in.Unit {
			t.Errorf("%s has the unit %q: the package has %q", in.Name, in.Unit, metrics[in.Name])
		}
	}
}
