package prompts_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers"
)

// FuzzRender renders any template with any variables. It must not panic, and a
// text with a plain tag is either an error or has the variable's value.
func FuzzRender(f *testing.F) {
	f.Add("Hello, {{name}}!", `{"name":"Ada"}`, "{{x}}")
	f.Add("{{#a}}{{.}}{{b.c}}{{/a}}{{^a}}{{> p}}{{/a}}", `{"a":[1,{"b":{"c":[]}}],"x":null}`, "{{#x}}\n{{> p}}\n{{/x}}")
	f.Add("{{=<% %>=}}<%{x}%>\n  <%> p %>\n<%! %>", `{"x":"\ud800","x":0.0}`, "a\r\n{{x}}\r\n")
	f.Add("{{{x}}}{{&x}}{{/x}}", `[]`, "")
	f.Add(" {{#x}} \n{{/x}}{{$y}}{{<z}}{{*}}{{{", `{"x":{"x":{"x":1e999}}}`, "{{.}}")
	f.Fuzz(func(t *testing.T, template, variables, partial string) {
		source := asking(quoted(template + "\n[[{{x}}]]"))
		p, err := prompts.Parse("p", []byte(source), prompts.Partials{"p": partial})
		if err != nil {
			return
		}
		var raw map[string]json.RawMessage
		if json.Unmarshal([]byte(variables), &raw) != nil {
			raw = nil
		}
		given := make(map[string]any, len(raw))
		for k, v := range raw {
			given[k] = v
		}
		store := new(prompts.Memory)
		if err := store.Add(p); err != nil {
			t.Fatal(err)
		}
		out, err := prompts.New(store).Render(t.Context(), "p", given)
		var e *providers.Error
		switch _, ok := given["x"]; {
		case err != nil && !errors.As(err, &e):
			t.Fatalf("error %v is of no kind", err)
		case err == nil && !ok && strings.HasSuffix(out.Request.Messages[0].Content.Text(), "\n[[]]"):
			t.Fatalf("a missing variable is empty")
		case err == nil:
			if _, err := out.Request.AppendJSON(nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzParse reads any prompt. What is accepted can be rendered, or says why not.
func FuzzParse(f *testing.F) {
	f.Add(asking(`"Hi {{x}}"`))
	f.Add(`{"id":"p","default":1,"labels":{"a":1},"versions":{"1":{"request":{"messages":[{"placeholder":"h"}],"tools":[{"x":1}]}}}}`)
	f.Add(version(`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"{{x}}"},{}]}],"Stop":null}`))
	f.Add(`{"versions":{"1":{"request":{"messages":[{"role":"user","content":"{{#a}}{{/a}}"}],"temprature":1}}}}`)
	f.Fuzz(func(t *testing.T, source string) {
		p, err := prompts.Parse("p", []byte(source), nil)
		if err != nil {
			return
		}
		store := new(prompts.Memory)
		if err := store.Add(p); err != nil {
			t.Fatal(err)
		}
		lib := prompts.New(store)
		for _, n := range p.Versions() {
			given := map[string]any{}
			for _, name := range p.Variables(n) {
				given[name] = nil
			}
			out, err := lib.Render(t.Context(), "p", given)
			var e *providers.Error
			if err != nil && !errors.As(err, &e) || err == nil && len(out.Warnings) > 0 {
				t.Fatalf("error %v, warnings %v", err, out)
			}
		}
	})
}
