// Command gatewayctl tries out, looks at and checks what the gateway does: chats,
// the requests behind them, catalogs, configs and prompts, models, tokens, and
// calls that were logged. docs/gatewayctl.md has its help.
package main

import (
	"os"

	"github.com/b650d4bf/gateway/cmd/gatewayctl/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}))
}
