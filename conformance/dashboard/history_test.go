package dashboard_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/b650d4bf/gateway/logs"
	"github.com/b650d4bf/gateway/prices"
	"github.com/b650d4bf/gateway/providers"
)

// hostile is what somebody might send who wants the page to run it.
const hostile = `<img src=x onerror=window.hacked=1>"'><script>window.hacked=1</script>`

// hostileID is the id of the call that has it everywhere. A slash ends an id in URLs.
const hostileID = `<img src=x onerror=window.hacked=1>?#%2e&id`

// kind is a sort of calls.
type kind struct {
	model, operation string
	share            float64
	duration         float64 // ms
	price            int64   // of a token; 0 for unknown
}

func kinds() []kind {
	return []kind{
		{"gemini-2.5-flash", "chat", 0.45, 700, 900},
		{"gemini-2.5-pro", "chat", 0.2, 2600, 3100},
		{"anthropic.claude-sonnet-5", "chat", 0.17, 3200, 5200},
		{"text-embedding-005", "embeddings", 0.12, 90, 25},
		{"qwen/qwen3-next-80b-a3b-instruct-maas", "chat", 0.06, 1200, 0},
	}
}

// history makes the calls of 30 days, the same ones for the same end.
func history(end time.Time) []logs.Record {
	r := rand.New(rand.NewPCG(1, 2))
	var out []logs.Record
	for at := end.Add(-30 * 24 * time.Hour); at.Before(end.Add(-20 * time.Minute)); {
		hour := float64(at.UTC().Hour())
		busy := 0.25 + math.Max(0, math.Sin((hour-6)/24*2*math.Pi))
		if w := at.UTC().Weekday(); w == time.Saturday || w == time.Sunday {
			busy *= 0.4
		}
		at = at.Add(time.Duration((0.4 + 3*r.Float64()) / busy * float64(time.Minute)))
		out = append(out, call(r, at, len(out)))
	}
	out = slices.DeleteFunc(out, func(rec logs.Record) bool { return !rec.Time.Before(end) })
	return append(out, hostileCall(end.Add(-10*time.Minute)))
}

func call(r *rand.Rand, at time.Time, n int) logs.Record {
	k := kinds()[0]
	for pick, i := r.Float64(), 0; i < len(kinds()); i++ {
		if k = kinds()[i]; pick < k.share {
			break
		}
		pick -= k.share
	}
	took := time.Duration(k.duration * math.Exp(0.6*r.NormFloat64()) * float64(time.Millisecond))
	rec := logs.Record{
		ID: fmt.Sprintf("past%06d", n), Time: at.UTC().Truncate(time.Microsecond), Surface: logs.SurfaceHTTP, Operation: k.operation,
		RequestedModel: "@vx/" + k.model, Provider: "vertex-ai", Slug: "vx", Model: k.model, ResponseModel: k.model, ResponseID: fmt.Sprintf("resp-%d", n),
		KeyID: "2c70e12b7a0646f92279f427c7b38e73", User: []string{"ada", "grace", "linus", "margaret", ""}[r.IntN(5)],
		Metadata:    map[string]string{"team": []string{"search", "support", "growth"}[r.IntN(3)], "env": "prod"},
		CacheStatus: "Cache Disabled", RetryStatus: "Not Triggered", FallbackStatus: "Disabled", LoadBalanceStatus: "Disabled",
		Duration: logs.Milliseconds(took), FinishReason: "stop", Stream: k.operation == "chat" && r.IntN(2) == 0,
	}
	prompt, answer := int64(200+r.IntN(1800)), int64(20+r.IntN(600))
	rec.Tokens = &logs.Tokens{Prompt: prompt, Completion: answer, Total: prompt + answer}
	if k.price > 0 {
		rec.Cost = new(prices.Amount(k.price * (prompt + answer)))
	}
	if rec.Stream {
		rec.FirstChunk = logs.Milliseconds(took / 3)
	}
	rec.Attempts = []logs.Attempt{{Provider: "vertex-ai", Slug: "vx", Model: k.model, StatusCode: 200, Start: rec.Time, Duration: rec.Duration}}
	switch {
	case r.Float64() < 0.03:
		failed(r, &rec)
	case k.operation == "chat" && r.Float64() < 0.7:
		cached(r, &rec)
	}
	return rec
}

func failed(r *rand.Rand, rec *logs.Record) {
	e := []logs.Error{
		{Code: "rate_limited", Message: "the platform has no more quota for this minute", Status: 429, Sent: true},
		{Code: "unavailable", Message: "the platform is overloaded", Status: 503, Sent: true},
		{Code: "timeout", Message: "the time ran out before the answer began", Sent: true},
	}[r.IntN(3)]
	rec.Error, rec.Tokens, rec.Cost, rec.FinishReason, rec.FirstChunk = &e, nil, nil, "", 0
	rec.RetryStatus = "Failed"
	half := rec.Duration / 2
	rec.Attempts = []logs.Attempt{
		{Provider: "vertex-ai", Slug: "vx", Model: rec.Model, StatusCode: e.Status, Code: e.Code, Start: rec.Time, Duration: half / 2},
		{Provider: "vertex-ai", Slug: "vx", Model: rec.Model, StatusCode: e.Status, Code: e.Code, Start: rec.Time.Add(time.Duration(half)), Duration: half, Wait: half / 2, Retry: 1},
	}
}

func cached(r *rand.Rand, rec *logs.Record) {
	rec.CacheStatus = "Cache Miss"
	if r.Float64() > 0.4 {
		return
	}
	rec.CacheStatus, rec.Attempts, rec.FirstChunk = "Cache Hit", nil, 0
	if r.IntN(4) == 0 {
		rec.CacheStatus, rec.Similarity = "Cache Semantic Hit", 0.97
	}
	rec.TimeSaved, rec.Duration = rec.Duration, logs.Milliseconds(time.Duration(1+r.IntN(6))*time.Millisecond)
	if rec.Cost != nil {
		rec.Saved, rec.Cost = rec.Cost, new(prices.Amount)
	}
}

// hostileCall has markup wherever somebody else's text can be.
func hostileCall(at time.Time) logs.Record {
	text, err := json.Marshal(map[string]any{"model": hostile, "messages": []any{map[string]any{"role": hostile, "content": hostile}}})
	if err != nil {
		text = nil
	}
	return logs.Record{
		ID: hostileID, Time: at.UTC(), Surface: hostile, Operation: hostile, RequestedModel: hostile, Provider: hostile, Slug: hostile, Model: hostile,
		ResponseModel: hostile, ResponseID: hostile, ConfigID: hostile, PromptID: hostile, PromptVersion: hostile, User: hostile, Metadata: map[string]string{hostile: hostile, "team": hostile},
		CacheStatus: hostile, RetryStatus: hostile, FallbackStatus: hostile, LoadBalanceStatus: hostile, FinishReason: hostile, Duration: logs.Milliseconds(time.Second),
		Tokens: &logs.Tokens{Prompt: 1, Completion: 1, Total: 2}, Denied: []string{hostile}, Warnings: []providers.Warning{{Message: hostile}},
		Attempts: []logs.Attempt{{Target: hostile, Provider: hostile, Slug: hostile, Model: hostile, Code: hostile, Skipped: hostile}},
		Error:    &logs.Error{Code: hostile, Message: hostile, Param: hostile}, Content: &logs.Content{Request: text, Response: text},
		Feedback: []logs.Feedback{{RecordID: hostileID, Time: at.UTC(), Value: -1, Comment: hostile}},
	}
}
