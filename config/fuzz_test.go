package config_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
)

// FuzzParse writes and reads again what is valid, and holds it against the
// schema: what the decoder takes, editors must not mark.
func FuzzParse(f *testing.F) {
	for _, in := range validConfigs(f) {
		f.Add(in)
	}
	f.Add([]byte(`{"strategy":{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["metadata..0"]}},"targets":[{}]}`))
	for _, tt := range allWrong() {
		if len(tt.in) < 4096 {
			f.Add([]byte(tt.in))
		}
	}
	var root dict
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		c, err := config.Parse(in)
		if !bytes.Equal(before, in) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if c != nil || err.Error() == "" || !utf8.ValidString(err.Error()) {
				t.Fatalf("%v, %q", c, err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("Validate: %v", err)
		}
		text := checkRoundTrip(t, c)
		var doc any
		if json.Unmarshal(in, &doc) == nil && !fits(t, root, root, doc) {
			t.Errorf("does not fit the schema")
		}
		if json.Unmarshal(text, &doc) == nil && !fits(t, root, root, doc) {
			t.Errorf("%s: does not fit the schema", text)
		}
	})
}

// FuzzQuery compares a query with itself in groups, and with what its operators
// promise of each other.
func FuzzQuery(f *testing.F) {
	body := string(call().Body)
	for _, q := range []string{
		`{"metadata.plan":"pro"}`, `{"params.max_tokens":{"$gt":5,"$lte":1e3}}`, `{"$or":[{"headers.x-team":{"$regex":"b.*e"}},{"params.seed":null}]}`,
		`{"params.thinking.type":{"$in":["enabled",5,true]}}`, `{"params.x":{"$nin":["a"]},"metadata.n":{"$ne":5}}`,
	} {
		f.Add(q, body, "5")
	}
	f.Fuzz(func(t *testing.T, query, body, text string) {
		q, err := config.ParseQuery([]byte(query))
		if err != nil {
			return
		}
		v := call()
		v.Body, v.Meta["n"] = []byte(body), text
		want := q.Match(v)
		for _, around := range []string{`{"$and":[Q]}`, `{"$or":[Q]}`, `{"$or":[{"metadata.plan":"none"},Q]}`, `{"$and":[Q,Q]}`} {
			group, err := config.ParseQuery([]byte(strings.ReplaceAll(around, "Q", query)))
			if err != nil {
				continue // too deep or too much
			}
			if got := group.Match(v); got != want {
				t.Errorf("%s: %v, alone %v", group, got, want)
			}
		}
	})
}

// FuzzOperators asks that equality and its opposite never agree.
func FuzzOperators(f *testing.F) {
	f.Add(`"5"`, `{"x":5}`)
	f.Add(`5`, `{"x":5.0}`)
	f.Add(`null`, `{"x":null}`)
	f.Add(`true`, `{}`)
	f.Fuzz(func(t *testing.T, operand, body string) {
		results := map[string]bool{}
		for op, operand := range map[string]string{"$eq": operand, "$ne": operand, "$in": "[" + operand + "]", "$nin": "[" + operand + "]"} {
			q, err := config.ParseQuery([]byte(`{"params.x":{"` + op + `":` + operand + `}}`))
			if err != nil {
				return
			}
			results[op] = q.Match(&config.Call{Body: []byte(body)})
		}
		if results["$eq"] == results["$ne"] || results["$in"] == results["$nin"] {
			t.Errorf("%v", results)
		}
		if !strings.Contains(operand, ",") && results["$eq"] != results["$in"] {
			t.Errorf("%v", results)
		}
	})
}

// FuzzApply compares with the same changes to a decoded request.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":1, "b":{"c":2}}`, `{"d":1}`, "b.c", `{"a":{"x":1}}`)
	f.Add(` { "\u0061" : [1] } `, `{"b":{"c":1}}`, "b", `{"c":2}`)
	f.Add(`{"a":1,"a":2}`, `{"a":5}`, "a", `{}`)
	f.Add(`{"max_tokens":1,"thinking":{"type":"enabled"}}`, `{"max_completion_tokens":2}`, "max_tokens", `{"reasoning_effort":"none"}`)
	f.Add(`{"thinkingConfig":{}}`, `{"max_completion_tokens":2,"thinking":{}}`, "thinking.type", `{"max_tokens":3}`)
	f.Fuzz(func(t *testing.T, request, defaults, drop, overrides string) {
		var want, fill, over map[string]any
		for _, s := range []string{request, defaults, drop, overrides} {
			if !utf8.ValidString(s) {
				return
			}
		}
		if !object(request, &want) || !object(defaults, &fill) || !object(overrides, &over) {
			return
		}
		s := config.Settings{DefaultParams: []byte(defaults), DropParams: []string{drop}, OverrideParams: []byte(overrides)}
		if (&config.Config{Settings: s}).Validate() != nil {
			return
		}
		got, err := config.Apply([]byte(request), &s)
		if err != nil {
			t.Fatal(err)
		}
		asked := maps.Clone(want)
		delete(asked, drop) // of a path too, since no name of a setting has a dot
		for name, v := range fill {
			if _, has := want[name]; !has && !namesAnother(asked, name) {
				want[name] = v
			}
		}
		remove(want, strings.Split(drop, "."))
		maps.DeleteFunc(want, func(name string, _ any) bool { return namesAnother(over, name) })
		maps.Copy(want, over)
		var result map[string]any
		if !object(string(got), &result) {
			t.Fatalf("%s is no object", got)
		}
		if diff := cmp.Diff(want, result); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got, diff)
		}
	})
}

// namesAnother reports whether an object has another name of a member's setting.
func namesAnother(in map[string]any, name string) bool {
	other := map[string][]string{
		"max_tokens":            {"max_completion_tokens"},
		"max_completion_tokens": {"max_tokens"},
		"thinking":              {"reasoning_effort", "thinking_config", "thinkingConfig"},
		"reasoning_effort":      {"thinking", "thinking_config", "thinkingConfig"},
		"thinking_config":       {"thinking", "reasoning_effort", "thinkingConfig"},
		"thinkingConfig":        {"thinking", "reasoning_effort", "thinking_config"},
	}
	return slices.ContainsFunc(other[name], func(o string) bool { _, has := in[o]; return has })
}

// object decodes a JSON object.
func object(text string, into *map[string]any) bool {
	return json.Unmarshal([]byte(text), into) == nil && *into != nil
}

// remove takes out what is at a path, through objects only.
func remove(from map[string]any, path []string) {
	if len(path) == 1 {
		delete(from, path[0])
		return
	}
	if below, ok := from[path[0]].(map[string]any); ok {
		remove(below, path[1:])
	}
}
