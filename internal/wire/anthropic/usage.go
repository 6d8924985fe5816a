package anthropic

import "github.com/b650d4bf/gateway/internal/jsonx"

// Usage is the usage of an answer. A stream tells of it twice, and what comes
// later overwrites what came before, member by member.
type Usage struct {
	Input, Output, CacheRead, CacheCreation, Thinking int64
	// Counted says that it holds any token count.
	Counted bool
	// Native are the members in the platform's own form, by NativeUsage; nil
	// where there is none.
	Native [len(NativeUsage)][]byte
}

// NativeUsage are the members of usage that are kept in the platform's own
// form.
var NativeUsage = [...]string{
	"cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "output_tokens_details",
	"server_tool_use", "service_tier", "inference_geo", "speed", "iterations",
}

// Decode lays the members of raw over those it holds. A member that is null
// counts as not given. It keeps nothing of raw.
func (u *Usage) Decode(raw []byte) error {
	r := jsonx.NewReader(raw)
	for r.Object(); r.NextKey(); {
		if r.Null() {
			continue
		}
		key := string(r.Key())
		for i, name := range NativeUsage {
			if name == key {
				peek := r
				u.Native[i] = append(u.Native[i][:0], peek.Raw()...)
			}
		}
		switch key {
		case "input_tokens":
			u.Input, u.Counted = r.Int(), true
		case "output_tokens":
			u.Output, u.Counted = r.Int(), true
		case "cache_read_input_tokens":
			u.CacheRead, u.Counted = r.Int(), true
		case "cache_creation_input_tokens":
			u.CacheCreation, u.Counted = r.Int(), true
		case "output_tokens_details":
			u.details(&r)
		default:
			r.Skip()
		}
	}
	return r.End()
}

func (u *Usage) details(r *jsonx.Reader) {
	for r.Object(); r.NextKey(); {
		if string(r.Key()) == "thinking_tokens" {
			u.Thinking = r.Int()
		} else {
			r.Skip()
		}
	}
}
