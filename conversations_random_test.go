package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// randomDialogue makes up a conversation: what is asked, what the models do, who
// they are, and how the client keeps it.
type randomDialogue struct {
	*dialogue
	*rand.Rand
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// text is something to say. Some of it is awkward.
func (r *randomDialogue) text() string {
	return pick(r.Rand, "Go on.", "What is the weather in Paris?", "The weather in Paris, Rome and Oslo?", " x ", "héllo \u2028 <b>&", strings.Repeat("long ", 50),
		"ends in space \n", `{"a":1}`)
}

// reply is what a model does.
func (r *randomDialogue) reply() vertextest.Reply {
	switch r.IntN(7) {
	case 0:
		return vertextest.Auto()
	case 1:
		return vertextest.Thought("Let me think.", r.text())
	case 2:
		return vertextest.Text(r.text())
	case 3:
		return vertextest.Finish("MAX_TOKENS", "")
	case 4: // cut off while it thought
		return vertextest.Thought("Let me think.", "")
	}
	var calls []vertextest.FunctionCall
	for range 1 + r.IntN(3) {
		c := vertextest.FunctionCall{Name: "get_weather", Args: map[string]any{"city": r.text(), "n": r.IntN(3)}}
		if r.IntN(4) == 0 { // of another platform's making
			c.ID = pick(r.Rand, "functions.get_weather:0", "call_"+strings.Repeat("a", 80), "a|b", "abcdefgh1", "toolu_01") + fmt.Sprint(r.IntN(1e6))
		}
		calls = append(calls, c)
	}
	return vertextest.Calls(calls...)
}

// listen adds what the user and the tools say before the next request.
func (r *randomDialogue) listen() {
	r.results()
	last := r.messages[len(r.messages)-1].Role
	if last == gateway.RoleTool && r.IntN(3) > 0 {
		return
	}
	if r.IntN(5) == 0 {
		r.messages = append(r.messages, gateway.SystemMessage("Be kind."))
	}
	if last != gateway.RoleUser || r.IntN(3) == 0 {
		r.messages = append(r.messages, gateway.UserMessage(r.text()))
	}
	if r.IntN(4) == 0 {
		r.messages = append(r.messages, gateway.UserMessage([]gateway.ContentPart{gateway.TextPart("This?"), gateway.MediaPart("image/png", pixel)}))
	}
}

// keep is what the client does to an answer: what a sender does, or it loses or
// changes a part of it.
func (r *randomDialogue) keep(m gateway.Message) gateway.Message {
	m = senders[r.IntN(len(senders))].keep(r.t, m)
	switch r.IntN(8) {
	case 0:
		m.ContentBlocks = nil
	case 1:
		if m.Content.Text() != "" {
			m.Content = gateway.AssistantMessage("Changed.").Content
		}
	case 2:
		for i := range m.ToolCalls {
			m.ToolCalls[i].Function.ThoughtSignature = ""
		}
	}
	return m
}

// thinking is a setting that comes and goes.
func (r *randomDialogue) thinking(req *gateway.ChatCompletionRequest) {
	switch r.IntN(5) {
	case 0:
		req.Thinking = &gateway.Thinking{Type: "enabled", BudgetTokens: new(1024 + r.IntN(4096))}
	case 1:
		req.Thinking = &gateway.Thinking{Type: "adaptive"}
	case 2:
		req.Thinking = &gateway.Thinking{Type: "disabled"}
	case 3:
		req.ReasoningEffort = pick(r.Rand, "none", "low", "high", "max")
	}
}

// models are all families, and generations that differ.
var models = []string{
	gemini25, gemini3, gemini38, "gemini-2.5-pro", "gemini-3.1-pro", "gemini-3.6-flash", "gemini-4-argon",
	haiku45, opus46, sonnet55, "anthropic.claude-sonnet-4-5@20250929", "anthropic.claude-opus-4-7", "anthropic.claude-opus-5", "anthropic.claude-fable-5",
	llama4, "xai.grok-4.20-reasoning", mistral3, "mistralai.mistral-small-2503",
}

// Whatever the conversation, the platform refuses none of it.
func TestNoConversationIsRefused(t *testing.T) {
	runs := 80
	if testing.Short() {
		runs = 20
	}
	for seed := range uint64(runs) {
		tap := &wiretap{platform: vertextest.New()}
		client := openClient(t, tap, gateway.WithRegion("global"), gateway.WithStrictCompliance(seed%4 == 0))
		r := &randomDialogue{
			&dialogue{t: t, client: client, platform: tap.platform, tap: tap, messages: []gateway.Message{gateway.UserMessage("Hello!")}},
			rand.New(rand.NewPCG(seed, 1)),
		}
		for step := range 12 {
			if !r.step(fmt.Sprintf("seed %d, step %d", seed, step), step) {
				return
			}
		}
	}
}

// step asks one model, and reports whether the conversation goes on.
func (r *randomDialogue) step(at string, way int) bool {
	r.t.Helper()
	model := pick(r.Rand, models...)
	req := &gateway.ChatCompletionRequest{Model: model, Messages: r.messages, Tools: []gateway.Tool{weather()}}
	r.thinking(req)
	r.platform.Reset()
	r.platform.Script(r.reply())
	got, err := ask(r.t, r.client, req, way)
	for _, sent := range r.platform.Requests()[:max(0, len(r.platform.Requests())-1)] {
		// Gemini's signatures are good for one generation: the platform refuses
		// those of another, and is asked again without.
		if familyOf(model) != "gemini" || !slices.ContainsFunc(got.Meta.Warnings, func(w gateway.Warning) bool { return w.Code == gateway.WarnSignature }) {
			r.t.Errorf("%s: %s refused %s", at, model, sent.Body)
		}
	}
	if err != nil {
		r.t.Errorf("%s: %s: %v\n%s", at, model, err, r.platform.Requests())
		return false
	}
	r.messages = append(slices.Clip(r.messages), r.keep(got.Choices[0].Message))
	r.listen()
	return true
}
