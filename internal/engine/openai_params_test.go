package engine

import (
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/providers"
)

// openFamilies are models of the families that speak the OpenAI schema.
var openFamilies = map[string]string{
	"open": "qwen.qwen3-coder-480b-a35b-instruct-maas", "an endpoint": "endpoints.1", "Mistral": "mistralai.mistral-small-2503",
	"OpenAI": "api.openai.gpt-5",
}

// encodeOpen encodes a request with the members to the model.
func encodeOpen(t *testing.T, ref string, table *catalog.Models, members ...string) (string, []providers.Warning, error) {
	t.Helper()
	q := requestOf(t, members)
	before, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parseModel(ref)
	if err != nil {
		t.Fatal(err)
	}
	m.lookup(table)
	choices, _, err := shareChoices(q.N, m.facts.MaxCandidates)
	if err != nil {
		t.Fatal(err)
	}
	in := request{site: testSite{}, chat: q, target: &providers.Target{ProjectID: "p", Region: "global"}, model: m, choices: choices, stream: q.Stream}
	var out outgoing
	body, err := new(Engine).translator(&m).encode(&in, &out, nil)
	after, _ := json.Marshal(q)
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the caller's request has changed\n%s", diff)
	}
	if err == nil && !jsonx.Valid(body) {
		t.Errorf("%s is not JSON", body)
	}
	return string(body), out.warnings, err
}

func TestEveryMemberOfARequestHasOneOpenRow(t *testing.T) {
	q := new(providers.ChatCompletionRequest)
	fill(reflect.ValueOf(q).Elem())
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	for name := range jsonx.Members(data) {
		if row := findOpenParam(name); row == nil || row.extension {
			t.Errorf("%s has no row of a field", name)
		}
	}
	for _, p := range params { // what is known of one family is known of all
		if p.gemini != forward && !p.extension && findOpenParam(p.name) == nil {
			t.Errorf("%s has no row", p.name)
		}
	}
}

func TestEveryOpenRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range openParams {
		if seen[p.name] {
			t.Errorf("%s has two rows", p.name)
		}
		seen[p.name] = true
		if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
			t.Errorf("%s: link %q", p.name, p.link)
		}
		for _, a := range []action{p.open, p.endpoint, p.mistral, p.openai} {
			if a == 0 || (a == forward || a == translate) && p.wire == "" || (a == warn || a == reject) && p.note == "" {
				t.Errorf("%s: action %d is not told", p.name, a)
			}
		}
	}
	for _, c := range clearable {
		if findOpenParam(c.name) == nil {
			t.Errorf("%s has no row", c.name)
		}
	}
}

// openExamples has values beyond those for Gemini.
var openExamples = map[string]struct{ value, beside string }{
	"thinking":      {`{"type":"enabled","budget_tokens":9000}`, ""},
	"modalities":    {`["text","audio"]`, ""},
	"google":        {`{"cached_content":"x"}`, ""},
	"safe_prompt":   {`true`, ""},
	"prompt_mode":   {`"reasoning"`, ""},
	"random_seed":   {`3`, ""},
	"function_call": {`"auto"`, ""},
	"audio":         {`{"voice":"alloy"}`, ""},

	"cache_control":      {`{"type":"ephemeral"}`, ""},
	"context_management": {`{"edits":[]}`, ""},
}

func TestEveryOpenRowDoesWhatItSays(t *testing.T) {
	// A row of the table with a level, so that reasoning is sent.
	table := catalog.DefaultModels().With(catalog.Model{
		Publisher: "qwen", Name: "qwen3-coder", MaxCandidates: 1, Thinking: catalog.Thinking{Levels: []string{"LOW", "HIGH"}},
	})
	for family, ref := range openFamilies {
		for _, p := range openParams {
			if p.name == "model" || p.name == "n" { // the path; the number of requests
				continue
			}
			t.Run(family+"/"+p.name, func(t *testing.T) {
				x, ok := openExamples[p.name]
				if !ok {
					x, ok = examples[p.name]
				}
				if !ok {
					t.Fatal("no example")
				}
				m, _ := parseModel(ref)
				before, _, err := encodeOpen(t, ref, table, x.beside)
				if err != nil {
					t.Fatal(err)
				}
				after, warnings, err := encodeOpen(t, ref, table, x.beside, memberOf(p.name, x.value))
				checkOpenAction(t, &p, p.of(m.Family), before, after, warnings, err)
			})
		}
	}
}

func checkOpenAction(t *testing.T, p *openParam, what action, before, after string, warnings []providers.Warning, err error) {
	t.Helper()
	if what == reject {
		var e *providers.Error
		if !errors.As(err, &e) || e.Param != p.name || e.Message != p.note {
			t.Errorf("%v, want an error about %s", err, p.name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	warnings = slices.DeleteFunc(warnings, func(w providers.Warning) bool { return w.Code == providers.WarnAdjusted }) // it was sent
	warned := slices.ContainsFunc(warnings, func(w providers.Warning) bool { return w.Param == p.name })
	if warned != (what == warn) || len(warnings) > 0 && !warned {
		t.Errorf("warnings %v", warnings)
	}
	sent := what == forward || what == translate
	if changed := before != after; changed != (sent || p.name == "stream") {
		t.Errorf("changed: %v\n%s\n%s", changed, before, after)
	}
	if wire := p.wire; sent && !hasPath(after, wire) && !hasPath(after, "random_"+wire) && !(wire == "max_tokens" && hasPath(after, "max_completion_tokens")) {
		t.Errorf("no %s in %s", wire, after)
	}
}

func TestReasoningIsSaidAsTheModelTakesIt(t *testing.T) {
	for _, tt := range []struct{ name, ref, members, want, warned string }{
		{"an effort", "openai.gpt-oss-120b-maas", `"reasoning_effort":"high"`, `"reasoning_effort":"high"`, ""},
		{"an effort above", "openai.gpt-oss-120b-maas", `"reasoning_effort":"max"`, `"reasoning_effort":"high"`, "reasoning_effort"},
		{"an effort below", "openai.gpt-oss-120b-maas", `"reasoning_effort":"none"`, `"reasoning_effort":"low"`, "reasoning_effort"},
		{"thinking without a budget", "openai.gpt-oss-120b-maas", `"thinking":{"type":"enabled"}`, "", ""},
		{"thinking wins", "openai.gpt-oss-120b-maas", `"reasoning_effort":"low","thinking":{"type":"enabled","budget_tokens":30000}`, `"reasoning_effort":"high"`, "reasoning_effort thinking"},
		{"a switch", "deepseek-ai.deepseek-v3.2-maas", `"thinking":{"type":"enabled"}`, `"chat_template_kwargs":{"thinking":true}`, ""},
		{"a switch with a budget", "zai-org.glm-5-maas", `"thinking":{"type":"enabled","budget_tokens":9}`, `"chat_template_kwargs":{"enable_thinking":true}`, "thinking"},
		{"no budget at all", "zai-org.glm-5-maas", `"thinking":{"budget_tokens":0}`, `"chat_template_kwargs":{"enable_thinking":false}`, ""},
		{"the caller's own switch", "zai-org.glm-5-maas", `"thinking":{"type":"enabled"},"chat_template_kwargs":{"enable_thinking":false}`, `"chat_template_kwargs":{"enable_thinking":false}`, "thinking"},
		{"no choice", "moonshotai.kimi-k2-thinking-maas", `"thinking":{"type":"disabled"}`, "", "thinking"},
		{"an endpoint", "endpoints.1", `"reasoning_effort":"odd"`, `"reasoning_effort":"odd"`, ""},
		{"Mistral", "mistralai.mistral-medium-3", `"reasoning_effort":"high"`, "", "reasoning_effort"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, warnings, err := encodeOpen(t, tt.ref, catalog.DefaultModels(), tt.members)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(body, tt.want) || tt.want == "" && (hasPath(body, "reasoning_effort") || hasPath(body, "chat_template_kwargs")) {
				t.Errorf("%s, want %q", body, tt.want)
			}
			var params []string
			for _, w := range warnings {
				params = append(params, w.Param)
			}
			if diff := cmp.Diff(tt.warned, strings.Join(params, " ")); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestOpenParametersOutOfRangeAreRefused(t *testing.T) {
	for _, tt := range []struct{ member, param string }{
		{`"max_tokens":0`, "max_tokens"},
		{`"max_completion_tokens":-1`, "max_completion_tokens"},
		{`"reasoning_effort":"some"`, "reasoning_effort"},
		{`"thinking":{"type":"on"}`, "thinking.type"},
		{`"thinking":{"budget_tokens":-2}`, "thinking.budget_tokens"},
		{`"functions":[]`, "functions"},
		{`"extra_body":{"function_call":"auto"}`, "extra_body.function_call"},
		{`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, "tool_choice.allowed_tools"},
		{`"messages":[{"role":"user","content":[{"type":"image_url"}]}]`, "messages[0].content[0].image_url.url"},
	} {
		t.Run(tt.member, func(t *testing.T) {
			_, _, err := encodeOpen(t, "qwen.qwen3", catalog.DefaultModels(), tt.member)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || e.Sent {
				t.Errorf("%v, want %s about %s", err, providers.ErrInvalidRequest, tt.param)
			}
		})
	}
	q := &providers.ChatCompletionRequest{Extra: providers.Extra(`{"a":1,]`)}
	m, _ := parseModel("qwen.qwen3")
	m.lookup(catalog.DefaultModels())
	_, err := openFamily{}.encode(&request{site: testSite{}, chat: q, target: new(providers.Target), model: m}, new(outgoing), nil)
	if !errors.Is(err, providers.ErrInvalidRequest) {
		t.Errorf("%v, want %s for what is no object", err, providers.ErrInvalidRequest)
	}
}

func TestWhatIsGivenTwiceIsSaid(t *testing.T) {
	for _, tt := range []struct{ ref, members, param string }{
		{"qwen.qwen3", `"min_p":1,"extra_body":{"min_p":2}`, "extra_body.min_p"},
		{"qwen.qwen3", `"extra_body":{"temperature":2}`, "extra_body.temperature"},
		{"mistralai.codestral-2", `"seed":1,"random_seed":2`, "seed"},
	} {
		_, warnings, err := encodeOpen(t, tt.ref, catalog.DefaultModels(), tt.members)
		if err != nil || len(warnings) != 1 || warnings[0].Param != tt.param || warnings[0].Code != providers.WarnConflict {
			t.Errorf("%s: %v %v, want one about %s", tt.members, warnings, err, tt.param)
		}
	}
}

func TestIDsOfCallsAreMistrals(t *testing.T) {
	const call = `{"id":%,"type":"function","function":{"name":"f","arguments":"{}"}}`
	calls := func(ids ...string) string {
		var list []string
		for _, id := range ids {
			list = append(list, strings.Replace(call, "%", `"`+id+`"`, 1))
		}
		return `{"role":"assistant","tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"` + id + `"}` }
	members := `"messages":[{"role":"user","content":"hi"},` + strings.Join([]string{
		calls("call_1", "D681PevKs", "same", "same"), result("same"), result("D681PevKs"), result("call_1"), result("same"),
		calls("call_1"), result(""),
	}, ",") + `]`
	body, _, err := encodeOpen(t, "mistralai.mistral-small-2503", catalog.DefaultModels(), members)
	if err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Messages []struct {
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	m := sent.Messages
	first := m[1].ToolCalls
	for i, c := range first {
		if !isMistralID(c.ID) || slices.Index(first, c) != i {
			t.Errorf("id %d is %q", i, c.ID)
		}
	}
	got := []string{m[2].ToolCallID, m[3].ToolCallID, m[4].ToolCallID, m[5].ToolCallID, m[7].ToolCallID, m[6].ToolCalls[0].ID}
	want := []string{first[2].ID, "D681PevKs", first[0].ID, first[3].ID, first[0].ID, first[0].ID}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
