package completions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func request(t *testing.T, body string) *providers.CompletionRequest {
	t.Helper()
	q := new(providers.CompletionRequest)
	if err := q.UnmarshalJSON([]byte(body)); err != nil {
		t.Fatal(err)
	}
	return q
}

// prompt is what the user message of a chat completion says.
func prompt(q *providers.ChatCompletionRequest) string {
	return q.Messages[len(q.Messages)-1].Content.Text()
}

// echoing answers with the prompt, and n choices.
func echoing(_ context.Context, q *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
	out := &providers.ChatCompletion{
		ID: "id-" + prompt(q), Created: 7, Model: "m-1", Provider: "p", Usage: &providers.Usage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3},
		Meta: providers.Meta{RequestID: "r-" + prompt(q), Warnings: []providers.Warning{{Code: "c", Param: "messages[0].content", Message: "w"}}, Attempts: make([]providers.Attempt, 1)},
	}
	n := 1
	if q.N != nil {
		n = *q.N
	}
	for i := range n {
		out.Choices = append(out.Choices, providers.Choice{
			Index: i, FinishReason: "stop", Message: providers.Message{Content: providers.TextContent(fmt.Sprint("<", prompt(q), i, ">"))},
		})
	}
	return out, nil
}

func TestWhatIsAsked(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{
			"a prompt is a user message", `{"model":"m","prompt":"Once upon a time"}`,
			`{"model":"m","messages":[{"role":"user","content":"Once upon a time"}]}`,
		},
		{
			"every parameter", `{"model":"m","prompt":["a"],"max_tokens":5,"temperature":0.5,"top_p":0.9,"n":2,"best_of":3,"stop":"x","seed":7,"presence_penalty":1,` +
				`"frequency_penalty":-1,"logprobs":3,"echo":true,"stream":true,"stream_options":{"include_usage":true},"user":"u","logit_bias":{"1":2}}`,
			`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":5,"temperature":0.5,"top_p":0.9,"n":2,"stop":["x"],"seed":7,"presence_penalty":1,` +
				`"frequency_penalty":-1,"logprobs":true,"top_logprobs":3,"user":"u","logit_bias":{"1":2}}`,
		},
		{"no alternatives", `{"model":"m","prompt":"a","logprobs":0}`, `{"model":"m","messages":[{"role":"user","content":"a"}],"logprobs":true}`},
		{
			"members of chat completions", `{"model":"m","prompt":"a","thinking":{"type":"enabled","budget_tokens":5},"labels":{"a":"b"},"top_k":3,"x":[1, 2],` +
				`"response_format":{"type":"json_object"},"reasoning_effort":"low","metadata":{"k":"v"},"top_logprobs":3}`,
			`{"model":"m","messages":[{"role":"user","content":"a"}],"top_k":3,"response_format":{"type":"json_object"},"reasoning_effort":"low",` +
				`"thinking":{"type":"enabled","budget_tokens":5},"labels":{"a":"b"},"metadata":{"k":"v"},"x":[1, 2]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := newJob(request(t, tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := j.chats[0].MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestAGapIsFilledByAnInstruction(t *testing.T) {
	j, err := newJob(request(t, `{"model":"m","prompt":["def f():\n","g"],"suffix":"\n  return n","best_of":2}`))
	if err != nil {
		t.Fatal(err)
	}
	msgs := j.chats[0].Messages
	if len(msgs) != 2 || msgs[0].Role != "system" || msgs[1].Content.Text() != "<prefix>def f():\n</prefix>\n<suffix>\n  return n</suffix>" {
		t.Errorf("%+v", msgs)
	}
	var params []string
	for _, w := range j.warnings {
		params = append(params, w.Param)
	}
	if d := cmp.Diff([]string{"best_of", "suffix"}, params); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestSeveralPromptsAndChoices(t *testing.T) {
	out, err := Create(t.Context(), request(t, `{"model":"m","prompt":["a","b","c"],"n":2,"echo":true}`), 0, echoing)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range out.Choices {
		got = append(got, fmt.Sprint(c.Index, " ", c.Text))
	}
	if d := cmp.Diff([]string{"0 a<a0>", "1 a<a1>", "2 b<b0>", "3 b<b1>", "4 c<c0>", "5 c<c1>"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if out.ID != "id-a" || out.Usage.TotalTokens != 9 || len(out.Meta.Attempts) != 3 || out.Meta.RequestID != "r-a" {
		t.Errorf("%+v", out)
	}
	var params []string
	for _, w := range out.Meta.Warnings {
		params = append(params, w.Param)
	}
	if d := cmp.Diff([]string{"prompt[0]", "prompt[1]", "prompt[2]"}, params); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestPromptsAreAskedAboutAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		texts, _ := json.Marshal(strings.Split(strings.Repeat("x,", 39)+"x", ","))
		out, err := Create(t.Context(), request(t, `{"model":"m","prompt":`+string(texts)+`}`), 0, func(ctx context.Context, q *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			time.Sleep(time.Second)
			return echoing(ctx, q)
		})
		if err != nil || len(out.Choices) != 40 || most.Load() != maxAtOnce {
			t.Errorf("%v, %d at a time", err, most.Load())
		}
	})
}

func TestTheFirstFailureEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		texts, _ := json.Marshal(strings.Split(strings.Repeat("x,", 39)+"bad", ","))
		_, err := Create(t.Context(), request(t, `{"model":"m","prompt":`+string(texts)+`}`), 0, func(ctx context.Context, q *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
			if asked.Add(1) == 10 {
				return nil, &providers.Error{Code: providers.ErrRateLimited, Param: "messages[0].content", Message: "no"}
			}
			select {
			case <-time.After(time.Second):
				return echoing(ctx, q)
			case <-ctx.Done():
				return nil, &providers.Error{Code: providers.ErrCanceled, Err: ctx.Err()}
			}
		})
		var e *providers.Error
		if !errors.As(err, &e) || e.Code != providers.ErrRateLimited || !strings.HasPrefix(e.Param, "prompt[") || !e.Sent || asked.Load() > 16 {
			t.Errorf("%+v after %d requests", err, asked.Load())
		}
	})
}

func TestTheTimeOfAllIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		_, err := Create(t.Context(), request(t, `{"model":"m","prompt":["a","b"]}`), time.Minute, func(ctx context.Context, _ *providers.ChatCompletionRequest) (*providers.ChatCompletion, error) {
			<-ctx.Done()
			return nil, &providers.Error{Code: providers.ErrTimeout, Err: ctx.Err()}
		})
		if !errors.Is(err, providers.ErrTimeout) || time.Since(started) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(started))
		}
	})
}

func TestLogProbabilitiesInTheOlderForm(t *testing.T) {
	q := request(t, `{"model":"m","prompt":"né","logprobs":2,"echo":true}`)
	j, err := newJob(q)
	if err != nil {
		t.Fatal(err)
	}
	lp := &providers.Logprobs{Content: []providers.TokenLogprob{
		{Token: "ä", Logprob: -0.5, TopLogprobs: []providers.TokenLogprob{{Token: "ä", Logprob: -0.5}, {Token: "b", Logprob: -1}}},
		{Token: "cd", Logprob: -3, TopLogprobs: []providers.TokenLogprob{{Token: "x", Logprob: -1}, {Token: "x", Logprob: -2}}},
	}}
	tr := j.tracker(0)
	want := &providers.CompletionLogprobs{
		Tokens: []string{"ä", "cd"}, TokenLogprobs: []float64{-0.5, -3}, TextOffset: []int{2, 3},
		TopLogprobs: [][]providers.CompletionAlternative{{{Token: "ä", Logprob: -0.5}, {Token: "b", Logprob: -1}}, {{Token: "x", Logprob: -1}, {Token: "cd", Logprob: -3}}},
	}
	if d := cmp.Diff(want, tr.logprobs(q, lp)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := tr.logprobs(q, lp); got.TextOffset[0] != 5 {
		t.Errorf("the next piece begins at %d", got.TextOffset[0])
	}
	q.Logprobs = new(0)
	if got := tr.logprobs(q, lp); got.TopLogprobs != nil {
		t.Errorf("%+v", got)
	}
	if tr.logprobs(q, nil) != nil {
		t.Error("made up")
	}
}

func TestMembersOfAWrongKind(t *testing.T) {
	for body, param := range map[string]string{
		`{"model":"m","prompt":"a","thinking":{"budget_tokens":"x"}}`: "thinking.budget_tokens",
		`{"model":"m","prompt":"a","top_k":"3"}`:                      "top_k",
		`{"model":"m","prompt":"a","labels":[]}`:                      "labels",
		`{"model":"m","prompt":"a","response_format":5}`:              "response_format",
	} {
		_, err := Create(t.Context(), request(t, body), 0, echoing)
		if e, ok := errors.AsType[*providers.Error](err); !ok || e.Code != providers.ErrInvalidRequest || e.Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
}
