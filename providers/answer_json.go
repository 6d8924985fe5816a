package providers

import "github.com/b650d4bf/gateway/internal/jsonx"

// MarshalJSON encodes the answer.
func (c ChatCompletion) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes an answer.
func (c *ChatCompletion) UnmarshalJSON(data []byte) error {
	*c = ChatCompletion{}
	return decode(data, c.decode)
}

// AppendJSON appends the answer's JSON to dst.
func (c *ChatCompletion) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	c.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

func (c *ChatCompletion) encode(w *jsonx.Writer) {
	w.BeginObject()
	encodeHead(w, c.ID, "chat.completion", c.Created, c.Model)
	w.Key("choices")
	list(w, c.Choices, (*Choice).encode)
	encodeTail(w, c.Usage, c.Provider, c.Extra)
	w.EndObject()
}

// encodeHead writes the members that an answer and a chunk begin with.
func encodeHead(w *jsonx.Writer, id, object string, created int64, model string) {
	w.Key("id")
	w.String(id)
	w.Key("object")
	w.String(object)
	w.Key("created")
	w.Int(created)
	w.Key("model")
	w.String(model)
}

// encodeTail writes the members that an answer and a chunk end with.
func encodeTail(w *jsonx.Writer, u *Usage, provider string, extra Extra) {
	if u != nil {
		w.Key("usage")
		u.encode(w)
	}
	putString(w, "provider", provider)
	w.Members(extra)
}

func (c *ChatCompletion) decode(r *jsonx.Reader) {
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
			c.Choices = getList(r, (*Choice).decode)
		case "usage":
			c.Usage = getObject(r, (*Usage).decode)
		case "provider":
			c.Provider = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

func (c *Choice) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Int(int64(c.Index))
	w.Key("message")
	c.Message.encode(w)
	encodeEnd(w, c.FinishReason, c.Logprobs, c.NativeFinishReason, c.Extra)
	w.EndObject()
}

// encodeEnd writes the members that a choice ends with.
func encodeEnd(w *jsonx.Writer, finish string, lp *Logprobs, native string, extra Extra) {
	w.Key("logprobs")
	if lp == nil {
		w.Null()
	} else {
		lp.encode(w)
	}
	w.Key("finish_reason")
	if finish == "" {
		w.Null()
	} else {
		w.String(finish)
	}
	putString(w, "native_finish_reason", native)
	w.Members(extra)
}

func (c *Choice) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			c.Index = int(r.Int())
		case "message":
			c.Message.decode(r)
		case "finish_reason":
			c.FinishReason = r.Intern(FinishStop)
		case "logprobs":
			c.Logprobs = getObject(r, (*Logprobs).decode)
		case "native_finish_reason":
			c.NativeFinishReason = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

func (l *Logprobs) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("content")
	list(w, l.Content, (*TokenLogprob).encode)
	w.Members(l.Extra)
	w.EndObject()
}

func (l *Logprobs) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "content":
			l.Content = getList(r, (*TokenLogprob).decode)
		default:
			l.Extra.keep(r)
		}
	}
}

func (t *TokenLogprob) encode(w *jsonx.Writer) { t.encodeToken(w, true) }

// encodeToken writes the token with its bytes, which are UTF-8.
func (t *TokenLogprob) encodeToken(w *jsonx.Writer, alternatives bool) {
	w.BeginObject()
	w.Key("token")
	w.String(t.Token)
	w.Key("logprob")
	w.Float(t.Logprob)
	w.Key("bytes")
	w.BeginArray()
	for i := range len(t.Token) {
		w.Int(int64(t.Token[i]))
	}
	w.EndArray()
	if alternatives {
		w.Key("top_logprobs")
		w.BeginArray()
		for i := range t.TopLogprobs {
			t.TopLogprobs[i].encodeToken(w, false)
		}
		w.EndArray()
	}
	w.EndObject()
}

func (t *TokenLogprob) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "token":
			t.Token = r.String()
		case "logprob":
			t.Logprob = r.Float()
		case "top_logprobs":
			t.TopLogprobs = getList(r, (*TokenLogprob).decode)
		default: // bytes repeats the token
			r.Skip()
		}
	}
}

// MarshalJSON encodes the chunk.
func (c ChatCompletionChunk) MarshalJSON() ([]byte, error) { return encode(c.encode) }

// UnmarshalJSON decodes a chunk.
func (c *ChatCompletionChunk) UnmarshalJSON(data []byte) error {
	*c = ChatCompletionChunk{}
	return decode(data, c.decode)
}

// AppendJSON appends the chunk's JSON to dst.
func (c *ChatCompletionChunk) AppendJSON(dst []byte) ([]byte, error) {
	w := writer(dst)
	c.encode(&w)
	return append(dst, w.Bytes()...), w.Err()
}

func (c *ChatCompletionChunk) encode(w *jsonx.Writer) {
	w.BeginObject()
	encodeHead(w, c.ID, "chat.completion.chunk", c.Created, c.Model)
	w.Key("choices")
	list(w, c.Choices, (*ChunkChoice).encode)
	encodeTail(w, c.Usage, c.Provider, c.Extra)
	w.EndObject()
}

func (c *ChatCompletionChunk) decode(r *jsonx.Reader) {
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
			c.Choices = getList(r, (*ChunkChoice).decode)
		case "usage":
			c.Usage = getObject(r, (*Usage).decode)
		case "provider":
			c.Provider = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

func (c *ChunkChoice) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Int(int64(c.Index))
	w.Key("delta")
	c.Delta.encode(w)
	encodeEnd(w, c.FinishReason, c.Logprobs, c.NativeFinishReason, c.Extra)
	w.EndObject()
}

func (c *ChunkChoice) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			c.Index = int(r.Int())
		case "delta":
			c.Delta.decode(r)
		case "finish_reason":
			c.FinishReason = r.Intern(FinishStop)
		case "logprobs":
			c.Logprobs = getObject(r, (*Logprobs).decode)
		case "native_finish_reason":
			c.NativeFinishReason = r.String()
		default:
			c.Extra.keep(r)
		}
	}
}

func (d *Delta) encode(w *jsonx.Writer) {
	w.BeginObject()
	putString(w, "role", d.Role)
	if d.Content != "" || d.Role != "" && len(d.ToolCalls) == 0 {
		w.Key("content")
		w.String(d.Content)
	}
	putList(w, "tool_calls", d.ToolCalls, (*ToolCallDelta).encode)
	putList(w, "content_blocks", d.ContentBlocks, (*ContentBlockDelta).encode)
	encodeMedia(w, d.Audio, d.Annotations)
	w.Members(d.Extra)
	w.EndObject()
}

func (d *Delta) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "role":
			d.Role = r.Intern(RoleAssistant)
		case "content":
			d.Content = r.String()
		case "tool_calls":
			d.ToolCalls = getList(r, (*ToolCallDelta).decode)
		case "content_blocks":
			d.ContentBlocks = getList(r, (*ContentBlockDelta).decode)
		case "audio":
			d.Audio = getObject(r, (*Audio).decode)
		case "annotations":
			d.Annotations = getList(r, (*Annotation).decode)
		default:
			d.Extra.keep(r)
		}
	}
}

// encode writes the type only of media, since the other members tell it.
func (b *ContentBlockDelta) encode(w *jsonx.Writer) {
	d := &b.Delta
	w.BeginObject()
	w.Key("index")
	w.Int(int64(b.Index))
	w.Key("delta")
	w.BeginObject()
	switch d.Type {
	case "", PartText, PartThinking, PartRedactedThinking:
	default:
		w.Key("type")
		w.String(d.Type)
	}
	d.encodeMembers(w, d.Type == PartText, d.Type == PartThinking)
	w.EndObject()
	w.EndObject()
}

func (b *ContentBlockDelta) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "index":
			b.Index = int(r.Int())
		case "delta":
			b.decodeDelta(r)
		default:
			r.Skip()
		}
	}
}

// decodeDelta reads a delta and tells its type by the members it has.
func (b *ContentBlockDelta) decodeDelta(r *jsonx.Reader) {
	peek := *r
	kind := ""
	for peek.Object(); peek.NextKey(); peek.Skip() {
		switch string(peek.Key()) {
		case "text":
			kind = PartText
		case "thinking":
			kind = PartThinking
		case "data":
			kind = PartRedactedThinking
		}
	}
	b.Delta.decode(r)
	if b.Delta.Type == "" {
		b.Delta.Type = kind
	}
}

func (u *Usage) encode(w *jsonx.Writer) {
	w.BeginObject()
	w.Key("prompt_tokens")
	w.Int(u.PromptTokens)
	w.Key("completion_tokens")
	w.Int(u.CompletionTokens)
	w.Key("total_tokens")
	w.Int(u.TotalTokens)
	w.Key("prompt_tokens_details")
	u.PromptTokensDetails.encode(w)
	w.Key("completion_tokens_details")
	u.CompletionTokensDetails.encode(w)
	w.Members(u.Extra)
	w.EndObject()
}

func (u *Usage) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "prompt_tokens":
			u.PromptTokens = r.Int()
		case "completion_tokens":
			u.CompletionTokens = r.Int()
		case "total_tokens":
			u.TotalTokens = r.Int()
		case "prompt_tokens_details":
			u.PromptTokensDetails.decode(r)
		case "completion_tokens_details":
			u.CompletionTokensDetails.decode(r)
		default:
			u.Extra.keep(r)
		}
	}
}

func (d *PromptTokensDetails) encode(w *jsonx.Writer) {
	encodeDetails(w, "cached_tokens", d.CachedTokens, d.AudioTokens, d.Extra)
}

func (d *PromptTokensDetails) decode(r *jsonx.Reader) {
	decodeDetails(r, "cached_tokens", &d.CachedTokens, &d.AudioTokens, &d.Extra)
}

func (d *CompletionTokensDetails) encode(w *jsonx.Writer) {
	encodeDetails(w, "reasoning_tokens", d.ReasoningTokens, d.AudioTokens, d.Extra)
}

func (d *CompletionTokensDetails) decode(r *jsonx.Reader) {
	decodeDetails(r, "reasoning_tokens", &d.ReasoningTokens, &d.AudioTokens, &d.Extra)
}

func encodeDetails(w *jsonx.Writer, name string, value, audio int64, extra Extra) {
	w.BeginObject()
	w.Key(name)
	w.Int(value)
	w.Key("audio_tokens")
	w.Int(audio)
	w.Members(extra)
	w.EndObject()
}

func decodeDetails(r *jsonx.Reader, name string, value, audio *int64, extra *Extra) {
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case name:
			*value = r.Int()
		case "audio_tokens":
			*audio = r.Int()
		default:
			extra.keep(r)
		}
	}
}
