package providers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestCompletionRequestsThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, doc, param string }{
		{"no model", `{"prompt":"a"}`, "model"},
		{"no prompt", `{"model":"m"}`, "prompt"},
		{"a null prompt", `{"model":"m","prompt":null}`, "prompt"},
		{"no prompt in a list", `{"model":"m","prompt":[]}`, "prompt"},
		{"an empty prompt", `{"model":"m","prompt":""}`, "prompt"},
		{"an empty prompt in a list", `{"model":"m","prompt":["a",""]}`, "prompt[1]"},
		{"more prompts than there may be", `{"model":"m","prompt":[` + strings.Repeat(`"a",`, 128) + `"a"]}`, "prompt"},
		{"no choice", `{"model":"m","prompt":"a","n":0}`, "n"},
		{"no tokens", `{"model":"m","prompt":"a","max_tokens":0}`, "max_tokens"},
		{"fewer than no alternatives", `{"model":"m","prompt":"a","logprobs":-1}`, "logprobs"},
		{"the best of fewer", `{"model":"m","prompt":"a","n":2,"best_of":1}`, "best_of"},
		{"messages", `{"model":"m","prompt":"a","messages":[]}`, "messages"},
		{"tools", `{"model":"m","prompt":"a","tools":[]}`, "tools"},
		{"another modality", `{"model":"m","prompt":"a","modalities":["image"]}`, "modalities"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := decode[providers.CompletionRequest](t, tt.doc)
			var e *providers.Error
			if err := q.Validate(); !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param {
				t.Errorf("%v, want it to be about %s", err, tt.param)
			}
		})
	}
	fine := decode[providers.CompletionRequest](t, `{"model":"m","prompt":["a","b"],"n":2,"best_of":2,"logprobs":0,"tools":null,"max_tokens":1}`)
	if err := fine.Validate(); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoPrompt(t *testing.T) {
	for _, doc := range []string{`7`, `true`, `{}`, `[1,2]`, `[[1],[2]]`, `["a",1]`, `[null]`, `[true]`, `["a"`, `[{"text":"a"}]`} {
		var q providers.CompletionRequest
		if err := q.UnmarshalJSON([]byte(`{"prompt":` + doc + `}`)); err == nil {
			t.Errorf("%s became %+v", doc, q)
		}
	}
	err := new(providers.CompletionRequest).UnmarshalJSON([]byte(`{"prompt":["a",[1]]}`))
	if err == nil || !strings.Contains(err.Error(), "prompt[1]") || !strings.Contains(err.Error(), "send the text") {
		t.Errorf("%v", err)
	}
}

func FuzzCompletions(f *testing.F) {
	for _, doc := range []string{
		`{"model":"m","prompt":"a","stop":"x","logprobs":5,"echo":true,"x":{}}`, `{"prompt":["a","b"],"logit_bias":{"1":2}}`, `{"prompt":[1]}`, `{"prompt":null}`,
		`{"id":"i","choices":[{"text":"t","logprobs":{"tokens":["a"],"token_logprobs":[null],"top_logprobs":[null,{"a":1e-9,"a":2}],"text_offset":[0]}}],"usage":{}}`,
		`{"choices":[{"logprobs":{"top_logprobs":[]},"finish_reason":null}]}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		stable[providers.CompletionRequest](t, data)
		stable[providers.Completion](t, data)
		var q providers.CompletionRequest
		if q.UnmarshalJSON(data) == nil {
			_ = q.Validate()
		}
	})
}
