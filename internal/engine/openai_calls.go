package engine

import (
	"slices"

	"github.com/b650d4bf/gateway/internal/wire/openai"
	"github.com/b650d4bf/gateway/providers"
)

// maxCalls bounds the tool calls of one choice.
const maxCalls = 1024

// openCall is one tool call in the making.
type openCall struct {
	wire int    // the server's index
	id   string // the server's first id, "" when it gave none
	sent string // the id that was given out
	name string
	args argsScan
}

// call adds a tool call, or a piece of one. Servers give calls the same index,
// or none, and leave ids out, or give each piece another one: a piece belongs to
// the call that it can belong to. closing says that it is the only piece of the
// chunk that ends the answer.
func (s *openChoice) call(delta *providers.Delta, c *openai.Call, whole, closing bool) error {
	at := -1
	if !whole {
		at = s.callOf(c, closing)
	}
	piece := providers.ToolCallDelta{Index: at, Function: providers.FunctionCall{Arguments: c.Arguments}, Extra: c.Extra}
	if at < 0 {
		if len(s.calls) == maxCalls {
			return answerError(providers.ErrBadResponse, "the answer has too many tool calls")
		}
		own := openCall{wire: c.Index, id: c.ID, sent: c.ID}
		if own.sent == "" || slices.ContainsFunc(s.calls, func(o openCall) bool { return o.sent == own.sent }) {
			own.sent = "call_" + randomID()
		}
		at = len(s.calls)
		s.calls = append(s.calls, own)
		piece.Index, piece.ID, piece.Type = at, own.sent, "function"
	}
	own := &s.calls[at]
	if c.Name != "" && own.name == "" {
		own.name, piece.Function.Name = c.Name, c.Name
	}
	own.args.feed(c.Arguments)
	if piece.ID == "" && piece.Function.Name == "" && c.Arguments == "" && len(c.Extra) == 0 {
		return nil
	}
	delta.ToolCalls = append(delta.ToolCalls, piece)
	return nil
}

// callOf returns the call that the piece belongs to, or -1 when it begins a new
// one.
func (s *openChoice) callOf(c *openai.Call, closing bool) int {
	at := len(s.calls) - 1
	if c.HasIndex {
		for at >= 0 && s.calls[at].wire != c.Index {
			at--
		}
	}
	if c.ID != "" {
		for i := range s.calls {
			if o := &s.calls[i]; o.id == c.ID && (!c.HasIndex || o.wire == c.Index || c.Name == "") {
				return i
			}
		}
	}
	if at < 0 || s.calls[at].ends(c, closing) {
		return -1
	}
	if own := &s.calls[at]; own.id == "" {
		own.id = c.ID
	}
	return at
}

// ends reports whether the piece, which has the call's index or none, is of the
// next call.
func (o *openCall) ends(c *openai.Call, closing bool) bool {
	whole := o.args.whole()
	switch {
	case closing && whole && c.Arguments == "" && c.Name == o.name && (c.ID == "" || c.HasIndex): // its end, said once more
		return false
	case c.ID != "" && o.id != "" && (!c.HasIndex || whole || c.Name != "" && !o.args.begun): // it has another id
		return true
	}
	return c.Name != "" && o.name != "" && whole // the next one of the same index
}

// closeCalls gives calls without any arguments the empty object.
func (s *openChoice) closeCalls(delta *providers.Delta) {
	for i := range s.calls {
		if !s.calls[i].args.begun {
			delta.ToolCalls = append(delta.ToolCalls, providers.ToolCallDelta{
				Index: i, Function: providers.FunctionCall{Arguments: "{}"},
			})
		}
	}
}

// argsScan follows the text of a JSON object to its end, without keeping it.
type argsScan struct {
	depth          int
	begun          bool
	quoted, escape bool
}

func (a *argsScan) feed(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case a.escape:
			a.escape = false
		case a.quoted:
			a.escape = c == '\\'
			a.quoted = c != '"'
		case c == '"':
			a.quoted, a.begun = true, true
		case c == '{' || c == '[':
			a.depth++
			a.begun = true
		case c == '}' || c == ']':
			a.depth--
		case c != ' ' && c != '\n' && c != '\r' && c != '\t':
			a.begun = true
		}
	}
}

// whole reports whether the object has ended.
func (a *argsScan) whole() bool { return a.begun && a.depth <= 0 && !a.quoted }
