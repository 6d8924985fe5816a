package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// record makes a record of a call. It shares nothing with it that the caller may
// change.
func (l *Log) record(r *providers.Record) *Record {
	m := &r.Meta
	out := &Record{
		ID: r.ID, Time: exact(r.Start), Surface: r.Surface, Operation: r.Operation, Stream: r.Stream,
		RequestedModel: bounded(r.Call.Model), Provider: m.Provider, Slug: m.Slug, Model: bounded(m.Model),
		ResponseModel: bounded(r.ResponseModel), ResponseID: bounded(r.ResponseID),
		ConfigID: r.ConfigID, PromptID: bounded(r.Prompt), PromptVersion: bounded(r.PromptVersion), KeyID: r.KeyID,
		CacheStatus: m.CacheStatus.String(), RetryStatus: m.Retry.String(),
		FallbackStatus: m.Fallback.String(), LoadBalanceStatus: m.LoadBalance.String(),
		Tokens: tokensOf(r.Usage), FirstChunk: milliseconds(r.FirstChunk), Duration: milliseconds(r.Duration),
		FinishReason: bounded(r.FinishReason), Warnings: slices.Clone(m.Warnings), Attempts: attemptsOf(m.Attempts),
		Error: l.errorOf(r.Err),
	}
	if out.Surface == "" {
		out.Surface = SurfaceGo
	}
	if s := m.Cache.Similarity; s > 0 && s <= 1 {
		out.Similarity = s
	}
	if m.CacheStatus.IsHit() {
		out.TimeSaved = max(0, milliseconds(m.Cache.Saved)-out.Duration)
	}
	if out.User = r.Metadata[providers.UserKey]; len(r.Metadata) > 0 {
		out.Metadata = maps.Clone(r.Metadata)
		if delete(out.Metadata, providers.UserKey); len(out.Metadata) == 0 {
			out.Metadata = nil
		}
	}
	for i := range m.Guards {
		if g := &m.Guards[i]; g.Denied && !slices.Contains(out.Denied, g.Name) {
			out.Denied = append(out.Denied, g.Name)
		}
	}
	l.price(r, out)
	return out
}

// price fills in what the call cost. An answer that no request was sent for cost
// nothing.
func (l *Log) price(r *providers.Record, out *Record) {
	if l.opts.Prices != nil {
		out.Cost, out.Saved = l.costOf(r)
	}
	if r.Meta.CacheStatus.IsHit() || r.Meta.Cache.Shared {
		out.Cost = new(prices.Amount(0))
	}
}

// costOf asks for the prices. They may be those of a user, who may have made a mistake.
func (l *Log) costOf(r *providers.Record) (cost, saved *prices.Amount) {
	defer func() {
		if recover() != nil {
			l.panics.Add(1)
			cost, saved = nil, nil
		}
	}()
	cost, saved = l.opts.Prices.Record(r)
	return copied(cost), copied(saved)
}

// exact is the time as every store can hold it.
func exact(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// milliseconds is the time as every store can hold it.
func milliseconds(d time.Duration) Milliseconds { return Milliseconds(d.Round(time.Microsecond)) }

// maxWord bounds what others choose: platforms, and callers with what is no model.
const maxWord = 512

func bounded(s string) string {
	if len(s) <= maxWord {
		return s
	}
	return cut(s, maxWord) + "…"
}

// cut returns the beginning of a text, in bytes, without half a character at its end.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func tokensOf(u *providers.Usage) *Tokens {
	if u == nil {
		return nil
	}
	return &Tokens{
		Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.TotalTokens,
		Cached: u.PromptTokensDetails.CachedTokens, CacheWrite: cacheWrite(u), Reasoning: u.CompletionTokensDetails.ReasoningTokens,
		AudioIn: u.PromptTokensDetails.AudioTokens, AudioOut: u.CompletionTokensDetails.AudioTokens,
	}
}

// cacheWrite counts the tokens that went into the platform's cache, which Claude models
// tell.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
func cacheWrite(u *providers.Usage) int64 {
	raw, ok := u.Extra.Get("cache_creation_input_tokens")
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

func attemptsOf(list []providers.Attempt) []Attempt {
	if len(list) == 0 {
		return nil
	}
	out := make([]Attempt, len(list))
	for i := range list {
		a := &list[i]
		out[i] = Attempt{
			Target: a.Target, Provider: a.Provider, Slug: a.Slug, Model: bounded(a.Model), StatusCode: a.StatusCode,
			Duration: milliseconds(a.Duration), Wait: milliseconds(a.Wait), Code: string(a.Code), Retry: a.Retry, Hedged: a.Hedged,
			Skipped: string(a.Skipped),
		}
		if !a.Start.IsZero() {
			out[i].Start = exact(a.Start)
		}
	}
	return out
}

// errorOf is the error as it is kept.
func (l *Log) errorOf(err error) *Error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*providers.Error](err)
	if !ok {
		e = &providers.Error{Code: providers.ErrServer, Message: err.Error()}
	}
	out := &Error{Code: string(e.Code), Message: sentence(e.Code), Param: bounded(e.Param), Status: e.StatusCode, Sent: e.Sent}
	if l.opts.ErrorMessages && e.Code != providers.ErrGuardDenied && e.Message != "" { // a guard may quote what it judged
		out.Message = strings.ToValidUTF8(e.Message, "\uFFFD")
		if len(out.Message) > maxMessage {
			out.Message = cut(out.Message, maxMessage) + "…"
		}
	}
	return out
}

const maxMessage = 4096 // bytes

// part bounds a request or an answer. It is a copy, since other observers see it too.
func (c *Content) part(data []byte, most int) json.RawMessage {
	if len(data) <= most {
		return bytes.Clone(data)
	}
	c.Truncated = true
	return quoted(cut(string(data[:most+1]), most))
}

// quoted is a text as JSON.
func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil { // a string can be written
		return nil
	}
	return b
}

// mend makes JSON of what a redactor left that is none.
func (c *Content) mend() {
	if c == nil {
		return
	}
	for _, p := range []*json.RawMessage{&c.Request, &c.Response} {
		if len(*p) > 0 && !json.Valid(*p) {
			*p = quoted(string(*p))
		}
	}
}

// sentence says what a code means, and nothing of the call.
func sentence(c providers.Code) string {
	if s, ok := sentences[c]; ok {
		return s
	}
	return "the call failed"
}

var sentences = map[providers.Code]string{
	providers.ErrInvalidRequest:   "the request is wrong",
	providers.ErrInvalidConfig:    "an option, a config or the catalog is wrong",
	providers.ErrProviderNotFound: "the catalog has no such slug",
	providers.ErrModelNotFound:    "the platform does not have the model there",
	providers.ErrCacheNotFound:    "there is no such cached content",
	providers.ErrPromptNotFound:   "there is no such prompt, version or label",
	providers.ErrFileNotFound:     "there is no such file",
	providers.ErrBatchNotFound:    "there is no such batch",
	providers.ErrTooLarge:         "the request is too large",
	providers.ErrContextLength:    "the prompt has more tokens than the model takes",
	providers.ErrOneToolOnly:      "the model takes one kind of tool at a time",
	providers.ErrContentFilter:    "the platform blocked the prompt",
	providers.ErrGuardDenied:      "a guard refused it",
	providers.ErrAuthentication:   "there are no valid credentials",
	providers.ErrPermission:       "the credentials lack the right",
	providers.ErrRateLimited:      "too many requests, or no capacity",
	providers.ErrQuotaExceeded:    "the quota is used up",
	providers.ErrTimeout:          "the time ran out",
	providers.ErrCanceled:         "the caller went away",
	providers.ErrUnavailable:      "the platform is overloaded or down",
	providers.ErrServer:           "the platform failed",
	providers.ErrConnection:       "there was no connection, or it broke",
	providers.ErrStreamCut:        "the answer broke off",
	providers.ErrBadResponse:      "the platform's answer can't be understood",
	providers.ErrEmptyResponse:    "the platform answered with nothing",
	providers.ErrClosed:           "the client was closed",
}
