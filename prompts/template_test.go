package prompts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/prompts"
	"github.com/b650d4bf/gateway/providers"
)

func TestTemplates(t *testing.T) {
	partials := prompts.Partials{
		"tone": "Be brief.\n", "lines": "a\n\nb {{x}}\n", "open": "[{{x}}]", "list": "{{#items}}{{> item}}{{/items}}",
		"item": "({{.}})", "empty": "", "crlf": "a\r\nb\r\n", "marks": "<%x%>{{x}}",
	}
	tests := []struct{ name, template, variables, want string }{
		{"no tags", "Hello, world", `{}`, "Hello, world"},
		{"empty", "", `{}`, ""},
		{"a variable", "Hello, {{name}}!", `{"name":"Ada"}`, "Hello, Ada!"},
		{"spaces in a tag", "{{ name }}{{\tname\n}}", `{"name":"a"}`, "aa"},
		{"nothing is escaped", "{{x}} {{{x}}} {{&x}} {{& x }}", `{"x":"<b>&\"'</b>"}`, `<b>&"'</b> <b>&"'</b> <b>&"'</b> <b>&"'</b>`},
		{"a value is no template", "{{x}}", `{"x":"{{y}} {{#z}}"}`, "{{y}} {{#z}}"},
		{"a number as it was written", "{{a}} {{b}} {{c}}", `{"a":1.50,"b":-1e3,"c":12345678901234567890}`, "1.50 -1e3 12345678901234567890"},
		{"truth values", "{{a}} {{b}}", `{"a":true,"b":false}`, "true false"},
		{"null is nothing", "[{{a}}]", `{"a":null}`, "[]"},
		{"an object as its JSON", "{{a}}", `{"a":{"z": 1, "a":["<", null]}}`, `{"z": 1, "a":["<", null]}`},
		{"a list as its JSON", "{{a}}", `{"a":[1, "b"]}`, `[1, "b"]`},
		{"escapes of a string", "{{a}}", `{"a":"\u00e9\n\"\ud83d\ude00"}`, "é\n\"😀"},
		{"names with dots", "{{a.b.c}}", `{"a":{"b":{"c":"d"}}}`, "d"},
		{"letters of all languages", "{{größe}} {{名前}} {{user-name_2}}", `{"größe":"L","名前":"x","user-name_2":"y"}`, "L x y"},
		{"a section over a list", "{{#a}}<{{.}}>{{/a}}", `{"a":[1,"b",null,true]}`, "<1><b><><true>"},
		{"a section over objects", "{{#a}}{{n}},{{/a}}", `{"a":[{"n":1},{"n":2}]}`, "1,2,"},
		{"an object goes before what is around", "{{#a}}{{x}}{{y}}{{/a}}{{x}}", `{"a":{"x":1},"x":2,"y":3}`, "132"},
		{"members of members", "{{#a}}{{#b}}{{x}}{{y}}{{z}}{{/b}}{{/a}}", `{"a":{"b":{"x":1},"x":2,"y":3},"z":4}`, "134"},
		{"lists in lists", "{{#a}}({{#.}}{{.}}{{/.}}){{/a}}", `{"a":[[1,2],[],[3]]}`, "(12)()(3)"},
		{"a section for a string", "{{#a}}{{a}}={{.}}{{/a}}", `{"a":"b"}`, "b=b"},
		{"a section for true", "{{#a}}yes{{/a}}", `{"a":true}`, "yes"},
		{"a section for an empty object", "{{#a}}yes{{/a}}", `{"a":{}}`, "yes"},
		{"a section for a list of an empty list", "{{#a}}yes{{/a}}", `{"a":[[]]}`, "yes"},
		{"a section with dots", "{{#a.b}}{{c}}{{/a.b}}", `{"a":{"b":{"c":1}}}`, "1"},
		{"no section for null", "[{{#a}}{{b}}{{/a}}]", `{"a":null}`, "[]"},
		{"no section for false", "[{{#a}}{{b}}{{/a}}]", `{"a":false}`, "[]"},
		{"no section for an empty string", "[{{#a}}{{b}}{{/a}}]", `{"a":""}`, "[]"},
		{"a section for a blank", "[{{#a}}{{.}}{{/a}}]", `{"a":" "}`, "[ ]"},
		{"no section for an empty list", "[{{#a}}{{b}}{{/a}}]", `{"a":[ ]}`, "[]"},
		{"no section for 0", "[{{#a}}b{{/a}}{{#b}}b{{/b}}]", `{"a":0,"b":-0.0e7}`, "[]"},
		{"a section for a small number", "[{{#a}}b{{/a}}]", `{"a":0.01}`, "[b]"},
		{"no section for what is not given", "[{{#a}}{{b}}{{/a}}]", `{}`, "[]"},
		{"an inverted section for what is not given", "{{^a}}none{{/a}}", `{}`, "none"},
		{"an inverted section for an empty list", "{{^a}}none{{/a}}{{#a}}some{{/a}}", `{"a":[]}`, "none"},
		{"no inverted section for a value", "[{{^a}}{{b}}{{/a}}]", `{"a":1}`, "[]"},
		{"an inverted section sees what is around", "{{#l}}{{^n}}{{x}}{{/n}}{{n}};{{/l}}", `{"l":[{"n":"","x":1},{"n":2}]}`, "1;2;"},
		{"a comment", "a{{! anything {{ at all }}b", `{}`, "ab"},
		{"a comment over lines", "a\n{{!\n x\n}}\nb", `{}`, "a\nb"},
		{"lines of their own vanish", "a\n  {{#x}}  \nb\n\t{{/x}}\nc", `{"x":1}`, "a\nb\nc"},
		{"first and last line", "{{#x}}\nb\n{{/x}}", `{"x":1}`, "b\n"},
		{"lines that end in CR LF", "a\r\n{{#x}}\r\nb\r\n{{/x}}\r\nc", `{"x":1}`, "a\r\nb\r\nc"},
		{"two tags on a line stay", "a\n{{#x}}{{/x}}\nb", `{"x":1}`, "a\n\nb"},
		{"a variable's line stays", "a\n{{x}}\nb", `{"x":""}`, "a\n\nb"},
		{"text beside a tag stays", "a\n {{#x}} b\n {{/x}}c", `{"x":1}`, "a\n  b\n c"},
		{"other delimiters", "{{=<% %>=}}<%x%> {{x}} <%{x}%><%={{ }}=%>{{x}}", `{"x":1}`, "1 {{x}} 11"},
		{"other delimiters end with a section's text", "{{#x}}{{=| |=}}|.|{{x}}|/x|", `{"x":1}`, "1{{x}}"},
		{"a partial", "{{> open}}{{>open}}", `{"x":1}`, "[1][1]"},
		{"a partial within a line", "Please. {{> tone}} Thanks.", `{}`, "Please. Be brief. Thanks."},
		{"a partial on its line", "a\n{{> tone}}\nb", `{}`, "a\nBe brief.\nb"},
		{"a partial on an indented line", "1\n  {{> lines}}\n2", `{"x":"y\nz"}`, "1\n  a\n\n  b y\nz\n2"},
		{"a partial on the last line", "  {{> lines}}", `{"x":1}`, "  a\n\n  b 1"},
		{"an empty partial", "[{{> empty}}]", `{}`, "[]"},
		{"a partial of CR LF", "{{> crlf}}.", `{}`, "a\r\nb."},
		{"a partial in a partial's section", "{{> list}}", `{"items":[1,2]}`, "(1)(2)"},
		{"a partial has the usual delimiters", "{{=<% %>=}}<%> marks%>", `{"x":1}`, "<%x%>1"},
		{"braces that are no tags", `{"a":{"b":1}} } }} {`, `{}`, `{"a":{"b":1}} } }} {`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := library(t, asking(quoted(tt.template)), partials).Render(t.Context(), "p", given(t, tt.variables))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.want, out.Request.Messages[0].Content.Text())
		})
	}
}

// TestMissing checks that each name that nothing stands for is in the error, and
// no other.
func TestMissing(t *testing.T) {
	const is = " missing: the prompt needs a value, which may be null"
	tests := []struct{ name, template, variables, want string }{
		{"a variable", "Hi {{name}}", `{}`, `"name" is` + is},
		{"without escaping", "{{{a}}} {{&b}}", `{}`, `"a", "b" are` + is},
		{"several, each once", "{{b}} {{a}} {{b}}", `{"c":1}`, `"b", "a" are` + is},
		{"in another case", "{{Name}}", `{"name":1}`, `"Name" is` + is},
		{"a member", "{{user.name}}", `{"user":{}}`, `"user.name" is` + is},
		{"a member of nothing", "{{user.name}}", `{}`, `"user.name" is` + is},
		{"a member of a string", "{{user.name}}", `{"user":"Ada"}`, `"user.name" is` + is},
		{"a member of null", "{{user.name}}", `{"user":null}`, `"user.name" is` + is},
		{"an index into a list", "{{a.0}}", `{"a":[1]}`, `"a.0" is` + is},
		{"no method of a value", "{{a.String}}{{len}}", `{"a":"b"}`, `"a.String", "len" are` + is},
		{"a member is not looked for further out", "{{#a}}{{b.c}}{{/a}}", `{"a":{"b":{}},"b":{"c":1}}`, `"b.c" within "a" is` + is},
		{"in one element", "{{#a}}{{x}}{{/a}}", `{"a":[{"x":1},{"y":2}]}`, `"x" within "a" is` + is},
		{"in nested sections", "{{#a}}{{#b}}{{x}}{{y}}{{/b}}{{/a}}", `{"a":[{"b":[{"y":1}]}]}`, `"x" within "b" is` + is},
		{"in an inverted section", "{{^a}}{{x}}{{/a}}", `{}`, `"x" is` + is},
		{"in a partial", "{{> open}}", `{}`, `"x" is` + is},
		{"beside a branch that is not rendered", "{{#a}}{{x}}{{/a}}{{^a}}{{y}}{{/a}}", `{"a":1}`, `"x" within "a" is` + is},
		{"dot in a partial outside of sections", "{{> dot}}", `{"a":1}`, `"." is` + is},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lib := library(t, asking(quoted(tt.template)), prompts.Partials{"open": "[{{x}}]", "dot": "{{.}}"})
			_, err := lib.Render(t.Context(), "p", given(t, tt.variables))
			var e *providers.Error
			if !errors.As(err, &e) || e.Code != providers.ErrInvalidRequest || e.Param != "variables" {
				t.Fatalf("error %v, want one about variables", err)
			}
			wantEqual(t, tt.want, e.Message)
		})
	}
}

func TestMissingNamesAreBounded(t *testing.T) {
	var template strings.Builder
	for i := range 100 {
		template.WriteString("{{x" + strings.Repeat("y", i) + "}}")
	}
	_, err := library(t, asking(quoted(template.String())), nil).Render(t.Context(), "p", nil)
	if n := strings.Count(err.Error(), `"x`); n != 20 || !strings.Contains(err.Error(), ", others are missing") {
		t.Errorf("%d names in %v", n, err)
	}
}

func TestLimits(t *testing.T) {
	list := "[" + strings.Repeat("1,", 1999) + "1]"
	many := prompts.Partials{"p0": "x"}
	for i := range 60 {
		name, below := "p"+strings.Repeat("i", i+1), "p"+strings.Repeat("i", i)
		if i == 0 {
			below = "p0"
		}
		many[name] = "{{> " + below + "}}{{> " + below + "}}"
	}
	tests := []struct {
		name, template, variables, want string
		partials                        prompts.Partials
	}{
		{"loops in loops", "{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}", `{"a":` + list + `}`, "takes more than 1048576 steps", nil},
		{"partials that double", "{{> p" + strings.Repeat("i", 60) + "}}", `{}`, "takes more than 1048576 steps", many},
		{"a long text many times", "{{#a}}{{x}}{{/a}}", `{"a":` + list + `,"x":` + quoted(strings.Repeat("x", 20_000)) + `}`, "over the limit of 33554432 bytes", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := library(t, asking(quoted(tt.template)), tt.partials).Render(t.Context(), "p", given(t, tt.variables))
			if !errors.Is(err, providers.ErrTooLarge) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
