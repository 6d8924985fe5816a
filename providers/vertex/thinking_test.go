package vertex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// likeRow names the emulator's model for each row of the model table that is
// not called like one.
var likeRow = map[string]string{
	"gemini-1.5":                    "gemini-2.0-flash",
	"gemini-2.0":                    "gemini-2.0-flash",
	"gemini-2.0-flash-thinking-exp": "gemini-2.0-flash-thinking",
	"gemini-2.5":                    "gemini-2.5-pro",
	"gemini-3":                      "gemini-3-pro",
	"gemini-3.1":                    "gemini-3.1-pro",
	"gemini-3.5":                    "gemini-3.5-flash",
	"gemini-3.6":                    "gemini-3.6-flash",
	"gemini-4":                      "gemini-4-argon",
}

// wishes are the ways to ask for thinking.
var wishes = []string{
	`"reasoning_effort":"none"`, `"reasoning_effort":"minimal"`, `"reasoning_effort":"low"`, `"reasoning_effort":"medium"`,
	`"reasoning_effort":"high"`, `"reasoning_effort":"xhigh"`, `"reasoning_effort":"max"`, `"reasoning_effort":"HIGH"`,
	`"thinking":{"type":"enabled"}`, `"thinking":{"type":"disabled"}`, `"thinking":{"type":"adaptive"}`, `"thinking":{}`,
	`"thinking":{"type":"enabled","budget_tokens":0}`, `"thinking":{"type":"enabled","budget_tokens":-1}`,
	`"thinking":{"type":"enabled","budget_tokens":100}`, `"thinking":{"type":"enabled","budget_tokens":1000000}`,
	`"thinking":{"type":"disabled","budget_tokens":100}`,
}

// TestThePlatformTakesTheThinkingOfEveryRow crosses the model table with the
// emulator's own.
func TestThePlatformTakesTheThinkingOfEveryRow(t *testing.T) {
	for _, row := range geminiRows() {
		t.Run(row.Name, func(t *testing.T) {
			srv := vertextest.New(vertextest.WithModel(row.Name, like(row.Name)))
			defer srv.Close()
			p := newProvider(t, srv.Transport())
			for _, wish := range wishes {
				answer, err := p.ChatCompletion(t.Context(), target(row.Name), hello(t, row.Name, wish))
				if err != nil {
					t.Errorf("%s: %v", wish, err)
					continue
				}
				if len(answer.Meta.Warnings) > 1 {
					t.Errorf("%s: %v, want one warning at most", wish, answer.Meta.Warnings)
				}
			}
		})
	}
}

func like(row string) string {
	if name := likeRow[row]; name != "" {
		return name
	}
	return row
}

// TestThePlatformTakesEveryParameterOnEveryRow sends all sampling parameters at
// once: whatever a generation refuses must have been left out.
func TestThePlatformTakesEveryParameterOnEveryRow(t *testing.T) {
	const all = `"temperature":1,"top_p":0.5,"top_k":2,"n":3,"seed":99999999999,"presence_penalty":1,"frequency_penalty":1,` +
		`"stop":["a"],"max_tokens":8000,"logprobs":true,"top_logprobs":3,"user":"u","labels":{"a":"b"},"parallel_tool_calls":false,` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":"required","response_format":{"type":"json_object"}`
	for _, row := range geminiRows() {
		t.Run(row.Name, func(t *testing.T) {
			srv := vertextest.New(vertextest.WithModel(row.Name, like(row.Name)))
			defer srv.Close()
			if _, err := newProvider(t, srv.Transport()).ChatCompletion(t.Context(), target(row.Name), hello(t, row.Name, all)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestThePlatformTakesToolRoundsOnEveryRow sends a round of calls whose
// signatures were lost, and the emulator's own answer back: with a memory of
// signatures they are found again, without one the sentinel stands in.
func TestThePlatformTakesToolRoundsOnEveryRow(t *testing.T) {
	for _, row := range geminiRows() {
		if !row.Gives("TEXT") {
			continue // speaks, and calls nothing: see the scenarios of speech
		}
		for _, off := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/off=%v", row.Name, off), func(t *testing.T) {
				srv := vertextest.New(vertextest.WithModel(row.Name, like(row.Name)))
				defer srv.Close()
				p := vertex.New(vertex.Config{Transport: srv.Transport(), Signatures: vertex.SignatureMemory{Off: off}})
				defer func() { _ = p.Close() }()
				rounds(t, srv, p, row.Name)
				want := 0
				if row.NeedsSignatures && off {
					want = 1
				}
				if got := p.SignatureStats(); (srv.SentinelUses() > 0) != (want > 0) || (got.Sentinels > 0) != (want > 0) || row.NeedsSignatures && !off && got.Restored == 0 {
					t.Errorf("%d sentinels, want any: %v; %+v", srv.SentinelUses(), want > 0, got)
				}
			})
		}
	}
}

// rounds goes four rounds of a conversation with calls.
func rounds(t *testing.T, srv *vertextest.Server, p *vertex.Provider, model string) {
	t.Helper()
	srv.Script(vertextest.Call("f", nil), vertextest.Calls(vertextest.FunctionCall{Name: "f"}, vertextest.FunctionCall{Name: "f"}),
		vertextest.Call("f", map[string]int{"a": 1}), vertextest.Text("Done."))
	q := hello(t, model, `"tools":[{"type":"function","function":{"name":"f"}}]`)
	for round := range 4 {
		answer, err := p.ChatCompletion(t.Context(), target(model), q)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		m := answer.Choices[0].Message
		if called := len(m.ToolCalls) > 0; called != (round < 3) {
			t.Fatalf("round %d: called: %v", round, called)
		}
		if round == 1 { // a client that drops what it does not know
			m.ContentBlocks = nil
			for i := range m.ToolCalls {
				m.ToolCalls[i].Function.ThoughtSignature = ""
			}
		}
		q.Messages = append(q.Messages, m)
		for _, c := range m.ToolCalls {
			q.Messages = append(q.Messages, providers.ToolMessage(c.ID, "done"))
		}
	}
}

// TestThinkingPerGeneration spells out what goes on the wire.
func TestThinkingPerGeneration(t *testing.T) {
	const (
		thoughts = `"includeThoughts":true`
		budget   = `{` + thoughts + `,"thinkingBudget":%d}`
		level    = `{` + thoughts + `,"thinkingLevel":"%s"}`
	)
	b := func(n int) string { return fmt.Sprintf(budget, n) }
	l := func(s string) string { return fmt.Sprintf(level, s) }
	for _, tt := range []struct{ model, wish, want string }{
		{"gemini-2.5-flash", "low", b(1024)},
		{"gemini-2.5-flash", "max", b(24576)},
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", "-1", b(-1)},
		{"gemini-2.5-flash-lite", "100", b(512)},
		{"gemini-2.5-flash-lite", "enabled", b(-1)},
		{"gemini-2.5-pro", "high", b(24576)},
		{"gemini-2.5-pro", "xhigh", b(32768)},
		{"gemini-2.5-pro", "none", `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", "1000000", b(32768)},
		{"gemini-2.5-flash-image", "high", ""},
		{"gemini-3-pro-preview", "minimal", l("LOW")},
		{"gemini-3-pro-preview", "medium", l("HIGH")},
		{"gemini-3-flash-preview", "minimal", l("MINIMAL")},
		{"gemini-3-flash-preview", "none", `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.1-pro-preview", "none", `{"thinkingLevel":"LOW"}`},
		{"gemini-3.1-pro-preview", "medium", l("MEDIUM")},
		{"gemini-3-pro-image", "low", l("HIGH")},
		{"gemini-nano-banana-2.1", "low", l("MEDIUM")},
		{"gemini-3.5-flash", "100", l("MINIMAL")},
		{"gemini-3.5-flash", "2048", l("LOW")},
		{"gemini-3.8-flash", "minimal", l("LOW")},
		{"gemini-3.8-flash-cyber", "xhigh", l("HIGH")},
		{"gemini-4-argon", "max", l("HIGH")},
		{"gemini-4-neon", "max", l("XHIGH")},
		{"gemini-4-neon", "1000000", l("XHIGH")},
		{"gemini-4-hydrogen", "none", `{"thinkingLevel":"LOW"}`},
		{"gemini-4-carbon", "adaptive", `{` + thoughts + `}`},
		{"gemini-9-unheard-of", "minimal", l("LOW")},
	} {
		t.Run(tt.model+" "+tt.wish, func(t *testing.T) {
			member := `"reasoning_effort":"` + tt.wish + `"`
			switch {
			case strings.Trim(tt.wish, "-0123456789") == "":
				member = `"thinking":{"type":"enabled","budget_tokens":` + tt.wish + `}`
			case tt.wish == "enabled" || tt.wish == "adaptive":
				member = `"thinking":{"type":"` + tt.wish + `"}`
			}
			body, _, err := encoded(t, hello(t, tt.model, member))
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(string(body), `"thinkingConfig":`)
			if got = strings.TrimSuffix(got, "}}"); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAPromptThatEndsWithTheAssistantIsRefusedWhereTheModelWould(t *testing.T) {
	for _, row := range geminiRows() {
		q := hello(t, row.Name)
		q.Messages = append(q.Messages, providers.AssistantMessage("1, 2,"))
		srv := vertextest.New(vertextest.WithModel(row.Name, like(row.Name)))
		_, err := newProvider(t, srv.Transport()).ChatCompletion(t.Context(), target(row.Name), q)
		if row.NoPrefill != errors.Is(err, providers.ErrInvalidRequest) || len(srv.Requests()) > 0 == row.NoPrefill {
			t.Errorf("%s: %v after %d requests", row.Name, err, len(srv.Requests()))
		}
		srv.Close()
	}
}
