package vertextest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// partialArg is one argument, or a piece of one, of a call whose arguments are
// streamed. One of the values is set.
type partialArg struct {
	JSONPath     string       `json:"jsonPath"`
	StringValue  *string      `json:"stringValue,omitempty"`
	NumberValue  *json.Number `json:"numberValue,omitempty"`
	BoolValue    *bool        `json:"boolValue,omitempty"`
	NullValue    string       `json:"nullValue,omitempty"`
	WillContinue bool         `json:"willContinue,omitempty"`
}

// splitCall cuts a call into the parts of a stream of arguments: its name, then
// each scalar by its path, a string in pieces that end with an empty one, then a
// call with nothing in it. A call without arguments is its name alone. Arrays
// and objects that are empty have no path and so don't appear.
//
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc
func splitCall(p part) []part {
	args := flatten(p.FunctionCall.Args)
	first := p
	first.FunctionCall = &functionCall{Name: p.FunctionCall.Name, ID: p.FunctionCall.ID, WillContinue: len(args) > 0}
	out := []part{first}
	for _, a := range args {
		if a.StringValue == nil {
			out = append(out, part{FunctionCall: &functionCall{PartialArgs: []partialArg{a}, WillContinue: true}})
			continue
		}
		rest := []string{}
		if *a.StringValue != "" {
			rest = pieces(*a.StringValue)
		}
		for _, piece := range rest {
			one := partialArg{JSONPath: a.JSONPath, StringValue: &piece, WillContinue: true}
			out = append(out, part{FunctionCall: &functionCall{PartialArgs: []partialArg{one}, WillContinue: true}})
		}
		end := partialArg{JSONPath: a.JSONPath, StringValue: new("")}
		out = append(out, part{FunctionCall: &functionCall{PartialArgs: []partialArg{end}, WillContinue: true}})
	}
	if len(args) > 0 {
		out = append(out, part{FunctionCall: &functionCall{}})
	}
	return out
}

// flatten lists the scalars of a JSON object in their order.
func flatten(raw json.RawMessage) []partialArg {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	f := flattener{d: d}
	f.value("$")
	return f.found
}

// flattener walks a JSON value that is known to be whole.
type flattener struct {
	d     *json.Decoder
	found []partialArg
}

func (f *flattener) value(path string) {
	token, err := f.d.Token()
	if err != nil {
		return
	}
	arg := partialArg{JSONPath: path}
	switch v := token.(type) {
	case json.Delim:
		f.members(v, path)
		return
	case string:
		arg.StringValue = &v
	case json.Number:
		arg.NumberValue = &v
	case bool:
		arg.BoolValue = &v
	default:
		arg.NullValue = "NULL_VALUE"
	}
	f.found = append(f.found, arg)
}

// members walks an object or an array up to its end.
func (f *flattener) members(open json.Delim, path string) {
	for i := 0; f.d.More(); i++ {
		if open == '[' {
			f.value(fmt.Sprintf("%s[%d]", path, i))
			continue
		}
		key, err := f.d.Token()
		if err != nil {
			return
		}
		name, _ := key.(string)
		f.value(path + pathStep(name))
	}
	_, _ = f.d.Token() // the end
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// pathStep returns a member's step of a path, as RFC 9535 writes it.
func pathStep(name string) string {
	if plainKey.MatchString(name) {
		return "." + name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "[\"\"]" // a string can't fail to encode
	}
	return "[" + string(quoted) + "]"
}
