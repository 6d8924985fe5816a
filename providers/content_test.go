package providers_test

import (
	"testing"

	"github.com/b650d4bf/gateway/providers"
)

func TestContentRemembersItsForm(t *testing.T) {
	parts := []providers.ContentPart{
		providers.TextPart("a"), providers.ImagePart("gs://b/o"), providers.ThinkingPart("hidden", "s"), providers.TextPart("b"),
	}
	tests := []struct {
		name    string
		content providers.Content
		absent  bool
		text    string
		parts   int
		json    string
	}{
		{"zero", providers.Content{}, true, "", 0, `null`},
		{"empty string", providers.TextContent(""), false, "", 0, `""`},
		{"string", providers.TextContent("x"), false, "x", 0, `"x"`},
		{"no parts", providers.PartsContent(), false, "", 0, `[]`},
		{"one part", providers.PartsContent(parts[0]), false, "a", 1, `[{"type":"text","text":"a"}]`},
		{"text between others", providers.PartsContent(parts...), false, "ab", 4,
			`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"gs://b/o"}},` +
				`{"type":"thinking","thinking":"hidden","signature":"s"},{"type":"text","text":"b"}]`},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantEqual(t, tt.absent, tt.content.IsAbsent())
			wantEqual(t, tt.text, tt.content.Text())
			wantEqual(t, tt.parts, len(tt.content.Parts()))
			wantEqual(t, tt.json, encode(t, tt.content))
			back := decode[providers.Content](t, tt.json)
			for j := range tests {
				wantEqual(t, i == j, back.Equal(tests[j].content))
			}
		})
	}
}

func TestContentEqualSeesEveryMember(t *testing.T) {
	base := providers.ContentPart{Type: "text", Text: "x"}
	for name, change := range map[string]func(*providers.ContentPart){
		"type":      func(p *providers.ContentPart) { p.Type = "thinking" },
		"text":      func(p *providers.ContentPart) { p.Text = "y" },
		"signature": func(p *providers.ContentPart) { p.Signature = "s" },
		"image":     func(p *providers.ContentPart) { p.ImageURL = &providers.ImageURL{} },
		"audio":     func(p *providers.ContentPart) { p.InputAudio = &providers.InputAudio{} },
		"file":      func(p *providers.ContentPart) { p.File = &providers.File{} },
		"data":      func(p *providers.ContentPart) { p.Data = "d" },
		"extra":     func(p *providers.ContentPart) { p.Extra = providers.Extra(`{"a":1}`) },
	} {
		other := base
		change(&other)
		if providers.PartsContent(base).Equal(providers.PartsContent(other)) {
			t.Errorf("%s: the difference is not seen", name)
		}
	}
}

func TestMessageConstructors(t *testing.T) {
	parts := []providers.ContentPart{providers.TextPart("x")}
	const asText, asParts = `"content":"x"`, `"content":[{"type":"text","text":"x"}]`
	for _, tt := range []struct {
		message providers.Message
		want    string
	}{
		{providers.SystemMessage("x"), `{"role":"system",` + asText + `}`},
		{providers.SystemMessage(parts), `{"role":"system",` + asParts + `}`},
		{providers.UserMessage("x"), `{"role":"user",` + asText + `}`},
		{providers.UserMessage(parts), `{"role":"user",` + asParts + `}`},
		{providers.AssistantMessage("x"), `{"role":"assistant",` + asText + `}`},
		{providers.AssistantMessage(parts), `{"role":"assistant",` + asParts + `}`},
		{providers.ToolMessage("c", "x"), `{"role":"tool",` + asText + `,"tool_call_id":"c"}`},
		{providers.ToolMessage("c", parts), `{"role":"tool",` + asParts + `,"tool_call_id":"c"}`},
	} {
		wantEqual(t, tt.want, encode(t, tt.message))
	}
}

func TestToolConstructors(t *testing.T) {
	wantEqual(t, `{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}`,
		encode(t, providers.FunctionTool("f", "d", []byte(`{"type":"object"}`))))
	wantEqual(t, `{"type":"function","function":{"name":"f"}}`, encode(t, providers.FunctionTool("f", "", nil)))
	wantEqual(t, `{"type":"function","function":{"name":"f"}}`, encode(t, providers.ChooseFunction("f")))
}
