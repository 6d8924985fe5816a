package gateway_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func balance(sticky string, targets ...string) string {
	if sticky != "" {
		sticky = `,"sticky":{"enabled":true,"hash_fields":["` + sticky + `"]}`
	}
	out := `{"strategy":{"mode":"loadbalance"` + sticky + `},"targets":[`
	for i, t := range targets {
		if i > 0 {
			out += ","
		}
		out += t
	}
	return out + "]}"
}

func weighs(model string, weight float64, more ...string) string {
	return to(model, append(more, fmt.Sprintf(`"weight":%v`, weight))...)
}

func calledBy(metadata map[string]string) call {
	return call{opts: []gateway.RequestOption{gateway.WithMetadata(metadata)}}
}

// TestConfigBalance has who is drawn where chance has no say.
func TestConfigBalance(t *testing.T) {
	ann, bob := calledBy(map[string]string{"team": "ann"}), calledBy(map[string]string{"team": "eve"})
	busy := vertextest.Overloaded()
	hot := call{edit: func(r *gateway.ChatCompletionRequest) { r.Temperature = new(0.9) }}
	user := call{edit: func(r *gateway.ChatCompletionRequest) { r.User = "team-7" }}
	runScenarios(t, []scenario{
		{name: "a weight of 0 gets nothing", config: balance("", weighs(first, 0), weighs(second, 1)), calls: count(3, 1, call{}),
			asked: "second@0s second@0s second@0s", saw: `hello@0s; [1] ok
hello@0s; [1] ok
hello@0s; [1] ok`},
		{name: "another weight of 0 gets nothing", config: balance("", weighs(first, 0.001), weighs(second, 0)), calls: count(3, 1, call{}),
			asked: "first@0s first@0s first@0s", saw: `hello@0s; [0] ok
hello@0s; [0] ok
hello@0s; [0] ok`},
		{name: "a sibling is no fallback", config: balance("", weighs(first, 1), weighs(second, 0)), script: script(first, busy),
			asked: "first@0s", saw: "!service_unavailable, sent@0s; [0] 503"},
		{name: "a fallback around it", config: fallback(balance("", weighs(first, 1), weighs(second, 0)), to(third)),
			script: scripts(script(first, busy), script(third, text("three"))),
			asked:  "first@0s third@0s", saw: "three@0s; [0].[0] 503; [1] ok"},
		{name: "a fallback within it", config: balance("", `{"weight":1,"strategy":{"mode":"fallback"},"targets":[`+to(first)+`,`+to(second)+`]}`, weighs(third, 0)),
			script: scripts(script(first, busy), script(second, text("two"))),
			asked:  "first@0s second@0s", saw: "two@0s; [0].[0] 503; [0].[1] ok"},
		{name: "retries stay with the drawn one", config: balance("", weighs(first, 1, retry(1, "")), weighs(second, 0)), script: script(first, busy, text("one")),
			asked: "first@0s first@0s", saw: "one@0s; [0] 503; [0]#1 ok"},
		{name: "sticky by metadata", config: balance("metadata.team", to(first), to(second)), calls: append(count(3, 1, ann), count(3, 1, later(bob, 1))...), random: true,
			asked: "first first first second second second", saw: `hello; [0] ok
hello; [0] ok
hello; [0] ok
hello; [1] ok
hello; [1] ok
hello; [1] ok`},
		{name: "sticky by the end user", config: balance("metadata._user", to(first), to(second)), calls: count(4, 1, user), random: true,
			asked: "first first first first", saw: `hello; [0] ok
hello; [0] ok
hello; [0] ok
hello; [0] ok`},
		{name: "sticky by a param", config: balance("params.temperature", to(first), to(second)), calls: count(4, 1, hot), random: true,
			asked: "first first first first", saw: `hello; [0] ok
hello; [0] ok
hello; [0] ok
hello; [0] ok`},
		{name: "sticky, and a weight of 0", config: balance("metadata.team", weighs(first, 0), weighs(second, 1)), calls: []call{ann, bob}, random: true,
			asked: "second second", saw: `hello; [1] ok
hello; [1] ok`},
		{name: "a target that cools down is not drawn", config: balance("", weighs(first, 1000000000, breaker(1, 60000)), weighs(second, 0.000001)),
			script: scripts(script(first, busy), script(second, text("two"))), calls: count(2, 1e9, call{}),
			asked: "first@0s second@1s", saw: `!service_unavailable, sent@0s; [0] 503
two@1s; [1] ok`},
		{name: "sticky goes elsewhere while its target cools down", config: balance("metadata.team", to(first, breaker(1, 10000)), to(second)),
			script: scripts(script(first, busy, text("one")), script(second, text("two"))), calls: []call{ann, later(ann, 1), later(ann, 20)},
			asked: "first@0s second@1s first@20s", saw: `!service_unavailable, sent@0s; [0] 503
two@1s; [1] ok
one@20s; [0] ok`},
	})
}

// TestConfigBalanceShares draws often enough to tell the weights.
func TestConfigBalanceShares(t *testing.T) {
	for _, sticky := range []string{"", "metadata.team"} {
		s := scenario{config: balance(sticky, weighs(first, 6), weighs(second, 3), weighs(third, 1))}
		client, srv := s.open(t)
		const n = 3000
		for i := range n {
			c := calledBy(map[string]string{"team": fmt.Sprint("team-", i)})
			if r := c.run(t, client, false); r.err != nil {
				t.Fatal(r.err)
			}
		}
		got := map[string]float64{}
		for _, r := range srv.Requests() {
			got[modelNames[r.Model]]++
		}
		for model, share := range map[string]float64{"first": 0.6, "second": 0.3, "third": 0.1} {
			want, sigma := share*n, math.Sqrt(n*share*(1-share))
			if math.Abs(got[model]-want) > 5*sigma {
				t.Errorf("sticky %q: %s got %v calls, want about %v", sticky, model, got[model], want)
			}
		}
	}
}

func conditional(cases, deflt string, targets ...string) string {
	if deflt != "" {
		deflt = `,"default":"` + deflt + `"`
	}
	out := `{"strategy":{"mode":"conditional","conditions":[` + cases + `]` + deflt + `},"targets":[`
	for i, t := range targets {
		if i > 0 {
			out += ","
		}
		out += t
	}
	return out + "]}"
}

func when(query, then string) string { return `{"query":` + query + `,"then":"` + then + `"}` }

// TestConfigConditions has who is asked by what a call says of itself.
func TestConfigConditions(t *testing.T) {
	cold, hot := to(first, `"name":"cold"`), to(second, `"name":"hot"`)
	gold := []call{calledBy(map[string]string{"plan": "gold"})}
	warm := []call{{edit: func(r *gateway.ChatCompletionRequest) { r.Temperature = new(0.9) }}}
	pick := func(query string) string { return conditional(when(query, "hot"), "cold", cold, hot) }
	runScenarios(t, []scenario{
		{name: "a param", config: pick(`{"params.temperature":{"$gt":0.5}}`), calls: warm,
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "a param that is not there", config: pick(`{"params.temperature":{"$gt":0.5}}`),
			asked: "first@0s", saw: "hello@0s; cold ok"},
		{name: "the model", config: pick(`{"params.model":"` + first + `"}`),
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "a stream", config: pick(`{"params.stream":true}`), stream: true,
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "a stream that a target's params change", stream: true, more: sent("generationConfig.maxOutputTokens"),
			config: conditional(when(`{"params.stream":true}`, "hot"), "cold", cold, `{"name":"hot","override_params":{"model":"`+second+`","max_tokens":50}}`),
			asked:  "second@0s[maxOutputTokens=50]", saw: "hello@0s; hot ok"},
		{name: "no stream", config: pick(`{"params.stream":true}`), whole: true,
			asked: "first@0s", saw: "hello@0s; cold ok"},
		{name: "the number of choices", config: pick(`{"params.n":{"$in":[2,3]}}`), calls: []call{{edit: func(r *gateway.ChatCompletionRequest) { r.N = new(2) }}}, whole: true,
			asked: "second@0s second@0s", saw: "hello@0s; hot ok"},
		{name: "a param within another", config: pick(`{"params.thinking.type":"enabled"}`), calls: []call{{edit: func(r *gateway.ChatCompletionRequest) {
			r.Thinking = &gateway.Thinking{Type: "enabled"}
		}}},
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "the call's metadata", config: pick(`{"metadata.plan":"gold"}`), calls: gold,
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "the client's metadata", config: pick(`{"metadata.plan":"gold"}`), client: []gateway.ClientOption{gateway.WithMetadata(map[string]string{"plan": "gold"})},
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "the call's metadata over the client's", config: pick(`{"metadata.plan":{"$ne":"gold"}}`), calls: gold,
			client: []gateway.ClientOption{gateway.WithMetadata(map[string]string{"plan": "free"})},
			asked:  "first@0s", saw: "hello@0s; cold ok"},
		{name: "the request's own metadata", config: pick(`{"metadata.plan":"gold"}`), calls: []call{{edit: func(r *gateway.ChatCompletionRequest) {
			r.Metadata = map[string]string{"plan": "gold"}
		}}},
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "the end user", config: pick(`{"metadata._user":{"$regex":"^ann@"}}`), calls: []call{{edit: func(r *gateway.ChatCompletionRequest) { r.User = "ann@example.com" }}},
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "all must hold", config: pick(`{"metadata.plan":"gold","params.temperature":{"$gt":0.5}}`), calls: gold,
			asked: "first@0s", saw: "hello@0s; cold ok"},
		{name: "one of them", config: pick(`{"$or":[{"metadata.plan":"gold"},{"params.temperature":{"$gt":0.5}}]}`), calls: gold,
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "none of a list", config: pick(`{"metadata.plan":{"$nin":["free","trial"]}}`), calls: gold,
			asked: "second@0s", saw: "hello@0s; hot ok"},
		{name: "a header, in process", config: pick(`{"headers.x-tier":"gold"}`),
			asked: "first@0s", saw: "hello@0s; cold ok"},
		{name: "the first that holds", config: conditional(when(`{"metadata.plan":"gold"}`, "cold")+","+when(`{"metadata.plan":{"$ne":""}}`, "hot"), "", cold, hot), calls: gold,
			asked: "first@0s", saw: "hello@0s; cold ok"},
		{name: "none holds", config: conditional(when(`{"metadata.plan":"gold"}`, "hot"), "", cold, hot),
			asked: "", saw: "!invalid_config@0s"},
		{name: "none holds, and a fallback around it", config: fallback(conditional(when(`{"metadata.plan":"gold"}`, "hot"), "", cold, hot), to(third)),
			asked: "", saw: "!invalid_config@0s"},
		{name: "the chosen one has no siblings to fall back to", config: pick(`{"metadata.plan":"gold"}`), calls: gold, script: script(second, fails(500)),
			asked: "second@0s", saw: "!server_error, sent@0s; hot 500"},
		{name: "groups to choose from", config: conditional(when(`{"metadata.plan":"gold"}`, "hot"), "cold", cold,
			`{"name":"hot","strategy":{"mode":"fallback"},"targets":[`+to(second)+`,`+to(third)+`]}`), calls: gold,
			script: scripts(script(second, fails(500)), script(third, text("three"))),
			asked:  "second@0s third@0s", saw: "three@0s; [1].[0] 500; [1].[1] ok"},
		{name: "the request as it came", config: `{"default_params":{"temperature":0.9},` + pick(`{"params.temperature":{"$gt":0.5}}`)[1:],
			asked: "first@0s", saw: "hello@0s; cold ok"},
	})
}
