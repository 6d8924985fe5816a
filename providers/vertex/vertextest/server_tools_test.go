package vertextest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

func TestSearchesGroundTheAnswer(t *testing.T) {
	const question = "Wie groß ist der Fernsehturm – in Metern?"
	for _, tc := range []struct{ name, model, tools string }{
		{"Google Search on 2.5", "gemini-2.5-flash", tool("googleSearch")},
		{"Google Search with thoughts", "gemini-3.8-flash", config(`"thinkingConfig":{"includeThoughts":true}`) + "," + tool("googleSearch")},
		{"Google Search on 2.0", "gemini-2.0-flash", tool("googleSearch")},
		{"retrieval on 1.5", "gemini-1.5-pro", tool("googleSearchRetrieval")},
		{"enterprise search", "gemini-2.5-pro", tool("enterpriseWebSearch")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := vertextest.New()
			body := say(question, tc.tools)
			whole := unary(t, s, tc.model, body).decode(t)
			g := whole.Candidates[0].GroundingMetadata
			if g == nil || len(g.GroundingChunks) != 2 || len(g.GroundingSupports) != 3 {
				t.Fatalf("grounding %+v", g)
			}
			if diff := cmp.Diff([]string{question}, g.WebSearchQueries); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
			if g.SearchEntryPoint.RenderedContent == "" {
				t.Error("no search entry point")
			}
			for i, c := range g.GroundingChunks {
				if web := c["web"]; web["uri"] == "" || web["title"] == "" || web["domain"] == "" {
					t.Errorf("chunk %d: %v", i, c)
				}
			}
			last := 0
			for i, sup := range g.GroundingSupports {
				said := whole.parts()[sup.Segment.PartIndex].Text
				if got := said[sup.Segment.StartIndex:sup.Segment.EndIndex]; got != sup.Segment.Text || sup.Segment.StartIndex < last {
					t.Errorf("support %d is %q at %d, which is %q", i, sup.Segment.Text, sup.Segment.StartIndex, got)
				}
				last = sup.Segment.EndIndex
				if wantScores := strings.HasPrefix(tc.model, "gemini-1") || strings.HasPrefix(tc.model, "gemini-2.0"); (len(sup.ConfidenceScores) > 0) != wantScores {
					t.Errorf("scores %v", sup.ConfidenceScores)
				}
			}
			events := stream(t, s, tc.model, body).events(t)
			for i, e := range events {
				if (e.Candidates[0].GroundingMetadata != nil) != (i == len(events)-1) {
					t.Errorf("grounding in event %d of %d", i, len(events))
				}
			}
			if diff := cmp.Diff(g, events[len(events)-1].Candidates[0].GroundingMetadata); diff != "" {
				t.Errorf("streamed grounding (-unary +stream):\n%s", diff)
			}
		})
	}
}

func TestGroundingFollowsWhatIsSaid(t *testing.T) {
	s := vertextest.New()
	for _, tc := range []struct {
		name, body       string
		chunks, supports int
	}{
		{"a greeting needs none", say("Hi", tool("googleSearch")), 0, 0},
		{"an excluded domain", say("Who won?", `"tools":[{"googleSearch":{"excludeDomains":["example.com"]}}]`), 1, 2},
		{"a text that is cut", say("Who won?", tool("googleSearch"), config(`"stopSequences":["So says"],"thinkingConfig":{"thinkingBudget":0}`)), 2, 1},
		{"maps", say("Where is coffee?", tool("googleMaps")), 1, 2},
		{"retrieval", say("What are the rules?", tool("retrieval")), 1, 2},
		{"a JSON answer", say("Who won?", tool("googleSearch"), config(`"responseMimeType":"application/json"`)), 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := unary(t, s, "gemini-2.5-flash", tc.body).decode(t).Candidates[0].GroundingMetadata
			if g == nil || len(g.GroundingChunks) != tc.chunks || len(g.GroundingSupports) != tc.supports {
				t.Errorf("got %+v, want %d chunks and %d supports", g, tc.chunks, tc.supports)
			}
		})
	}
}

func TestURLsAreRead(t *testing.T) {
	s := vertextest.New()
	m := unary(t, s, "gemini-3.8-flash", say("Compare https://example.com/ä and (https://x.invalid/b).", tool("urlContext"))).decode(t)
	want := []struct{ RetrievedURL, URLRetrievalStatus string }{
		{"https://example.com/ä", "URL_RETRIEVAL_STATUS_SUCCESS"},
		{"https://x.invalid/b", "URL_RETRIEVAL_STATUS_ERROR"},
	}
	if diff := cmp.Diff(want, m.Candidates[0].URLContextMetadata.URLMetadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	u := m.UsageMetadata
	if u.ToolUsePromptTokenCount == 0 || u.TotalTokenCount != u.PromptTokenCount+u.CandidatesTokenCount+u.ToolUsePromptTokenCount+u.ThoughtsTokenCount {
		t.Errorf("usage %+v", u)
	}
}

func TestCodeIsRun(t *testing.T) {
	for _, tc := range []struct {
		model  string
		signed bool
	}{{"gemini-2.5-flash", false}, {"gemini-3.8-flash", true}} {
		t.Run(tc.model, func(t *testing.T) {
			m := unary(t, vertextest.New(), tc.model, say("Add 3 and 4.5", tool("codeExecution"))).decode(t)
			parts := m.parts()
			if len(parts) != 3 || parts[0].ExecutableCode == nil || parts[1].CodeExecutionResult == nil {
				t.Fatalf("parts %+v", parts)
			}
			code, result := parts[0].ExecutableCode, parts[1].CodeExecutionResult
			if code.Language != "PYTHON" || code.Code != "print(sum([3, 4.5]))\n" || result.Outcome != "OUTCOME_OK" || result.Output != "7.5\n" {
				t.Errorf("%+v gave %+v", code, result)
			}
			if (parts[0].ThoughtSignature != "") != tc.signed || (code.ID != "") != tc.signed || code.ID != result.ID {
				t.Errorf("signature %q, ids %q and %q", parts[0].ThoughtSignature, code.ID, result.ID)
			}
			if m.UsageMetadata.ToolUsePromptTokenCount == 0 {
				t.Error("no tokens of tool use")
			}
		})
	}
}

func TestComputersAreUsed(t *testing.T) {
	const model = "gemini-2.5-computer-use-preview-10-2025"
	for _, tc := range []struct{ name, text, options, want string }{
		{"an address", "Open https://example.com/a", "", "navigate map[url:https://example.com/a]"},
		{"no address", "Look around", "", "open_web_browser map[]"},
		{"an excluded function", "Look around", `"excludedPredefinedFunctions":["open_web_browser"]`, "wait_5_seconds map[]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			parts := unary(t, vertextest.New(), model, say(tc.text, `"tools":[{"computerUse":{`+tc.options+`}}]`)).decode(t).parts()
			if len(parts) != 1 || parts[0].FunctionCall == nil {
				t.Fatalf("parts %+v", parts)
			}
			if got := fmt.Sprintf("%s %v", parts[0].FunctionCall.Name, parts[0].FunctionCall.Args); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestArgumentsAreStreamed(t *testing.T) {
	s := vertextest.New()
	s.Script(
		vertextest.Calls(
			vertextest.FunctionCall{ID: "one", Name: "f", Args: map[string]any{
				"a": "red green blue", "b": map[string]any{"c d": []any{1.5, true, nil, map[string]any{"e": ""}}},
			}},
			vertextest.FunctionCall{ID: "two", Name: "g"},
		),
	)
	events := stream(t, s, "gemini-3.8-flash", say("go", functions(1), streamArguments)).events(t)
	var got []string
	for i, e := range events {
		p := e.parts()[0]
		c := p.FunctionCall
		if c == nil || (p.ThoughtSignature != "") != (i == 0) {
			t.Fatalf("event %d: %+v", i, p)
		}
		line := fmt.Sprintf("%s %s %t", c.ID, c.Name, c.WillContinue)
		for _, a := range c.PartialArgs {
			line += " " + a.JSONPath + "=" + value(a)
		}
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		"one f true", `true $.a="red"…`, `true $.a=" green blue"…`, `true $.a=""`,
		`true $.b["c d"][0]=1.5`, `true $.b["c d"][1]=true`, `true $.b["c d"][2]=NULL_VALUE`, `true $.b["c d"][3].e=""`,
		"false", "two g false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if reason := events[len(events)-1].Candidates[0].FinishReason; reason != "STOP" {
		t.Errorf("finish reason %s", reason)
	}
}

// value writes the value of a partial argument, with dots when it goes on.
func value(p partial) string {
	var text string
	switch {
	case p.StringValue != nil:
		text = fmt.Sprintf("%q", *p.StringValue)
	case p.NumberValue != nil:
		text = fmt.Sprint(*p.NumberValue)
	case p.BoolValue != nil:
		text = fmt.Sprint(*p.BoolValue)
	default:
		text = p.NullValue
	}
	if p.WillContinue {
		text += "…"
	}
	return text
}
