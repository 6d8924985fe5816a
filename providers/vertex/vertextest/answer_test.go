package vertextest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestTexts(t *testing.T) {
	for name, tc := range map[string]struct{ model, body, want, finish string }{
		"echo":          {flash, say("What is new?"), `You said: "What is new?".`, "STOP"},
		"greeting":      {flash, say("Hello!"), "Hello! How can I help you today?", "STOP"},
		"several texts": {flash, turns(user(`{"text":"a"}`, `{"text":"b"}`)), "You said: \"a\nb\".", "STOP"},
		"media":         {flash, turns(user(`{"fileData":{"mimeType":"image/png","fileUri":"gs://a/b"}}`, `{"text":"what?"}`)), `You sent image/png and said: "what?".`, "STOP"},
		"media alone":   {flash, turns(user(`{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}`)), "You sent audio/wav.", "STOP"},
		"latest turn":   {"gemini-2.5-flash", turns(user(`{"text":"a"}`), model(`{"text":"b"}`), user(`{"text":"c"}`)), `You said: "c".`, "STOP"},
		"results": {"gemini-2.5-flash", turns(user(ask), model(call("", "x", ""), call("", "y", "")), user(result("", "f"), result("", "g"))),
			"f answered: {\"output\":1}\ng answered: {\"output\":1}", "STOP"},
		"stop sequence":               {flash, say("one two three", config(`"stopSequences":["three","two"]`)), `You said: "one `, "STOP"},
		"output limit":                {"gemini-2.5-flash-lite", say("one two three", config(`"maxOutputTokens":3`)), `You said: "o`, "MAX_TOKENS"},
		"limit in a rune":             {"gemini-2.5-flash-lite", say("éé", config(`"maxOutputTokens":3`)), `You said: "`, "MAX_TOKENS"},
		"limit not hit":               {"gemini-2.5-flash-lite", say("one", config(`"maxOutputTokens":30`)), `You said: "one".`, "STOP"},
		"no room beside the thoughts": {flash, say("one", config(`"maxOutputTokens":10`)), "", "MAX_TOKENS"},
		"JSON":                        {flash, say("one", config(`"responseMimeType":"application/json"`)), `{"answer":"You said: \"one\"."}`, "STOP"},
		"JSON by response format":     {flash, say("one", config(`"responseFormat":[{"text":{"mimeType":"APPLICATION_JSON","schema":{"enum":["x"]}}}]`)), `"x"`, "STOP"},
		"one enum":                    {flash, say("one", config(`"responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["B","A"]}`)), `B`, "STOP"},
	} {
		t.Run(name, func(t *testing.T) {
			got := unary(t, vertextest.New(), tc.model, tc.body)
			m := got.decode(t)
			if len(m.Candidates) != 1 {
				t.Fatalf("%s", got.body)
			}
			if diff := cmp.Diff([]string{tc.want, tc.finish}, []string{m.text(), m.Candidates[0].FinishReason}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestThoughts(t *testing.T) {
	include := config(`"thinkingConfig":{"includeThoughts":true}`)
	for name, tc := range map[string]struct {
		model, body    string
		shown, counted bool
	}{
		"included":                {flash, say("a", include), true, true},
		"not included":            {flash, say("a"), false, true},
		"off by budget":           {"gemini-2.5-flash", say("a", config(`"thinkingConfig":{"includeThoughts":true,"thinkingBudget":0}`)), false, false},
		"off by default":          {"gemini-2.5-flash-lite", say("a", include), false, false},
		"on by budget":            {"gemini-2.5-flash-lite", say("a", config(`"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}`)), true, true},
		"a model without thought": {"gemini-2.0-flash", say("a"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := unary(t, vertextest.New(), tc.model, tc.body).decode(t)
			shown := len(m.parts()) == 2 && m.parts()[0].Thought && !m.parts()[1].Thought
			if shown != tc.shown || (m.UsageMetadata.ThoughtsTokenCount > 0) != tc.counted {
				t.Errorf("shown %v, counted %d", shown, m.UsageMetadata.ThoughtsTokenCount)
			}
		})
	}
}

func TestUsageAddsUp(t *testing.T) {
	for name, tc := range map[string]struct{ model, body string }{
		"text":       {flash, say("some longer text than the others")},
		"candidates": {"gemini-2.5-flash", say("a", config(`"candidateCount":3`))},
		"tools":      {flash, say("weather in Paris", weatherTool)},
		"cache":      {"gemini-2.5-flash", say("a", `"cachedContent":"projects/p/locations/l/cachedContents/1"`)},
		"image":      {"gemini-3-pro-image", say("a", config(`"responseModalities":["IMAGE"]`))},
	} {
		t.Run(name, func(t *testing.T) {
			s := vertextest.New()
			u := unary(t, s, tc.model, tc.body).decode(t).UsageMetadata
			if u.TotalTokenCount != u.PromptTokenCount+u.CandidatesTokenCount+u.ThoughtsTokenCount || u.PromptTokenCount < 1 || u.CandidatesTokenCount < 1 {
				t.Errorf("counts don't add up: %+v", u)
			}
			if u.CachedContentTokenCount > u.PromptTokenCount || (u.CachedContentTokenCount > 0) != (name == "cache") {
				t.Errorf("cached %d of %d", u.CachedContentTokenCount, u.PromptTokenCount)
			}
			events := stream(t, s, tc.model, tc.body).events(t)
			if diff := cmp.Diff(u, events[len(events)-1].UsageMetadata); diff != "" {
				t.Errorf("the stream ends in other counts (-unary +stream):\n%s", diff)
			}
		})
	}
}

func TestTrafficTypeFollowsTheHeaders(t *testing.T) {
	for want, header := range map[string][2]string{
		"ON_DEMAND": {"X", ""}, "ON_DEMAND_PRIORITY": {"X-Vertex-AI-LLM-Shared-Request-Type", "priority"},
		"ON_DEMAND_FLEX":         {"X-Vertex-AI-LLM-Shared-Request-Type", "flex"},
		"PROVISIONED_THROUGHPUT": {"X-Vertex-AI-LLM-Request-Type", "dedicated"},
	} {
		r := newPost(t, place+"publishers/google/models/"+flash+":generateContent", say("a"))
		r.Header.Set(header[0], header[1])
		if got := do(t, vertextest.New(), r).decode(t).UsageMetadata.TrafficType; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCandidatesAreNumbered(t *testing.T) {
	m := unary(t, vertextest.New(), "gemini-2.5-flash", say("a", config(`"candidateCount":3`))).decode(t)
	var got []int
	for _, c := range m.Candidates {
		got = append(got, c.Index)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImages(t *testing.T) {
	m := unary(t, vertextest.New(), "gemini-3-pro-image", say("draw", config(`"responseModalities":["TEXT","IMAGE"]`))).decode(t)
	parts := m.parts()
	if len(parts) != 2 || parts[0].Text == "" || parts[1].InlineData == nil {
		t.Fatalf("got %+v", parts)
	}
	raw, err := base64.StdEncoding.DecodeString(parts[1].InlineData.Data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(raw)); err != nil || parts[1].InlineData.MimeType != "image/png" || parts[1].ThoughtSignature == "" {
		t.Errorf("picture %+v: %v", parts[1], err)
	}
}

func TestAnswersAreRepeatable(t *testing.T) {
	s := vertextest.New()
	a, b := unary(t, s, flash, say("weather in Oslo", weatherTool)).decode(t), unary(t, s, flash, say("weather in Oslo", weatherTool)).decode(t)
	if diff := cmp.Diff(a.Candidates, b.Candidates); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	if a.ResponseID == b.ResponseID || a.ResponseID == "" || a.CreateTime == "" {
		t.Errorf("response ids %q and %q, created %q", a.ResponseID, b.ResponseID, a.CreateTime)
	}
}

func TestLogprobs(t *testing.T) {
	got := unary(t, vertextest.New(), "gemini-2.5-flash", say("a b", config(`"responseLogprobs":true,"logprobs":1`)))
	if got.decode(t); !strings.Contains(string(got.body), `"chosenCandidates"`) || !strings.Contains(string(got.body), `"topCandidates"`) {
		t.Errorf("no logprobs in %s", got.body)
	}
}

func TestMadeUpJSONFitsItsSchema(t *testing.T) {
	const text = "Alice is 30 and lives in Florence, Italy"
	for name, tc := range map[string]struct{ schema, want string }{
		"words":               {`{"type":"object","properties":{"age":{"type":"integer"},"city":{"type":"string"}},"required":["age","city"]}`, `{"age":30,"city":"Florence, Italy"}`},
		"Schema form":         {`{"type":"OBJECT","properties":{"age":{"type":"NUMBER"}}}`, `{"age":30}`},
		"nothing required":    {`{"type":"object","properties":{"b":{"type":"boolean"},"c":{"type":"null"}}}`, `{"b":true,"c":null}`},
		"optional left out":   {`{"type":"object","properties":{"b":{"type":"boolean"},"c":{"type":"string"}},"required":["b"]}`, `{"b":true}`},
		"enum and const":      {`{"type":"object","properties":{"b":{"enum":["x","y"]},"c":{"const":7}}}`, `{"b":"x","c":7}`},
		"nullable":            {`{"type":"object","properties":{"b":{"type":["null","integer"]}}}`, `{"b":30}`},
		"any of":              {`{"type":"object","properties":{"b":{"anyOf":[{"type":"null"},{"type":"boolean"}]}}}`, `{"b":true}`},
		"reference":           {`{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"$defs":{"B":{"type":"boolean"}}}`, `{"b":true}`},
		"array":               {`{"type":"array","items":{"type":"boolean"},"minItems":2}`, `[true,true]`},
		"counter as string":   {`{"type":"ARRAY","items":{"type":"BOOLEAN"},"minItems":"2"}`, `[true,true]`},
		"range":               {`{"type":"object","properties":{"n":{"type":"integer","maximum":5},"o":{"type":"integer","minimum":8}}}`, `{"n":5,"o":8}`},
		"exclusive range":     {`{"type":"object","properties":{"n":{"type":"integer","exclusiveMaximum":5}}}`, `{"n":4}`},
		"length":              {`{"type":"object","properties":{"city":{"type":"string","maxLength":4},"name":{"type":"string","minLength":20}}}`, `{"city":"Flor","name":"Florence............"}`},
		"format":              {`{"type":"object","properties":{"d":{"type":"string","format":"date"}}}`, `{"d":"2026-01-15"}`},
		"recursive":           {`{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"next":{"next":{"next":{}}}}`},
		"reference to itself": {`{"type":"object","properties":{"b":{"$ref":"#/properties/b"}}}`, `{"b":"Florence"}`},
	} {
		t.Run(name, func(t *testing.T) {
			field := "responseJsonSchema"
			if strings.Contains(tc.schema, `"type":"OBJECT"`) || strings.Contains(tc.schema, `"ARRAY"`) {
				field = "responseSchema"
			}
			cfg := config(fmt.Sprintf(`"responseMimeType":"application/json",%q:%s`, field, tc.schema))
			got := unary(t, vertextest.New(), flash, say(text, cfg))
			if diff := cmp.Diff(compact(tc.want), compact(got.decode(t).text())); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, got.body)
			}
		})
	}
}
