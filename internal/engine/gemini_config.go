package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/schema"
	"github.com/b650d4bf/gateway/providers"
)

// generationConfig writes the sampling parameters, the answer's form and the
// thinking setting, or nothing when none is given.
func (e *geminiEncoder) generationConfig() error {
	start := e.w.Len()
	e.w.Key("generationConfig")
	e.w.BeginObject()
	open := e.w.Len()
	e.sampling()
	e.penalties()
	if err := cmp.Or(e.maxTokens(), e.stop(), e.logprobs(), e.responseFormat(), e.thinking()); err != nil {
		return err
	}
	e.candidates()
	e.seed()
	if err := cmp.Or(e.requestResolution(), e.speech()); err != nil {
		return err
	}
	e.forwards("generationConfig.", open-1)
	if e.w.Len() == open {
		e.w.Truncate(start)
		return nil
	}
	e.w.EndObject()
	return nil
}

func (e *geminiEncoder) sampling() {
	q := e.q
	if e.m.facts.IgnoresSampling {
		for _, p := range []struct {
			name  string
			given bool
		}{{"temperature", q.Temperature != nil}, {"top_p", q.TopP != nil}, {"top_k", q.TopK != nil}} {
			if p.given {
				e.warnf(providers.WarnUnsupported, p.name, "left out: this model ignores it")
			}
		}
		return
	}
	e.float("temperature", q.Temperature)
	e.float("topP", q.TopP)
	if q.TopK != nil {
		e.w.Key("topK")
		e.w.Int(int64(*q.TopK))
	}
}

func (e *geminiEncoder) penalties() {
	q := e.q
	if !e.m.facts.NoPenalties {
		e.penalty("presence_penalty", "presencePenalty", q.PresencePenalty)
		e.penalty("frequency_penalty", "frequencyPenalty", q.FrequencyPenalty)
		return
	}
	if q.PresencePenalty != nil {
		e.warnf(providers.WarnUnsupported, "presence_penalty", "left out: this model refuses it")
	}
	if q.FrequencyPenalty != nil {
		e.warnf(providers.WarnUnsupported, "frequency_penalty", "left out: this model refuses it")
	}
}

// maxPenalty stands in for a penalty of 2, which OpenAI takes and the platform
// does not.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
const maxPenalty = 1.999

func (e *geminiEncoder) penalty(name, key string, v *float64) {
	if v != nil && *v == 2 {
		v = new(float64)
		*v = maxPenalty
		e.warnf(providers.WarnAdjusted, name, "lowered to 1.999: the platform takes less than 2")
	}
	e.float(key, v)
}

func (e *geminiEncoder) float(key string, v *float64) {
	if v != nil {
		e.w.Key(key)
		e.w.Float(*v)
	}
}

// outputLimit is the cap on the answer's tokens, and the member it came from.
func (e *geminiEncoder) outputLimit() (limit *int, name string) {
	if e.q.MaxCompletionTokens != nil {
		return e.q.MaxCompletionTokens, "max_completion_tokens"
	}
	return e.q.MaxTokens, "max_tokens"
}

func (e *geminiEncoder) maxTokens() error {
	limit, name := e.outputLimit()
	if limit == nil {
		return nil
	}
	if *limit < 1 {
		return providers.Invalid(name, "must be at least 1")
	}
	if e.q.MaxTokens != nil && *e.q.MaxTokens != *limit {
		e.warnf(providers.WarnConflict, "max_tokens", "left out: max_completion_tokens is given too")
	}
	e.w.Key("maxOutputTokens")
	e.w.Int(int64(*limit))
	return nil
}

// candidates writes the number of choices. One is the default, and some models
// refuse even to be told so.
func (e *geminiEncoder) candidates() {
	if e.in.choices > 1 {
		e.w.Key("candidateCount")
		e.w.Int(int64(e.in.choices))
	}
}

// stop writes the stop sequences; an empty one stops nothing.
func (e *geminiEncoder) stop() error {
	n := 0
	for _, s := range e.q.Stop {
		switch {
		case s == "":
			continue
		case n == 0:
			e.w.Key("stopSequences")
			e.w.BeginArray()
		case n == maxStops:
			return providers.Invalid("stop", "five stop sequences at most")
		}
		e.w.String(s)
		n++
	}
	if n > 0 {
		e.w.EndArray()
	}
	return nil
}

// maxStops is the most stop sequences of one request.
const maxStops = 5

// seed is 32 bits on the platform.
func (e *geminiEncoder) seed() {
	if e.q.Seed == nil {
		return
	}
	seed := *e.q.Seed
	if seed > math.MaxInt32 || seed < math.MinInt32 {
		seed = int64(int32(seed)) // the low 32 bits are wanted
		e.warnf(providers.WarnAdjusted, "seed", "reduced to its low 32 bits")
	}
	e.w.Key("seed")
	e.w.Int(seed)
}

func (e *geminiEncoder) logprobs() error {
	top := e.q.TopLogprobs
	if e.q.Logprobs == nil || !*e.q.Logprobs {
		if top != nil && *top > 0 {
			return providers.Invalid("top_logprobs", "needs logprobs to be true")
		}
		return nil
	}
	e.w.Key("responseLogprobs")
	e.w.Bool(true)
	if top == nil || *top == 0 {
		return nil
	}
	if *top < 0 || *top > 20 {
		return providers.Invalid("top_logprobs", "must be 0 to 20")
	}
	e.w.Key("logprobs")
	e.w.Int(int64(*top))
	return nil
}

func (e *geminiEncoder) responseFormat() error {
	f := e.q.ResponseFormat
	if f == nil || f.Type == "text" || f.Type == "" && f.JSONSchema == nil {
		return nil
	}
	if f.Type != "json_object" && f.Type != "json_schema" && f.Type != "" {
		return providers.Invalid("response_format.type", "must be text, json_object or json_schema")
	}
	if e.tooled && !e.m.facts.JSONWithTools {
		e.warnf(providers.WarnConflict, "response_format", "left out: this model gives no JSON form beside tools")
		return nil
	}
	e.w.Key("responseMimeType")
	e.w.String("application/json")
	if f.Type == "json_object" {
		return nil
	}
	raw, path := answerSchema(f.JSONSchema)
	if len(raw) == 0 || !jsonx.Valid(raw) {
		return providers.Invalid("response_format.json_schema.schema", "a JSON Schema is required")
	}
	// The schema's order of members is the one that the answer should have.
	return e.schema(raw, schemaOf{
		json: "responseJsonSchema", message: "responseSchema", options: schema.Options{Ordering: true},
	}, func() string { return path })
}

// schemaStarts are members that make an object a JSON Schema.
var schemaStarts = []string{"type", "properties", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}

// answerSchema returns the schema of the answer with its place: some clients
// give it as json_schema itself.
func answerSchema(s *providers.JSONSchema) (raw []byte, path string) {
	path = "response_format.json_schema"
	switch {
	case s == nil:
	case len(s.Schema) > 0:
		return s.Schema, path + ".schema"
	case slices.ContainsFunc(schemaStarts, func(word string) bool { _, ok := s.Extra.Get(word); return ok }):
		return s.Extra, path
	}
	return nil, path
}

// labels writes the labels, after checking what the platform would refuse, and
// those made from the call's metadata.
func (e *geminiEncoder) labels() error {
	hints := e.in.target.Labels
	if len(e.q.Labels) == 0 && len(hints) == 0 {
		return nil
	}
	keys, err := checkLabels(e.q.Labels)
	if err != nil {
		return err
	}
	if e.m.noLabels {
		if len(keys) > 0 {
			e.warnf(providers.WarnUnsupported, "labels", "left out: the service has refused labels for this model")
		}
		return nil
	}
	hinted, left := hintedLabels(hints, e.q.Labels)
	if left > 0 {
		e.warnf(providers.WarnUnsupported, "labels", strconv.Itoa(left)+" labels made from metadata were left out: 64 at most, each with a name of its own")
	}
	if len(keys)+len(hinted) == 0 {
		return nil
	}
	e.w.Key("labels")
	e.w.BeginObject()
	for _, k := range keys {
		e.w.Key(k)
		e.w.String(e.q.Labels[k])
	}
	for _, k := range slices.Sorted(maps.Keys(hinted)) {
		e.w.Key(k)
		e.w.String(hinted[k])
	}
	e.w.EndObject()
	return nil
}
