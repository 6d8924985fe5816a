package providers_test

import (
	"encoding/json"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// stable checks that what was decoded encodes to JSON, and that this decodes to
// the same again.
func stable[T json.Marshaler, P coder[T]](t *testing.T, data []byte) {
	t.Helper()
	var v T
	if P(&v).UnmarshalJSON(data) != nil {
		return
	}
	if !json.Valid(data) {
		t.Fatalf("%q is no JSON but was decoded", data)
	}
	first, err := v.MarshalJSON()
	if err != nil {
		t.Fatalf("%s was decoded but cannot be encoded: %v", data, err)
	}
	if !json.Valid(first) {
		t.Fatalf("%s became %s", data, first)
	}
	second, err := recode[T, P](first)
	if err != nil {
		t.Fatalf("%s became %s, which cannot be decoded: %v", data, first, err)
	}
	if string(first) != string(second) {
		t.Fatalf("not stable:\n%s\n%s", first, second)
	}
}

func FuzzContent(f *testing.F) {
	for _, doc := range []string{
		`null`, `""`, `"a\ud83d\ude00"`, `[]`, `[{}]`, `[{"type":"text","text":""}]`, `{"type":"text"}`, `5`, `[null]`, `["x"]`,
		`[{"type":"image_url","image_url":"u"},{"type":"x","x":{"a":[1,{}]}}]`, `[{"type":"text","text":"a","text":"b","z":1,"z":2}]`,
		"\"\xff\"", `[{"type":"thinking","thinking":null,"signature":"s","":""}]`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[providers.Content](t, data)
		var c providers.Content
		if c.UnmarshalJSON(data) == nil && !c.Equal(c) {
			t.Fatalf("%s is not equal to itself", data)
		}
	})
}

func FuzzRequest(f *testing.F) {
	for _, doc := range []string{
		ask(user + `,` + twoCalls + `,` + resultB + `,` + noID),
		`{"model":"@vx/m","messages":[{"role":"system","content":[{"type":"text","text":"x"}]}],"stop":"s","tool_choice":{"type":"allowed_tools",` +
			`"allowed_tools":{"mode":"auto","tools":["x",{}]}},"labels":{"a":"b"},"unknown":[{}]}`,
		`{"tool_choice":{"type":"custom","x":1},"temperature":1e-7,"seed":-1,"stop":[null]}`,
		`{"tools":[{"function":{"name":"f","parameters":{"a":1.0}}}],"response_format":{"json_schema":{"schema":null}}}`,
		`{"messages":[{"tool_calls":[{"function":{"arguments":{"a":1}}}]}]}`, `{"":{"":null}}`, `[]`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[request](t, data)
		var req request
		if req.UnmarshalJSON(data) == nil {
			_ = req.Validate()
		}
	})
}

func FuzzChunk(f *testing.F) {
	for _, doc := range []string{
		choice(`"delta":{"role":"assistant","content":"x"},"finish_reason":"stop"`), block("0", `{"thinking":"x","signature":"s"}`),
		block("0", `{"type":"image_url","image_url":{"url":"u"}}`), block("-1", `{}`), `{"usage":{"x":1}}`,
		choice(`"delta":{"tool_calls":[{"index":0,"function":{"arguments":{}}},{"index":9}]},"logprobs":{"content":[{"token":"\ud800"}]}`),
		choice(`"delta":{"audio":{"id":"a","data":"YQ=="},"annotations":[{"type":"url_citation","url_citation":{"url":"u"}}]}`),
		choice(`"delta":{"audio":{"data":"UklGRv////9XQVZFZm10IBAAAAABAAEAwF0AAIC7AAACABAAZGF0Yf////8="}}`),
	} {
		f.Add([]byte(doc), []byte(doc))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		stable[chunk](t, first)
		var acc providers.Accumulator
		for _, data := range [][]byte{first, second, first} {
			var c chunk
			if c.UnmarshalJSON(data) == nil {
				_ = acc.Add(&c)
			}
		}
		data, err := acc.Completion().AppendJSON(nil)
		if err != nil || !json.Valid(data) {
			t.Fatalf("the answer is no JSON: %s, %v", data, err)
		}
	})
}
