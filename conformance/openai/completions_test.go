package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func completionOf(model string, prompts ...string) openai.CompletionNewParams {
	params := openai.CompletionNewParams{Model: openai.CompletionNewParamsModel(model)}
	if len(prompts) == 1 {
		params.Prompt.OfString = openai.String(prompts[0])
	} else {
		params.Prompt.OfArrayOfStrings = prompts
	}
	return params
}

func TestTextCompletions(t *testing.T) {
	s := start(t)
	for _, model := range []string{flash25, "@vx/anthropic.claude-sonnet-4-5@20250929", "@vx/meta.llama-3.3-70b-instruct-maas"} {
		t.Run(model, func(t *testing.T) {
			got, err := s.Completions.New(t.Context(), completionOf(model, "Tell me"))
			if err != nil {
				t.Fatal(explain(err))
			}
			if string(got.Object) != "text_completion" || len(got.Choices) != 1 || got.Choices[0].Text != `You said: "Tell me".` ||
				got.Choices[0].FinishReason != openai.CompletionChoiceFinishReasonStop || got.Usage.TotalTokens == 0 {
				t.Errorf("%s", got.RawJSON())
			}
		})
	}
}

func TestTextCompletionsOfSeveralPrompts(t *testing.T) {
	params := completionOf(flash25, "One", "Two")
	params.N, params.Echo, params.MaxTokens, params.User = openai.Int(2), openai.Bool(true), openai.Int(100), openai.String("u")
	got, err := start(t).Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(explain(err))
	}
	for i, want := range []string{`OneYou said: "One".`, `OneYou said: "One".`, `TwoYou said: "Two".`, `TwoYou said: "Two".`} {
		if c := got.Choices[i]; c.Index != int64(i) || c.Text != want {
			t.Errorf("choice %d: %s", i, c.RawJSON())
		}
	}
}

func TestStreamedTextCompletions(t *testing.T) {
	for _, prompts := range [][]string{{"One"}, {"One", "Two", "Three"}} {
		t.Run(strings.Join(prompts, " "), func(t *testing.T) {
			params := completionOf(flash25, prompts...)
			params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
			stream := start(t).Completions.NewStreaming(t.Context(), params)
			texts, ends, id, usage := map[int64]string{}, map[int64]string{}, "", int64(0)
			for stream.Next() {
				piece := stream.Current()
				if id == "" {
					id = piece.ID
				}
				if piece.ID != id || string(piece.Object) != "text_completion" {
					t.Errorf("%s", piece.RawJSON())
				}
				for _, c := range piece.Choices {
					texts[c.Index] += c.Text
					ends[c.Index] += string(c.FinishReason)
				}
				usage = max(usage, piece.Usage.TotalTokens)
			}
			if err := stream.Err(); err != nil {
				t.Fatal(explain(err))
			}
			for i, prompt := range prompts {
				if texts[int64(i)] != `You said: "`+prompt+`".` || ends[int64(i)] != "stop" {
					t.Errorf("choice %d: %q, %q", i, texts[int64(i)], ends[int64(i)])
				}
			}
			if usage == 0 {
				t.Error("no usage")
			}
		})
	}
}

func TestLogProbabilitiesOfTextCompletions(t *testing.T) {
	s := start(t)
	params := completionOf(flash25, "Tell me")
	params.Logprobs = openai.Int(2)
	got, err := s.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(explain(err))
	}
	if body := string(s.platform.Requests()[0].Body); !strings.Contains(body, `"responseLogprobs":true`) || !strings.Contains(body, `"logprobs":2`) {
		t.Errorf("the platform was asked %s", body)
	}
	if lp := got.Choices[0].Logprobs; len(lp.Tokens) != len(lp.TokenLogprobs) || len(lp.Tokens) != len(lp.TextOffset) {
		t.Errorf("%s", lp.RawJSON())
	}
}

func TestTextCompletionsThatAreRefused(t *testing.T) {
	s := start(t)
	tokens := openai.CompletionNewParams{Model: flash25}
	tokens.Prompt.OfArrayOfTokens = []int64{1, 2}
	lists := openai.CompletionNewParams{Model: flash25}
	lists.Prompt.OfArrayOfTokenArrays = [][]int64{{1}, {2}}
	best := completionOf(flash25, "a")
	best.N, best.BestOf = openai.Int(2), openai.Int(1)
	none := completionOf(flash25, "a")
	none.MaxTokens = openai.Int(0)
	for name, tt := range map[string]struct {
		params openai.CompletionNewParams
		opts   []option.RequestOption
		param  string
		status int
	}{
		"tokens":              {tokens, nil, "prompt[0]", 400},
		"lists of tokens":     {lists, nil, "prompt[0]", 400},
		"an empty prompt":     {completionOf(flash25, "a", ""), nil, "prompt[1]", 400},
		"the best of fewer":   {best, nil, "best_of", 400},
		"no tokens to answer": {none, nil, "max_tokens", 400},
		"tools":               {completionOf(flash25, "a"), []option.RequestOption{option.WithJSONSet("tools", []any{})}, "tools", 400},
		"an unknown slug":     {completionOf("@none/m", "a"), nil, "model", 404},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Completions.New(t.Context(), tt.params, tt.opts...)
			e, ok := errors.AsType[*openai.Error](err)
			if !ok || e.StatusCode != tt.status || e.Param != tt.param {
				t.Errorf("%v, want a refusal of %s", err, tt.param)
			}
			stream := s.Completions.NewStreaming(t.Context(), tt.params, tt.opts...)
			if stream.Next() {
				t.Error("it was streamed")
			}
			if e, ok := errors.AsType[*openai.Error](stream.Err()); !ok || e.StatusCode != tt.status {
				t.Errorf("streamed: %v", stream.Err())
			}
		})
	}
	if n := len(s.platform.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
