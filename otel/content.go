package gatewayotel

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/b650d4bf/gateway/providers"
)

// content makes attributes of what was asked and answered.
type content struct {
	limit   int // bytes of each attribute
	redact  func(string) string
	schemas bool // of tools
	reasons bool // messages have finish reasons, as they had in v1.41
}

// least is the length below which texts are not cut.
const least = 32

// attributes are the messages, instructions and tools of a call. What can't be read
// as a chat is left out.
func (c *content) attributes(of providers.CallContent) []attribute.KeyValue {
	l := make(list, 0, 5)
	cut := false
	add := func(key attribute.Key, keep side, items func(*writer) []any) {
		data, was := c.fit(keep, items)
		if data != "" {
			l = append(l, key.String(strings.ToValidUTF8(data, "�")))
		}
		cut = cut || was
	}
	var req providers.ChatCompletionRequest
	if of.Request != nil && req.UnmarshalJSON(of.Request) == nil {
		add(keySystem, oldest, func(w *writer) []any { return w.instructions(req.Messages) })
		add(keyInputMessages, newest, func(w *writer) []any { return w.turns(req.Messages) })
		add(keyTools, oldest, func(w *writer) []any { return w.tools(req.Tools, c.schemas) })
	}
	var out providers.ChatCompletion
	if of.Response != nil && out.UnmarshalJSON(of.Response) == nil {
		add(keyOutputMessages, oldest, func(w *writer) []any { return w.choices(out.Choices, c.reasons) })
	}
	l.flag(keyCut, cut)
	return l
}

// side is which elements of a list are kept when it is too long.
type side bool

const (
	oldest side = false
	newest side = true
)

// fit makes JSON that is within the limit: it cuts long texts, each time to half,
// and then leaves elements out. It reports whether something is missing. An empty
// list has no JSON.
func (c *content) fit(keep side, items func(*writer) []any) (data string, cut bool) {
	for most := c.limit; ; most /= 2 {
		w := &writer{redact: c.redact, most: most}
		parts, size := encoded(items(w))
		cut = cut || w.cut
		if len(parts) == 0 {
			return "", cut
		}
		if size > c.limit && most/2 >= least {
			cut = true
			continue
		}
		for len(parts) > 0 && size > c.limit {
			cut = true
			drop := len(parts) - 1
			if keep == newest {
				drop = 0
			}
			size -= len(parts[drop]) + 1
			parts = append(parts[:drop:drop], parts[drop+1:]...)
		}
		if len(parts) == 0 {
			return "", true
		}
		return "[" + string(bytes.Join(parts, []byte(","))) + "]", cut
	}
}

// encoded is each element as JSON, and how long a list of them is.
func encoded(items []any) (parts [][]byte, size int) {
	size = 1 // a bracket: the other one stands for the comma that the first has not
	for _, item := range items {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(item) != nil {
			continue // there is nothing in it that can't be encoded
		}
		part := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		parts, size = append(parts, part), size+len(part)+1
	}
	return parts, size
}

// writer makes the elements of an attribute.
type writer struct {
	redact func(string) string
	most   int // the bytes of a text
	cut    bool
}

// say is a text as it may be shown.
func (w *writer) say(text string) string {
	if text != "" && w.redact != nil {
		text = w.redact(text)
	}
	if len(text) <= w.most {
		return text
	}
	w.cut = true
	end := w.most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// value is JSON as it may be shown: as it is, or, when it is cut or is none, as a
// text.
func (w *writer) value(text string) any {
	shown := w.say(text)
	if json.Valid([]byte(shown)) {
		return json.RawMessage(shown)
	}
	return shown
}
