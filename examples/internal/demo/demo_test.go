package demo

import (
	"bytes"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// TestOptions checks that a project leads to the platform, and that without one
// an emulator plays the script. Nothing is sent to the platform.
func TestOptions(t *testing.T) {
	ask := &gateway.ChatCompletionRequest{Model: "gemini-2.5-flash", Messages: []gateway.Message{gateway.UserMessage("Hello!")}}
	for _, tt := range []struct{ project, line, answer string }{
		{"", "The platform is an emulator in this process; set GOOGLE_CLOUD_PROJECT for the real one.\n", "As scripted."},
		{"mine", "The platform is Vertex AI, project mine.\n", ""},
	} {
		getenv := func(name string) string { return map[string]string{"GOOGLE_CLOUD_PROJECT": tt.project}[name] }
		client, err := gateway.New(Options(getenv, vertextest.Text("As scripted."))...)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		NewPage(&out, getenv)
		if out.String() != tt.line {
			t.Errorf("the page begins with %q, want %q", out.String(), tt.line)
		}
		if tt.answer != "" {
			if answer, err := client.Chat.Completions.Create(t.Context(), ask); err != nil || answer.Text() != tt.answer {
				t.Errorf("got %v, error %v", answer, err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestPage(t *testing.T) {
	var out bytes.Buffer
	p := Page{&out}
	p.Title("A ¦ title")
	p.Say("user", " one\n\ntwo\n")
	p.Note("%d %s", 2, "three")
	p.Warnings(gateway.Meta{Warnings: []gateway.Warning{{Param: "top_k", Message: "left out"}}})
	const want = "\nA ¦ title\n─────────\n     user  one\n\n           two\n           · 2 three\n  warning  top_k: left out\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
