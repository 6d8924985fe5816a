package providers

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

// Validate checks what no provider could send: the model and the messages are
// there, somebody asks something, roles are known, tool arguments and extra
// members are JSON and every tool call has exactly one result. The error is an
// [ErrInvalidRequest] that names the member.
func (q *ChatCompletionRequest) Validate() error {
	if q.Model == "" {
		return Invalid("model", `a model is required, such as "gemini-2.5-flash" or "@slug/model"`)
	}
	if len(q.Messages) == 0 {
		return Invalid("messages", "at least one message is required")
	}
	v := validator{}
	if err := v.messages(q.Messages); err != nil {
		return err
	}
	if !v.turn {
		return Invalid("messages", "a user or tool message is required: there is nothing to answer")
	}
	if err := validateTools(q.Tools); err != nil {
		return err
	}
	return q.validateExtras()
}

// validator follows the tool calls that still wait for their result.
type validator struct {
	turn    bool       // a user or tool message was there
	calls   []ToolCall // of the last assistant turn
	call    int        // that turn's index in messages
	answers []int      // index of the message that answers each call, or -1
	open    int        // calls without an answer
	next    int        // the call after the one that was answered last
	byID    callIndex
}

func (v *validator) messages(list []Message) error {
	for i := range list {
		if err := v.message(i, &list[i]); err != nil {
			return err
		}
		if err := list[i].extras(i); err != nil {
			return err
		}
	}
	return v.unanswered()
}

func (v *validator) message(i int, m *Message) error {
	if m.Role != RoleTool {
		if err := v.unanswered(); err != nil {
			return err
		}
	}
	switch m.Role {
	case RoleSystem, RoleDeveloper:
		return nil
	case RoleUser:
		v.turn = true
		return nil
	case RoleAssistant:
		return v.assistant(i, m)
	case RoleTool:
		v.turn = true
		return v.result(i, m)
	case "":
		return Invalid(at(i, "role"), "a role is required: system, developer, user, assistant or tool")
	}
	return Invalid(at(i, "role"), "unknown role "+strconv.Quote(clip(m.Role))+
		": use system, developer, user, assistant or tool")
}

func (v *validator) assistant(i int, m *Message) error {
	v.expect(i, m.ToolCalls)
	for j := range m.ToolCalls {
		c := &m.ToolCalls[j]
		path := "tool_calls[" + strconv.Itoa(j) + "]"
		if c.Function.Name == "" {
			return Invalid(at(i, path+".function.name"), "a function name is required")
		}
		if !isObjectText(c.Function.Arguments) {
			return Invalid(at(i, path+".function.arguments"), `not the text of a JSON object: use "{}" for no arguments`)
		}
		v.answers = append(v.answers, -1)
	}
	return nil
}

// expect begins to wait for the results of a turn's calls.
func (v *validator) expect(turn int, calls []ToolCall) {
	*v = validator{turn: v.turn, calls: calls, call: turn, answers: v.answers[:0], open: len(calls)}
}

// result matches a tool message with its call: by id, or, when the message has
// none, with the only call that still waits.
func (v *validator) result(i int, m *Message) error {
	j := v.match(m.ToolCallID)
	switch {
	case m.ToolCallID == "" && v.open == 0:
		return Invalid(at(i, "tool_call_id"), "no tool call of the assistant message before waits for a result: remove the message")
	case j == callUnknown && m.ToolCallID == "":
		return Invalid(at(i, "tool_call_id"), "required: the id of the tool call that this message answers")
	case j == callUnknown:
		return Invalid(at(i, "tool_call_id"), "no tool call of the assistant message before has this id: repeat the id as it was given")
	case j == callAnswered:
		return Invalid(at(i, "tool_call_id"), "this tool call already has a result: every call takes exactly one")
	}
	v.answers[j] = i
	v.open--
	v.next = j + 1
	return nil
}

func (v *validator) unanswered() error {
	for j, i := range v.answers {
		if i < 0 {
			return Invalid(at(v.call, "tool_calls["+strconv.Itoa(j)+"]"),
				"no tool message answers this call before the next turn; every call needs exactly one result")
		}
	}
	v.expect(-1, nil)
	return nil
}

const (
	callUnknown  = -1
	callAnswered = -2
)

// match returns the call that waits for a result with the id. Results mostly
// come in the order of the calls.
func (v *validator) match(id string) int {
	switch {
	case id == "" && v.open == 1:
		return slices.Index(v.answers, -1)
	case id == "":
		return callUnknown // or ambiguous
	case v.next < len(v.calls) && v.calls[v.next].ID == id && v.answers[v.next] < 0:
		return v.next
	case v.byID.first == nil:
		v.byID = indexCalls(v.calls)
	}
	j, ok := v.byID.first[id]
	if !ok {
		return callUnknown
	}
	for j >= 0 && v.answers[j] >= 0 {
		j = v.byID.more[j]
	}
	v.byID.first[id] = j
	if j < 0 {
		return callAnswered
	}
	return j
}

// callIndex finds calls by id: the first one, and after each the next one of the
// same id, or -1.
type callIndex struct {
	first map[string]int
	more  []int
}

func indexCalls(calls []ToolCall) callIndex {
	x := callIndex{make(map[string]int, len(calls)), make([]int, len(calls))}
	for j := len(calls) - 1; j >= 0; j-- {
		x.more[j] = -1
		if later, ok := x.first[calls[j].ID]; ok {
			x.more[j] = later
		}
		x.first[calls[j].ID] = j
	}
	return x
}

func validateTools(list []Tool) error {
	for i := range list {
		if err := validateTool(i, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

func validateTool(i int, t *Tool) error {
	if t.Extra.malformed() || t.Function.Extra.malformed() {
		return badExtra(toolAt(i))
	}
	if t.Type != "function" {
		return nil
	}
	if t.Function.Name == "" {
		return Invalid(toolAt(i)+".function.name", "a function name is required")
	}
	if p := bytes.TrimSpace(t.Function.Parameters); len(p) > 0 && (p[0] != '{' || !jsonx.Valid(p)) {
		return Invalid(toolAt(i)+".function.parameters", `not a JSON object: give a JSON Schema of type "object", or leave it out`)
	}
	return nil
}

func toolAt(i int) string { return "tools[" + strconv.Itoa(i) + "]" }

// isObjectText reports whether s is empty or a valid JSON object.
func isObjectText(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s[0] == '{' && jsonx.ValidString(s)
}

func at(i int, member string) string { return "messages[" + strconv.Itoa(i) + "]." + member }

// clip shortens a caller's word for an error message.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
