package providers_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/b650d4bf/gateway/providers"
)

func TestCachedContentRequestIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		call := providers.Message{Role: "assistant", ToolCalls: []providers.ToolCall{{ID: "a", Type: "function", Function: providers.FunctionCall{Name: "f"}}}}
		for name, tt := range map[string]struct {
			param  string // "" for a good request
			change func(*providers.CachedContentRequest)
		}{
			"good": {"", func(*providers.CachedContentRequest) {}},
			"a system message": {"", func(q *providers.CachedContentRequest) {
				q.Messages = []providers.Message{providers.SystemMessage("x")}
			}},
			"tools alone": {"", func(q *providers.CachedContentRequest) {
				q.Messages, q.Tools = nil, []providers.Tool{{Type: "web_search"}}
			}},
			"a ttl":                  {"", func(q *providers.CachedContentRequest) { q.TTL = 1 }},
			"a time":                 {"", func(q *providers.CachedContentRequest) { q.ExpireTime = time.Now().Add(1) }},
			"no model":               {"model", func(q *providers.CachedContentRequest) { q.Model = "" }},
			"nothing to keep":        {"messages", func(q *providers.CachedContentRequest) { q.Messages = nil }},
			"an unknown role":        {"messages[0].role", func(q *providers.CachedContentRequest) { q.Messages[0].Role = "boss" }},
			"a call without end":     {"messages[1].tool_calls[0]", func(q *providers.CachedContentRequest) { q.Messages = append(q.Messages, call) }},
			"a tool without name":    {"tools[0].function.name", func(q *providers.CachedContentRequest) { q.Tools = []providers.Tool{{Type: "function"}} }},
			"a negative ttl":         {"ttl", func(q *providers.CachedContentRequest) { q.TTL = -time.Hour }},
			"two expiries":           {"expire_time", func(q *providers.CachedContentRequest) { q.TTL, q.ExpireTime = 1, time.Now().Add(1) }},
			"a time in milliseconds": {"expire_time", func(q *providers.CachedContentRequest) { q.ExpireTime = time.Unix(time.Now().UnixMilli(), 0) }},
			"a time that is over":    {"expire_time", func(q *providers.CachedContentRequest) { q.ExpireTime = time.Now() }},
		} {
			q := &providers.CachedContentRequest{Model: "m", Messages: []providers.Message{providers.UserMessage("x")}}
			tt.change(q)
			wantRefused(t, name, tt.param, q.Validate())
		}
	})
}

func TestCachedContentExpiryIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := time.Now().Add(time.Hour)
		wantRefused(t, "a ttl", "", providers.CachedContentExpiry{TTL: 1}.Validate())
		wantRefused(t, "a time", "", providers.CachedContentExpiry{ExpireTime: later}.Validate())
		wantRefused(t, "nothing", "ttl", providers.CachedContentExpiry{}.Validate())
		wantRefused(t, "a negative ttl", "ttl", providers.CachedContentExpiry{TTL: -1}.Validate())
		wantRefused(t, "both", "expire_time", providers.CachedContentExpiry{TTL: 1, ExpireTime: later}.Validate())
		time.Sleep(time.Hour)
		wantRefused(t, "a time that is over", "expire_time", providers.CachedContentExpiry{ExpireTime: later}.Validate())
	})
}

// wantRefused checks that the error is about the member, or that there is none
// for the member "".
func wantRefused(t *testing.T, name, param string, err error) {
	t.Helper()
	e, refused := errors.AsType[*providers.Error](err)
	if refused != (param != "") || refused && (e.Param != param || e.Code != providers.ErrInvalidRequest || e.Sent) {
		t.Errorf("%s: %v, want it to be about %q", name, err, param)
	}
}
