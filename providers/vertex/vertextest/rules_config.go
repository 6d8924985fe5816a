package vertextest

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// checkThinking applies the model's own thinking settings.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/thinking
func checkThinking(x *exchange) error {
	t := x.req.GenerationConfig.ThinkingConfig
	level := t.ThinkingLevel
	if level == "THINKING_LEVEL_UNSPECIFIED" {
		level = ""
	}
	switch {
	case t.ThinkingBudget != nil && level != "":
		return invalid("You can only set only one of thinking budget and thinking level.")
	case !x.facts.thinks() && (t.ThinkingBudget != nil || level != "" || t.IncludeThoughts):
		return invalid("Unable to submit request because thinking is not supported by this model.")
	case x.facts.budget != nil && level != "":
		return invalid("Unable to submit request because thinking_level is not supported by this model.")
	case x.facts.budget == nil && t.ThinkingBudget != nil:
		return invalid("Unable to submit request because thinking_budget is not supported by this model. Use thinking_level instead.")
	case level != "" && !slices.Contains(x.facts.levels, level):
		return invalid("Thinking level %s is not supported for this model. Supported levels: %v.", level, x.facts.levels)
	case t.ThinkingBudget != nil:
		return checkBudget(*x.facts.budget, *t.ThinkingBudget)
	}
	return nil
}

func checkBudget(allowed budgetRange, budget int) error {
	if budget == -1 || budget == 0 && allowed.canDisable {
		return nil
	}
	if budget < allowed.min || budget > allowed.max {
		return invalid("Unable to submit request because thinking budget is out of range; supported values are integers from %d to %d.",
			allowed.min, allowed.max)
	}
	return nil
}

// checkSampling checks parameters of sampling: ranges, and what a generation no
// longer takes.
func checkSampling(x *exchange) error {
	c := x.req.GenerationConfig
	for _, n := range []struct {
		name      string
		value     *float64
		low, high float64
	}{
		{"temperature", c.Temperature, 0, math.Nextafter(2, 3)},
		{"topP", c.TopP, 0, math.Nextafter(1, 2)},
		{"presencePenalty", c.PresencePenalty, -2, 2},
		{"frequencyPenalty", c.FrequencyPenalty, -2, 2},
	} {
		if n.value != nil && (*n.value < n.low || *n.value >= n.high) {
			return outOfRange(n.name, *n.value, n.low, n.high)
		}
	}
	if !x.rules.penalties && (c.PresencePenalty != nil || c.FrequencyPenalty != nil) {
		return invalid("Unable to submit request because presence_penalty and frequency_penalty are not supported by this model.")
	}
	if n := c.CandidateCount; n != nil {
		if x.rules.maxCandidates == 0 {
			return invalid("Unable to submit request because candidate_count is not supported by this model.")
		}
		if *n < 1 || *n > x.rules.maxCandidates {
			return outOfRange("candidateCount", *n, 1, x.rules.maxCandidates+1)
		}
	}
	return checkLogprobs(c, x.rules.maxLogprobs)
}

func checkLogprobs(c generationConfig, limit int) error {
	if c.Logprobs == nil {
		return nil
	}
	if !c.ResponseLogprobs {
		return invalid("Unable to submit request because logprobs can only be set when response_logprobs is true.")
	}
	if *c.Logprobs < 1 || *c.Logprobs > limit {
		return outOfRange("logprobs", *c.Logprobs, 1, limit+1)
	}
	return nil
}

// checkOutput checks what bounds and forms the output.
func checkOutput(x *exchange) error {
	c := x.req.GenerationConfig
	if n := c.MaxOutputTokens; n != nil && (*n < 1 || *n > x.rules.maxOutput) {
		return outOfRange("maxOutputTokens", *n, 1, x.rules.maxOutput+1)
	}
	if n := len(c.StopSequences); n > 5 {
		return invalid("Unable to submit request because the number of stop sequences is %d, which is more than the maximum of 5.", n)
	}
	for _, m := range c.ResponseModalities {
		if m == "TEXT" || m == "MODALITY_UNSPECIFIED" || m == "IMAGE" && x.facts.imageOut || m == "AUDIO" && x.facts.audioOut {
			continue
		}
		return x.refuseModalities()
	}
	return nil
}

// refuseModalities has the platform's own words.
//
// Source: https://github.com/danielmiessler/Fabric/issues/1607
func (x *exchange) refuseModalities() error {
	asked, taken := x.req.GenerationConfig.ResponseModalities, "TEXT"
	if len(asked) == 0 {
		asked = []string{"TEXT"}
	}
	switch {
	case x.facts.audioOut:
		taken = "AUDIO"
	case x.facts.imageOut:
		taken = "TEXT, IMAGE"
	}
	return invalid("The requested combination of response modalities (%s) is not supported by the model. models/%s accepts the following combination of response modalities:\n* %s\n",
		strings.Join(asked, ", "), x.target.model, taken)
}

// checkResponseShape checks response schemas and their types.
func checkResponseShape(x *exchange) error {
	c := x.req.GenerationConfig
	inSchema, inJSONSchema := len(c.ResponseSchema) > 0, len(c.ResponseJSONSchema) > 0
	isJSON, isEnum := c.ResponseMimeType == "application/json", c.ResponseMimeType == "text/x.enum"
	switch {
	case c.ResponseMimeType != "" && c.ResponseMimeType != "text/plain" && !isJSON && !isEnum:
		return invalid("Unable to submit request because response_mime_type is not one of text/plain, application/json, text/x.enum.")
	case inJSONSchema && !x.rules.jsonSchemas:
		return unknownName("responseJsonSchema", "generation_config")
	case inSchema && inJSONSchema:
		return invalid("Unable to submit request because response_schema and response_json_schema can't be set together.")
	case inSchema && !isJSON && !isEnum:
		return invalid("Unable to submit request because response_schema needs response_mime_type application/json or text/x.enum.")
	case inJSONSchema && !isJSON:
		return invalid("Unable to submit request because response_json_schema needs response_mime_type application/json.")
	case isJSON && !x.rules.mixesTools && len(x.req.declarations()) > 0:
		return invalid("Function calling with a response mime type: 'application/json' is unsupported")
	}
	if err := x.checkSchemaForm("generation_config.response_schema", c.ResponseSchema); err != nil {
		return err
	}
	for i, f := range c.ResponseFormat {
		if f.Text == nil {
			continue
		}
		if err := checkJSONForm(fmt.Sprintf("generation_config.response_format[%d].text.schema", i), f.Text.Schema); err != nil {
			return err
		}
	}
	return checkJSONForm("generation_config.response_json_schema", c.ResponseJSONSchema)
}
