package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway"
	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
)

const sessionHelp = `/reset        forget the conversation, but for the system message
/model NAME   ask another model from now on; without a name, tell which
/system TEXT  replace the system message
/save FILE    write the conversation as a request, for chat --request
/help         this list
/quit         end, as Ctrl-D
Ctrl-C ends the answer. A line that ends with \ goes on in the next one.
`

// session is a conversation at a terminal.
type session struct {
	app     *app
	link    *link
	req     *gateway.ChatCompletionRequest
	manner  manner
	lines   *console.LineReader
	history []gateway.Message // without the turn under way
}

// errQuit ends a session.
var errQuit = errors.New("quit")

// converse asks for prompts until the input ends.
func (a *app) converse(cmd *cobra.Command, w *wish, m *manner) error {
	if m.json {
		return usage("--json needs a prompt")
	}
	req, err := a.build(cmd, w, "")
	if err != nil {
		return err
	}
	// A signal for the program, not for an answer, is not lost, and not its end.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	whole, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
	defer stop()
	ctx, l, err := a.connect(whole)
	if err != nil {
		return err
	}
	defer l.Close()
	s := &session{app: a, link: l, req: req, manner: *m, lines: a.console.NewLineReader(), history: req.Messages}
	a.console.Say(console.Dim, "%s, /help for help, Ctrl-D ends\n", req.Model)
	for {
		err := s.turn(ctx)
		switch {
		case errors.Is(err, errQuit), errors.Is(err, io.EOF):
			return nil
		case whole.Err() != nil:
			return errStopped
		case err != nil:
			return err
		}
	}
}

// turn reads a line and does what it says.
func (s *session) turn(ctx context.Context) error {
	line, err := s.lines.Read(ctx, "> ")
	switch line = strings.TrimSpace(line); {
	case errors.Is(err, console.ErrInterrupted):
		return nil
	case err != nil:
		return err
	case line == "":
		return nil
	case strings.HasPrefix(line, "/"):
		return s.command(line)
	}
	turns := append(slices.Clip(s.history), gateway.UserMessage(line))
	return s.answer(ctx, turns)
}

// answer asks until the model has no more calls, and keeps the turns when it has
// answered.
func (s *session) answer(ctx context.Context, turns []gateway.Message) error {
	for {
		s.req.Messages = turns
		message, err := s.ask(ctx)
		if err != nil || message == nil {
			return err
		}
		turns = append(turns, *message)
		if len(message.ToolCalls) == 0 {
			s.history = turns
			return nil
		}
		results, err := s.results(ctx, message.ToolCalls)
		if errors.Is(err, console.ErrInterrupted) {
			s.app.console.Say(console.Yellow, "the turn is forgotten\n")
			return nil
		}
		if err != nil {
			return err
		}
		turns = append(turns, results...)
	}
}

// ask asks for one message, and returns nil when there is none: an error of the
// call was told, and the conversation goes on.
func (s *session) ask(parent context.Context) (*gateway.Message, error) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt)
	defer stop()
	t, err := s.app.ask(ctx, s.link, s.req, s.manner)
	switch {
	case parent.Err() != nil:
		return nil, errQuit
	case err != nil && ctx.Err() != nil:
		s.app.console.Say(console.Yellow, "\nstopped; the turn is forgotten\n")
		return nil, nil //nolint:nilnil // no message, and that is no error
	case err != nil:
		s.app.failedMeta(err)
		s.app.exit(err)
		return nil, nil //nolint:nilnil // likewise
	}
	s.app.summary(t)
	if len(t.answer.Choices) == 0 {
		return nil, nil //nolint:nilnil // likewise
	}
	return &t.answer.Choices[0].Message, nil
}

// results asks for what the tools give.
func (s *session) results(ctx context.Context, calls []gateway.ToolCall) ([]gateway.Message, error) {
	var out []gateway.Message
	for _, c := range calls {
		s.app.console.Say(console.Cyan, "what does %s give?\n", c.Function.Name)
		text, err := s.lines.Read(ctx, "= ")
		if err != nil {
			return nil, err
		}
		m := gateway.ToolMessage(c.ID, text)
		m.Name = c.Function.Name
		out = append(out, m)
	}
	return out, nil
}

// command does what a line with a slash says.
func (s *session) command(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	say := func(format string, args ...any) { s.app.console.Say(console.Cyan, format+"\n", args...) }
	switch name {
	case "/quit", "/exit":
		return errQuit
	case "/help":
		say("%s", strings.TrimSuffix(sessionHelp, "\n"))
	case "/reset":
		s.history = slices.DeleteFunc(slices.Clone(s.history), func(m gateway.Message) bool { return m.Role != gateway.RoleSystem })
		say("forgotten")
	case "/model":
		if rest != "" {
			s.req.Model = rest
		}
		say("model %s", s.req.Model)
	case "/system":
		s.req.Messages = s.history
		if err := s.app.applySystem(s.req, rest); err != nil {
			say("%s", err)
			return nil
		}
		s.history = s.req.Messages
		say("system message replaced")
	case "/save":
		if err := s.save(rest); err != nil {
			say("%s", err)
			return nil
		}
		say("saved %d messages to %s", len(s.history), rest)
	default:
		say("there is no %s: /help lists what there is", name)
	}
	return nil
}

// save writes the conversation with its signatures, so that it can go on.
func (s *session) save(path string) error {
	if path == "" {
		return errors.New("/save FILE")
	}
	req := *s.req
	req.Messages = s.history
	data, err := json.MarshalIndent(req, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("not saved: %w", err)
	}
	return nil
}
