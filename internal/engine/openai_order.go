package engine

import (
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/b650d4bf/gateway/providers"
)

// bridge is what the assistant says to Mistral's API between a tool's result and
// the user.
const bridge = "OK."

// order leaves out what an assistant did not say, and puts the messages in an
// order that Mistral's API takes: system messages at the beginning or after the
// user, and the assistant between a tool's result and the user. The list of the
// caller is not changed.
//
// Source: https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py
func (e *openEncoder) order(list []providers.Message) []providers.Message {
	if e.inOrder(list) {
		return list
	}
	out := make([]providers.Message, 0, len(list)+1)
	systems := 0 // at the beginning
	for i := range list {
		m := &list[i]
		before := ""
		if len(out) > 0 {
			before = out[len(out)-1].Role
		}
		switch {
		case e.isEmpty(m):
		case m.Role == providers.RoleSystem && systems == len(out):
			systems++
			out = append(out, *m)
		case e.isMisplaced(before, m.Role) && m.Role == providers.RoleSystem:
			e.out.warnOnce("system", providers.WarnAdjusted, messagePath(i, ""), "moved to the beginning: Mistral's API takes no system message after an answer")
			out = slices.Insert(out, systems, *m)
			systems++
		case e.isMisplaced(before, m.Role):
			e.out.warnOnce("bridge", providers.WarnAdjusted, messagePath(i, ""),
				"an assistant message was put before it: Mistral's API takes no user message right after a tool's result")
			out = append(out, providers.AssistantMessage(bridge), *m)
		default:
			out = append(out, *m)
		}
	}
	return out
}

// inOrder reports whether there is nothing to do.
func (e *openEncoder) inOrder(list []providers.Message) bool {
	before := ""
	for i := range list {
		m := &list[i]
		if e.isEmpty(m) || e.isMisplaced(before, m.Role) {
			return false
		}
		before = m.Role
	}
	return true
}

// isMisplaced reports whether Mistral's API takes no such message there.
func (e *openEncoder) isMisplaced(before, role string) bool {
	if e.family != FamilyMistral {
		return false
	}
	return before == providers.RoleTool && (role == providers.RoleUser || role == providers.RoleSystem) ||
		before == providers.RoleAssistant && role == providers.RoleSystem
}

// isEmpty reports whether a message of the assistant says nothing that is sent,
// such as one that was cut off while it thought. Empty text counts for nothing
// with Mistral's API alone.
func (e *openEncoder) isEmpty(m *providers.Message) bool {
	if m.Role != providers.RoleAssistant || len(m.ToolCalls) > 0 || len(m.Extra) > 0 {
		return false
	}
	if e.family == FamilyMistral {
		return m.Content.Text() == "" && !slices.ContainsFunc(m.Content.Parts(), func(p providers.ContentPart) bool { return p.Type != providers.PartText })
	}
	return m.Content.IsAbsent()
}

// sentID returns the id that a call is sent with: the caller's, unless it has
// none or the family takes only ids of another form.
func (e *openEncoder) sentID(id string, i, j int) string {
	if id == "" {
		id = "call_" + strconv.Itoa(i) + "_" + strconv.Itoa(j)
	}
	if e.family != FamilyMistral || isMistralID(id) {
		return id
	}
	for sent := mistralID(id); ; sent = mistralID(sent + id) {
		if !slices.ContainsFunc(e.calls, func(c openWait) bool { return c.sent == sent }) {
			return sent
		}
	}
}

// mistralIDLength is the length of Mistral's ids of calls, which are letters and
// digits; others are refused.
//
// Source: https://docs.mistral.ai/capabilities/function_calling
const mistralIDLength = 9

func isMistralID(id string) bool {
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(id) == mistralIDLength
}

// mistralID makes an id of Mistral's form that is the same for the same id, so
// that a conversation that goes on keeps its prefix.
func mistralID(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	n := h.Sum64()
	var out [mistralIDLength]byte
	for i := range out {
		out[i] = idAlphabet[n%62]
		n /= 62
	}
	return string(out[:])
}
