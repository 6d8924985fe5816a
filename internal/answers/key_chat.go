package answers

import "github.com/b650d4bf/gateway/providers"

// WriteChat hashes a chat request: all members but those that [Members] lists as
// left out.
func WriteChat(d *Digest, q *providers.ChatCompletionRequest) {
	d.Part("messages")
	if d.list("messages", len(q.Messages)) {
		for i := range q.Messages {
			d.message(&q.Messages[i], d.alike && (i > 0 || !d.whole))
		}
	}
	d.Part("tools")
	if d.list("tools", len(q.Tools)) {
		for i := range q.Tools {
			d.tool(&q.Tools[i])
		}
	}
	if c := q.ToolChoice; c != nil {
		d.object("tool_choice")
		d.String("mode", c.Mode)
		d.String("name", c.Name)
		d.strings("allowed", c.Allowed)
		d.String("allowed_mode", c.AllowedMode)
		d.JSON("extra", c.Extra)
		d.end()
	}
	d.optionalBool("parallel_tool_calls", q.ParallelToolCalls)
	d.Part("format")
	if f := q.ResponseFormat; f != nil {
		d.object("response_format")
		d.String("type", f.Type)
		if s := f.JSONSchema; s != nil {
			d.object("json_schema")
			d.String("name", s.Name)
			d.String("description", s.Description)
			d.JSON("schema", s.Schema)
			d.optionalBool("strict", s.Strict)
			d.JSON("extra", s.Extra)
			d.end()
		}
		d.JSON("extra", f.Extra)
		d.end()
	}
	d.strings("modalities", q.Modalities)
	d.Part("params")
	d.params(q)
}

// params hashes what steers the model.
func (d *Digest) params(q *providers.ChatCompletionRequest) {
	d.optionalInt("max_tokens", q.MaxTokens)
	d.optionalInt("max_completion_tokens", q.MaxCompletionTokens)
	d.optionalFloat("temperature", q.Temperature)
	d.optionalFloat("top_p", q.TopP)
	d.optionalInt("top_k", q.TopK)
	d.optionalInt("n", q.N)
	d.strings("stop", q.Stop)
	if q.Seed != nil {
		d.Int("seed", *q.Seed)
	}
	d.optionalFloat("presence_penalty", q.PresencePenalty)
	d.optionalFloat("frequency_penalty", q.FrequencyPenalty)
	d.optionalBool("logprobs", q.Logprobs)
	d.optionalInt("top_logprobs", q.TopLogprobs)
	d.String("reasoning_effort", q.ReasoningEffort)
	if t := q.Thinking; t != nil {
		d.object("thinking")
		d.String("type", t.Type)
		d.optionalInt("budget_tokens", t.BudgetTokens)
		d.JSON("extra", t.Extra)
		d.end()
	}
	d.JSON("extra", q.Extra)
}

// message hashes a turn; bare leaves its text out.
func (d *Digest) message(m *providers.Message, bare bool) {
	d.begin()
	d.String("role", m.Role)
	d.content(m.Content, bare)
	d.String("name", m.Name)
	if d.list("tool_calls", len(m.ToolCalls)) {
		for i := range m.ToolCalls {
			c := &m.ToolCalls[i]
			d.begin()
			d.String("id", c.ID)
			d.String("type", c.Type)
			d.String("function", c.Function.Name)
			d.String("arguments", c.Function.Arguments)
			d.String("thought_signature", c.Function.ThoughtSignature)
			d.JSON("function_extra", c.Function.Extra)
			d.JSON("extra", c.Extra)
			d.end()
		}
	}
	d.String("tool_call_id", m.ToolCallID)
	d.blocks("content_blocks", m.ContentBlocks, false)
	if a := m.Audio; a != nil {
		d.object("audio")
		d.String("id", a.ID)
		d.String("data", a.Data)
		d.Int("expires_at", a.ExpiresAt)
		d.String("transcript", a.Transcript)
		d.String("mime_type", a.MimeType)
		d.JSON("extra", a.Extra)
		d.end()
	}
	if d.list("annotations", len(m.Annotations)) {
		for i := range m.Annotations {
			d.annotation(&m.Annotations[i])
		}
	}
	d.JSON("extra", m.Extra)
	d.end()
}

func (d *Digest) annotation(a *providers.Annotation) {
	d.begin()
	d.String("type", a.Type)
	if c := a.URLCitation; c != nil {
		d.object("url_citation")
		d.Int("start_index", int64(c.StartIndex))
		d.Int("end_index", int64(c.EndIndex))
		d.String("url", c.URL)
		d.String("title", c.Title)
		d.JSON("extra", c.Extra)
		d.end()
	}
	d.JSON("extra", a.Extra)
	d.end()
}

// content hashes a content, and which of its forms it has.
func (d *Digest) content(c providers.Content, bare bool) {
	parts := c.Parts()
	switch {
	case c.IsAbsent():
		d.name(tagField, "no_content")
	case parts == nil:
		d.name(tagField, "content")
		if !bare {
			d.value(c.Text())
		}
	default:
		d.blocks("parts", parts, bare)
	}
}

func (d *Digest) blocks(name string, parts []providers.ContentPart, bare bool) {
	if !d.list(name, len(parts)) {
		return
	}
	for i := range parts {
		p := &parts[i]
		d.begin()
		d.String("type", p.Type)
		if !bare || p.Type != providers.PartText {
			d.String("text", p.Text)
		}
		d.media(p)
		d.String("thinking", p.Thinking)
		d.String("signature", p.Signature)
		d.String("data", p.Data)
		d.JSON("extra", p.Extra)
		d.end()
	}
}

func (d *Digest) media(p *providers.ContentPart) {
	if u := p.ImageURL; u != nil {
		d.object("image_url")
		d.String("url", u.URL)
		d.String("detail", u.Detail)
		d.String("mime_type", u.MimeType)
		d.JSON("extra", u.Extra)
		d.end()
	}
	if a := p.InputAudio; a != nil {
		d.object("input_audio")
		d.String("audio", a.Data)
		d.String("format", a.Format)
		d.JSON("extra", a.Extra)
		d.end()
	}
	if f := p.File; f != nil {
		d.object("file")
		d.String("file_data", f.FileData)
		d.String("file_id", f.FileID)
		d.String("file_url", f.FileURL)
		d.String("filename", f.Filename)
		d.String("mime_type", f.MimeType)
		d.JSON("extra", f.Extra)
		d.end()
	}
}

func (d *Digest) tool(t *providers.Tool) {
	d.begin()
	d.String("type", t.Type)
	d.String("name", t.Function.Name)
	d.String("description", t.Function.Description)
	d.JSON("parameters", t.Function.Parameters)
	d.optionalBool("strict", t.Function.Strict)
	d.JSON("function_extra", t.Function.Extra)
	d.JSON("extra", t.Extra)
	d.end()
}

// WriteEmbedding hashes an embedding request: all members but those that [Members]
// lists as left out.
func WriteEmbedding(d *Digest, q *providers.EmbeddingRequest) {
	d.Part("input")
	if d.list("input", len(q.Input.Items)) {
		for i := range q.Input.Items {
			it := &q.Input.Items[i]
			d.begin()
			d.String("text", it.Text)
			if d.list("tokens", len(it.Tokens)) {
				for _, n := range it.Tokens {
					d.Int("", n)
				}
			}
			d.embedMedia("image", it.Image)
			d.embedMedia("video", it.Video)
			d.embedMedia("audio", it.Audio)
			d.embedMedia("file", it.File)
			d.JSON("extra", it.Extra)
			d.end()
		}
	}
	d.Part("params")
	d.optionalInt("dimensions", q.Dimensions)
	d.String("task_type", q.TaskType)
	d.String("title", q.Title)
	d.optionalBool("auto_truncate", q.AutoTruncate)
	d.JSON("extra", q.Extra)
}

func (d *Digest) embedMedia(name string, m *providers.EmbeddingMedia) {
	if m == nil {
		return
	}
	d.object(name)
	d.String("url", m.URL)
	d.String("base64", m.Base64)
	d.String("mime_type", m.MimeType)
	d.optionalFloat("start_offset", m.StartOffset)
	d.optionalFloat("end_offset", m.EndOffset)
	d.optionalFloat("interval", m.Interval)
	d.JSON("extra", m.Extra)
	d.end()
}
