package vertextest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// plannedCall is a function the emulator decided to call.
type plannedCall struct {
	name string
	args any
}

// chooseCalls returns the calls to make: none unless the last content is a user
// text, then by mode and by the words of the text.
func (x *exchange) chooseCalls() []plannedCall {
	if call, ok := x.useComputer(); ok {
		return []plannedCall{call}
	}
	declared := x.callable()
	if len(declared) == 0 || !x.endsInUserText() {
		return nil
	}
	text, _ := x.lastUserText()
	chosen := mentioned(declared, text)
	if len(chosen) == 0 && x.req.ToolConfig.FunctionCallingConfig.Mode == "ANY" {
		chosen = declared[:1]
	}
	var calls []plannedCall
	for _, f := range chosen {
		calls = append(calls, planCalls(f, text)...)
	}
	return calls
}

// callable returns the functions the model may call on this request.
func (x *exchange) callable() []functionDeclaration {
	cfg := x.req.ToolConfig.FunctionCallingConfig
	if cfg.Mode == "NONE" {
		return nil
	}
	declared := x.req.declarations()
	if len(cfg.AllowedFunctionNames) == 0 {
		return declared
	}
	return slices.DeleteFunc(declared, func(f functionDeclaration) bool {
		return !slices.Contains(cfg.AllowedFunctionNames, f.Name)
	})
}

func (x *exchange) endsInUserText() bool {
	if len(x.req.Contents) == 0 {
		return false
	}
	last := x.req.Contents[len(x.req.Contents)-1]
	return last.isUser() && !hasResponse(last)
}

// planCalls plans one call of f, or one per place when the text joins several
// places and f requires one.
func planCalls(f functionDeclaration, text string) []plannedCall {
	raw := f.ParametersJSONSchema
	if len(raw) == 0 {
		raw = f.Parameters
	}
	spec := decodeObject(raw)
	user := readWords(text)
	if len(user.places) < 2 || !requiresPlace(spec) {
		return []plannedCall{{f.Name, newSynth(spec, user).object(spec, 0)}}
	}
	var calls []plannedCall
	for _, place := range user.places {
		one := user
		one.places = []string{place}
		calls = append(calls, plannedCall{f.Name, newSynth(spec, one).object(spec, 0)})
	}
	return calls
}

// requiresPlace reports whether a required parameter is named like a place.
func requiresPlace(spec map[string]any) bool {
	return slices.ContainsFunc(stringsOf(spec["required"]), isPlaceName)
}

// mentioned returns the functions whose name shares a word with the text or,
// failing that, whose description does.
func mentioned(declared []functionDeclaration, text string) []functionDeclaration {
	spoken := wordSet(text)
	var byName, byDescription []functionDeclaration
	for _, f := range declared {
		if sharesWord(spoken, f.Name) {
			byName = append(byName, f)
		}
		if sharesWord(spoken, f.Description) {
			byDescription = append(byDescription, f)
		}
	}
	if len(byName) > 0 {
		return byName
	}
	return byDescription
}

// sharesWord reports whether some telling word of text was spoken.
func sharesWord(spoken map[string]bool, text string) bool {
	for w := range wordSet(text) {
		if spoken[w] {
			return true
		}
	}
	return false
}

// fillers are words that say nothing about what a function is for.
const fillers = " about and any are call current find for from function get give given has have information list look" +
	" make one please return returns set show tell that the this tool use user using want what when where which with you your "

// wordSet returns the telling words of a text or identifier in lower case:
// three characters and more, no fillers, a plural s dropped.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(splitCamel(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		w = strings.ToLower(w)
		if len(w) < 3 || strings.Contains(fillers, " "+w+" ") {
			continue
		}
		if len(w) > 3 {
			w = strings.TrimSuffix(w, "s")
		}
		set[w] = true
	}
	return set
}

// splitCamel puts a space before each upper-case letter after a lower-case one.
func splitCamel(s string) string {
	var b strings.Builder
	var before rune
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// decodeObject decodes a JSON object, or returns nil for anything else.
func decodeObject(raw json.RawMessage) map[string]any {
	var m map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// stringsOf returns the strings of a decoded array.
func stringsOf(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
