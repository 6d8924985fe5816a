package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// converse asks for each image in a conversation of its own.
func (d *drawing) converse(ctx context.Context) error {
	chat, err := d.chat()
	if err != nil {
		return err
	}
	answers := make([]*providers.ChatCompletion, d.count)
	held := make([]error, d.count)
	err = inParallel(ctx, d.t, d.count, func(ctx context.Context, i int) error {
		own := *chat
		if d.q.Seed != nil {
			own.Seed = new(*d.q.Seed + int64(i))
		}
		out, err := d.p.ChatCompletion(ctx, d.t, &own)
		if codeIs(err, providers.ErrContentFilter) {
			held[i] = err
			return nil
		}
		answers[i] = out
		return err
	})
	if err != nil {
		return d.relocated(err)
	}
	d.drawn = make([][]providers.Image, d.count)
	for i, a := range answers {
		if a != nil {
			d.read(i, a)
			continue
		}
		if e, ok := failure(held[i]); ok {
			d.last = held[i]
			d.hold(e.Message)
		}
	}
	return nil
}

// chat is the conversation that asks for one image.
func (d *drawing) chat() (*providers.ChatCompletionRequest, error) {
	chat := new(providers.ChatCompletionRequest)
	if d.further != nil {
		if err := chat.UnmarshalJSON(d.further); err != nil {
			return nil, providers.Invalid("", "a member of the request has a value of the wrong kind: "+err.Error())
		}
	}
	parts := make([]providers.ContentPart, 0, len(d.images)+1)
	for i := range d.images {
		m := &d.images[i]
		url := m.uri
		if m.base64 != "" {
			url = "data:" + m.mime + ";base64," + m.base64
		}
		part := providers.ImagePart(url)
		part.ImageURL.MimeType = m.mime
		parts = append(parts, part)
	}
	chat.Model, chat.Labels, chat.User = d.q.Model, d.q.Labels, d.q.User
	chat.Messages = []providers.Message{providers.UserMessage(append(parts, providers.TextPart(d.q.Prompt)))}
	chat.Modalities = []string{"text", "image"}
	if config := d.imageConfig(); config != nil {
		chat.Extra = jsonx.AppendMember(jsonx.DeleteMember(chat.Extra, "image_config"), "image_config", config)
	}
	chat.Extra = jsonx.DeleteMember(chat.Extra, "person_generation")
	return chat, nil
}

// imageConfig returns the shape and the file that are wanted, over what came in
// the platform's own form.
func (d *drawing) imageConfig() []byte {
	var config []byte
	put := func(key string, value []byte) {
		config = jsonx.AppendMember(config, key, value)
	}
	if d.ratio != "" {
		put("aspect_ratio", jsonText(d.ratio))
	}
	if d.size != "" {
		put("image_size", jsonText(d.size))
	}
	if raw, ok := jsonx.Lookup(d.further, "person_generation"); ok {
		r := jsonx.NewReader(raw)
		put("person_generation", jsonText(personWord(r.String(), true)))
	}
	if d.mime == "image/jpeg" { // PNG is what comes by itself
		options := jsonx.AppendMember(nil, "mime_type", jsonText(d.mime))
		if c := d.q.OutputCompression; c != nil {
			options = jsonx.AppendMember(options, "compression_quality", strconv.AppendInt(nil, int64(*c), 10))
		}
		put("image_output_options", options)
	}
	given, _ := jsonx.Lookup(d.further, "image_config")
	for key, value := range jsonx.Members(given) {
		if _, taken := jsonx.Lookup(config, snake(key)); taken {
			d.warn(providers.WarnConflict, "image_config."+key, "left out: it is given in another place too, which wins")
			continue
		}
		put(key, value)
	}
	return config
}

// read puts the images of an answer where they belong, with what was said beside
// them.
func (d *drawing) read(request int, a *providers.ChatCompletion) {
	for _, w := range a.Meta.Warnings {
		w.Param = d.relocate(w.Param)
		if !slices.Contains(d.warnings, w) {
			d.add(w)
		}
	}
	d.use(a.Usage)
	if len(a.Choices) == 0 {
		return
	}
	m, text := &a.Choices[0].Message, ""
	for i := range m.ContentBlocks {
		b := &m.ContentBlocks[i]
		if b.ImageURL == nil {
			text += b.Text
			continue
		}
		_, data, inline := strings.Cut(b.ImageURL.URL, ";base64,")
		if !inline {
			d.drawn[request] = append(d.drawn[request], providers.Image{URL: b.ImageURL.URL})
			continue
		}
		d.drawn[request] = append(d.drawn[request], providers.Image{B64JSON: data})
	}
	switch list := d.drawn[request]; {
	case len(list) > 0 && text != "":
		list[0].Extra.SetString("text", text)
	case len(list) == 0 && a.Choices[0].FinishReason == providers.FinishContentFilter:
		reason := a.Choices[0].NativeFinishReason
		if reason == "" {
			reason = "the content filter"
		}
		d.hold(reason)
	}
}

// use adds up what a request used.
func (d *drawing) use(u *providers.Usage) {
	if u == nil {
		return
	}
	if d.usage == nil {
		d.usage = &providers.ImageUsage{InputTokensDetails: &providers.ImageTokens{}, OutputTokensDetails: &providers.ImageTokens{}}
	}
	d.usage.InputTokens += u.PromptTokens
	d.usage.OutputTokens += u.CompletionTokens
	d.usage.TotalTokens += u.TotalTokens
	split(d.usage.InputTokensDetails, u.PromptTokens, u.PromptTokensDetails.Extra)
	split(d.usage.OutputTokensDetails, u.CompletionTokens, u.CompletionTokensDetails.Extra)
}

// split adds tokens to those of images, as far as they are told apart, and to
// those of text, which are the rest.
func split(t *providers.ImageTokens, all int64, told providers.Extra) {
	raw, _ := told.Get("image_tokens")
	r := jsonx.NewReader(raw)
	drawn := int64(0)
	if len(raw) > 0 {
		drawn = min(all, r.Int())
	}
	t.ImageTokens += drawn
	t.TextTokens += all - drawn
}

// relocated names the member of the image request that an error of the
// conversation is about.
func (d *drawing) relocated(err error) error {
	e, ok := failure(err)
	if !ok {
		return err
	}
	if at := d.relocate(e.Param); at != e.Param {
		own := *e
		own.Param = at
		return &own
	}
	return err
}

// relocate returns the path within the image request.
func (d *drawing) relocate(path string) string {
	const content = "messages[0].content"
	for chat, own := range map[string]string{
		"image_config.aspect_ratio": "aspect_ratio", "image_config.image_size": "image_size",
		"image_config.image_output_options": "output_format", "image_config.person_generation": "person_generation",
	} {
		if path == chat {
			return own
		}
	}
	rest, ok := strings.CutPrefix(path, content)
	if !ok {
		return path
	}
	if index, _, found := strings.Cut(strings.TrimPrefix(rest, "["), "]"); found {
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(d.images) {
			return d.q.ImagePath(i)
		}
	}
	return "prompt"
}
