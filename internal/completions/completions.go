// Package completions turns requests of the older schema, text completions, into
// chat completions, and the answers to these back.
package completions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// maxAtOnce is the most prompts of one request that are asked about at a time.
const maxAtOnce = 8

// Asker is what asks about one prompt.
type Asker func(context.Context, *providers.ChatCompletionRequest) (*providers.ChatCompletion, error)

// job is one request on its way.
type job struct {
	q        *providers.CompletionRequest
	chats    []*providers.ChatCompletionRequest // one for each prompt
	n        int                                // choices of each
	warnings []providers.Warning
}

// newJob checks the request and makes the chat completions of it.
func newJob(q *providers.CompletionRequest) (*job, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	base, err := chat(q)
	if err != nil {
		return nil, err
	}
	j := &job{q: q, n: 1, warnings: warnings(q)}
	if q.N != nil {
		j.n = *q.N
	}
	for _, prompt := range q.Prompt.Texts {
		own := *base
		own.Messages = conversation(prompt, q.Suffix)
		j.chats = append(j.chats, &own)
	}
	return j, nil
}

// Create asks about all prompts, some of them at a time. The first failure ends
// the others. A total above 0 limits the time for all.
func Create(ctx context.Context, q *providers.CompletionRequest, total time.Duration, ask Asker) (*providers.Completion, error) {
	j, err := newJob(q)
	if err != nil {
		return nil, err
	}
	answers := make([]*providers.ChatCompletion, len(j.chats))
	if len(j.chats) == 1 {
		if answers[0], err = ask(ctx, j.chats[0]); err != nil {
			return nil, j.restate(0, err)
		}
		return j.completion(answers), nil
	}
	ctx, cancel := limited(ctx, total)
	defer cancel()
	if err := j.askAll(ctx, cancel, answers, ask); err != nil {
		return nil, err
	}
	return j.completion(answers), nil
}

// limited bounds the time for several requests as that for one is.
func limited(ctx context.Context, total time.Duration) (context.Context, context.CancelFunc) {
	if total > 0 {
		return context.WithTimeout(ctx, total)
	}
	return context.WithCancel(ctx)
}

// askAll asks for several answers at a time, and returns when nothing is under
// way any more.
func (j *job) askAll(ctx context.Context, cancel context.CancelFunc, answers []*providers.ChatCompletion, ask Asker) error {
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		failed error
		next   int
		done   int
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil || next == len(j.chats) {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(maxAtOnce, len(j.chats)) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				out, err := ask(ctx, j.chats[i])
				mu.Lock()
				switch {
				case err == nil:
					answers[i] = out
					done++
				case failed == nil:
					failed = j.restate(i, err)
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return spent(failed, done > 0)
}

// spent says of an error that something was sent, when an earlier request was.
func spent(err error, sent bool) error {
	if e, ok := errors.AsType[*providers.Error](err); ok && sent && !e.Sent {
		own := *e
		own.Sent = true
		return &own
	}
	return err
}

// completion puts the answers together.
func (j *job) completion(answers []*providers.ChatCompletion) *providers.Completion {
	first := answers[0]
	out := &providers.Completion{
		ID: first.ID, Created: first.Created, Model: first.Model, Provider: first.Provider, Extra: first.Extra,
	}
	metas := make([]providers.Meta, 0, len(answers))
	for i, a := range answers {
		metas = append(metas, a.Meta)
		out.Usage = add(out.Usage, a.Usage)
		for k := range a.Choices {
			c := &a.Choices[k]
			t := j.tracker(i)
			out.Choices = append(out.Choices, providers.CompletionChoice{
				Index: i*j.n + c.Index, Text: t.text(c.Message.Content.Text(), c.Message.Extra, true), Logprobs: t.logprobs(j.q, c.Logprobs),
				FinishReason: finish(c.FinishReason), Extra: c.Extra,
			})
		}
	}
	out.Meta = j.meta(metas)
	return out
}

// finish is the reason in the words that the older schema has.
func finish(reason string) string {
	if reason == providers.FinishToolCalls {
		return providers.FinishStop
	}
	return reason
}

// add sums usages; nil is none. The result is nobody else's.
func add(sum, u *providers.Usage) *providers.Usage {
	if u == nil {
		return sum
	}
	if sum == nil {
		return new(*u)
	}
	sum.PromptTokens += u.PromptTokens
	sum.CompletionTokens += u.CompletionTokens
	sum.TotalTokens += u.TotalTokens
	sum.PromptTokensDetails.CachedTokens += u.PromptTokensDetails.CachedTokens
	sum.PromptTokensDetails.AudioTokens += u.PromptTokensDetails.AudioTokens
	sum.CompletionTokensDetails.ReasoningTokens += u.CompletionTokensDetails.ReasoningTokens
	sum.CompletionTokensDetails.AudioTokens += u.CompletionTokensDetails.AudioTokens
	sum.Extra, sum.PromptTokensDetails.Extra, sum.CompletionTokensDetails.Extra = nil, nil, nil // they may not be sums
	return sum
}

// meta makes one of those of all prompts: the first one's, with the attempts and
// warnings of all. Parts that came from a cache make no whole that did. One
// without a request id is of a prompt that was not asked about yet.
func (j *job) meta(metas []providers.Meta) providers.Meta {
	out := providers.Meta{}
	if i := slices.IndexFunc(metas, func(m providers.Meta) bool { return m.RequestID != "" }); i >= 0 {
		out = metas[i]
	}
	out.Warnings, out.Attempts, out.Guards = slices.Clone(j.warnings), nil, nil
	for i := range metas {
		m := &metas[i]
		out.Attempts = append(out.Attempts, m.Attempts...)
		out.Guards = append(out.Guards, m.Guards...)
		if m.RequestID != "" && m.CacheStatus != out.CacheStatus {
			out.CacheStatus = providers.CacheMiss
		}
		for _, w := range m.Warnings {
			if w.Param = j.member(i, w.Param); !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
	}
	return out
}

// restate names the members of the request in an error about the chat completion
// that was made of it.
func (j *job) restate(i int, err error) error {
	e, ok := errors.AsType[*providers.Error](err)
	if !ok || e.Param == "" {
		return err
	}
	own := *e
	own.Param = j.member(i, e.Param)
	return &own
}

// member is the member of the request that one of its chat completion was made
// from.
func (j *job) member(i int, param string) string {
	switch name, _, _ := strings.Cut(strings.TrimPrefix(param, "messages"), "["); {
	case strings.HasPrefix(param, "messages") && name == "":
		return j.q.PromptPath(i)
	case param == "top_logprobs":
		return "logprobs"
	}
	return param
}

// invalid tells a mistake in a member that the older schema does not have.
func invalid(err error) error {
	e, ok := errors.AsType[*jsonx.Error](err)
	if !ok {
		return providers.Invalid("", "a member has a value of the wrong kind")
	}
	return providers.Invalid(e.Path, e.Msg)
}
