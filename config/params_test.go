package config_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
)

func TestApply(t *testing.T) {
	raw := func(s string) json.RawMessage {
		if s == "" {
			return nil
		}
		return json.RawMessage(s)
	}
	const request = `{ "model" : "m",
  "messages": [{"role":"user"}], "temperature":0.50, "labels": {"a": "b", "c":{"d" : 1}} }`
	for _, tt := range []struct {
		name, in, defaults string
		drops              []string
		overrides, want    string
	}{
		{"a default for what is there", request, `{"temperature":1}`, nil, "", request},
		{"a default for what is missing", request, `{"temperature":1, "top_p" : 0.10}`, nil, "",
			`{ "model" : "m",
  "messages": [{"role":"user"}], "temperature":0.50, "labels": {"a": "b", "c":{"d" : 1}},"top_p" : 0.10 }`},
		{"a default for a null", `{"seed":null}`, `{"seed":1}`, nil, "", `{"seed":null}`},
		{"a default for an empty request", `{ }`, `{"seed":1,"n":2}`, nil, "", `{"seed":1,"n":2 }`},
		{"a drop", request, "", []string{"temperature"}, "",
			`{ "model" : "m",
  "messages": [{"role":"user"}], "labels": {"a": "b", "c":{"d" : 1}} }`},
		{"a drop of the first", request, "", []string{"model"}, "",
			`{ "messages": [{"role":"user"}], "temperature":0.50, "labels": {"a": "b", "c":{"d" : 1}} }`},
		{"a drop of the last two", request, "", []string{"labels", "temperature"}, "",
			`{ "model" : "m",
  "messages": [{"role":"user"}] }`},
		{"a drop of everything", `{"a":1, "b":2}`, "", []string{"a", "b"}, "", `{}`},
		{"a drop within", request, "", []string{"labels.c.d", "labels.a"}, "",
			`{ "model" : "m",
  "messages": [{"role":"user"}], "temperature":0.50, "labels": {"c":{}} }`},
		{"a drop of a whole and of a part", request, "", []string{"labels.a", "labels"}, "",
			`{ "model" : "m",
  "messages": [{"role":"user"}], "temperature":0.50 }`},
		{"a drop of what isn't there", request, "", []string{"seed", "labels.x", "labels.a.x", "messages.role", "model.x"}, "", request},
		{"a drop of a default", `{"a":1}`, `{"b":{"x":1,"y":2},"c":3}`, []string{"b.x", "c"}, "", `{"a":1,"b":{"y":2}}`},
		{"a drop of a repeated member", `{"a":1,"b":2,"a":3}`, "", []string{"a"}, "", `{"b":2}`},
		{"an override in place", request, "", nil, `{"temperature": 0, "model":"n"}`,
			`{ "model" : "n",
  "messages": [{"role":"user"}], "temperature":0, "labels": {"a": "b", "c":{"d" : 1}} }`},
		{"an override is not merged within", `{"labels":{"a":"b"}}`, "", nil, `{"labels":{"c":"d"}}`, `{"labels":{"c":"d"}}`},
		{"an override that is new", `{"a":1}`, "", nil, `{"z":{"y": 2},"b":3}`, `{"a":1,"z":{"y": 2},"b":3}`},
		{"an override of what was dropped", `{"a":1, "b":2}`, "", []string{"a", "c"}, `{"a":3,"c":4}`, `{"a":3, "b":2,"c":4}`},
		{"an override of a default", `{"a":1}`, `{"b":2,"c":3}`, nil, `{"b":4}`, `{"a":1,"b":4,"c":3}`},
		{"an override of a repeated member", `{"a":1,"b":2,"a":3}`, "", nil, `{"a":4}`, `{"a":4,"b":2}`},
		{"names by their meaning", `{"\u0061":1,"b":2}`, `{"a":5}`, []string{"b"}, `{"a":3}`, `{"\u0061":3}`},
		{"an override by an escaped name", `{"a":1}`, "", nil, `{"\u0061":3,"\u0062":4}`, `{"a":3,"\u0062":4}`},
		{"an override of a setting's other name", `{"max_completion_tokens":5000,"n":1}`, "", nil, `{"max_tokens":100}`, `{"n":1,"max_tokens":100}`},
		{"an override of the word for thinking", `{"thinking":{"type":"enabled","budget_tokens":8000}}`, "", nil, `{"reasoning_effort":"none"}`, `{"reasoning_effort":"none"}`},
		{"an override of the platform's name for thinking", `{"reasoning_effort":"high","thinking":{"type":"enabled"}}`, "", nil, `{"thinking_config":{"thinkingBudget":0}}`, `{"thinking_config":{"thinkingBudget":0}}`},
		{"overrides of both names", `{"max_completion_tokens":5000}`, "", nil, `{"max_tokens":100,"max_completion_tokens":200}`, `{"max_completion_tokens":200,"max_tokens":100}`},
		{"an override of one of two names", `{"max_tokens":1,"max_completion_tokens":2}`, "", nil, `{"max_tokens":3}`, `{"max_tokens":3}`},
		{"an override by null of the other name", `{"max_completion_tokens":2}`, "", nil, `{"max_tokens":null}`, `{"max_tokens":null}`},
		{"an override of a default of the other name", `{"n":1}`, `{"max_completion_tokens":5000}`, nil, `{"max_tokens":100}`, `{"n":1,"max_tokens":100}`},
		{"an override by an escaped other name", `{"max\u005fcompletion_tokens":2}`, "", nil, `{"max\u005ftokens":3}`, `{"max\u005ftokens":3}`},
		{"a default of a setting's other name", `{"max_tokens":5000}`, `{"max_completion_tokens":100}`, nil, "", `{"max_tokens":5000}`},
		{"a default for thinking beside its word", `{"reasoning_effort":"none"}`, `{"thinking":{"type":"enabled"},"n":1}`, nil, "", `{"reasoning_effort":"none","n":1}`},
		{"a default for a null of the other name", `{"max_tokens":null}`, `{"max_completion_tokens":100}`, nil, "", `{"max_tokens":null}`},
		{"defaults of both names", `{"n":1}`, `{"max_tokens":1,"max_completion_tokens":2}`, nil, "", `{"n":1,"max_tokens":1,"max_completion_tokens":2}`},
		{"a default in place of a dropped name", `{"max_tokens":5000}`, `{"max_completion_tokens":100}`, []string{"max_tokens"}, "", `{"max_completion_tokens":100}`},
		{"a drop leaves the other name", `{"max_tokens":1,"max_completion_tokens":2}`, "", []string{"max_tokens"}, "", `{"max_completion_tokens":2}`},
		{"two names are one at the top level alone", `{"labels":{"max_tokens":"1"}}`, "", nil, `{"max_completion_tokens":2}`, `{"labels":{"max_tokens":"1"},"max_completion_tokens":2}`},
		{"white space around", " \n{\"a\":1}\n ", "", nil, `{"b":2}`, " \n{\"a\":1,\"b\":2}\n "},
		{"settings that are empty objects", request, `{}`, []string{}, ` { } `, request},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := config.Settings{DefaultParams: raw(tt.defaults), DropParams: tt.drops, OverrideParams: raw(tt.overrides)}
			in := []byte(tt.in)
			got, err := config.Apply(in, &s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if string(in) != tt.in {
				t.Errorf("the input became %s", in)
			}
			if same := &in[0] == &got[0]; same != (tt.want == tt.in) {
				t.Errorf("the same slice: %v", same)
			}
		})
	}
}

func TestApplyRefusesWhatIsNoObject(t *testing.T) {
	good := config.Settings{OverrideParams: json.RawMessage(`{"a":1}`)}
	for _, tt := range []struct {
		name, in string
		s        config.Settings
		want     string
	}{
		{"a list", `[]`, good, "config: request: expected an object (offset 0)"},
		{"text after it", `{} x`, good, "config: request: unexpected text after the value (offset 3)"},
		{"half an object", `{"a":1`, good, "config: request: a: unexpected end of input (offset 6)"},
		{"defaults", `{}`, config.Settings{DefaultParams: json.RawMessage(`1`)}, "config: default_params: expected an object (offset 0)"},
		{"overrides", `{}`, config.Settings{OverrideParams: json.RawMessage(`{`)}, "config: override_params: unexpected end of input (offset 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.Apply([]byte(tt.in), &tt.s)
			if got != nil || err == nil || err.Error() != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if got, err := config.Apply([]byte("no JSON"), &config.Settings{}); err != nil || string(got) != "no JSON" {
		t.Errorf("nothing to do: %s, %v", got, err)
	}
}

func TestParam(t *testing.T) {
	body := []byte(`{"a":{"b": [1] },"c":"x"}`)
	for _, tt := range []struct {
		path []string
		want string
		ok   bool
	}{
		{[]string{"a", "b"}, "[1]", true}, {[]string{"c"}, `"x"`, true}, {[]string{"c", "x"}, "", false},
		{[]string{"a", "x"}, "", false}, {nil, "", false},
	} {
		got, ok := config.Param(body, tt.path)
		if ok != tt.ok || ok && string(got) != tt.want {
			t.Errorf("%q: %s, %v, want %s, %v", tt.path, got, ok, tt.want, tt.ok)
		}
	}
	if _, ok := config.Param(nil, []string{"a"}); ok {
		t.Error("a member of nothing")
	}
}

func TestSettingsUnderOthers(t *testing.T) {
	yes, no := true, false
	full := func(mark string, flag *bool, n int) config.Settings {
		return config.Settings{
			Provider: mark, Region: mark, ProjectID: mark, CustomHost: mark,
			DefaultParams:  json.RawMessage(`{"` + mark + `":1,"both":"` + mark + `"}`),
			DropParams:     []string{"both", mark},
			OverrideParams: json.RawMessage(`{ "both": {"` + mark + `":1}, "` + mark + `":1}`),
			Cache:          &config.Cache{Mode: config.CacheMode(mark)}, Retry: &config.Retry{Attempts: n},
			RequestTimeout: time.Duration(n), ForwardHeaders: []string{mark}, StrictCompliance: flag,
			Limits: &config.Limits{Concurrency: n}, Cooldown: &config.Cooldown{Failures: n}, Hedge: &config.Hedge{After: time.Duration(n)},
			Guards: []config.GuardRef{{Name: "both", Mode: config.GuardMode(mark)}, {Name: mark}},
		}
	}
	parent, child := full("p", &yes, 1), full("c", &no, 2)
	want := full("c", &no, 2)
	want.DefaultParams = json.RawMessage(`{"p":1,"both":"c","c":1}`)
	want.OverrideParams = json.RawMessage(`{ "both": {"c":1}, "p":1,"c":1}`)
	want.DropParams = []string{"both", "p", "c"}
	want.Guards = []config.GuardRef{{Name: "both", Mode: "c"}, {Name: "p"}, {Name: "c"}}
	if diff := cmp.Diff(want, child.Under(parent)); diff != "" {
		t.Errorf("both (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(full("p", &yes, 1), config.Settings{}.Under(parent)); diff != "" {
		t.Errorf("the parent's (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(full("c", &no, 2), child.Under(config.Settings{})); diff != "" {
		t.Errorf("the child's (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{}, config.Settings{ForwardHeaders: []string{}}.Under(parent).ForwardHeaders); diff != "" {
		t.Errorf("headers switched off (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(full("p", &yes, 1), parent); diff != "" {
		t.Errorf("the parent was changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(full("c", &no, 2), child); diff != "" {
		t.Errorf("the child was changed (-want +got):\n%s", diff)
	}
}

func TestNamesOfOneSettingUnderOthers(t *testing.T) {
	for _, tt := range []struct{ name, parent, child, want string }{
		{"the other name", `{"max_tokens":5000,"n":1}`, `{"max_completion_tokens":100}`, `{"n":1,"max_completion_tokens":100}`},
		{"the only member's other name", `{"thinking":{"type":"enabled"}}`, `{"reasoning_effort":"none"}`, `{"reasoning_effort":"none"}`},
		{"one of both names", `{"max_tokens":1,"max_completion_tokens":2}`, `{"max_tokens":3}`, `{"max_tokens":3}`},
		{"both names", `{"max_tokens":1}`, `{"max_completion_tokens":2,"max_tokens":3}`, `{"max_tokens":3,"max_completion_tokens":2}`},
		{"another setting", `{"max_tokens":1}`, `{"reasoning_effort":"low"}`, `{"max_tokens":1,"reasoning_effort":"low"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of := func(params string) config.Settings {
				return config.Settings{DefaultParams: json.RawMessage(params), OverrideParams: json.RawMessage(params)}
			}
			if diff := cmp.Diff(of(tt.want), of(tt.child).Under(of(tt.parent))); diff != "" {
				t.Errorf("params (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParentsLendNoSpareMemory(t *testing.T) {
	drops := append(make([]string, 0, 8), "a")
	guards := append(make([]config.GuardRef, 0, 8), config.GuardRef{Name: "a"})
	parent := config.Settings{DropParams: drops, Guards: guards}
	one := config.Settings{DropParams: []string{"b"}, Guards: []config.GuardRef{{Name: "b"}}}.Under(parent)
	config.Settings{DropParams: []string{"c"}, Guards: []config.GuardRef{{Name: "c"}}}.Under(parent)
	if one.DropParams[1] != "b" || one.Guards[1].Name != "b" {
		t.Errorf("a sibling wrote %v, %v", one.DropParams, one.Guards)
	}
}

func TestDefaultsOfRetryAndFallback(t *testing.T) {
	retry, fallback := &config.Retry{}, &config.Strategy{}
	for status, want := range map[int][2]bool{
		200: {false, false}, 204: {false, false}, 299: {false, false}, 301: {false, true}, 400: {false, true}, 401: {false, true}, 404: {false, true},
		408: {true, true}, 409: {true, true}, 413: {false, true}, 429: {true, true}, 500: {true, true}, 501: {false, true},
		502: {true, true}, 503: {true, true}, 504: {true, true}, 529: {true, true}, 0: {false, true},
	} {
		if got := [2]bool{retry.On(status), fallback.On(status)}; got != want {
			t.Errorf("%d: retry, fallback %v, want %v", status, got, want)
		}
	}
	retry.OnStatusCodes, fallback.OnStatusCodes = []int{418}, []int{419}
	if retry.On(429) || !retry.On(418) || fallback.On(500) || !fallback.On(419) {
		t.Error("a list of statuses does not replace the default")
	}
	no, half := false, 0.5
	if !retry.HonorsRetryAfter() || (&config.Retry{UseRetryAfterHeader: &no}).HonorsRetryAfter() {
		t.Error("Retry-After is honoured unless that is switched off")
	}
	if (&config.Target{}).Share() != 1 || (&config.Target{Weight: &half}).Share() != 0.5 {
		t.Error("a weight is 1 by default")
	}
	if !(config.GuardRef{}).Denies() || (config.GuardRef{Mode: config.GuardObserve}).Denies() {
		t.Error("a guard denies unless it observes")
	}
}
