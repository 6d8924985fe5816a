package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
	"github.com/b650d4bf/gateway/logs"
)

const replayLong = `Sends the request of a logged chat again, and shows how the answer differs:
a diff of the texts and tool calls, and the times and tokens side by side.

The record is a FILE of JSON, - for the standard input, one of a JSONL file by
its --id, or one of a running front by its id. It must hold content, which
logs keep only when asked to.

It is asked for as it was, streamed or whole, by the model reference of the
record; --model, --config and the other flags lead elsewhere. The exit code
is 0 whether the answers differ or not, unless --exit-code asks.`

const replayExample = `  gatewayctl replay record.json
  gatewayctl replay --file logs.jsonl --id 01J9Z3
  gatewayctl replay --url http://localhost:8080 01J9Z3
  gatewayctl replay --model gemini-3-pro --exit-code record.json
  jq 'select(.failed)' logs.jsonl | gatewayctl replay -`

// replaying is the flags of replay.
type replaying struct {
	source
	model          string
	exitCode, json bool
	context        int
}

func (a *app) replayCommand() *cobra.Command {
	r := &replaying{}
	cmd := &cobra.Command{
		Use: "replay [flags] RECORD|ID|-", Short: "Send a logged request again and compare", Long: replayLong, Example: replayExample,
		Args: arguments(0, 1, "name one record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.locate(&r.source, args); err != nil {
				return err
			}
			return a.replay(cmd.Context(), r)
		},
	}
	f := cmd.Flags()
	a.sourceFlags(cmd, &r.source)
	f.StringVar(&r.id, "id", "", "id of the record")
	f.StringVarP(&r.model, "model", "m", "", "model reference in place of the record's")
	f.BoolVar(&r.exitCode, "exit-code", false, "exit with 1 when the answers differ")
	f.BoolVar(&r.json, "json", false, "both answers, times and tokens as JSON")
	f.IntVar(&r.context, "context", 3, "lines around a difference")
	a.completeModels(cmd)
	a.placeFlags(cmd)
	a.wireFlags(cmd)
	return cmd
}

// locate reads the argument, which is a file, or the id of a record elsewhere.
func (a *app) locate(s *source, args []string) error {
	if len(args) == 1 && args[0] != "-" && s.file == "" {
		if _, err := os.Stat(args[0]); err != nil && (s.url != "" || a.getenv("GATEWAYCTL_URL") != "") {
			s.id = cmp.Or(s.id, args[0])
			return a.place(s)
		}
		s.file = args[0]
	} else if len(args) == 1 && args[0] == "-" {
		s.file = "-"
	} else if len(args) == 1 {
		s.id = cmp.Or(s.id, args[0])
	}
	if err := a.place(s); err != nil {
		return err
	}
	if s.file == "" && s.url == "" {
		return usage("name a record: a FILE, - for the standard input, or an id with --file or --url")
	}
	return nil
}

// recorded is a record whose request can be sent again.
type recorded struct {
	record  *logs.Record
	request gateway.ChatCompletionRequest
	answer  *gateway.ChatCompletion // nil when there was none
}

// readRecorded checks that the record can be replayed.
func readRecorded(r *logs.Record) (*recorded, error) {
	switch {
	case r.Operation != "chat" && r.Operation != "":
		return nil, fmt.Errorf("record %s is of %s: chats alone can be replayed", r.ID, r.Operation)
	case r.Content == nil || len(r.Content.Request) == 0:
		return nil, fmt.Errorf("record %s has no content: logs keep requests and answers only when their options ask for content, and a page or an export leaves them out (GET /v1/logs/%s has them)", r.ID, r.ID)
	case r.Content.Truncated && !strings.HasPrefix(string(r.Content.Request), "{"):
		return nil, fmt.Errorf("record %s has a part of its request only: the log's bound for content must be larger than the request", r.ID)
	}
	out := &recorded{record: r}
	if err := json.Unmarshal(r.Content.Request, &out.request); err != nil {
		return nil, fmt.Errorf("record %s: its request is no chat: %w", r.ID, err)
	}
	if strings.HasPrefix(string(r.Content.Response), "{") {
		out.answer = new(gateway.ChatCompletion)
		if err := json.Unmarshal(r.Content.Response, out.answer); err != nil {
			return nil, fmt.Errorf("record %s: its answer is none of a chat: %w", r.ID, err)
		}
	}
	return out, nil
}

func (a *app) replay(ctx context.Context, r *replaying) error {
	record, err := a.record(ctx, &r.source)
	if err != nil {
		return err
	}
	old, err := readRecorded(record)
	if err != nil {
		return err
	}
	req := old.request
	req.Model = cmp.Or(r.model, record.RequestedModel, req.Model)
	req.Stream, req.StreamOptions = false, nil
	return a.call(ctx, func(ctx context.Context, l *link) error {
		t, err := a.ask(ctx, l, &req, manner{stream: record.Stream, silent: true})
		if err != nil {
			a.failedMeta(err)
			return err
		}
		a.remark(&t.answer.Meta)
		if old.answer == nil && record.Error == nil {
			a.console.Say(console.Yellow, "warning: the record has no whole answer to compare with\n")
		}
		return a.compare(r, old, t)
	})
}

// compare shows the differences.
func (a *app) compare(r *replaying, old *recorded, t *turn) error {
	before, after := transcript(old.answer), transcript(t.answer)
	edits := udiff.Lines(before, after)
	same := before == after
	if r.json {
		if err := a.writeJSON(comparison(old, t, same)); err != nil {
			return err
		}
	} else {
		text, err := udiff.ToUnified("recorded", "replayed", before, edits, max(r.context, 0))
		if err != nil {
			return err
		}
		if err := errors.Join(a.console.Out(numbers(old, t)), a.writeDiff(text)); err != nil {
			return err
		}
	}
	if !same && r.exitCode {
		return errReported
	}
	return nil
}

// comparison is what --json shows.
func comparison(old *recorded, t *turn, same bool) any {
	type side struct {
		Answer     *gateway.ChatCompletion `json:"answer"`
		FirstChunk logs.Milliseconds       `json:"first_chunk_ms,omitempty"`
		Duration   logs.Milliseconds       `json:"duration_ms"`
	}
	return struct {
		ID       string `json:"id"`
		Same     bool   `json:"same"`
		Recorded side   `json:"recorded"`
		Replayed side   `json:"replayed"`
	}{
		old.record.ID, same, side{old.answer, old.record.FirstChunk, old.record.Duration},
		side{t.answer, logs.Milliseconds(t.first), logs.Milliseconds(t.total)},
	}
}

func (a *app) writeDiff(text string) error {
	if text == "" {
		return a.console.OutStyled(console.Green, "\nthe answers are the same\n")
	}
	errs := []error{a.console.Out("\n")}
	for line := range strings.Lines(text) {
		style := console.Plain
		switch {
		case strings.HasPrefix(line, "@@"):
			style = console.Cyan
		case strings.HasPrefix(line, "+"):
			style = console.Green
		case strings.HasPrefix(line, "-"):
			style = console.Red
		}
		errs = append(errs, a.console.OutStyled(style, line))
	}
	return errors.Join(errs...)
}

// transcript is what of an answer is compared: texts and calls of all choices,
// without ids and thoughts, which are never the same.
func transcript(answer *gateway.ChatCompletion) string {
	if answer == nil {
		return ""
	}
	var b strings.Builder
	for i := range answer.Choices {
		c := &answer.Choices[i]
		if len(answer.Choices) > 1 {
			fmt.Fprintf(&b, "[choice %d]\n", c.Index)
		}
		if text := c.Message.Content.Text(); text != "" {
			b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
		}
		for _, call := range c.Message.ToolCalls {
			fmt.Fprintf(&b, "%s(%s)\n", call.Function.Name, call.Function.Arguments)
		}
		if c.FinishReason != gateway.FinishStop {
			fmt.Fprintf(&b, "[finish %s]\n", c.FinishReason)
		}
	}
	return b.String()
}

// numbers is the table of times and tokens.
func numbers(old *recorded, t *turn) string {
	r := old.record
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, before, after string) {
		if before != "" || after != "" {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", name, before, after) // a builder does not fail
		}
	}
	finish := func(c *gateway.ChatCompletion) string {
		if c == nil || len(c.Choices) == 0 {
			return ""
		}
		return c.Choices[0].FinishReason
	}
	row("", "recorded", "replayed")
	row("model", cmp.Or(r.ResponseModel, r.Model, r.RequestedModel), t.answer.Model)
	row("finish", cmp.Or(r.FinishReason, finish(old.answer)), finish(t.answer))
	if r.Error != nil {
		row("error", r.Error.Code, "")
	}
	before, after := r.Tokens, t.answer.Usage
	if before == nil {
		before = &logs.Tokens{}
	}
	if after == nil {
		after = &gateway.Usage{}
	}
	row("prompt tokens", number(before.Prompt), number(after.PromptTokens))
	row("completion tokens", number(before.Completion), number(after.CompletionTokens))
	row("thinking tokens", number(before.Reasoning), number(after.CompletionTokensDetails.ReasoningTokens))
	row("cached tokens", number(before.Cached), number(after.PromptTokensDetails.CachedTokens))
	if r.Cost != nil {
		row("cost", "$"+r.Cost.String(), t.cost)
	} else {
		row("cost", "", t.cost)
	}
	row("first chunk", span(time.Duration(r.FirstChunk)), span(t.first))
	row("duration", span(time.Duration(r.Duration)), span(t.total))
	_ = w.Flush() // likewise
	return trimLines(b.String())
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return short(d)
}
