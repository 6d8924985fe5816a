package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func limits(members string) string { return `"limits":{` + members + `}` }

func breaker(failures, cooldown int) string {
	return fmt.Sprintf(`"cb_config":{"failure_threshold":%d,"cooldown_interval":%d}`, failures, cooldown)
}

func later(c call, seconds int) call {
	c.at += time.Duration(seconds) * time.Second
	return c
}

// TestConfigLimits has what a target takes, and what becomes of the rest.
func TestConfigLimits(t *testing.T) {
	slow := text("one").After(5 * time.Second)
	second1 := time.Second
	long := call{edit: func(r *gateway.ChatCompletionRequest) {
		r.Messages[0] = gateway.UserMessage(strings.Repeat("word ", 1000))
	}}
	const mega = 2_400_000
	photo := call{edit: func(r *gateway.ChatCompletionRequest) {
		r.Messages[0] = gateway.UserMessage([]gateway.ContentPart{gateway.MediaPart("image/png", []byte("\x89PNG\r\n\x1a\n"+strings.Repeat("x", mega*3/4)))})
	}}
	novel := call{edit: func(r *gateway.ChatCompletionRequest) {
		r.Messages[0] = gateway.UserMessage(strings.Repeat("word ", mega/5))
	}}
	runScenarios(t, []scenario{
		{name: "the third request of a minute is refused", config: to(first, limits(`"requests_per_minute":2`)), calls: count(3, second1, call{}),
			asked: "first@0s first@1s", saw: `hello@0s; - ok
hello@1s; - ok
!rate_limit_exceeded@2s; - skipped limit`},
		{name: "after a minute there is room", config: to(first, limits(`"requests_per_minute":1`)), calls: []call{{}, later(call{}, 59), later(call{}, 62)},
			asked: "first@0s first@1m2s", saw: `hello@0s; - ok
!rate_limit_exceeded@59s; - skipped limit
hello@1m2s; - ok`},
		{name: "it waits in line", config: to(first, limits(`"requests_per_minute":1,"queue_timeout":90000`)), calls: count(2, second1, call{}),
			asked: "first@0s first@1m0s", saw: `hello@0s; - ok
hello@1m0s; -+59s ok`},
		{name: "the line is too long", config: to(first, limits(`"requests_per_minute":1,"queue_timeout":30000`)), calls: count(2, second1, call{}),
			asked: "first@0s", saw: `hello@0s; - ok
!rate_limit_exceeded@1s; - skipped limit`},
		{name: "first come, first served", config: to(first, limits(`"concurrency":1,"queue_timeout":60000`)), script: script(first, slow, slow, slow), calls: count(3, second1, call{}),
			asked: "first@0s first@5s first@10s", saw: `one@5s; - ok
one@10s; -+4s ok
one@15s; -+8s ok`},
		{name: "one at a time", config: to(first, limits(`"concurrency":1`)), script: script(first, slow), calls: []call{{}, later(call{}, 1), later(call{}, 6)},
			asked: "first@0s first@6s", saw: `one@5s; - ok
!rate_limit_exceeded@1s; - skipped limit
hello@6s; - ok`},
		{name: "the wait ends with the caller's patience", config: to(first, limits(`"concurrency":1,"queue_timeout":60000`)), script: script(first, slow),
			calls: []call{{}, {at: time.Second, cancel: time.Second}},
			asked: "first@0s", saw: `one@5s; - ok
!canceled@2s; -+1s skipped limit`},
		{name: "the wait ends with the queue's time-out", config: to(first, limits(`"concurrency":1,"queue_timeout":2000`)), script: script(first, slow), calls: count(2, second1, call{}),
			asked: "first@0s", saw: `one@5s; - ok
!rate_limit_exceeded@3s; -+2s skipped limit`},
		{name: "no wait beyond the time of the call", config: to(first, limits(`"requests_per_minute":1,"queue_timeout":90000`)),
			calls: []call{{}, {at: time.Second, opts: within(10 * time.Second)[0].opts}},
			asked: "first@0s", saw: `hello@0s; - ok
!rate_limit_exceeded@1s; - skipped limit`},
		{name: "the next target answers", config: fallback(to(first, limits(`"requests_per_minute":1`)), to(second)), calls: count(2, second1, call{}),
			asked: "first@0s second@1s", saw: `hello@0s; [0] ok
hello@1s; [0] skipped limit; [1] ok`},
		{name: "a limit is not retried", config: again(first, 3, limits(`"requests_per_minute":1`)), calls: count(2, second1, call{}),
			asked: "first@0s", saw: `hello@0s; - ok
!rate_limit_exceeded@1s; - skipped limit`},
		{name: "a retry counts", config: again(first, 3, limits(`"requests_per_minute":2`)), script: script(first, repeat(fails(500), 4)...),
			asked: "first@0s first@0s", saw: "!rate_limit_exceeded@0s; - 500; -#1 500; -#2 skipped limit"},
		{name: "too many tokens for any minute", config: fallback(to(first, limits(`"tokens_per_minute":100`)), to(second)), calls: []call{long}, script: script(second, text("two")),
			asked: "second@0s", saw: "two@0s; [0] skipped limit; [1] ok"},
		{name: "an image is not weighed as text", config: fallback(to(first, limits(`"tokens_per_minute":500000`)), to(second)), calls: []call{photo}, script: script(first, text("one")),
			asked: "first@0s", saw: "one@0s; [0] ok"},
		{name: "text as long as that image is", config: fallback(to(first, limits(`"tokens_per_minute":500000`)), to(second)), calls: []call{novel}, script: script(second, text("two")),
			asked: "second@0s", saw: "two@0s; [0] skipped limit; [1] ok"},
		{name: "tokens of the last minute", config: fallback(to(first, limits(`"tokens_per_minute":1500`)), to(second)), script: scripts(script(first, text("one")), script(second, text("two"))),
			calls: []call{long, later(long, 1)},
			asked: "first@0s second@1s", saw: `one@0s; [0] ok
two@1s; [0] skipped limit; [1] ok`},
		{name: "what a refused request would have used is given back", config: fallback(to(first, limits(`"tokens_per_minute":1500`)), to(second)),
			script: scripts(script(first, fails(429), text("one")), script(second, text("two"))), calls: []call{long, later(long, 1)},
			asked: "first@0s second@0s first@1s", saw: `two@0s; [0] 429; [1] ok
one@1s; [0] ok`},
		{name: "the same target in two places has one limit", config: fallback(to(first, limits(`"requests_per_minute":1`)), to(first, limits(`"requests_per_minute":1`))),
			script: script(first, fails(500)),
			asked:  "first@0s", saw: "!rate_limit_exceeded@0s; [0] 500; [1] skipped limit"},
		{name: "places of their own have limits of their own", config: fallback(`{"vertex_region":"us-central1",`+limits(`"requests_per_minute":1`)+`}`,
			`{"vertex_region":"europe-west4",`+limits(`"requests_per_minute":1`)+`}`), calls: count(3, second1, call{}),
			asked: "first@0s(p/us-central1) first@1s(p/europe-west4)", saw: `hello@0s; [0] ok
hello@1s; [0] skipped limit; [1] ok
!rate_limit_exceeded@2s; [0] skipped limit; [1] skipped limit`},
		{name: "a stream that is left gives its place back", config: to(first, limits(`"concurrency":1`)), stream: true,
			script: script(first, text("one, and more").Paced(time.Minute), text("two")), calls: []call{{leave: true}, later(call{}, 1)},
			asked: "first@0s first@1s", saw: `@0s; - ok
two@1s; - ok`},
		{name: "a stream holds its place up to its end", config: to(first, limits(`"concurrency":1`)), stream: true,
			script: script(first, text("one, and much more").Paced(2*time.Second), text("two")), calls: []call{{}, later(call{}, 1), later(call{}, 9)},
			asked: "first@0s first@9s", saw: `one, and much more@2s; - ok
!rate_limit_exceeded@1s; - skipped limit
two@9s; - ok`},
		{name: "a stream that broke gives its place back", config: to(first, limits(`"concurrency":1`)), stream: true,
			script: script(first, text("one, and much more").CutAfterEvents(1), text("two")), calls: []call{{}, later(call{}, 1)},
			asked: "first@0s first@1s", saw: `!stream_interrupted, sent, partial "one,"@0s; - stream_interrupted
two@1s; - ok`},
	})
}

// TestConfigCooldown has when a target that fails is left alone.
func TestConfigCooldown(t *testing.T) {
	busy := vertextest.Overloaded()
	pair := func(failures, cooldown int) string {
		return fallback(to(first, breaker(failures, cooldown)), to(second))
	}
	every := count(4, time.Second, call{})
	runScenarios(t, []scenario{
		{name: "after two failures", config: pair(2, 60000), script: script(first, repeat(busy, 9)...), calls: every,
			asked: "first@0s second@0s first@1s second@1s second@2s second@3s", saw: `hello@0s; [0] 503; [1] ok
hello@1s; [0] 503; [1] ok
hello@2s; [0] skipped cooldown; [1] ok
hello@3s; [0] skipped cooldown; [1] ok`},
		{name: "a success in between", config: pair(2, 60000), script: script(first, busy, text("one"), busy, text("one")), calls: every,
			asked: "first@0s second@0s first@1s first@2s second@2s first@3s", saw: `hello@0s; [0] 503; [1] ok
one@1s; [0] ok
hello@2s; [0] 503; [1] ok
one@3s; [0] ok`},
		{name: "what is no fault of the target does not count", config: pair(1, 60000), script: script(first, fails(400), fails(403), fails(404), text("one")), calls: every,
			asked: "first@0s second@0s first@1s second@1s first@2s second@2s first@3s", saw: `hello@0s; [0] 400; [1] ok
hello@1s; [0] 403; [1] ok
hello@2s; [0] 404; [1] ok
one@3s; [0] ok`},
		{name: "it is asked again afterwards", config: pair(1, 10000), script: script(first, busy, text("one"), text("one")), calls: []call{{}, later(call{}, 5), later(call{}, 11), later(call{}, 12)},
			asked: "first@0s second@0s second@5s first@11s first@12s", saw: `hello@0s; [0] 503; [1] ok
hello@5s; [0] skipped cooldown; [1] ok
one@11s; [0] ok
one@12s; [0] ok`},
		{name: "one call at a time finds out", config: pair(1, 10000), script: script(first, busy, text("one").After(3*time.Second), text("one")),
			calls: []call{{}, later(call{}, 11), later(call{}, 12), later(call{}, 15)},
			asked: "first@0s second@0s first@11s second@12s first@15s", saw: `hello@0s; [0] 503; [1] ok
one@14s; [0] ok
hello@12s; [0] skipped cooldown; [1] ok
one@15s; [0] ok`},
		{name: "the next cooldown is twice as long", config: pair(1, 10000), script: script(first, busy, busy, text("one")), calls: []call{{}, later(call{}, 11), later(call{}, 25), later(call{}, 32)},
			asked: "first@0s second@0s first@11s second@11s second@25s first@32s", saw: `hello@0s; [0] 503; [1] ok
hello@11s; [0] 503; [1] ok
hello@25s; [0] skipped cooldown; [1] ok
one@32s; [0] ok`},
		{name: "as long as the platform asks", config: pair(1, 10000), script: script(first, busy.WithHeader("Retry-After", "30"), text("one")),
			calls: []call{{}, later(call{}, 20), later(call{}, 31)},
			asked: "first@0s second@0s second@20s first@31s", saw: `hello@0s; [0] 503; [1] ok
hello@20s; [0] skipped cooldown; [1] ok
one@31s; [0] ok`},
		{name: "the only target is asked all the same", config: to(first, breaker(1, 60000)), script: script(first, busy, text("one")), calls: count(2, time.Second, call{}),
			asked: "first@0s first@1s", saw: `!service_unavailable, sent@0s; - 503
one@1s; - ok`},
		{name: "of all that cool down, the one that is the first to end", config: fallback(to(first, breaker(1, 60000)), to(second, breaker(1, 10000))),
			script: scripts(script(first, busy, text("one")), script(second, busy, text("two"))), calls: count(2, time.Second, call{}),
			asked: "first@0s second@0s second@1s", saw: `!service_unavailable, sent@0s; [0] 503; [1] 503
two@1s; [0] skipped cooldown; [1] ok`},
		{name: "retries under way go on", config: fallback(again(first, 2, breaker(1, 60000)), to(second)), script: script(first, busy, busy, text("one")),
			asked: "first@0s first@0s first@0s", saw: "one@0s; [0] 503; [0]#1 503; [0]#2 ok"},
		{name: "the probe was given up", config: pair(1, 10000), script: script(first, busy, text("one").After(time.Minute), text("one")),
			calls: []call{{}, {at: 11 * time.Second, cancel: time.Second}, later(call{}, 13)},
			asked: "first@0s second@0s first@11s first@13s", saw: `hello@0s; [0] 503; [1] ok
!canceled, sent@12s; [0] canceled
one@13s; [0] ok`},
		{name: "a group that cools down as a whole", config: fallback(fallback(to(first, breaker(1, 60000)), to(second, breaker(1, 60000))), to(third)),
			script: scripts(script(first, busy), script(second, busy), script(third, text("three"), text("three"))), calls: count(2, time.Second, call{}),
			asked: "first@0s second@0s third@0s third@1s", saw: `three@0s; [0].[0] 503; [0].[1] 503; [1] ok
three@1s; [0] skipped cooldown; [1] ok`},
		{name: "a stream that breaks is a failure", config: pair(1, 60000), stream: true, script: script(first, text("one, and more").CutAfterEvents(1)), calls: count(2, time.Second, call{}),
			asked: "first@0s second@1s", saw: `!stream_interrupted, sent, partial "one,"@0s; [0] stream_interrupted
hello@1s; [0] skipped cooldown; [1] ok`},
		{name: "a stream that is left is none", config: pair(1, 60000), stream: true, script: script(first, text("one, and more").Paced(time.Minute), text("one")),
			calls: []call{{leave: true}, later(call{}, 1)},
			asked: "first@0s first@1s", saw: `@0s; [0] ok
one@1s; [0] ok`},
	})
}

// TestConfigHedge has the second request beside a slow one.
func TestConfigHedge(t *testing.T) {
	hedge := `"hedge":{"after":1000}`
	slow := func(s string, d time.Duration) vertextest.Reply { return text(s).After(d) }
	runScenarios(t, []scenario{
		{name: "the first answers in time", config: to(first, hedge), script: script(first, slow("one", 500*time.Millisecond)), whole: true,
			asked: "first@0s", saw: "one@500ms; - ok"},
		{name: "the second is faster", config: to(first, hedge), script: script(first, slow("one", time.Minute), slow("two", time.Second)), whole: true,
			asked: "first@0s first@1s", saw: "two@2s; - canceled; - hedged ok"},
		{name: "the first is faster after all", config: to(first, hedge), script: script(first, slow("one", 2*time.Second), slow("two", time.Minute)), whole: true,
			asked: "first@0s first@1s", saw: "one@2s; - ok; - hedged canceled"},
		{name: "the first fails in time", config: to(first, hedge), script: script(first, fails(500)), whole: true,
			asked: "first@0s", saw: "!server_error, sent@0s; - 500"},
		{name: "the first fails late, the second answers", config: to(first, hedge), script: script(first, fails(500).After(2*time.Second), slow("two", 3*time.Second)), whole: true,
			asked: "first@0s first@1s", saw: "two@4s; - 500; - hedged ok"},
		{name: "both fail", config: to(first, hedge), script: script(first, fails(500).After(2*time.Second), fails(503).After(3*time.Second)), whole: true,
			asked: "first@0s first@1s", saw: "!server_error, sent@4s; - 500; - hedged 503"},
		{name: "both fail, and the next target answers", config: fallback(to(first, hedge), to(second)),
			script: scripts(script(first, fails(500).After(2*time.Second), fails(503).After(3*time.Second)), script(second, text("two"))), whole: true,
			asked: "first@0s first@1s second@4s", saw: "two@4s; [0] 500; [0] hedged 503; [1] ok"},
		{name: "the caller has had enough of both", config: to(first, hedge), script: script(first, slow("one", time.Minute), slow("two", time.Minute)), whole: true,
			calls: []call{{cancel: 3 * time.Second}},
			asked: "first@0s first@1s", saw: "!canceled, sent@3s; - canceled; - hedged canceled"},
		{name: "both have the params of their target", config: `{"default_params":{"temperature":0.5},"override_params":{"max_tokens":99},` + hedge + `}`, whole: true,
			script: script(first, slow("one", time.Minute), slow("two", time.Second)), more: sent("generationConfig"),
			asked: `first@0s[generationConfig={"maxOutputTokens":99,"temperature":0.5}] first@1s[generationConfig={"maxOutputTokens":99,"temperature":0.5}]`,
			saw:   "two@2s; - canceled; - hedged ok"},
		{name: "no second one beyond a limit", config: to(first, hedge, limits(`"concurrency":1`)), script: script(first, slow("one", 3*time.Second)), whole: true,
			asked: "first@0s", saw: "one@3s; - ok; - hedged skipped limit"},
		{name: "streams have no second one", config: to(first, hedge), script: script(first, slow("one", 3*time.Second), text("two")), stream: true,
			asked: "first@0s", saw: "one@3s; - ok"},
	})
}
