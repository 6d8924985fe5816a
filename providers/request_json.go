package providers

import (
	"maps"
	"slices"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// MarshalJSON encodes the request as POST /v1/chat/completions takes it.
func (q ChatCompletionRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *ChatCompletionRequest) UnmarshalJSON(data []byte) error {
	*q = ChatCompletionRequest{}
	return decode(data, q.decode)
}

// AppendJSON appends the request's JSON to dst.
func (q *ChatCompletionRequest) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	q.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

func (q *ChatCompletionRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("model")
	w.String(q.Model)
	w.Key("messages")
	list(w, q.Messages, (*Message).encode)
	q.encodeSampling(w)
	if q.Stream {
		w.Key("stream")
		w.Bool(true)
	}
	if q.StreamOptions != nil {
		w.Key("stream_options")
		q.StreamOptions.encode(w)
	}
	putList(w, "tools", q.Tools, (*Tool).encode)
	if q.ToolChoice != nil {
		w.Key("tool_choice")
		q.ToolChoice.encode(w)
	}
	putBool(w, "parallel_tool_calls", q.ParallelToolCalls)
	if q.ResponseFormat != nil {
		w.Key("response_format")
		q.ResponseFormat.encode(w)
	}
	putString(w, "reasoning_effort", q.ReasoningEffort)
	if q.Thinking != nil {
		w.Key("thinking")
		q.Thinking.encode(w)
	}
	putStrings(w, "modalities", q.Modalities)
	putMap(w, "labels", q.Labels)
	putString(w, "user", q.User)
	putMap(w, "metadata", q.Metadata)
	w.Members(q.Extra)
	w.EndObject()
}

// encodeSampling writes the scalar parameters.
func (q *ChatCompletionRequest) encodeSampling(w *jsonx.Writer) {
	putInt(w, "max_tokens", q.MaxTokens)
	putInt(w, "max_completion_tokens", q.MaxCompletionTokens)
	putFloat(w, "temperature", q.Temperature)
	putFloat(w, "top_p", q.TopP)
	putInt(w, "top_k", q.TopK)
	putInt(w, "n", q.N)
	putStrings(w, "stop", q.Stop)
	if q.Seed != nil {
		w.Key("seed")
		w.Int(*q.Seed)
	}
	putFloat(w, "presence_penalty", q.PresencePenalty)
	putFloat(w, "frequency_penalty", q.FrequencyPenalty)
	putBool(w, "logprobs", q.Logprobs)
	putInt(w, "top_logprobs", q.TopLogprobs)
}

// putMap writes the entries in the order of their keys, unless there are none.
func putMap(w *jsonx.Writer, key string, entries map[string]string) {
	if len(entries) == 0 {
		return
	}
	w.Key(key)
	w.BeginObject()
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		w.AnyKey(k)
		w.String(entries[k])
	}
	w.EndObject()
}

func (q *ChatCompletionRequest) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if q.decodeSampling(r) {
			continue
		}
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "messages":
			q.Messages = getList(r, (*Message).decode)
		case "stream":
			q.Stream = r.Bool()
		case "stream_options":
			q.StreamOptions = getObject(r, (*StreamOptions).decode)
		case "tools":
			q.Tools = getList(r, (*Tool).decode)
		case "tool_choice":
			q.ToolChoice = getObject(r, (*ToolChoice).decode)
		case "parallel_tool_calls":
			q.ParallelToolCalls = optional(r, r.Bool)
		case "response_format":
			q.ResponseFormat = getObject(r, (*ResponseFormat).decode)
		case "reasoning_effort":
			q.ReasoningEffort = r.String()
		case "thinking":
			q.Thinking = getObject(r, (*Thinking).decode)
		case "modalities":
			q.Modalities = getStrings(r)
		case "labels":
			q.Labels = getMap(r)
		case "user":
			q.User = r.String()
		case "metadata":
			q.Metadata = getMap(r)
		default:
			q.Extra.keep(r)
		}
	}
}

// decodeSampling reads a scalar parameter and reports whether the member is one.
func (q *ChatCompletionRequest) decodeSampling(r *jsonx.Reader) bool {
	switch string(r.Key()) {
	case "max_tokens":
		q.MaxTokens = getInt(r)
	case "max_completion_tokens":
		q.MaxCompletionTokens = getInt(r)
	case "temperature":
		q.Temperature = optional(r, r.Float)
	case "top_p":
		q.TopP = optional(r, r.Float)
	case "top_k":
		q.TopK = getInt(r)
	case "n":
		q.N = getInt(r)
	case "stop":
		q.Stop.decode(r)
	case "seed":
		q.Seed = optional(r, r.Int)
	case "presence_penalty":
		q.PresencePenalty = optional(r, r.Float)
	case "frequency_penalty":
		q.FrequencyPenalty = optional(r, r.Float)
	case "logprobs":
		q.Logprobs = optional(r, r.Bool)
	case "top_logprobs":
		q.TopLogprobs = getInt(r)
	default:
		return false
	}
	return true
}

func getMap(r *jsonx.Reader) map[string]string {
	if r.Null() {
		return nil
	}
	entries := map[string]string{}
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		entries[key] = r.String()
	}
	return entries
}

// UnmarshalJSON decodes a string or an array of strings.
func (s *Stop) UnmarshalJSON(data []byte) error {
	*s = nil
	return decode(data, s.decode)
}

func (s *Stop) decode(r *jsonx.Reader) {
	switch r.Kind() {
	case jsonx.String:
		if v := r.String(); v != "" {
			*s = Stop{v}
		}
	case jsonx.Array, jsonx.Null:
		*s = getStrings(r)
	default:
		r.Failf("expected a string or an array of strings")
	}
}

func (o *StreamOptions) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("include_usage")
	w.Bool(o.IncludeUsage)
	w.Members(o.Extra)
	w.EndObject()
}

func (o *StreamOptions) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "include_usage":
			o.IncludeUsage = r.Bool()
		default:
			o.Extra.keep(r)
		}
	}
}

func (t *Thinking) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "type", t.Type)
	putInt(w, "budget_tokens", t.BudgetTokens)
	w.Members(t.Extra)
	w.EndObject()
}

func (t *Thinking) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			t.Type = r.String()
		case "budget_tokens":
			t.BudgetTokens = getInt(r)
		default:
			t.Extra.keep(r)
		}
	}
}

func (f *ResponseFormat) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "type", f.Type)
	if f.JSONSchema != nil {
		w.Key("json_schema")
		f.JSONSchema.encode(w)
	}
	w.Members(f.Extra)
	w.EndObject()
}

func (f *ResponseFormat) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			f.Type = r.String()
		case "json_schema":
			f.JSONSchema = getObject(r, (*JSONSchema).decode)
		default:
			f.Extra.keep(r)
		}
	}
}

func (s *JSONSchema) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "name", s.Name)
	putString(w, "description", s.Description)
	putRaw(w, "schema", s.Schema)
	putBool(w, "strict", s.Strict)
	w.Members(s.Extra)
	w.EndObject()
}

func (s *JSONSchema) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "name":
			s.Name = r.String()
		case "description":
			s.Description = r.String()
		case "schema":
			if !r.Null() {
				s.Schema = r.Raw()
			}
		case "strict":
			s.Strict = optional(r, r.Bool)
		default:
			s.Extra.keep(r)
		}
	}
}
