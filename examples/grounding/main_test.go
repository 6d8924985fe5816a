package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
)

// TestRun checks what a newcomer sees.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`Europe?".[1][2] So says “example.com”.[1] So says “example.org”.[2]` + "\n",
		"[2]  example.org\n           https://vertexaisearch.cloud.google.com/",
		"searched for: Which river is the longest in Europe?\n",
		"bytes of HTML\n",
		"[1]  go.dev\n           https://go.dev/doc/effective_go\n",
		"read https://go.dev/doc/effective_go: URL_RETRIEVAL_STATUS_SUCCESS\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestFootnotes(t *testing.T) {
	cite := func(url string, start, end int) gateway.Annotation {
		return gateway.Annotation{URLCitation: &gateway.URLCitation{URL: url, StartIndex: start, EndIndex: end}}
	}
	for _, tt := range []struct {
		name, text string
		cited      []gateway.Annotation
		want       string
		notes      int
	}{
		{"no sources", "Äpfel.", nil, "Äpfel.", 0},
		{"places are characters", "Äpfel. Öl.", []gateway.Annotation{cite("a", 0, 6), cite("b", 7, 10)}, "Äpfel.[1] Öl.[2]", 2},
		{"a source twice", "One. Two.", []gateway.Annotation{cite("a", 0, 4), cite("a", 5, 9)}, "One.[1] Two.[1]", 1},
		{"no place", "One.", []gateway.Annotation{cite("a", 0, 0)}, "One.", 1},
		{"another kind", "One.", []gateway.Annotation{{Type: "file"}}, "One.", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			message := gateway.AssistantMessage(tt.text)
			message.Annotations = tt.cited
			if text, notes := footnotes(message); text != tt.want || len(notes) != tt.notes {
				t.Errorf("got %q with %d notes, want %q with %d", text, len(notes), tt.want, tt.notes)
			}
		})
	}
}
