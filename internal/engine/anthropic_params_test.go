package engine

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/jsonx"
	"github.com/b650d4bf/gateway/internal/testkit"
	"github.com/b650d4bf/gateway/providers"
)

// encodeClaude encodes a request to a Claude model with the members, and checks
// what the platform would say.
func encodeClaude(t *testing.T, name string, members ...string) (string, outgoing, error) {
	t.Helper()
	return encodeClaudeAt(t, false, name, members...)
}

// encodeClaudeAt does so on Vertex AI, or for the vendor's own service.
func encodeClaudeAt(t *testing.T, own bool, name string, members ...string) (string, outgoing, error) {
	t.Helper()
	q := requestOf(t, members)
	facts, known := catalog.DefaultModels().Lookup("anthropic", name)
	if !known {
		t.Fatalf("no row for %s", name)
	}
	in := request{site: testSite{},
		chat: q, target: &providers.Target{ProjectID: "p", Region: "global"}, stream: q.Stream, choices: 1,
		model: Model{Publisher: "anthropic", Name: name, Family: FamilyClaude, Own: own, facts: facts},
	}
	var out outgoing
	body, err := claudeFamily{}.encode(&in, &out, nil)
	check := func(body []byte) error { return testkit.CheckClaudeBody(name, body) }
	if own {
		check = testkit.CheckOwnClaudeBody
	}
	if err == nil {
		if err := check(body); err != nil {
			t.Errorf("%q\n%s\n%v", members, body, err)
		}
	}
	return string(body), out, err
}

func TestEveryParameterHasARowForClaude(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range claudeParams {
		if seen[p.name] {
			t.Errorf("%s has two rows", p.name)
		}
		seen[p.name] = true
		if u, err := url.ParseRequestURI(p.link); err != nil || u.Scheme != "https" {
			t.Errorf("%s: link %q", p.name, p.link)
		}
		for _, own := range []bool{false, true} {
			if goes(&p, own) && p.place(own) == "" {
				t.Errorf("%s goes nowhere", p.name)
			}
			if a := p.at(own); (a == warn || a == reject) && p.note == "" {
				t.Errorf("%s gives no reason", p.name)
			}
		}
	}
	for _, p := range params {
		if !seen[p.name] {
			t.Errorf("%s has a row for Gemini and none for Claude", p.name)
		}
	}
}

// goes reports whether a member is sent.
func goes(p *claudeParam, own bool) bool { return p.at(own) == forward || p.at(own) == translate }

// TestEveryMemberOfMessagesIsReached holds the table against what the platforms
// take.
func TestEveryMemberOfMessagesIsReached(t *testing.T) {
	for own, members := range map[bool][]string{false: testkit.ClaudeBodyMembers, true: testkit.OwnClaudeBodyMembers} {
		wires := map[string]bool{"anthropic_version": true} // which is always the same
		for _, p := range claudeParams {
			if !goes(&p, own) {
				continue
			}
			for wire := range strings.SplitSeq(p.place(own), ", ") {
				top, _, _ := strings.Cut(wire, ".")
				wires[top] = true
			}
		}
		for _, name := range members {
			if !wires[name] {
				t.Errorf("%s can't be reached by any member", name)
			}
		}
	}
}

// TestEveryForwardHasAParameter holds the table of forms against that of
// members.
func TestEveryForwardHasAParameter(t *testing.T) {
	for _, f := range claudeForwards {
		if p := findClaudeParam(f.name); p == nil || p.own != forward || p.vertex == forward || p.wire != f.name {
			t.Errorf("%s has no row that says so: %+v", f.name, p)
		}
		if kindWords[f.kind] == "" || !strings.HasPrefix(f.link, "https://") {
			t.Errorf("%s: %v, link %q", f.name, f.kind, f.link)
		}
		if counted := slices.Contains(testkit.CountedClaudeBodyMembers, f.name); counted != f.counted {
			t.Errorf("%s is counted: %v", f.name, counted)
		}
	}
}

// claudeExamples are the examples that differ from those for Gemini.
var claudeExamples = map[string]struct{ value, beside string }{
	"presence_penalty":               {`1`, ""},
	"frequency_penalty":              {`1`, ""},
	"seed":                           {`1`, ""},
	"modalities":                     {`["audio"]`, ""},
	"service_tier":                   {`"dedicated"`, ""},
	"thinking_config":                {`{"include_thoughts":true,"thinking_level":"HIGH"}`, ""},
	"output_config":                  {`{"effort":"low"}`, ""},
	"anthropic_beta":                 {`["a"]`, ""},
	"cache_control":                  {`{"type":"ephemeral"}`, ""},
	"context_management":             {`{"edits":[]}`, ""},
	"container":                      {`"c"`, ""},
	"mcp_servers":                    {`[{}]`, ""},
	"speed":                          {`"fast"`, ""},
	"inference_geo":                  {`"us"`, ""},
	"diagnostics":                    {`{}`, ""},
	"fallbacks":                      {`[{"model":"claude-opus-4-6"}]`, ""},
	"fallback_credit_token":          {`"t"`, ""},
	"compaction":                     {`{"type":"summarize"}`, ""},
	"stream_function_call_arguments": {`true`, ""},
}

// ownClaudeExamples are those that differ at the vendor's own service.
var ownClaudeExamples = map[string]struct{ value, beside string }{
	"service_tier": {`"standard_only"`, ""},
}

func TestEveryRowOfClaudeDoesWhatItSays(t *testing.T) {
	for where, own := range map[string]bool{"Vertex AI": false, "its own service": true} {
		all := maps.Clone(examples)
		maps.Copy(all, claudeExamples)
		if own {
			maps.Copy(all, ownClaudeExamples)
		}
		for _, p := range claudeParams {
			if p.name == "model" { // its place is the path, or always there
				continue
			}
			t.Run(where+" "+p.name, func(t *testing.T) {
				x, ok := all[p.name]
				if !ok {
					t.Fatal("no example")
				}
				const model = "claude-opus-4-6"
				before, _, err := encodeClaudeAt(t, own, model, x.beside)
				if err != nil {
					t.Fatal(err)
				}
				after, out, err := encodeClaudeAt(t, own, model, x.beside, memberOf(p.name, x.value))
				checkClaudeAction(t, &p, own, before, after, &out, err)
			})
		}
	}
}

func checkClaudeAction(t *testing.T, p *claudeParam, own bool, before, after string, out *outgoing, err error) {
	t.Helper()
	if p.at(own) == reject {
		var e *providers.Error
		if !errors.As(err, &e) || e.Param != p.name || e.Message != p.note {
			t.Errorf("%v, want an error about %s", err, p.name)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	warned := slices.ContainsFunc(out.warnings, func(w providers.Warning) bool { return w.Param == p.name })
	if warned != (p.at(own) == warn) || len(out.warnings) > 0 && !warned {
		t.Errorf("warnings %v", out.warnings)
	}
	switch p.place(own) {
	case "(header)":
		said := 0
		for _, values := range out.header {
			said += len(values)
		}
		if said != 1 || before != after {
			t.Errorf("header %v", out.header)
		}
		return
	case "(requests)":
		return
	}
	if changed := before != after; changed != goes(p, own) {
		t.Errorf("changed: %v\n%s\n%s", changed, before, after)
	}
	if wire, _, _ := strings.Cut(p.place(own), ","); goes(p, own) && !hasPath(after, wire) {
		t.Errorf("no %s in %s", wire, after)
	}
}

func TestClaudeRefusesWhatIsOutOfRange(t *testing.T) {
	const f = `"tools":[{"type":"function","function":{"name":"f"}}],`
	for _, tt := range []struct{ member, param string }{
		{`"max_tokens":0`, "max_tokens"},
		{`"max_completion_tokens":-1`, "max_completion_tokens"},
		{`"response_format":{"type":"xml"}`, "response_format.type"},
		{`"response_format":{"type":"json_schema"}`, "response_format.json_schema.schema"},
		{`"reasoning_effort":"some"`, "reasoning_effort"},
		{`"output_config":{"effort":"some"}`, "output_config.effort"},
		{`"output_config":1`, "output_config"},
		{`"context_management":1`, "context_management"},
		{`"service_tier":1`, "service_tier"},
		{`"anthropic_beta":1`, "anthropic_beta"},
		{`"thinking":{"type":"on"}`, "thinking.type"},
		{`"thinking":{"type":"enabled","budget_tokens":-2}`, "thinking.budget_tokens"},
		{`"thinking":{"type":"adaptive","display":"loud"}`, "thinking.display"},
		{`"tools":[{"type":"function","function":{"name":"no.dots"}}]`, "tools[0].function.name"},
		{`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"array"}}}]`, "tools[0].function.parameters"},
		{`"tool_choice":"required"`, "tool_choice"},
		{f + `"tool_choice":"maybe"`, "tool_choice"},
		{f + `"tool_choice":{"type":"function","function":{"name":"g"}}`, "tool_choice"},
		{`"tools":[{"type":"function","function":{"name":"web_search"}}],"tool_choice":{"type":"function","function":{"name":"web_search"}}`, "tool_choice"},
		{f + `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"none","tools":[{"type":"function","function":{"name":"f"}}]}}`, "tool_choice.allowed_tools"},
		{`"messages":[{"role":"user","content":""}]`, "messages"},
		{`"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}]`, "messages[1].content[0].type"},
		{`"messages":[{"role":"user","content":[{"type":"image_url"}]}]`, "messages[0].content[0].image_url.url"},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"gs://b/a.png"}}]}]`, "messages[0].content[0].image_url.url"},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]`, "messages[0].content[0].image_url.url"},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:video/mp4;base64,AAAA"}}]}]`, "messages[0].content[0].image_url"},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:text/plain;base64,/w=="}}]}]`, "messages[0].content[0].image_url"},
		{`"messages":[{"role":"user","content":[{"type":"file","file":{}}]}]`, "messages[0].content[0].file"},
		{`"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]`, "messages[0].content[0].file.file_id"},
		{`"messages":[{"role":"user","content":[{"type":"file","file":{"file_url":"https://x/a.pdf"}}]}]`, "messages[0].content[0].file.file_url"},
		{`"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"AAAA"}}]}]`, "messages[0].content[0].file.file_data"},
		{`"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"?"}}]}]`, "messages[0].content[0].file.file_data"},
		{`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`, "messages[0].content[0].source"},
		{`"messages":[{"role":"user","content":[{"type":"hologram"}]}]`, "messages[0].content[0].type"},
		{`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x"}]},{"role":"user","content":"b"}]`, "messages[1].content[0]"},
		{`"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}]`, "messages[1].tool_call_id"},
	} {
		t.Run(tt.member, func(t *testing.T) {
			_, _, err := encodeClaude(t, "claude-opus-4-6", tt.member)
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != tt.param || e.Sent {
				t.Errorf("%v, want %s about %s", err, providers.ErrInvalidRequest, tt.param)
			}
		})
	}
}

// rawMember returns the raw value of a member at the top of the body.
func rawMember(body, name string) string {
	raw, _ := jsonx.Lookup([]byte(body), name)
	return string(raw)
}

// compact takes white space out of JSON.
func compact(s string) string {
	if s == "" {
		return ""
	}
	return string(jsonx.Compact(nil, []byte(s)))
}
