package prompts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/prompts"
)

// version wraps the members of version 1's request.
func version(request string) string { return `{"versions":{"1":{"request":` + request + `}}}` }

const hi = `{"role":"user","content":"Hi"}`

// beside is a request with a good message and the member.
func beside(member string) string { return version(`{"messages":[` + hi + `],` + member + `}`) }

func TestParseReportsMistakes(t *testing.T) {
	message := func(m string) string { return version(`{"messages":[` + hi + `,` + m + `]}`) }
	content := func(text string) string { return message(`{"role":"user","content":` + quoted(text) + `}`) }
	const (
		request = `prompt "p": versions.1.request`
		second  = request + `.messages[1]`
		name    = `is not a name, which has letters, digits, _ and -, and dots before members (where {{ is meant as it is, set other delimiters: {{=<% %>=}})`
	)
	tests := []struct{ name, in, want string }{
		{"empty input", ``, `prompt "p": not valid JSON at line 1, column 0`},
		{"cut off", "{\n \"versions\":", `prompt "p": not valid JSON at line 2, column 12`},
		{"not UTF-8", "{\"\xff\":1}", `prompt "p": not valid UTF-8`},
		{"too large", strings.Repeat(" ", 16<<20) + "{}", `prompt "p": larger than 16 MiB`},
		{"not an object", `[]`, `prompt "p": must be an object`},
		{"unknown member", `{"verions":{}}`, `prompt "p": verions: unknown member (did you mean "versions"?)`},
		{"unknown member like nothing", `{"a b":{}}`, `prompt "p": ["a b"]: unknown member`},
		{"repeated member", `{"versions":{},"versions":{}}`, `prompt "p": versions: is given twice`},
		{"description not text", `{"description":1}`, `prompt "p": description: must be a string`},
		{"another id", `{"id":"q"}`, `prompt "p": id: is "q", and its place says "p": make them the same or leave it out`},
		{"no versions", `{}`, `prompt "p": versions: is missing: give at least {"1": {"request": {…}}}`},
		{"empty versions", `{"versions":{}}`, `prompt "p": versions: is missing: give at least {"1": {"request": {…}}}`},
		{"versions a list", `{"versions":[]}`, `prompt "p": versions: must be an object`},
		{"version 0", `{"versions":{"0":{}}}`, `prompt "p": versions.0: a version is a whole number from 1 on, without leading zeros`},
		{"version 01", `{"versions":{"01":{}}}`, `prompt "p": versions.01: a version is a whole number from 1 on, without leading zeros`},
		{"version by a word", `{"versions":{"one":{}}}`, `prompt "p": versions.one: a version is a whole number from 1 on, without leading zeros`},
		{"repeated version", `{"versions":{"1":{"request":{"messages":[` + hi + `]}},"1":{}}}`, `prompt "p": versions.1: is given twice`},
		{"version not an object", `{"versions":{"1":7}}`, "prompt \"p\": versions.1: must be an object\nprompt \"p\": versions.1.request: is missing: a chat completion with templates in its messages"},
		{"version without request", `{"versions":{"1":{}}}`, `prompt "p": versions.1.request: is missing: a chat completion with templates in its messages`},
		{"request's members in the version", `{"versions":{"1":{"model":"m","request":{"messages":[` + hi + `]}}}}`, `prompt "p": versions.1.model: unknown member`},
		{"default not a number", `{"default":"1","versions":{}}`, `prompt "p": default: must be the number of a version`},
		{"default of no version", `{"default":2,"versions":{"1":{"request":{"messages":[` + hi + `]}}}}`, `prompt "p": default: there is no version 2`},
		{"label of no version", `{"labels":{"production":7},"versions":{"1":{"request":{"messages":[` + hi + `]}}}}`, `prompt "p": labels.production: there is no version 7`},
		{"labels a list", `{"labels":["production"]}`, `prompt "p": labels: must be an object`},
		{"label not a number", `{"labels":{"production":"1"}}`, `prompt "p": labels.production: must be the number of a version`},
		{"label latest", `{"labels":{"latest":1}}`, `prompt "p": labels.latest: always stands for the highest version, and can't be set`},
		{"label that is a number", `{"labels":{"3":1}}`, `prompt "p": labels.3: a label is letters, digits, '-', '_' and '.', at most 128 of them, and no number`},
		{"label with an @", `{"labels":{"a@b":1}}`, `prompt "p": labels["a@b"]: a label is letters, digits, '-', '_' and '.', at most 128 of them, and no number`},
		{"request not an object", version(`[]`), request + ": must be an object\n" + request + ".messages: at least one is required"},
		{"no messages", version(`{"model":"m"}`), request + `.messages: at least one is required`},
		{"empty messages", version(`{"messages":[]}`), request + `.messages: at least one is required`},
		{"messages not a list", version(`{"messages":"Hi"}`), request + `.messages: must be a list`},
		{"misspelled parameter", beside(`"temprature":1`), request + `.temprature: unknown member (did you mean "temperature"?)`},
		{"parameter of a wrong type", beside(`"temperature":"hot"`), request + `.temperature: expected number, got string`},
		{"wrong type deep down", beside(`"tools":[{"type":"function","function":{"name":1}}]`), request + `.tools[0].function.name: expected string, got number`},
		{"stream", beside(`"stream":true`), request + `.stream: is up to the call: leave it out`},
		{"variables", beside(`"variables":{}`), request + `.variables: come with the call: leave it out`},
		{"template in the model", beside(`"model":"{{m}}"`), request + `.model: has no templates: a call overrides the model`},
		{"message not an object", message(`"Hi"`), second + `: must be an object`},
		{"message without a role", message(`{"content":"a"}`), second + `.role: must be system, developer, user, assistant or tool`},
		{"unknown role", message(`{"role":"bot","content":"a"}`), second + `.role: must be system, developer, user, assistant or tool`},
		{"misspelled member of a message", message(`{"role":"user","contnet":"a"}`), second + `.contnet: unknown member (did you mean "content"?)`},
		{"misspelled member of a part", message(`{"role":"user","content":[{"type":"text","txt":"a"}]}`), second + `.content[0].txt: unknown member (did you mean "text"?)`},
		{"misspelled member of media", message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","detial":"low"}}]}`), second + `.content[0].image_url.detial: unknown member (did you mean "detail"?)`},
		{"misspelled member of a tool", beside(`"tools":[{"type":"function","function":{"name":"f","paramters":{}}}]`), request + `.tools[0].function.paramters: unknown member (did you mean "parameters"?)`},
		{"repeated member of a part", message(`{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}`), second + `.content[0].text: is given twice`},
		{"content that is a number", message(`{"role":"user","content":1}`), second + `.content: expected a string or an array of content parts`},
		{"placeholder with content", message(`{"placeholder":"h","content":"a"}`), second + `.content: has no meaning beside placeholder, which stands for whole messages`},
		{"placeholder without a name", message(`{"placeholder":"a b"}`), second + `.placeholder: must be the name of a variable: letters, digits, _ and -`},
		{"placeholder not text", message(`{"placeholder":1}`), second + `.placeholder: must be the name of a variable: letters, digits, _ and -`},
		{"tag not closed", content("a\n{{x"), second + `.content: line 2: a tag begins with {{ and has no }}`},
		{"raw tag not closed", content("{{{x}}"), second + `.content: line 1: a tag begins with {{{ and has no }}}`},
		{"empty tag", content("a {{ }}"), second + `.content: line 1: a tag has no name`},
		{"section not closed", content("a\n\n{{#x}}\n{{y}}"), second + `.content: line 3: section {{#x}} is not closed`},
		{"inverted section not closed", content("{{^x}}"), second + `.content: line 1: section {{^x}} is not closed`},
		{"section closed by another", content("{{#x}}\n{{/y}}"), second + `.content: line 2: {{/y}} stands where section {{#x}} must be closed`},
		{"sections that cross", content("{{#x}}{{#y}}{{/x}}{{/y}}"), second + `.content: line 1: {{/x}} stands where section {{#y}} must be closed`},
		{"closing nothing", content("{{/x}}"), second + `.content: line 1: {{/x}} closes no section`},
		{"a condition of another language", content("{{#if x}}{{/if}}"), second + `.content: line 1: "if x" ` + name},
		{"JSON between braces", content(`{{"a":1}}`), second + `.content: line 1: "\"a\":1" ` + name},
		{"a name with an empty part", content("{{a..b}}"), second + `.content: line 1: "a..b" ` + name},
		{"a name too long", content("{{" + strings.Repeat("x", 129) + "}}"), second + `.content: line 1: "` + strings.Repeat("x", 40) + `…" ` + name},
		{"dot outside of sections", content("{{.}}"), second + `.content: line 1: {{.}} stands for what a section is about: use it within one`},
		{"dot in an inverted section", content("{{^a}}{{#.}}x{{/.}}{{/a}}"), second + `.content: line 1: {{.}} stands for what a section is about: use it within one`},
		{"bad delimiters", content("{{=|=}}"), second + `.content: line 1: other delimiters are set with two words that have no =, such as {{=<% %>=}}`},
		{"unknown partial", content("{{> tune}}"), second + `.content: line 1: there is no partial "tune" (did you mean "tone"?)`},
		{"partial from a variable", content("{{>> x}}"), second + `.content: line 1: the text of a template can't come from a variable: its value goes in as {{name}}`},
		{"partial with a dynamic name", content("{{> *x}}"), second + `.content: line 1: "*x" ` + name},
		{"inheritance", content("{{< x}}{{/x}}"), second + `.content: line 1: templates that inherit are not supported: use a partial, {{> name}}`},
		{"a block", content("{{$ x}}{{/x}}"), second + `.content: line 1: templates that inherit are not supported: use a partial, {{> name}}`},
		{"mistake in a partial", content("{{> bad}}"), second + `.content: line 1: partial "bad": line 2: {{/x}} closes no section`},
		{"partial within itself", content("{{> a}}"), second + `.content: line 1: partial "a": line 1: partial "b": line 1: partial "a" is within itself: a > b > a`},
		{"mistake in a part", message(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"gs://{{"}}]}`),
			second + `.content[1].image_url.url: line 1: a tag begins with {{ and has no }}`},
		{"sections too deep", content(strings.Repeat("{{#x}}", 101)), second + `.content: line 1: more than 100 sections are open`},
	}
	partials := prompts.Partials{"tone": "x", "bad": "x\n{{/x}}", "a": "{{> b}}", "b": "{{> a}}"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := prompts.Parse("p", []byte(tt.in), partials)
			if err == nil {
				t.Fatalf("no error, versions %v", p.Versions())
			}
			wantEqual(t, tt.want, err.Error())
		})
	}
}

func TestParseReportsEveryMistakeAtOnce(t *testing.T) {
	_, err := prompts.Parse("a/b", []byte(`{"labls":{},"versions":{"x":{},"2":{"request":{"stream":true,
		"messages":[{"role":"user","content":"{{"},{"role":"x"}]}}}}`), nil)
	wantEqual(t, strings.Join([]string{
		`prompt "a/b": labls: unknown member (did you mean "labels"?)`,
		`prompt "a/b": versions.x: a version is a whole number from 1 on, without leading zeros`,
		`prompt "a/b": versions.2.request.stream: is up to the call: leave it out`,
		`prompt "a/b": versions.2.request.messages[0].content: line 1: a tag begins with {{ and has no }}`,
		`prompt "a/b": versions.2.request.messages[1].role: must be system, developer, user, assistant or tool`,
		`prompt "a/b": id: must be letters, digits, '-', '_' and '.', at most 128 of them`,
	}, "\n"), err.Error())
}

// TestParseKeepsExtensions checks that what the schema does not know, and is no
// slip, is part of the prompt.
func TestParseKeepsExtensions(t *testing.T) {
	lib := library(t, beside(`"model":"m","safety_settings":[{"b" : 1}],"topK":3,"x_new":{"z":1,"a":2},"speed":1`), nil)
	out, err := lib.Render(t.Context(), "p", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, `{"safety_settings":[{"b" : 1}],"topK":3,"x_new":{"z":1,"a":2},"speed":1}`, string(out.Request.Extra))
}

func TestPrompt(t *testing.T) {
	p, err := prompts.Parse("", []byte("\ufeff"+`{"id":"p","description":"d","labels":{"live":1},"default":1,"versions":{
		"10":{"request":{"messages":[`+hi+`]}},
		"1":{"description":"first","request":{"messages":[{"placeholder":"history"},
			{"role":"user","content":[{"type":"text","text":"{{b.c}}{{#a}}{{.}}{{x}}{{/a}}{{> t}}"}]}]}}}}`), prompts.Partials{"t": "{{z}}"})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "p d", p.ID()+" "+p.Description())
	wantEqual(t, []int{1, 10}, p.Versions())
	wantEqual(t, 1, p.Default())
	wantEqual(t, map[string]int{"live": 1}, p.Labels())
	wantEqual(t, []string{"a", "b", "history", "x", "z"}, p.Variables(1))
	if got := slices.Concat(p.Variables(10), p.Variables(2)); len(got) > 0 {
		t.Errorf("variables %q of a version without any, and of none", got)
	}
}
