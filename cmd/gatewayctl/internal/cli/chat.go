package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
)

const chatExample = `  gatewayctl chat --emulator "Say hello."
  gatewayctl chat -m anthropic.claude-sonnet-5 --region eu "Say hello."
  git diff | gatewayctl chat "Review this:" -
  gatewayctl chat --image cat.png "What is this?"
  gatewayctl chat --schema person.json --json "Ada, born 1815"
  gatewayctl chat --thinking 1024 --show-thinking "17 * 23?"
  gatewayctl chat --explain=full --emulator "Say hello."
  gatewayctl chat                     # a conversation, at a terminal`

const chatLong = `Asks a model and shows the answer.

The prompt is the arguments, where "-" is the standard input, as it is
without any where that is a pipe. At a terminal, without a prompt, it is a conversation: /help there
lists the commands, and Ctrl-C ends the answer, not the program.

The answer goes to the standard output; usage, times and warnings go to the
standard error, and what it cost, at list prices, where those are known. It
comes as a stream on a terminal, and whole into a pipe, unless --stream says
otherwise. With --json the answer is shown as the
gateway gives it, a stream as one chunk a line. Tool calls are shown as
NAME(ARGUMENTS).`

func (a *app) chatCommand() *cobra.Command {
	w, m := &wish{}, &manner{}
	cmd := &cobra.Command{
		Use: "chat [flags] [PROMPT|-]", Short: "Ask a model, once or in a conversation", Long: chatLong, Example: chatExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("stream") {
				m.stream = a.console.OutTerminal && !m.json
			}
			m.strict = w.strict
			if len(args) == 0 && a.console.InTerminal && w.request == "" {
				return a.converse(cmd, w, m)
			}
			if len(args) == 0 && w.request != "" {
				return a.chatOnce(cmd, w, m, "")
			}
			prompt, err := a.promptOf(args)
			if err != nil {
				return err
			}
			return a.chatOnce(cmd, w, m, prompt)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&m.stream, "stream", false, "show the answer as it comes (default on a terminal)")
	f.BoolVar(&m.json, "json", false, "show the answer as JSON")
	f.BoolVar(&m.thinking, "show-thinking", false, "show the model's thoughts on the standard error")
	a.wishFlags(cmd, w)
	a.placeFlags(cmd)
	a.wireFlags(cmd)
	return cmd
}

// chatOnce asks for one answer.
func (a *app) chatOnce(cmd *cobra.Command, w *wish, m *manner, prompt string) error {
	req, err := a.build(cmd, w, prompt)
	if err != nil {
		return err
	}
	if len(req.Messages) == 0 || prompt == "" && w.request == "" && len(w.images)+len(w.files) == 0 {
		return usage("the prompt is empty: gatewayctl chat PROMPT, or - for the standard input")
	}
	return a.call(cmd.Context(), func(ctx context.Context, l *link) error {
		t, err := a.ask(ctx, l, req, *m)
		if err != nil {
			a.failedMeta(err)
			return err
		}
		a.summary(t)
		return nil
	})
}

// call runs work with a client. A request that was only shown is no error.
func (a *app) call(parent context.Context, work func(context.Context, *link) error) error {
	return interruptible(parent, func(ctx context.Context) error {
		inner, l, err := a.connect(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		err = work(inner, l)
		if l.tap != nil {
			l.tap.Flush()
		}
		if l.dry(inner, err) && ctx.Err() == nil {
			return nil
		}
		return err
	})
}

// failedMeta tells of the attempts behind an error.
func (a *app) failedMeta(err error) {
	if e, ok := errors.AsType[*gateway.Error](err); ok {
		a.remark(&gateway.Meta{Attempts: e.Attempts})
	}
}

const explainLong = `Shows the request that a chat makes: method, URL, headers with secrets
redacted, and the body with long base64 shortened. Nothing is sent, and no
credentials are needed.

With --send it is sent, and what comes back is shown too, for each attempt.
The flags --explain and --dry-run of other commands show theirs.`

const explainExample = `  gatewayctl explain "Say hello."
  gatewayctl explain -m anthropic.claude-sonnet-5 --thinking 2048 "Say hello."
  gatewayctl explain --catalog catalog.json --config pc-fallback --send "Say hello."`

func (a *app) explainCommand() *cobra.Command {
	w, send := &wish{}, false
	m := &manner{silent: true}
	cmd := &cobra.Command{
		Use: "explain [flags] PROMPT|-", Short: "Show what a chat sends, and what comes back", Long: explainLong, Example: explainExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			prompt, err := a.promptOf(args)
			if err != nil {
				return err
			}
			a.conn.shown, a.conn.dryRun, a.conn.explain = true, !send, explainFull
			m.strict = w.strict
			return a.chatOnce(cmd, w, m, prompt)
		},
	}
	cmd.Flags().BoolVar(&send, "send", false, "send the request, and show the answer too")
	cmd.Flags().BoolVar(&m.stream, "stream", false, "as a stream")
	a.wishFlags(cmd, w)
	a.placeFlags(cmd)
	return cmd
}
