package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
	"github.com/b650d4bf/gateway/providers"
)

// full is an answer with something of everything.
func full() *providers.ChatCompletion {
	extra := func(name string) (e providers.Extra) {
		_ = e.Set(name, json.RawMessage(`{"a":1}`))
		return e
	}
	return &providers.ChatCompletion{
		ID: "id", Created: 7, Model: "m", Provider: "p", Extra: extra("system"), Usage: &providers.Usage{TotalTokens: 9, Extra: extra("native")},
		Meta: providers.Meta{Warnings: []providers.Warning{{Code: "w"}}},
		Choices: []providers.Choice{
			{
				Index: 0, FinishReason: "tool_calls", NativeFinishReason: "STOP", Extra: extra("safety"),
				Logprobs: &providers.Logprobs{Content: []providers.TokenLogprob{{Token: "a"}}},
				Message: providers.Message{
					Role: providers.RoleAssistant, Content: providers.TextContent("an answer"), Extra: extra("refusal"),
					ContentBlocks: []providers.ContentPart{
						{Type: providers.PartThinking, Thinking: "hm", Signature: "s"},
						{Type: providers.PartText, Text: "an answer", Signature: "t"},
						{Type: providers.PartRedactedThinking, Data: "d"},
						{Type: providers.PartImageURL, ImageURL: &providers.ImageURL{URL: "u"}},
					},
					ToolCalls: []providers.ToolCall{
						{ID: "1", Type: "function", Function: providers.FunctionCall{Name: "f", Arguments: `{}`, ThoughtSignature: "x"}},
						{ID: "2", Type: "function", Function: providers.FunctionCall{Name: "g", Arguments: `{"a":1}`}, Extra: extra("c")},
					},
					Audio:       &providers.Audio{ID: "au", Data: "YWJj", Transcript: "abc"},
					Annotations: []providers.Annotation{{Type: "url_citation"}},
				},
			},
			{Index: 1, FinishReason: "stop", Message: providers.Message{Role: providers.RoleAssistant, Content: providers.TextContent("")}},
		},
	}
}

func TestChunksOfAnAnswerMakeItAgain(t *testing.T) {
	var acc providers.Accumulator
	for _, c := range chunksOf(full()) {
		if err := acc.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(full(), acc.Completion(), cmp.Comparer(providers.Content.Equal)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestWhatAGuardTookOutIsLeftNowhere(t *testing.T) {
	text := func(s string) providers.ContentPart { return providers.TextPart(s) }
	thought := func(s string) providers.ContentPart {
		return providers.ContentPart{Type: providers.PartThinking, Thinking: s, Signature: "s"}
	}
	for _, tt := range []struct {
		name         string
		content      string
		blocks       []providers.ContentPart
		becomes      string
		ownBlocks    []providers.ContentPart // of the guard; nil leaves those that are there
		want         []providers.ContentPart
		keepLogprobs bool
	}{
		{"no blocks", "a bad one", nil, "a one", nil, nil, false},
		{"one text", "a bad one", []providers.ContentPart{thought("hm"), text("a bad one")}, "a one", nil, []providers.ContentPart{thought("hm"), text("a one")}, false},
		{
			"several texts", "a bad one", []providers.ContentPart{text("a bad"), thought("hm"), text(" one")}, "a one", nil,
			[]providers.ContentPart{text("a one"), thought("hm")}, false,
		},
		{"a signature of the old text", "bad", []providers.ContentPart{{Type: providers.PartText, Text: "bad", Signature: "x"}}, "good", nil, []providers.ContentPart{text("good")}, false},
		{"no text is left", "bad", []providers.ContentPart{thought("hm"), text("bad")}, "", nil, []providers.ContentPart{thought("hm")}, false},
		{"text where there was none", "", []providers.ContentPart{thought("hm")}, "sorry", nil, []providers.ContentPart{thought("hm"), text("sorry")}, false},
		{
			"thoughts within the content", "hm" + thoughtEnd + "bad", []providers.ContentPart{thought("hm"), text("bad")}, "hm" + thoughtEnd + "good", nil,
			[]providers.ContentPart{thought("hm"), text("good")}, false,
		},
		{
			"thoughts that were taken out of the content", "hm" + thoughtEnd + "bad", []providers.ContentPart{thought("hm"), text("bad")}, "good", nil,
			[]providers.ContentPart{thought("hm"), text("good")}, false,
		},
		{"blocks of the guard", "bad", []providers.ContentPart{text("bad")}, "good", []providers.ContentPart{text("better")}, []providers.ContentPart{text("better")}, false},
		{"the text as it was", "well", []providers.ContentPart{text("well")}, "well", nil, []providers.ContentPart{text("well")}, true},
	} {
		for _, careful := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				answer := &providers.ChatCompletion{
					Usage: &providers.Usage{TotalTokens: 3}, Meta: providers.Meta{Warnings: []providers.Warning{{Code: "w"}}},
					Choices: []providers.Choice{{Logprobs: &providers.Logprobs{}, Message: providers.Message{Content: providers.TextContent(tt.content), ContentBlocks: tt.blocks}}},
				}
				g := providers.Guard{Name: "g", Answer: func(_ context.Context, _ *providers.ChatCompletionRequest, a *providers.ChatCompletion) (*providers.ChatCompletion, error) {
					own := &providers.ChatCompletion{Choices: a.Choices}
					if careful {
						own.Choices = slices.Clone(a.Choices)
					}
					m := &own.Choices[0].Message
					m.Content = providers.TextContent(tt.becomes)
					if tt.ownBlocks != nil {
						m.ContentBlocks = tt.ownBlocks
					}
					return own, nil
				}}
				p := &panel{list: []providers.Guard{g}, log: new(guardLog)}
				out, err := p.answer(t.Context(), ask("m"), answer)
				if err != nil {
					t.Fatal(err)
				}
				c := &out.Choices[0]
				if d := cmp.Diff(tt.want, c.Message.ContentBlocks, cmp.Comparer(providers.Content.Equal)); d != "" {
					t.Errorf("blocks (-want +got)\n%s", d)
				}
				if (c.Logprobs != nil) != tt.keepLogprobs {
					t.Errorf("logprobs %v", c.Logprobs)
				}
				if out.Usage == nil || len(out.Meta.Warnings) != 1 {
					t.Error("what it cost and how it came about is lost")
				}
			})
		}
	}
}

// nothing is a guard of answers that finds nothing, and writes down what it saw.
func nothing(mode providers.GuardMode, seen *string) providers.Guard {
	return providers.Guard{Name: "g", Mode: mode, Answer: func(_ context.Context, _ *providers.ChatCompletionRequest, a *providers.ChatCompletion) (*providers.ChatCompletion, error) {
		b, err := a.MarshalJSON()
		*seen = string(b)
		return a, err
	}}
}

// The bound is one on what is kept: who observes lets a larger answer pass.
func TestStreamsThatAreTooLargeForGuards(t *testing.T) {
	half := strings.Repeat("a", maxHeld/2)
	chunk := providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: half}}}}
	last := providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{FinishReason: "stop"}}}
	for mode, refused := range map[providers.GuardMode]bool{providers.GuardDeny: true, providers.GuardObserve: false} {
		t.Run(string(mode), func(t *testing.T) {
			seen := ""
			from := &script{chunks: []providers.ChatCompletionChunk{chunk, chunk, last}, err: io.EOF}
			e := New(&fake{name: "fake", stream: func(context.Context) (providers.ChunkReader, error) { return from, nil }})
			client := here()
			client.Guards = []providers.Guard{nothing(mode, &seen)}
			s, err := e.ChatStream(t.Context(), client, &Settings{}, ask("m"))
			if refused {
				if !errors.Is(err, providers.ErrBadResponse) || !strings.Contains(err.Error(), "64 MiB") {
					t.Errorf("error %v", err)
				}
			} else {
				chunks, err := read(s)
				if err != nil || len(chunks) != 3 {
					t.Errorf("%d chunks, %v", len(chunks), err)
				}
				if v := s.Meta().Guards; len(v) != 1 || v[0].Denied || !errors.Is(v[0].Err, providers.ErrBadResponse) {
					t.Errorf("verdicts %+v", v)
				}
			}
			if seen != "" || from.closed == 0 {
				t.Errorf("seen %v, closed %d times", seen != "", from.closed)
			}
		})
	}
}

// Guards see what strict compliance hides, also when the chunks were projected
// meanwhile.
func TestGuardsSeeTheWholeAnswer(t *testing.T) {
	want, err := full().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []providers.GuardMode{providers.GuardDeny, providers.GuardObserve} {
		for _, stream := range []bool{false, true} {
			seen := ""
			f := answering(func() providers.ChatCompletion { return *full() })
			f.stream = func(context.Context) (providers.ChunkReader, error) {
				from := &script{err: io.EOF}
				for _, c := range chunksOf(full()) {
					from.chunks = append(from.chunks, *c)
				}
				return from, nil
			}
			e, client := New(f), here()
			client.Guards = []providers.Guard{nothing(mode, &seen)}
			var err error
			if stream {
				var s *Stream
				if s, err = e.ChatStream(t.Context(), client, &Settings{}, ask("m")); err == nil {
					_, err = read(s)
				}
			} else {
				_, err = e.Chat(t.Context(), client, &Settings{}, ask("m"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), seen); d != "" {
				t.Errorf("%s, streamed %v (-want +got)\n%s", mode, stream, d)
			}
		}
	}
}

// What is held back has given its place at the target back.
func TestHeldStreamsLeaveTheirPlaceAtTheTarget(t *testing.T) {
	for name, verdict := range map[string]error{"passed": nil, "denied": errors.New("bad")} {
		for _, named := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := New(streaming(io.EOF, providers.ChatCompletionChunk{Choices: []providers.ChunkChoice{{Delta: providers.Delta{Content: "a"}, FinishReason: "stop"}}}))
					text := `{"limits":{"concurrency":1}}`
					g := providers.Guard{Name: "g", Answer: func(context.Context, *providers.ChatCompletionRequest, *providers.ChatCompletion) (*providers.ChatCompletion, error) {
						time.Sleep(time.Second)
						return nil, verdict
					}}
					client := here()
					if named {
						text = `{"limits":{"concurrency":1},"guards":[{"name":"g"}]}`
						e.AddGuards([]providers.Guard{g})
					} else {
						client.Guards = []providers.Guard{g}
					}
					c, err := config.Parse([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					if client.Plan, err = NewPlan(c); err != nil {
						t.Fatal(err)
					}
					for range 3 { // none is read to its end
						_, err := e.ChatStream(t.Context(), client, &Settings{}, ask("m"))
						if (err == nil) != (verdict == nil) || err != nil && !errors.Is(err, verdict) {
							t.Errorf("error %v", err)
						}
					}
				})
			})
		}
	}
}

func TestADeniedAnswerWasBilled(t *testing.T) {
	for _, stream := range []bool{false, true} {
		w := &ends{}
		f := answering(func() providers.ChatCompletion { return *full() })
		f.stream = func(context.Context) (providers.ChunkReader, error) {
			from := &script{err: io.EOF}
			for _, c := range chunksOf(full()) {
				from.chunks = append(from.chunks, *c)
			}
			return from, nil
		}
		client := here()
		client.Observers = []providers.Observer{w}
		client.Guards = []providers.Guard{{Name: "g", Answer: func(context.Context, *providers.ChatCompletionRequest, *providers.ChatCompletion) (*providers.ChatCompletion, error) {
			return nil, errors.New("bad")
		}}}
		var err error
		if stream {
			_, err = New(f).ChatStream(t.Context(), client, &Settings{}, ask("m"))
		} else {
			_, err = New(f).Chat(t.Context(), client, &Settings{}, ask("m"))
		}
		r := w.last
		if !errors.Is(err, providers.ErrGuardDenied) || r.Usage == nil || r.Usage.TotalTokens != 9 || r.FinishReason != "tool_calls" {
			t.Errorf("error %v, record %+v", err, r)
		}
		if a := r.Meta.Attempts; len(a) != 1 || a[0].StatusCode != 200 || a[0].Code != "" {
			t.Errorf("attempts %+v", a)
		}
	}
}

// ends is an observer that keeps the last record.
type ends struct{ last providers.Record }

func (*ends) CallStart(ctx context.Context, _ providers.Call) context.Context { return ctx }
func (e *ends) CallEnd(_ context.Context, r providers.Record)                 { e.last = r }
