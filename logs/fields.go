package logs

import (
	"strings"
	"time"
)

// Kind is what a field's values are.
type Kind int

// The kinds of fields.
const (
	Word   Kind = iota // a text
	Number             // a decimal number
	Flag               // true or false
)

// Field is one member of a record that queries and analytics know by its name.
type Field struct {
	Name string
	Kind Kind
	// Doc says what it is, with its unit.
	Doc string
	// Of returns the field's value in a record; ok is false where it has none. A
	// number is Num, everything else Text.
	Of func(*Record) (v Value, ok bool)
}

// Value is the value of a field.
type Value struct {
	Text string
	Num  float64
}

// Fields returns the table of fields, in the order of the documentation.
func Fields() []Field {
	return []Field{
		{"id", Word, "the call's own id", word(func(r *Record) string { return r.ID })},
		{"surface", Word, "where the call came in: go, http, transport", word(func(r *Record) string { return r.Surface })},
		{"operation", Word, "chat, embeddings, …", word(func(r *Record) string { return r.Operation })},
		{"stream", Flag, "whether the answer was streamed", flag(func(r *Record) bool { return r.Stream })},
		{"requested_model", Word, "the model reference of the caller", word(func(r *Record) string { return r.RequestedModel })},
		{"provider", Word, "the provider that answered, or was asked last", word(func(r *Record) string { return r.Provider })},
		{"slug", Word, "its entry of the catalog", word(func(r *Record) string { return r.Slug })},
		{"model", Word, "the model that answered, or was asked last", word(func(r *Record) string { return r.Model })},
		{"response_model", Word, "the model as the platform named it", word(func(r *Record) string { return r.ResponseModel })},
		{"response_id", Word, "the platform's id of the answer", word(func(r *Record) string { return r.ResponseID })},
		{"config_id", Word, "the config of the catalog", word(func(r *Record) string { return r.ConfigID })},
		{"prompt_id", Word, "the stored prompt", word(func(r *Record) string { return r.PromptID })},
		{"prompt_version", Word, "its version", word(func(r *Record) string { return r.PromptVersion })},
		{"key_id", Word, "the digest of the gateway's API key", word(func(r *Record) string { return r.KeyID })},
		{"user", Word, "the end user's id", word(func(r *Record) string { return r.User })},
		{"cache_status", Word, "Cache Disabled, Cache Miss, Cache Refreshed, Cache Hit, Cache Semantic Hit", word(func(r *Record) string { return r.CacheStatus })},
		{"retry_status", Word, "Not Triggered, Failed, Success on N tries", word(func(r *Record) string { return r.RetryStatus })},
		{"fallback_status", Word, "Active, Disabled", word(func(r *Record) string { return r.FallbackStatus })},
		{"loadbalance_status", Word, "Active, Disabled", word(func(r *Record) string { return r.LoadBalanceStatus })},
		{"finish_reason", Word, "why the answer ended", word(func(r *Record) string { return r.FinishReason })},
		{"error_code", Word, "why the call failed", word(func(r *Record) string { return failure(r).Code })},
		{"status", Number, "the HTTP status of the platform where the call failed", count(func(r *Record) int64 { return int64(failure(r).Status) })},
		{"failed", Flag, "whether the call failed", flag(func(r *Record) bool { return r.Error != nil })},
		{"attempts", Number, "requests and targets that were passed over", always(func(r *Record) float64 { return float64(len(r.Attempts)) })},
		{"warnings", Number, "how many there were", always(func(r *Record) float64 { return float64(len(r.Warnings)) })},
		{"prompt_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.Prompt })},
		{"completion_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.Completion })},
		{"total_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.Total })},
		{"cached_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.Cached })},
		{"cache_write_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.CacheWrite })},
		{"reasoning_tokens", Number, "tokens", tokens(func(t *Tokens) int64 { return t.Reasoning })},
		{"cost_usd", Number, "US dollars", func(r *Record) (Value, bool) {
			if r.Cost == nil {
				return Value{}, false
			}
			return Value{Num: r.Cost.USD()}, true
		}},
		{"saved_usd", Number, "US dollars", func(r *Record) (Value, bool) {
			if r.Saved == nil {
				return Value{}, false
			}
			return Value{Num: r.Saved.USD()}, true
		}},
		{"first_chunk_ms", Number, "milliseconds", func(r *Record) (Value, bool) {
			return Value{Num: r.FirstChunk.Float()}, r.FirstChunk != 0
		}},
		{"duration_ms", Number, "milliseconds", always(func(r *Record) float64 { return r.Duration.Float() })},
		{"feedback", Number, "the weighted mean of what was said of the answer", func(r *Record) (Value, bool) {
			v, ok := r.Score()
			return Value{Num: v}, ok
		}},
	}
}

// metadataField begins the names of fields that are entries of the metadata.
const metadataField = "metadata."

// FieldOf returns the field of that name; "metadata.KEY" is one of kind [Word].
func FieldOf(name string) (Field, bool) {
	if key, ok := strings.CutPrefix(name, metadataField); ok && key != "" {
		return Field{Name: name, Kind: Word, Doc: "an entry of the metadata", Of: func(r *Record) (Value, bool) {
			v, has := r.Metadata[key]
			return Value{Text: v}, has
		}}, true
	}
	for _, f := range allFields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Score is the weighted mean of the record's feedback; ok is false without any.
func (r *Record) Score() (score float64, ok bool) {
	sum, weights := 0.0, 0.0
	for _, f := range r.Feedback {
		w := f.Weight
		if w == 0 {
			w = 1
		}
		sum, weights = sum+w*float64(f.Value), weights+w
	}
	if weights == 0 {
		return 0, false
	}
	return sum / weights, true
}

// Day returns the start of the record's day in UTC.
func (r *Record) Day() time.Time { return r.Time.UTC().Truncate(24 * time.Hour) }

func word(of func(*Record) string) func(*Record) (Value, bool) {
	return func(r *Record) (Value, bool) {
		s := of(r)
		return Value{Text: s}, s != ""
	}
}

func flag(of func(*Record) bool) func(*Record) (Value, bool) {
	return func(r *Record) (Value, bool) {
		if of(r) {
			return Value{Text: "true", Num: 1}, true
		}
		return Value{Text: "false"}, true
	}
}

func always(of func(*Record) float64) func(*Record) (Value, bool) {
	return func(r *Record) (Value, bool) { return Value{Num: of(r)}, true }
}

func count(of func(*Record) int64) func(*Record) (Value, bool) {
	return func(r *Record) (Value, bool) {
		n := of(r)
		return Value{Num: float64(n)}, n != 0
	}
}

func tokens(of func(*Tokens) int64) func(*Record) (Value, bool) {
	return func(r *Record) (Value, bool) {
		if r.Tokens == nil {
			return Value{}, false
		}
		return Value{Num: float64(of(r.Tokens))}, true
	}
}

func failure(r *Record) Error {
	if r.Error == nil {
		return Error{}
	}
	return *r.Error
}
