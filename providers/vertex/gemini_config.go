package vertex

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
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
	if err := cmp.Or(e.maxTokens(), e.candidates(), e.stop(), e.logprobs(), e.responseFormat(), e.thinking()); err != nil {
		return err
	}
	e.seed()
	e.modalities()
	if err := e.configExtras(); err != nil {
		return err
	}
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
		e.float("presencePenalty", q.PresencePenalty)
		e.float("frequencyPenalty", q.FrequencyPenalty)
		return
	}
	if q.PresencePenalty != nil {
		e.warnf(providers.WarnUnsupported, "presence_penalty", "left out: this model refuses it")
	}
	if q.FrequencyPenalty != nil {
		e.warnf(providers.WarnUnsupported, "frequency_penalty", "left out: this model refuses it")
	}
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
func (e *geminiEncoder) candidates() error {
	n := e.q.N
	switch {
	case n == nil || *n == 1:
		return nil
	case *n < 1:
		return providers.Invalid("n", "must be at least 1")
	}
	most := max(1, e.m.facts.MaxCandidates)
	if *n > most {
		e.warnf(providers.WarnAdjusted, "n", "lowered to "+strconv.Itoa(most)+": the most this model gives in one request")
	}
	if most > 1 {
		e.w.Key("candidateCount")
		e.w.Int(int64(min(*n, most)))
	}
	return nil
}

func (e *geminiEncoder) stop() error {
	if len(e.q.Stop) == 0 {
		return nil
	}
	if len(e.q.Stop) > 5 {
		return providers.Invalid("stop", "five stop sequences at most")
	}
	e.w.Key("stopSequences")
	e.w.BeginArray()
	for _, s := range e.q.Stop {
		e.w.String(s)
	}
	e.w.EndArray()
	return nil
}

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

func (e *geminiEncoder) modalities() {
	if len(e.q.Modalities) == 0 {
		return
	}
	e.w.Key("responseModalities")
	e.w.BeginArray()
	for _, m := range e.q.Modalities {
		e.w.String(strings.ToUpper(m))
	}
	e.w.EndArray()
}

func (e *geminiEncoder) responseFormat() error {
	f := e.q.ResponseFormat
	if f == nil || f.Type == "" || f.Type == "text" {
		return nil
	}
	if f.Type != "json_object" && f.Type != "json_schema" {
		return providers.Invalid("response_format.type", "must be text, json_object or json_schema")
	}
	if len(e.q.Tools) > 0 && !e.m.facts.JSONWithTools {
		e.warnf(providers.WarnConflict, "response_format", "left out: this model gives no JSON form beside tools")
		return nil
	}
	e.w.Key("responseMimeType")
	e.w.String("application/json")
	if f.Type == "json_object" {
		return nil
	}
	if f.JSONSchema == nil || len(f.JSONSchema.Schema) == 0 || !jsonx.Valid(f.JSONSchema.Schema) {
		return providers.Invalid("response_format.json_schema.schema", "a JSON Schema is required")
	}
	e.w.Key("responseJsonSchema")
	e.rewriteSchema("response_format.json_schema.schema", f.JSONSchema.Schema)
	return nil
}

// labels writes the labels, after checking what the platform would refuse.
func (e *geminiEncoder) labels() error {
	if len(e.q.Labels) == 0 {
		return nil
	}
	keys, err := checkLabels(e.q.Labels)
	if err != nil {
		return err
	}
	e.w.Key("labels")
	e.w.BeginObject()
	for _, k := range keys {
		e.w.Key(k)
		e.w.String(e.q.Labels[k])
	}
	e.w.EndObject()
	return nil
}

// extras writes the members that the platform knows by name and warns of the
// others.
func (e *geminiEncoder) extras() error {
	if e.q.User != "" {
		e.warnf(providers.WarnUnsupported, "user", "left out: "+findParam("user").note)
	}
	return e.eachExtra(func(name string, value []byte, p *param, again bool) error {
		switch {
		case p == nil:
			e.warnf(providers.WarnUnknown, name, "left out: the platform does not know it")
		case p.gemini == reject:
			return providers.Invalid(name, p.note)
		case p.gemini == warn:
			e.warnf(providers.WarnUnsupported, name, "left out: "+p.note)
		case p.gemini == translate:
			e.warnf(providers.WarnUnsupported, name, "left out: the request has a field of its own for it")
		case p.gemini == forward && again:
			e.warnf(providers.WarnConflict, name, "left out: it is given twice")
		case p.gemini == forward && e.purpose == toCount && !isConfig(p.wire):
			e.uncounted(name, p)
		case p.gemini == forward && !strings.Contains(p.wire, "."):
			e.w.Key(p.wire)
			writeCamel(&e.w, value)
		}
		return nil
	})
}

// isConfig reports whether a member belongs into generationConfig.
func isConfig(wire string) bool { return strings.HasPrefix(wire, "generationConfig.") }

// configExtras writes the members that belong into generationConfig.
func (e *geminiEncoder) configExtras() error {
	return e.eachExtra(func(_ string, value []byte, p *param, again bool) error {
		if p != nil && p.gemini == forward && !again && isConfig(p.wire) {
			e.w.Key(lastSegment(p.wire))
			writeCamel(&e.w, value)
		}
		return nil
	})
}

// eachExtra visits the members beyond the schema that are not null, with their
// row in the parameter table, nil when there is none, and whether the same
// parameter was there before.
func (e *geminiEncoder) eachExtra(visit func(name string, value []byte, p *param, again bool) error) error {
	if len(e.q.Extra) == 0 {
		return nil
	}
	var seen []*param
	r := jsonx.NewReader(e.q.Extra)
	for r.Object(); r.NextKey(); {
		name, value := string(r.Key()), r.Raw()
		if value == nil || string(value) == "null" {
			continue
		}
		p := findParam(name)
		if err := visit(name, value, p, slices.Contains(seen, p)); err != nil {
			return err
		}
		seen = append(seen, p)
	}
	if r.End() != nil {
		return providers.Invalid("extra", "not the text of a JSON object")
	}
	return nil
}

// writeCamel writes a JSON value with its object keys in the case that the
// platform's JSON has.
func writeCamel(w *jsonx.Writer, raw []byte) {
	r := jsonx.NewReader(raw)
	switch r.Kind() {
	case jsonx.Object:
		w.BeginObject()
		for r.Object(); r.NextKey(); {
			w.AnyKey(camel(string(r.Key())))
			writeCamel(w, r.Raw())
		}
		w.EndObject()
	case jsonx.Array:
		w.BeginArray()
		for r.Array(); r.NextElem(); {
			writeCamel(w, r.Raw())
		}
		w.EndArray()
	default:
		w.Raw(raw)
	}
}

// camel turns snake_case into lowerCamelCase.
func camel(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	words := strings.Split(s, "_")
	for i, word := range words {
		if i > 0 && word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
