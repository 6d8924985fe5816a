// Package messages speaks the Anthropic schema on the side of the caller: it
// turns the body of a Messages request into a chat completion request, and the
// answer, whole or streamed, into a Message. Which model answers does not
// matter.
//
// # Signatures
//
// The chat schema has a signature on a tool call and on a text, where the
// Anthropic schema has none. Such a signature goes out as the signature of the
// thinking block before the block that it belongs to. Where the model had no
// thought there, an empty one is made: before a tool call, and behind a text,
// since many a client takes the first block for the text. Clients send thinking
// blocks back as they came, and [Decode] puts the signature where it was. The
// form of it is that of [carrier].
//
// Source: https://platform.claude.com/docs/en/api/messages
package messages

import (
	"errors"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// Request is a decoded request. It remembers where each message came from, so
// that what is said of the chat request can be said in the caller's terms.
type Request struct {
	// Chat is the request in the schema of the gateway.
	Chat providers.ChatCompletionRequest

	origins []origin // by the message of Chat
}

// Decode reads the body of POST /v1/messages. What is wrong is a
// [providers.ErrInvalidRequest] that names the member. It keeps nothing of
// body.
func Decode(body []byte) (*Request, error) { return decode(body, true) }

// DecodeCount reads the body of POST /v1/messages/count_tokens, which needs no
// max_tokens.
func DecodeCount(body []byte) (*Request, error) { return decode(body, false) }

func decode(body []byte, limited bool) (*Request, error) {
	d := decoder{req: new(Request)}
	d.r = jsonx.NewReader(slices.Clone(body)) // decoded values alias it
	d.request()
	if err := d.r.End(); err != nil {
		return nil, badBody(err)
	}
	switch q := &d.req.Chat; {
	case q.Model == "":
		return nil, providers.Invalid("model", `a model is required, such as "gemini-2.5-flash" or "@slug/model"`)
	case limited && q.MaxTokens == nil:
		return nil, providers.Invalid("max_tokens", "required: the most tokens that the answer may have")
	case !d.said:
		return nil, providers.Invalid("messages", "at least one message is required")
	}
	return d.req, nil
}

// badBody tells a mistake in the body. The decoder quotes no values.
func badBody(err error) error {
	var e *jsonx.Error
	if !errors.As(err, &e) {
		return providers.Invalid("", "the body is not a Messages request")
	}
	if e.Path == "" {
		return providers.Invalid("", "in the JSON body, at byte "+strconv.Itoa(e.Offset)+": "+e.Msg)
	}
	return providers.Invalid(e.Path, e.Msg)
}

// decoder reads one request.
type decoder struct {
	r    jsonx.Reader
	req  *Request
	said bool // a message was there
	// system is the system message. It comes first, wherever the body has it.
	system     providers.Message
	systemFrom origin
	format     bool // the answer's form is given
}

func (d *decoder) request() {
	r, q := &d.r, &d.req.Chat
	if r.Kind() != jsonx.Object {
		r.Failf("expected an object: the body of a Messages request")
	}
	for r.Object(); r.NextKey(); {
		if d.sampling() {
			continue
		}
		switch string(r.Key()) {
		case "model":
			q.Model = r.String()
		case "messages":
			d.messages()
		case "system":
			d.systemMessage()
		case "tools":
			d.tools()
		case "tool_choice":
			d.toolChoice()
		case "thinking":
			d.thinking()
		case "output_config":
			d.outputConfig()
		case "output_format": // the older name of output_config.format
			d.outputFormat()
		case "metadata":
			d.metadata()
		case "labels":
			q.Labels = texts(r)
		case "service_tier":
			d.serviceTier()
		default:
			keep(r, &q.Extra)
		}
	}
	if d.system.Role != "" {
		q.Messages = slices.Insert(q.Messages, 0, d.system)
		d.req.origins = slices.Insert(d.req.origins, 0, d.systemFrom)
	}
}

// sampling reads a scalar parameter and reports whether the member is one.
func (d *decoder) sampling() bool {
	r, q := &d.r, &d.req.Chat
	switch string(r.Key()) {
	case "max_tokens":
		if !r.Null() {
			n := int(r.Int())
			if n < 1 {
				r.Failf("must be at least 1")
			}
			q.MaxTokens = &n
		}
	case "temperature":
		q.Temperature = number(r)
	case "top_p":
		q.TopP = number(r)
	case "top_k":
		if !r.Null() {
			q.TopK = new(int(r.Int()))
		}
	case "stop_sequences":
		for r.Array(); r.NextElem(); {
			q.Stop = append(q.Stop, r.String())
		}
	case "stream":
		q.Stream = r.Bool()
	default:
		return false
	}
	return true
}

// thinking reads the setting; its display is kept in Extra.
func (d *decoder) thinking() {
	r := &d.r
	if r.Null() {
		return
	}
	t := new(providers.Thinking)
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			t.Type = r.String()
		case "budget_tokens":
			if !r.Null() {
				t.BudgetTokens = new(int(r.Int()))
			}
		default:
			keep(r, &t.Extra)
		}
	}
	if t.Type == "" {
		r.Failf(`"type" is required: enabled, disabled or adaptive`)
	}
	d.req.Chat.Thinking = t
}

// outputConfig reads the form of the answer, and keeps the rest, such as the
// effort, as it is: it means something else than reasoning_effort, which turns
// thinking on.
func (d *decoder) outputConfig() {
	r := &d.r
	if r.Null() {
		return
	}
	var rest providers.Extra
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "format" {
			d.outputFormat()
		} else {
			keep(r, &rest)
		}
	}
	if len(rest) > 0 {
		q := &d.req.Chat
		q.Extra = jsonx.AppendMember(q.Extra, "output_config", rest)
	}
}

// outputFormat reads {"type":"json_schema","schema":…}.
func (d *decoder) outputFormat() {
	r := &d.r
	if r.Null() {
		return
	}
	if d.format {
		r.Failf("given twice: leave output_format out")
	}
	d.format = true
	var f providers.ResponseFormat
	var schema []byte
	for r.Object(); r.NextKey(); {
		switch string(r.Key()) {
		case "type":
			if f.Type = r.String(); f.Type != "json_schema" {
				r.Failf("must be json_schema")
			}
		case "schema":
			if r.Kind() != jsonx.Object {
				r.Failf("must be a JSON Schema, which is an object")
			}
			schema = r.Raw()
		default:
			keep(r, &f.Extra)
		}
	}
	if f.Type == "" || schema == nil {
		r.Failf(`"type" and "schema" are required`)
	}
	f.JSONSchema = &providers.JSONSchema{Name: "answer", Schema: schema}
	d.req.Chat.ResponseFormat = &f
}

// metadata reads the end user's id. Other entries are for observers, as those of
// the chat schema.
func (d *decoder) metadata() {
	all := texts(&d.r)
	d.req.Chat.User = all["user_id"]
	if delete(all, "user_id"); len(all) > 0 {
		d.req.Chat.Metadata = all
	}
}

// serviceTier puts the words in the place of those of the chat schema: that the
// standard class alone is wanted is what default says there.
func (d *decoder) serviceTier() {
	r := &d.r
	if r.Null() {
		return
	}
	var w jsonx.Writer
	tier := r.String()
	if tier == "standard_only" {
		tier = "default"
	}
	w.String(tier)
	q := &d.req.Chat
	q.Extra = jsonx.AppendMember(q.Extra, "service_tier", w.Bytes())
}

// keep adds the member that the reader stands at.
func keep(r *jsonx.Reader, extra *providers.Extra) {
	name := string(r.Key())
	if value := r.Raw(); value != nil {
		*extra = jsonx.AppendMember(*extra, name, value)
	}
}

func number(r *jsonx.Reader) *float64 {
	if r.Null() {
		return nil
	}
	return new(r.Float())
}

// texts reads an object of strings; a null is none.
func texts(r *jsonx.Reader) map[string]string {
	all := map[string]string{}
	for r.Object(); r.NextKey(); {
		key := string(r.Key())
		if r.Null() {
			continue
		}
		all[key] = r.String()
	}
	return all
}
