package engine

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// results writes the tool messages run, which answer the calls of the turn
// before, in the order of the calls.
func (e *geminiEncoder) results(first int, run []providers.Message) error {
	waiting := resultQueue{run: run}
	for i := range e.calls {
		c := &e.calls[i]
		j := waiting.next(c.ID)
		if j < 0 {
			continue
		}
		if err := e.result(first+j, c, &run[j]); err != nil {
			return err
		}
	}
	return nil
}

// resultQueue finds the result of a call. Results of the same id, and those
// without one, are given out in their order.
type resultQueue struct {
	run  []providers.Message
	at   int            // the first one that was not given out
	head map[string]int // by id, of those behind at; nil until they are out of order
	tail []int          // the next one of the same id, or -1
}

// next returns the index of the next result for the id, or -1. Results mostly
// come in the order of the calls.
func (q *resultQueue) next(id string) int {
	if q.head == nil {
		if q.at < len(q.run) && q.run[q.at].ToolCallID == id {
			q.at++
			return q.at - 1
		}
		q.index()
	}
	for _, id := range [...]string{id, ""} {
		if j, ok := q.head[id]; ok {
			if q.head[id] = q.tail[j]; q.tail[j] < 0 {
				delete(q.head, id)
			}
			return j
		}
	}
	return -1
}

// index lists what was not given out by id.
func (q *resultQueue) index() {
	q.head, q.tail = make(map[string]int, len(q.run)-q.at), make([]int, len(q.run))
	for j := len(q.run) - 1; j >= q.at; j-- {
		id := q.run[j].ToolCallID
		q.tail[j] = -1
		if next, ok := q.head[id]; ok {
			q.tail[j] = next
		}
		q.head[id] = j
	}
}

// result writes a functionResponse: an object as it is, anything else as
// {"output":…}, an error as {"error":…}.
func (e *geminiEncoder) result(i int, c *providers.ToolCall, m *providers.Message) error {
	e.part("user")
	e.w.Key("functionResponse")
	e.w.BeginObject()
	e.callID(c.ID)
	e.w.Key("name")
	e.w.String(c.Function.Name)
	e.w.Key("response")
	text, err := resultText(i, &m.Content)
	if err != nil {
		return err
	}
	raw, _ := m.Extra.Get("is_error")
	failed := string(raw) == "true"
	if s := strings.TrimSpace(text); !failed && s != "" && s[0] == '{' && jsonx.ValidString(s) {
		e.w.RawString(s)
	} else {
		member := "output"
		if failed {
			member = "error"
		}
		e.w.BeginObject()
		e.w.Key(member)
		e.w.String(text)
		e.w.EndObject()
	}
	err = e.resultMedia(i, m)
	e.w.EndObject()
	e.endPart("")
	return err
}

// resultMedia writes what a tool returned beside text: the other parts of its
// content, and those that the platform's own OpenAI surface has on the message.
func (e *geminiEncoder) resultMedia(i int, m *providers.Message) error {
	start := e.w.Len()
	e.w.Key("parts")
	e.w.BeginArray()
	open := e.w.Len()
	parts := m.Content.Parts()
	for j := range parts {
		if p := &parts[j]; p.Type != providers.PartText && !isQuote(p.Type) {
			if !isMediaPart(p.Type) || !e.m.facts.ToolMedia {
				return providers.Invalid(partPath(i, j, "type"), resultRemedy(e.m.facts.ToolMedia))
			}
			if err := e.resultPart(i, j, p); err != nil {
				return err
			}
		}
	}
	if native, ok := jsonx.Lookup(googleExtra(m.Extra), "parts"); ok {
		if err := e.nativeResults(messagePath(i, "extra_content.google.parts"), native); err != nil {
			return err
		}
	}
	if e.w.Len() == open {
		e.w.Truncate(start)
		return nil
	}
	e.w.EndArray()
	return nil
}

// nativeResults writes media of a tool's result that come as the platform's own
// parts.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/start/openai
func (e *geminiEncoder) nativeResults(path string, raw []byte) error {
	r := jsonx.NewReader(raw)
	if r.Null() {
		return nil
	}
	if r.Kind() != jsonx.Array {
		return providers.Invalid(path, "must be a list of parts")
	}
	r.Array()
	for j := 0; r.NextElem(); j++ {
		at := path + "[" + strconv.Itoa(j) + "]"
		md, ok := nativeMedia(r.Raw())
		switch {
		case !e.m.facts.ToolMedia:
			return providers.Invalid(at, resultRemedy(false))
		case !ok:
			return providers.Invalid(at, `must be {"inlineData":{"mimeType":…,"data":…}} or {"fileData":{"mimeType":…,"fileUri":…}}`)
		case e.m.Own && strings.HasPrefix(md.uri, "gs://"):
			return providers.Invalid(at, noStorage)
		}
		if err := e.admit(func() string { return at }, &md); err != nil {
			return err
		}
		e.w.BeginObject()
		e.media(&md)
		e.w.EndObject()
	}
	return nil
}

// nativeMedia reads inlineData or fileData, in either case style.
func nativeMedia(part []byte) (md media, ok bool) {
	for name, value := range jsonx.Members(part) {
		switch camel(name) {
		case "inlineData":
			md.base64 = nativeText(value, "data")
		case "fileData":
			md.uri = nativeText(value, "fileUri")
		default:
			return media{}, false
		}
		md.mime, md.given = canonicalType(nativeText(value, "mimeType")), true
	}
	ok = isType(md.mime) && (md.uri == "") != (md.base64 == "") && isBase64Text(md.base64)
	return md, ok
}

// nativeText returns a member of an object that is text, in either case style.
func nativeText(obj []byte, name string) string {
	for key := range jsonx.Members(obj) {
		if camel(key) == name {
			return memberText(obj, key)
		}
	}
	return ""
}
