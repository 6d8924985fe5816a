package vertex_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

// TestPartsGoBackAsTheyCame appends an answer to the next request, through its
// JSON as a client of the HTTP front would, and looks at the parts that are sent.
func TestPartsGoBackAsTheyCame(t *testing.T) {
	const model = "gemini-3.5-flash"
	parts := []string{
		`{"text":"First, ","thoughtSignature":"c0"}`,
		`{"executableCode":{"id":"e1","language":"PYTHON","code":"print(\"<&\\u00e9>\")"},"thoughtSignature":"c1"}`,
		`{"codeExecutionResult":{"id":"e1","outcome":"OUTCOME_OK","output":"x"}}`,
		`{"text":"then."}`,
		`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="},"thoughtSignature":"c2"}`,
		`{"functionCall":{"id":"f1","name":"f","args":{"z":1.0,"a":[12345678901234567890]}},"thoughtSignature":"c3"}`,
	}
	whole := `{"candidates":[{"content":{"parts":[` + strings.Join(parts, ",") + `]},"finishReason":"STOP"}]}`
	var events strings.Builder
	for i, part := range parts {
		finish := ""
		if i == len(parts)-1 {
			finish = `,"finishReason":"STOP"`
		}
		events.WriteString(`data: {"candidates":[{"content":{"parts":[` + part + `]}` + finish + "}]}\n\n")
	}
	unary, err := newProvider(t, plays([]byte(whole))).ChatCompletion(t.Context(), target(model), hello(t, model))
	if err != nil {
		t.Fatal(err)
	}
	_, folded, err := streamed(t, func() io.Reader { return strings.NewReader(events.String()) })
	if err != nil {
		t.Fatal(err)
	}
	for form, answer := range map[string]*providers.ChatCompletion{"whole": unary, "streamed": folded} {
		data, err := answer.Choices[0].Message.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		q := decodeRequest(t, []byte(`{"model":"`+model+`","messages":[{"role":"user","content":"hi"},`+string(data)+
			`,{"role":"tool","tool_call_id":"f1","content":"{}"}]}`))
		body, warnings, err := encoded(t, q)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%s: %v %v", form, warnings, err)
		}
		var sent struct {
			Contents []struct{ Parts []json.RawMessage }
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(sent.Contents[1].Parts))
		for i, part := range sent.Contents[1].Parts {
			got[i] = string(bytes.TrimSpace(part))
		}
		if diff := cmp.Diff(parts, got); diff != "" {
			t.Errorf("%s (-came +went)\n%s", form, diff)
		}
	}
}
