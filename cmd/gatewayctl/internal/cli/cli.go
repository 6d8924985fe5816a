// Package cli has the commands of gatewayctl.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/console"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // the call failed, a file has mistakes, answers differ with --exit-code
	exitUsage       = 2   // the command line is wrong
	exitInterrupted = 130 // Ctrl-C or SIGTERM
)

// Process is what a program has of its surroundings.
type Process struct {
	In, Out, Err *os.File
	Getenv       func(string) string
}

// errReported is a failure that was written out already.
var errReported = errors.New("reported")

// usageError is a mistake of the command line.
type usageError struct{ error }

func usagef(err error) error { return usageError{err} }

func usage(text string) error { return usageError{errors.New(text)} }

// app is what the commands share.
type app struct {
	console *console.Console
	getenv  func(string) string
	conn    connection
	quiet   bool
}

// Main runs the command line and returns the exit code.
func Main(args []string, p Process) int {
	a := &app{console: console.New(p.In, p.Out, p.Err, p.Getenv), getenv: p.Getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(writer{a})
	root.SetErr(remarks{a})
	return a.exit(root.ExecuteContext(context.Background()))
}

// writer and remarks are the console for the command library.
type (
	writer  struct{ app *app }
	remarks struct{ app *app }
)

func (w writer) Write(p []byte) (int, error) { return len(p), w.app.console.Out(string(p)) }

func (r remarks) Write(p []byte) (int, error) {
	r.app.console.Say(console.Plain, "%s", p)
	return len(p), nil
}

// exit tells of an error and returns its exit code.
func (a *app) exit(err error) int {
	var wrong usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, console.ErrInterrupted), errors.Is(err, errStopped):
		a.console.Say(console.Dim, "interrupted\n")
		return exitInterrupted
	case errors.As(err, &wrong):
		a.console.Say(console.Red, "error: %s\n", wrong.Error())
		return exitUsage
	}
	a.console.Say(console.Red, "error: %s\n", strings.TrimSpace(err.Error()))
	if hint := hintFor(err); hint != "" {
		a.console.Say(console.Dim, "hint: %s\n", hint)
	}
	return exitFailed
}

// errStopped is the cause of a context that a signal ended.
var errStopped = errors.New("stopped by a signal")

// interruptible runs work that Ctrl-C and SIGTERM end.
func interruptible(parent context.Context, work func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		return errStopped
	}
	return err
}

const rootLong = `gatewayctl tries out, looks at and checks what the gateway does.

It asks Vertex AI with the credentials that gcloud leaves, or those of
--token and --credentials; --emulator needs neither: a platform in the
process answers.

What a command is for goes to the standard output; remarks, progress and
errors go to the standard error. Colours and progress are for terminals;
NO_COLOR, TERM=dumb and CI are honoured.

Environment:
  GOOGLE_CLOUD_PROJECT   project, as --project
  GOOGLE_CLOUD_LOCATION  region, as --region (default global)
  GATEWAYCTL_TOKEN       access token, as --token, but not seen by ps
  GATEWAYCTL_MODEL       model, as --model
  GATEWAYCTL_URL         address of a running front, as --url
  GATEWAYCTL_KEY         its API key, as --key

Exit codes: 0 done; 1 failed; 2 wrong command line; 130 interrupted.`

// root makes the tree of commands.
func (a *app) root() *cobra.Command {
	noColor := false
	root := &cobra.Command{
		Use: "gatewayctl", Short: "Try out, look at and check what the gateway does", Long: rootLong,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			if noColor {
				a.console.NoColours()
			}
		},
	}
	root.PersistentFlags().BoolVar(&noColor, "no-color", false, "no colours, as NO_COLOR in the environment")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no remarks about usage, time and warnings")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(errors.New(err.Error() + "\nsee " + cmd.CommandPath() + " --help"))
	})
	root.AddCommand(a.chatCommand(), a.explainCommand(), a.validateCommand(), a.tokensCommand(), a.modelsCommand(), a.replayCommand(),
		a.logsCommand(), a.embedCommand(), a.imageCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("chat")
	return root
}

// unknownCommand names what was probably meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	text := "unknown command " + `"` + name + `"`
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(text + "\nsee " + cmd.CommandPath() + " --help")
}

// arguments checks how many arguments there are, in words of the command.
func arguments(least, most int, remedy string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usage(remedy + "\nsee " + cmd.CommandPath() + " --help")
		}
		return nil
	}
}

// limitRead reads everything, and fails beyond that many bytes.
func limitRead(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("it is too large")
	}
	return data, err
}
