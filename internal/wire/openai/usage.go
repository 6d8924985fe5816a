package openai

import "github.com/b650d4bf/gateway/internal/jsonx"

// Usage is the usage member, with the counters that some servers keep outside
// of the details.
type Usage struct {
	Prompt, Completion, Total        int64
	Cached, PromptAudio              int64
	Reasoning, CompletionAudio       int64
	HasTotal                         bool
	Extra, PromptExtra, AnswerExtra  []byte
	looseCached, looseReasoning, hit int64
}

func (u *Usage) decode(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		switch string(r.Key()) {
		case "prompt_tokens":
			u.Prompt = number(r)
		case "completion_tokens":
			u.Completion = number(r)
		case "total_tokens":
			u.HasTotal = true
			u.Total = number(r)
		case "prompt_tokens_details":
			details(r, "cached_tokens", &u.Cached, &u.PromptAudio, &u.PromptExtra)
		case "completion_tokens_details":
			details(r, "reasoning_tokens", &u.Reasoning, &u.CompletionAudio, &u.AnswerExtra)
		case "reasoning_tokens":
			u.looseReasoning = number(r)
		case "num_cached_tokens":
			u.looseCached = number(r)
		case "prompt_cache_hit_tokens":
			u.hit = number(r)
		default:
			keep(&u.Extra, r)
		}
	}
	u.Cached = max(u.Cached, u.looseCached, u.hit)
	u.Reasoning = max(u.Reasoning, u.looseReasoning)
}

// details reads a breakdown of tokens.
func details(r *jsonx.Reader, name string, value, audio *int64, extra *[]byte) {
	if r.Kind() != jsonx.Object {
		r.Skip()
		return
	}
	for r.Object(); r.NextKey(); {
		switch {
		case r.Null():
		case string(r.Key()) == name:
			*value = number(r)
		case string(r.Key()) == "audio_tokens":
			*audio = number(r)
		default:
			keep(extra, r)
		}
	}
}

// keep adds the member that the reader stands at.
func keep(extra *[]byte, r *jsonx.Reader) {
	name := string(r.Key())
	if value := r.Raw(); r.Err() == nil {
		*extra = jsonx.AppendMember(*extra, name, value)
	}
}

// object returns an object raw, and nothing else.
func object(r *jsonx.Reader) []byte {
	is := r.Kind() == jsonx.Object
	raw := r.Raw()
	if !is {
		return nil
	}
	return raw
}

// text reads a string; another value is "".
func text(r *jsonx.Reader) string {
	if r.Kind() != jsonx.String {
		r.Skip()
		return ""
	}
	return r.String()
}

// intern reads a string that is likely to be the one before.
func intern(r *jsonx.Reader, prev string) string {
	if r.Kind() != jsonx.String {
		r.Skip()
		return ""
	}
	return r.Intern(prev)
}

// number reads a count, from a number with a fraction too; another value is 0.
func number(r *jsonx.Reader) int64 {
	raw := r.Raw()
	n := jsonx.NewReader(raw)
	if n.Kind() != jsonx.Number {
		return 0
	}
	f := n.Float()
	if n.Err() != nil || !(f > -1<<53 && f < 1<<53) {
		return 0
	}
	return int64(f)
}
