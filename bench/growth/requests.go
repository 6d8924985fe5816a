package growth

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/b650d4bf/gateway"
)

// messageBytes is the length of each message of a history.
const messageBytes = 512

// history is a way of filling a conversation.
type history struct {
	name, model string
	calls       bool
	signature   string
}

func histories() []history {
	signature := strings.Repeat("c2lnbmF0dXJl", 16)
	return []history{
		{name: "text", model: gemini},
		{name: "calls, signed", model: signed, calls: true, signature: signature},
		{name: "calls, unsigned", model: signed, calls: true},
		{name: "text, Claude", model: claude},
		{name: "calls, Claude", model: claude, calls: true},
	}
}

// request is a conversation of n messages, the last of which is the user's.
func (h *history) request(n int) *gateway.ChatCompletionRequest {
	text := strings.Repeat("The quick brown fox jumps over the \"lazy\" dog.\n", messageBytes/47+1)[:messageBytes]
	maxTokens := 100
	req := &gateway.ChatCompletionRequest{Model: h.model, MaxTokens: &maxTokens}
	if h.calls {
		req.Tools = []gateway.Tool{gateway.FunctionTool("look", "looks it up", []byte(parameters))}
	}
	whole := (n - 1) / 4 * 4 // messages that are turns with a call
	for i := range n {
		at := i - (n - 1 - whole)
		switch {
		case h.calls && at >= 0 && at%4 == 1 && i < n-1:
			m := gateway.Message{Role: gateway.RoleAssistant}
			m.ToolCalls = []gateway.ToolCall{{ID: fmt.Sprintf("call_%d", i), Type: "function", Function: gateway.FunctionCall{
				Name: "look", Arguments: fmt.Sprintf(`{"city":%q}`, text), ThoughtSignature: h.signature,
			}}}
			req.Messages = append(req.Messages, m)
		case h.calls && at >= 0 && at%4 == 2 && i < n-1:
			req.Messages = append(req.Messages, gateway.ToolMessage(fmt.Sprintf("call_%d", i-1), text))
		case (n-1-i)%2 == 0:
			req.Messages = append(req.Messages, gateway.UserMessage(text))
		default:
			req.Messages = append(req.Messages, gateway.AssistantMessage(text))
		}
	}
	return req
}

// parameters is the schema of a tool.
const parameters = `{"type":"object","properties":{"city":{"type":"string","description":"a city"},"days":{"type":"integer"},` +
	`"unit":{"type":"string","enum":["c","f"]}},"required":["city"]}`

// callMetrics are the figures of a call that answers at once.
func callMetrics() []Metric {
	return []Metric{
		{Name: "time per call", Unit: Nanoseconds, Rule: linear, Plotted: true},
		{Name: "allocated per call", Unit: Bytes, Rule: linear, Plotted: true},
		{Name: "allocations per call", Unit: Count, Rule: linear},
	}
}

func historySeries() Series {
	return Series{
		Name: "history", Title: "A call by the length of its history", Axis: "messages", Metrics: callMetrics(),
		measure: func(ctx context.Context, r *Run) ([]Line, error) {
			var lines []Line
			for _, h := range histories() {
				l := Line{Name: h.name}
				err := callLine(ctx, r, &l, h.model, r.sizes(2000, 20), func(n int) func(*clock) *gateway.ChatCompletionRequest {
					req := h.request(n)
					return func(*clock) *gateway.ChatCompletionRequest { return req }
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", h.name, err)
				}
				lines = append(lines, l)
			}
			return lines, nil
		},
	}
}

// callLine measures calls of each size, on one processor: a call that moves to another
// finds no pooled buffer there, and how often that happens is chance. The function makes
// what yields requests of a size, which may stop the clock while it makes one.
func callLine(ctx context.Context, r *Run, l *Line, model string, sizes []int, requests func(n int) func(*clock) *gateway.ChatCompletionRequest) error {
	c, err := newCaller(model)
	if err != nil {
		return err
	}
	defer c.client.Close()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range sizes {
		next := requests(n)
		paid, err := r.measure(func(k *clock) error { return c.ask(ctx, next(k)) })
		if err != nil {
			return fmt.Errorf("of %d: %w", n, err)
		}
		r.say("  %s, %d: %.0f ns", l.Name, n, paid.ns)
		l.Rows = append(l.Rows, Row{n, []float64{paid.ns, paid.bytes, paid.allocs}})
	}
	l.Asked, l.Answered = c.platform.asked.Load(), c.answered
	return nil
}

func toolsSeries() Series {
	return Series{
		Name: "tools", Title: "A call by the number of its tools", Axis: "tools", Metrics: callMetrics(),
		measure: func(ctx context.Context, r *Run) ([]Line, error) {
			sizes := r.sizes(500, 20)
			known, changing := Line{Name: "the same in each call"}, Line{Name: "new in each call"}
			lines := []*Line{&known, &changing, {Name: "the same, Claude"}}
			for i, model := range []string{gemini, gemini, claude} {
				l := lines[i]
				err := callLine(ctx, r, l, model, sizes, func(n int) func(*clock) *gateway.ChatCompletionRequest {
					req, made := toolsRequest(model, n, 0), 0
					return func(c *clock) *gateway.ChatCompletionRequest {
						if l == &changing {
							c.stop()
							made += n
							req = toolsRequest(model, n, made)
							c.start()
						}
						return req
					}
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", l.Name, err)
				}
			}
			return []Line{known, changing, *lines[2]}, nil
		},
	}
}

// toolsRequest has n tools whose schemas are numbered.
func toolsRequest(model string, n, from int) *gateway.ChatCompletionRequest {
	maxTokens := 100
	req := &gateway.ChatCompletionRequest{Model: model, MaxTokens: &maxTokens, Messages: []gateway.Message{gateway.UserMessage("What is the weather?")}}
	for i := range n {
		schema := strings.Replace(parameters, "a city", fmt.Sprintf("city %d", from+i), 1)
		req.Tools = append(req.Tools, gateway.FunctionTool(fmt.Sprintf("tool_%d", i), "does a thing with its arguments", []byte(schema)))
	}
	return req
}
