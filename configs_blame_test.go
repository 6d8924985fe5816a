package gateway_test

import (
	"testing"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestConfigCooldownIsNotForACallersDoing has what one caller does to a request, which
// must not take the target away from the others.
func TestConfigCooldownIsNotForACallersDoing(t *testing.T) {
	busy, slow := vertextest.Overloaded(), text("one").After(5*time.Second)
	pair := fallback(to(first, breaker(1, 60000)), to(second))
	opts := func(o ...gateway.RequestOption) call { return call{opts: o} }
	asks := func(model string) call {
		return call{edit: func(r *gateway.ChatCompletionRequest) { r.Model = model }}
	}
	runScenarios(t, []scenario{
		{name: "a limit of time of the call's own", config: pair, script: script(first, slow, text("one")),
			calls: []call{opts(gateway.WithTimeouts(gateway.Timeouts{Total: time.Second})), later(call{}, 2)},
			asked: "first@0s first@2s", saw: "!timeout, sent@1s; [0] timeout\none@2s; [0] ok"},
		{name: "a limit of the call's that is no shorter", config: pair, script: scripts(script(first, slow, text("one")), script(second, text("two"))),
			client: []gateway.ClientOption{gateway.WithTimeouts(gateway.Timeouts{FirstByte: time.Second})},
			calls:  []call{opts(gateway.WithTimeouts(gateway.Timeouts{FirstByte: 3 * time.Second})), later(call{}, 4)},
			asked:  "first@0s second@3s second@4s", saw: "two@3s; [0] timeout; [1] ok\nhello@4s; [0] skipped cooldown; [1] ok"},
		{name: "the target's own limit", config: fallback(to(first, breaker(1, 60000), `"request_timeout":1000`), to(second)),
			script: scripts(script(first, slow, text("one")), script(second, text("two"), text("two"))), calls: []call{{}, later(call{}, 2)},
			asked: "first@0s second@1s second@2s", saw: "two@1s; [0] timeout; [1] ok\ntwo@2s; [0] skipped cooldown; [1] ok"},
		{name: "a region of the call's own", config: pair, script: scripts(script(first, busy, text("one")), script(second, text("two"))),
			calls: []call{opts(gateway.WithRegion("europe-west9")), later(call{}, 1)},
			asked: "first@0s(p/europe-west9) second@0s(p/europe-west9) first@1s", saw: "two@0s; [0] 503; [1] ok\none@1s; [0] ok"},
		{name: "a region that is the client's", config: pair, script: scripts(script(first, busy, text("one")), script(second, text("two"), text("two"))),
			calls: []call{opts(gateway.WithRegion("global")), later(call{}, 1)},
			asked: "first@0s second@0s second@1s", saw: "two@0s; [0] 503; [1] ok\ntwo@1s; [0] skipped cooldown; [1] ok"},
		{name: "an answer from elsewhere is none of the target's", config: fallback(to(first, breaker(2, 60000)), to(second)),
			script: scripts(script(first, busy, text("one"), busy, text("one")), script(second, repeat(text("two"), 3)...)),
			calls:  []call{{}, later(opts(gateway.WithRegion("europe-west9")), 1), later(call{}, 2), later(call{}, 3)},
			asked:  "first@0s second@0s first@1s(p/europe-west9) first@2s second@2s second@3s",
			saw:    "two@0s; [0] 503; [1] ok\none@1s; [0] ok\ntwo@2s; [0] 503; [1] ok\ntwo@3s; [0] skipped cooldown; [1] ok"},
		{name: "another entry of the catalog in the model", config: fallback(at("@eu", breaker(1, 60000)), to(second, `"provider":"@eu"`)), catalog: vendorsWith(""),
			script: scripts(script(first, busy, text("one")), script(second, text("two"), text("two"))),
			calls:  []call{asks("@us/" + first), later(asks(first), 1)},
			asked:  "first@0s(p-us/us-east5) second@0s(p-eu/europe-west4) first@1s(p-eu/europe-west4)", saw: "two@0s; [0] 503; [1] ok\none@1s; [0] ok"},
		{name: "the target's own entry in the model", config: fallback(at("@eu", breaker(1, 60000)), to(second, `"provider":"@eu"`)), catalog: vendorsWith(""),
			script: scripts(script(first, busy, text("one")), script(second, text("two"), text("two"))),
			calls:  []call{asks("@eu/" + first), later(asks(first), 1)},
			asked:  "first@0s(p-eu/europe-west4) second@0s(p-eu/europe-west4) second@1s(p-eu/europe-west4)", saw: "two@0s; [0] 503; [1] ok\ntwo@1s; [0] skipped cooldown; [1] ok"},
	})
}
