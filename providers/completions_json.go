package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the request as POST /v1/completions takes it.
func (q CompletionRequest) MarshalJSON() ([]byte, error) { return encode(q.encode) }

// UnmarshalJSON decodes a request; a wrong type is an error that names the path.
func (q *CompletionRequest) UnmarshalJSON(data []byte) error {
	*q = CompletionRequest{}
	return decode(data, q.decode)
}

func (q *CompletionRequest) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("model")
	w.String(q.Model)
	w.Key("prompt")
	q.Prompt.encode(w)
	putString(w, "suffix", q.Suffix)
	putInt(w, "max_tokens", q.MaxTokens)
	putFloat(w, "temperature", q.Temperature)
	putFloat(w, "top_p", q.TopP)
	putInt(w, "n", q.N)
	putInt(w, "best_of", q.BestOf)
	putStrings(w, "stop", q.Stop)
	if q.Seed != nil {
		w.Key("seed")
		w.Int(*q.Seed)
	}
	putFloat(w, "presence_penalty", q.PresencePenalty)
	putFloat(w, "frequency_penalty", q.FrequencyPenalty)
	putInt(w, "logprobs", q.Logprobs)
	if q.Echo {
		w.Key("echo")
		w.Bool(true)
	}
	if q.Stream {
		w.Key("stream")
		w.Bool(true)
	}
	if q.StreamOptions != nil {
		w.Key("stream_options")
		q.StreamOptions.encode(w)
	}
	putString(w, "user", q.User)
	w.Members(q.Extra)
	w.EndObject()
}

func (q *CompletionRequest) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "prompt":
			q.Prompt.decode(r)
		case "suffix":
			q.Suffix = r.String()
		case "max_tokens":
			q.MaxTokens = getInt(r)
		case "temperature":
			q.Temperature = optional(r, r.Float)
		case "top_p":
			q.TopP = optional(r, r.Float)
		case "n":
			q.N = getInt(r)
		case "best_of":
			q.BestOf = getInt(r)
		case "stop":
			q.Stop.decode(r)
		case "seed":
			q.Seed = optional(r, r.Int)
		case "presence_penalty":
			q.PresencePenalty = optional(r, r.Float)
		case "frequency_penalty":
			q.FrequencyPenalty = optional(r, r.Float)
		case "logprobs":
			q.Logprobs = getInt(r)
		case "echo":
			q.Echo = r.Bool()
		case "stream":
			q.Stream = r.Bool()
		case "stream_options":
			q.StreamOptions = getObject(r, (*StreamOptions).decode)
		case "user":
			q.User = r.String()
		default:
			q.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes a string or an array of strings.
func (p CompletionPrompt) MarshalJSON() ([]byte, error) { return encode(p.encode) }

// UnmarshalJSON decodes a string or an array of strings. Tokens are refused:
// their numbers mean nothing to models of another vendor.
func (p *CompletionPrompt) UnmarshalJSON(data []byte) error {
	*p = CompletionPrompt{}
	return decode(data, p.decode)
}

func (p *CompletionPrompt) encode(w *jsonx.Writer) {
	switch {
	case len(p.Texts) == 1 && p.Single:
		w.String(p.Texts[0])
	case p.Texts == nil:
		w.Null()
	default:
		w.BeginArray()
		for _, text := range p.Texts {
			w.String(text)
		}
		w.EndArray()
	}
}

func (p *CompletionPrompt) decode(r *jsonx.Reader) {
	*p = CompletionPrompt{}
	switch r.Kind() {
	case jsonx.String:
		p.Texts, p.Single = []string{r.String()}, true
	case jsonx.Array:
		p.Texts = []string{}
		for r.Array(); r.NextElem(); {
			switch r.Kind() {
			case jsonx.String:
				p.Texts = append(p.Texts, r.String())
			case jsonx.Number, jsonx.Array:
				r.Failf("tokens can't be completed, they are another model's: send the text")
			default:
				r.Failf("expected a string")
			}
		}
	case jsonx.Null:
		r.Null()
	default:
		r.Failf("expected a string or an array of strings")
	}
}

// AppendJSON appends the answer's JSON to dst.
func (c *Completion) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	c.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

// MarshalJSON encodes the answer, or a piece of it.
func (c Completion) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes an answer, or a piece of one.
func (c *Completion) UnmarshalJSON(data []byte) error {
	*c = Completion{}
	return decode(data, c.decode)
}

func (c *Completion) encode(w *jsonx.Writer) {
	w.BeginObject()
	encodeHead(w, c.ID, "text_completion", c.Created, c.Model)
	w.Key("choices")
	list(w, c.Choices, (*CompletionChoice).encode)
	encodeTail(w, c.Usage, c.Provider, c.Extra)
	w.EndObject()
}

func (c *Completion) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "id":
			c.ID = r.String()
		case "object":
			r.Skip()
		case "created":
			c.Created = r.Int()
		case "model":
			c.Model = r.String()
		case "choices":
			c.Choices = getList(r, (*CompletionChoice).decode)
		case "usage":
			c.Usage = getObject(r, (*Usage).decode)
		case "provider":
			c.Provider = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the choice.
func (c CompletionChoice) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a choice.
func (c *CompletionChoice) UnmarshalJSON(data []byte) error {
	*c = CompletionChoice{}
	return decode(data, c.decode)
}

// encode writes logprobs and finish reason even when there are none, as null:
// clients of the older API look at both.
func (c *CompletionChoice) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("text")
	w.String(c.Text)
	w.Key("index")
	w.Int(int64(c.Index))
	w.Key("logprobs")
	if c.Logprobs != nil {
		c.Logprobs.encode(w)
	} else {
		w.Null()
	}
	w.Key("finish_reason")
	if c.FinishReason != "" {
		w.String(c.FinishReason)
	} else {
		w.Null()
	}
	w.Members(c.Extra)
	w.EndObject()
}

func (c *CompletionChoice) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "text":
			c.Text = r.String()
		case "index":
			c.Index = int(r.Int())
		case "logprobs":
			c.Logprobs = getObject(r, (*CompletionLogprobs).decode)
		case "finish_reason":
			c.FinishReason = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

// MarshalJSON encodes the log probabilities.
func (l CompletionLogprobs) MarshalJSON() ([]byte, error) { return encode(l.encode) }

// UnmarshalJSON decodes log probabilities.
func (l *CompletionLogprobs) UnmarshalJSON(data []byte) error {
	*l = CompletionLogprobs{}
	return decode(data, l.decode)
}

func (l *CompletionLogprobs) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("tokens")
	w.BeginArray()
	for _, token := range l.Tokens {
		w.String(token)
	}
	w.EndArray()
	w.Key("token_logprobs")
	w.BeginArray()
	for _, f := range l.TokenLogprobs {
		w.Float(f)
	}
	w.EndArray()
	w.Key("top_logprobs")
	if l.TopLogprobs == nil {
		w.Null()
	} else {
		w.BeginArray()
		for _, place := range l.TopLogprobs {
			w.BeginObject()
			for _, a := range place {
				w.AnyKey(a.Token)
				w.Float(a.Logprob)
			}
			w.EndObject()
		}
		w.EndArray()
	}
	w.Key("text_offset")
	w.BeginArray()
	for _, n := range l.TextOffset {
		w.Int(int64(n))
	}
	w.EndArray()
	w.EndObject()
}

func (l *CompletionLogprobs) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "tokens":
			l.Tokens = getStrings(r)
		case "token_logprobs": // whose first one may be null, where a prompt is echoed
			for r.Array(); r.NextElem(); {
				l.TokenLogprobs = append(l.TokenLogprobs, r.Float())
			}
		case "top_logprobs":
			l.TopLogprobs = getPlaces(r)
		case "text_offset":
			for r.Array(); r.NextElem(); {
				l.TextOffset = append(l.TextOffset, int(r.Int()))
			}
		default:
			r.Skip()
		}
	}
}

// getPlaces reads the alternatives at each place.
func getPlaces(r *jsonx.Reader) [][]CompletionAlternative {
	if r.Null() {
		return nil
	}
	places := [][]CompletionAlternative{}
	for r.Array(); r.NextElem(); {
		var place []CompletionAlternative
		for r.Object(); r.NextKey(); {
			place = append(place, CompletionAlternative{string(r.Key()), 0})
			place[len(place)-1].Logprob = r.Float()
		}
		places = append(places, place)
	}
	return places
}
