package engine

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

// stopReasons are the reasons of the schema that are "stop", or "tool_calls"
// when there is a call, on purpose.
var stopReasons = []string{
	"STOP", "OTHER", "NO_IMAGE", "IMAGE_OTHER",
	"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE",
}

// schemaEnum returns the values of an enum of the platform's schema.
func schemaEnum(t *testing.T, definition, property string) []string {
	t.Helper()
	data, err := os.ReadFile("../../providers/vertex/vertextest/vertex-v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Enum []string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	values := schema.Defs[definition].Properties[property].Enum
	if len(values) == 0 {
		t.Fatalf("%s.%s is no enum", definition, property)
	}
	return values
}

// answers is a transport that answers each request with the text.
type answers string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a))), ContentLength: -1}, nil
}

// decoded returns what a caller gets for a whole answer.
func decoded(t *testing.T, body string) (*providers.ChatCompletion, error) {
	t.Helper()
	p := New(Config{Transport: answers(body)}, testSite{})
	return p.ChatCompletion(t.Context(), &providers.Target{Model: "gemini-2.5-flash", ProjectID: "p", Region: "global"},
		&providers.ChatCompletionRequest{Messages: []providers.Message{providers.UserMessage("hi")}})
}

// finished decodes a whole answer with the finish reason and the parts.
func finished(t *testing.T, reason, parts string) (*providers.ChatCompletion, error) {
	t.Helper()
	return decoded(t, `{"candidates":[{"content":{"parts":[`+parts+`]},"finishReason":"`+reason+`"}]}`)
}

func TestEveryFinishReasonOfTheSchemaIsDecided(t *testing.T) {
	for _, reason := range schemaEnum(t, "Candidate", "finishReason") {
		_, mapped := finishReasons[reason]
		if reason != "FINISH_REASON_UNSPECIFIED" && mapped == slices.Contains(stopReasons, reason) {
			t.Errorf("%s is mapped: %v, and a stop on purpose: %v", reason, mapped, !mapped)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	const (
		text = `{"text":"a"}`
		call = `{"functionCall":{"name":"f"}}`
	)
	for _, tt := range []struct{ reason, plain, withCall string }{
		{"STOP", "stop", "tool_calls"},
		{"MAX_TOKENS", "length", "length"},
		{"CONTINUATION", "length", "length"},
		{"SAFETY", "content_filter", "content_filter"},
		{"RECITATION", "content_filter", "content_filter"},
		{"BLOCKLIST", "content_filter", "content_filter"},
		{"PROHIBITED_CONTENT", "content_filter", "content_filter"},
		{"SPII", "content_filter", "content_filter"},
		{"MODEL_ARMOR", "content_filter", "content_filter"},
		{"IMAGE_SAFETY", "content_filter", "content_filter"},
		{"IMAGE_PROHIBITED_CONTENT", "content_filter", "content_filter"},
		{"IMAGE_RECITATION", "content_filter", "content_filter"},
		{"LANGUAGE", "content_filter", "content_filter"},
		{"MALFORMED_FUNCTION_CALL", "stop", "tool_calls"},
		{"UNEXPECTED_TOOL_CALL", "stop", "tool_calls"},
		{"MALFORMED_RESPONSE", "stop", "tool_calls"},
		{"TOO_MANY_TOOL_CALLS", "stop", "tool_calls"},
		{"OTHER", "stop", "tool_calls"},
		{"NO_IMAGE", "stop", "tool_calls"},
		{"IMAGE_OTHER", "stop", "tool_calls"},
		{"SOMETHING_NEW", "stop", "tool_calls"},
		{"", "stop", "tool_calls"},
	} {
		for parts, want := range map[string]string{text: tt.plain, text + "," + call: tt.withCall} {
			t.Run(tt.reason+" after "+parts, func(t *testing.T) {
				answer, err := finished(t, tt.reason, parts)
				if err != nil {
					t.Fatal(err)
				}
				if c := answer.Choices[0]; c.FinishReason != want || c.NativeFinishReason != tt.reason {
					t.Errorf("%s, natively %q, want %s", c.FinishReason, c.NativeFinishReason, want)
				}
			})
		}
	}
}

func TestABrokenAnswerWithNothingToShowIsAnError(t *testing.T) {
	for _, reason := range append(slices.Clone(brokenReasons), "STOP", "OTHER", "MAX_TOKENS", "SAFETY") {
		for parts, shows := range map[string]bool{
			``: false, `{"text":""}`: false, `{"text":"hm","thought":true}`: false, `{"text":"","thoughtSignature":"c2ln"}`: false,
			`{"text":"a"}`: true, `{"functionCall":{"name":"f"}}`: true, `{"executableCode":{"code":"1"}}`: true,
			`{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`: true,
		} {
			t.Run(reason+" after "+parts, func(t *testing.T) {
				_, err := finished(t, reason, parts)
				if broken := slices.Contains(brokenReasons, reason) && !shows; broken != (code(err) == providers.ErrEmptyResponse) {
					t.Errorf("%v, want an empty response: %v", err, broken)
				}
			})
		}
	}
}

func code(err error) providers.Code {
	if e, ok := err.(*providers.Error); ok { // as it came
		return e.Code
	}
	return ""
}

func TestUsageCountsAsTheSchemaDoes(t *testing.T) {
	for _, tt := range []struct {
		name, wire string
		want       providers.Usage
	}{
		{"everything", `{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":20,"thoughtsTokenCount":30,
			"toolUsePromptTokenCount":7,"totalTokenCount":157,
			"promptTokensDetails":[{"modality":"TEXT","tokenCount":90},{"modality":"AUDIO","tokenCount":10}],
			"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":3},{"modality":"AUDIO","tokenCount":2}],"trafficType":"ON_DEMAND"}`,
			providers.Usage{
				PromptTokens: 107, CompletionTokens: 50, TotalTokens: 157,
				PromptTokensDetails:     providers.PromptTokensDetails{CachedTokens: 40, AudioTokens: 10},
				CompletionTokensDetails: providers.CompletionTokensDetails{ReasoningTokens: 30, AudioTokens: 5},
				Extra:                   providers.Extra(`{"traffic_type":"ON_DEMAND","tool_use_prompt_tokens":7}`),
			}},
		{"no total", `{"promptTokenCount":3,"candidatesTokenCount":4}`, providers.Usage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 7}},
		{"the platform's total counts", `{"promptTokenCount":3,"totalTokenCount":9}`, providers.Usage{PromptTokens: 3, TotalTokens: 9}},
		{"counts as strings", `{"promptTokenCount":"3","totalTokenCount":"3"}`, providers.Usage{PromptTokens: 3, TotalTokens: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := call{}
			c.decoder = geminiFamily{}.newDecoder(&c.in, &c.out)
			answer, err := c.fold([]byte(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":`+tt.wire+`}`), new(providers.Accumulator))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := jsonOf(t, answer.Usage), jsonOf(t, &tt.want); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
	t.Run("a traffic type alone is no usage", func(t *testing.T) {
		c := call{}
		c.decoder = geminiFamily{}.newDecoder(&c.in, &c.out)
		answer, err := c.fold([]byte(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"trafficType":"ON_DEMAND"}}`), new(providers.Accumulator))
		if err != nil || answer.Usage != nil {
			t.Errorf("%v %v, want no usage", answer.Usage, err)
		}
	})
}

func jsonOf(t *testing.T, u *providers.Usage) string {
	t.Helper()
	data, err := json.Marshal(providers.ChatCompletion{Usage: u})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestACallThatIsBrokenOffIsNotOne(t *testing.T) {
	for _, tt := range []struct{ reason, finish string }{ // finish "" is an error
		{"STOP", "tool_calls"}, {"MAX_TOKENS", "length"}, {"SAFETY", "content_filter"},
		{"MALFORMED_FUNCTION_CALL", ""}, {"MALFORMED_RESPONSE", ""}, {"OTHER", ""}, {"SOMETHING_NEW", ""},
	} {
		d := decoderOf(t, false, false)
		d.signed = rememberFunc(func(c *providers.ToolCall) {
			if tt.finish == "" {
				t.Errorf("%s: told of %+v", tt.reason, c)
			}
		})
		_, whole, err := foldOf(d,
			event(false, `{"functionCall":{"name":"pay","willContinue":true},"thoughtSignature":"c2ln"}`),
			event(false, `{"functionCall":{"willContinue":true,"partialArgs":[{"jsonPath":"$.to","stringValue":"al","willContinue":true}]}}`),
			`{"candidates":[{"finishReason":"`+tt.reason+`"}]}`)
		switch {
		case tt.finish == "":
			if e, ok := errors.AsType[*providers.Error](err); !ok || e.Code != providers.ErrBadResponse || e.NativeStatus != tt.reason {
				t.Errorf("%s: %v, want %s", tt.reason, err, providers.ErrBadResponse)
			}
		case err != nil || whole.Choices[0].FinishReason != tt.finish:
			t.Errorf("%s: %v, want %s", tt.reason, err, tt.finish)
		}
	}
}
