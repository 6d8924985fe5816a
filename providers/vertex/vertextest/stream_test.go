package vertextest_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// mask replaces what differs from run to run.
func mask(body []byte) string {
	s := regexp.MustCompile(`("createTime": ?")[^"]*`).ReplaceAllString(string(body), "${1}T")
	s = regexp.MustCompile(`("responseId": ?")[^"]*`).ReplaceAllString(s, "${1}R")
	return regexp.MustCompile(`("thoughtSignature": ?")[^"]*`).ReplaceAllString(s, "${1}S")
}

func TestStreamFraming(t *testing.T) {
	s := vertextest.New()
	s.Script(vertextest.Text("Olá, \"you\": ok"), vertextest.Text("Hi"))
	const head = `data: {"candidates": [{"content": {"role": "model","parts": [{"text": `
	const counts = `"promptTokenCount": 1,"candidatesTokenCount": 3,"totalTokenCount": 4,"trafficType": "ON_DEMAND",` +
		`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}],"candidatesTokensDetails": [{"modality": "TEXT","tokenCount": 3}]`
	const tail = `"modelVersion": "gemini-2.0-flash","createTime": "T","responseId": "R"}` + "\r\n\r\n"
	want := head + `"Olá,"}]}}],"usageMetadata": {"trafficType": "ON_DEMAND"},` + tail +
		head + `" \"you\": ok"}]},"finishReason": "STOP"}],"usageMetadata": {` + counts + `},` + tail
	if diff := cmp.Diff(want, mask(stream(t, s, "gemini-2.0-flash", say("a")).body)); diff != "" {
		t.Errorf("before Gemini 3 (-want +got):\n%s", diff)
	}
	got := mask(stream(t, s, flash, say("a")).body)
	if want := `{"text": "","thoughtSignature": "S"}]},"finishReason": "STOP"}]`; !strings.Contains(got, want) {
		t.Errorf("from Gemini 3 on: no %s in\n%s", want, got)
	}
}

func TestUnaryForm(t *testing.T) {
	s := vertextest.New()
	s.Script(vertextest.Text("Hi"))
	want := `{
  "candidates": [
    {
      "content": {
        "role": "model",
        "parts": [
          {
            "text": "Hi",
            "thoughtSignature": "S"
          }
        ]
      },
      "finishReason": "STOP"
    }
  ],
  "usageMetadata": {
    "promptTokenCount": 1,
    "candidatesTokenCount": 1,
    "totalTokenCount": 2,
    "trafficType": "ON_DEMAND",
    "promptTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 1
      }
    ],
    "candidatesTokensDetails": [
      {
        "modality": "TEXT",
        "tokenCount": 1
      }
    ]
  },
  "modelVersion": "gemini-3.8-flash",
  "createTime": "T",
  "responseId": "R"
}
`
	if diff := cmp.Diff(want, mask(unary(t, s, flash, say("a")).body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStreamWithoutSSEIsAnArray(t *testing.T) {
	got := post(t, vertextest.New(), strings.TrimSuffix(flashURL, "?alt=sse"), say("one two three"))
	var list []json.RawMessage
	if err := json.Unmarshal(got.body, &list); err != nil || len(list) < 3 {
		t.Fatalf("%v in %s", err, got.body)
	}
	var text strings.Builder
	for _, raw := range list {
		text.WriteString(answered{status: 200, body: raw}.decode(t).text())
	}
	if diff := cmp.Diff(`You said: "one two three".`, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStreamKeepsTheOrderOfThings(t *testing.T) {
	const thoughts = `"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`
	for name, tc := range map[string]struct {
		model, body string
		want        []string
	}{
		"text":               {flash, say("one two three four five", thoughts), []string{"thought", "text", "text", "text", "signed empty STOP"}},
		"calls":              {flash, say("weather in Paris and Rome", weatherTool), []string{"signed call", "call", "empty STOP"}},
		"calls before 3":     {"gemini-2.5-flash", say("weather in Paris and Rome", weatherTool), []string{"signed call", "call STOP"}},
		"text before 3":      {"gemini-2.5-flash", say("one"), []string{"text", "text STOP"}},
		"images":             {"gemini-3-pro-image", say("one", config(`"responseModalities":["IMAGE"]`)), []string{"signed image", "empty STOP"}},
		"no room for a text": {flash, say("one", config(`"maxOutputTokens":5`)), []string{"nothing MAX_TOKENS"}},
		"several candidates": {"gemini-2.5-flash", say("Hi", config(`"candidateCount":2,"stopSequences":[" "]`)), []string{"text STOP", "text STOP"}},
		"limit below 3":      {"gemini-2.5-flash-lite", say("one", config(`"maxOutputTokens":1`)), []string{"text MAX_TOKENS"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			before := 0
			for _, m := range stream(t, vertextest.New(), tc.model, tc.body).events(t) {
				got = append(got, describe(m))
				if m.UsageMetadata.TrafficType == "" || m.UsageMetadata.TotalTokenCount < before {
					t.Errorf("usage %+v after a total of %d", m.UsageMetadata, before)
				}
				before = m.UsageMetadata.TotalTokenCount
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// describe names what a chunk holds.
func describe(m message) string {
	words := []string{"nothing"}
	if parts := m.parts(); len(parts) == 1 {
		p := parts[0]
		switch {
		case p.FunctionCall != nil:
			words[0] = "call"
		case p.InlineData != nil:
			words[0] = "image"
		case p.Thought:
			words[0] = "thought"
		case p.Text == "":
			words[0] = "empty"
		default:
			words[0] = "text"
		}
		if p.ThoughtSignature != "" {
			words = append([]string{"signed"}, words...)
		}
	}
	if m.Candidates[0].FinishReason != "" {
		words = append(words, m.Candidates[0].FinishReason)
	}
	return strings.Join(words, " ")
}

func TestUsageInStreams(t *testing.T) {
	for model, everywhere := range map[string]bool{"gemini-2.5-flash": false, flash: true} {
		events := stream(t, vertextest.New(), model, say("one two three four five")).events(t)
		for i, e := range events[:len(events)-1] {
			if got := e.UsageMetadata.PromptTokenCount > 0; got != everywhere {
				t.Errorf("%s, chunk %d: counts %v, want %v", model, i, got, everywhere)
			}
		}
	}
}
