package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/providers"
)

// manner is how an answer is asked for and shown.
type manner struct {
	stream, json, thinking, strict bool
	silent                         bool // nothing is shown
}

// turn is one answer, with its times.
type turn struct {
	answer       *gateway.ChatCompletion
	first, total time.Duration
	cost         string // at list prices; empty where that is not known
}

// ask sends a request and shows the answer.
func (a *app) ask(ctx context.Context, l *link, req *gateway.ChatCompletionRequest, m manner) (*turn, error) {
	opts := []gateway.RequestOption{gateway.WithStrictCompliance(m.strict)}
	stop := a.console.Spin(req.Model)
	if l.tap != nil {
		defer l.tap.Flush()
	}
	defer stop()
	start := time.Now()
	if m.stream {
		return a.askStream(ctx, l, req, m, opts, start, stop)
	}
	answer, err := l.Chat.Completions.Create(ctx, req, opts...)
	if err != nil {
		return nil, err
	}
	t := &turn{answer: answer, total: time.Since(start), cost: a.cost(l)}
	stop()
	return t, a.show(answer, m)
}

// askStream shows the answer as it comes.
func (a *app) askStream(
	ctx context.Context, l *link, req *gateway.ChatCompletionRequest, m manner, opts []gateway.RequestOption, start time.Time, stop func(),
) (*turn, error) {
	if m.strict && req.StreamOptions == nil {
		asked := *req
		asked.StreamOptions = &gateway.StreamOptions{IncludeUsage: true}
		req = &asked
	}
	stream, err := l.Chat.Completions.CreateStream(ctx, req, opts...)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	t, p, all := &turn{}, &printer{app: a, manner: m}, providers.Accumulator{}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			stop()
			return nil, errors.Join(err, p.end())
		}
		if t.first == 0 {
			t.first = time.Since(start)
		}
		stop()
		if err := errors.Join(all.Add(chunk), p.chunk(chunk)); err != nil {
			return nil, err
		}
	}
	t.total, t.cost = time.Since(start), a.cost(l)
	t.answer = all.Completion()
	t.answer.Meta = stream.Meta()
	if m.json || m.silent {
		return t, nil
	}
	return t, errors.Join(p.end(), a.showCalls(t.answer, m))
}

// printer shows the chunks of a stream.
type printer struct {
	app     *app
	manner  manner
	thought string // what was written last of the thoughts; empty once they ended
	last    string // what was written last of the answer
}

func (p *printer) chunk(c *gateway.ChatCompletionChunk) error {
	switch {
	case p.manner.silent:
		return nil
	case p.manner.json:
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		return p.app.console.Out(string(line) + "\n")
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // one answer is shown; --json has all
		}
		if p.manner.thinking {
			p.thoughts(choice.Delta.ContentBlocks)
		}
		if text := choice.Delta.Content; text != "" {
			p.endThoughts()
			p.last = text
			if err := p.app.console.Out(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *printer) thoughts(blocks []gateway.ContentBlockDelta) {
	for _, b := range blocks {
		if b.Delta.Thinking != "" {
			p.app.console.Say(console.Dim, "%s", b.Delta.Thinking)
			p.thought = b.Delta.Thinking
		}
	}
}

func (p *printer) endThoughts() {
	if p.thought == "" {
		return
	}
	missing := 2 - (len(p.thought) - len(strings.TrimRight(p.thought, "\n")))
	p.app.console.Say(console.Plain, "%s", strings.Repeat("\n", max(missing, 0)))
	p.thought = ""
}

// end ends the last line.
func (p *printer) end() error {
	p.endThoughts()
	if p.manner.json || p.last == "" || strings.HasSuffix(p.last, "\n") {
		return nil
	}
	return p.app.console.Out("\n")
}

// show writes a whole answer.
func (a *app) show(answer *gateway.ChatCompletion, m manner) error {
	if m.silent {
		return nil
	}
	if m.json {
		return a.writeJSON(answer)
	}
	p := &printer{app: a, manner: m}
	if m.thinking && len(answer.Choices) > 0 {
		for _, b := range answer.Choices[0].Message.ContentBlocks {
			p.thoughts([]gateway.ContentBlockDelta{{Delta: b}})
		}
		p.endThoughts()
	}
	if p.last = answer.Text(); p.last != "" {
		if err := a.console.Out(p.last); err != nil {
			return err
		}
	}
	return errors.Join(p.end(), a.showCalls(answer, m))
}

// showCalls writes the tool calls of an answer, a line for each.
func (a *app) showCalls(answer *gateway.ChatCompletion, m manner) error {
	if m.silent || m.json || len(answer.Choices) == 0 {
		return nil
	}
	message := &answer.Choices[0].Message
	for _, c := range message.ToolCalls {
		if err := a.console.Out(fmt.Sprintf("%s(%s)\n", c.Function.Name, c.Function.Arguments)); err != nil {
			return err
		}
	}
	for _, b := range message.ContentBlocks {
		if b.Type == gateway.PartImageURL && b.ImageURL != nil {
			kind, _, _ := strings.Cut(strings.TrimPrefix(b.ImageURL.URL, "data:"), ";")
			a.console.Say(console.Yellow, "[%s; --json has it]\n", kind)
		}
	}
	if message.Audio != nil {
		a.console.Say(console.Yellow, "[audio; --json has it]\n")
	}
	return nil
}

// writeJSON writes a value as JSON in lines.
func (a *app) writeJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return a.console.Out(b.String())
}

// summary remarks on an answer: model, tokens, times, what was tried, warnings.
func (a *app) summary(t *turn) {
	if a.quiet {
		return
	}
	answer := t.answer
	parts := []string{answer.Model}
	if u := answer.Usage; u != nil {
		parts = append(parts, usageText(u))
	}
	if t.cost != "" {
		parts = append(parts, t.cost)
	}
	parts = append(parts, took(t.first, t.total))
	if len(answer.Choices) > 0 && answer.Choices[0].FinishReason != gateway.FinishStop {
		parts = append(parts, "finish "+answer.Choices[0].FinishReason)
	}
	a.console.Say(console.Dim, "%s\n", strings.Join(parts, " · "))
	a.remark(&answer.Meta)
}

// remark tells what the gateway did: attempts that failed, the cache, warnings.
func (a *app) remark(meta *gateway.Meta) {
	if a.quiet {
		return
	}
	if len(meta.Attempts) > 1 {
		for _, at := range meta.Attempts {
			a.console.Say(console.Dim, "%s\n", attemptText(&at))
		}
	}
	for _, w := range meta.Warnings {
		text := w.Message
		if w.Param != "" {
			text = w.Param + ": " + text
		}
		a.console.Say(console.Yellow, "warning: %s\n", text)
	}
}

func attemptText(at *gateway.Attempt) string {
	parts := []string{"tried"}
	for _, s := range []string{at.Target, at.Slug, at.Model} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	switch {
	case at.Skipped != "":
		parts = append(parts, "passed over: "+string(at.Skipped))
	case at.Code != "":
		parts = append(parts, fmt.Sprintf("%d %s", at.StatusCode, at.Code))
	default:
		parts = append(parts, fmt.Sprintf("%d", at.StatusCode))
	}
	return strings.Join(append(parts, "in "+short(at.Duration)), " ")
}

func usageText(u *gateway.Usage) string {
	text := fmt.Sprintf("%d + %d tokens", u.PromptTokens, u.CompletionTokens)
	var of []string
	if n := u.PromptTokensDetails.CachedTokens; n > 0 {
		of = append(of, fmt.Sprintf("%d cached", n))
	}
	if n := u.CompletionTokensDetails.ReasoningTokens; n > 0 {
		of = append(of, fmt.Sprintf("%d thinking", n))
	}
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	return text
}

func took(first, total time.Duration) string {
	if first == 0 {
		return short(total)
	}
	return short(total) + ", first after " + short(first)
}

// short is a duration in three digits or so.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
