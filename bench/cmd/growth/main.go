// Command growth measures how costs grow, and writes docs/growth.md.
//
//	go -C bench run ./cmd/growth
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/b650d4bf/gateway/bench/growth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := growth.Main(ctx, os.Args[1:], os.Stdout, os.Stderr) //nolint:forbidigo // the one place that knows the program's streams
	stop()
	os.Exit(code) //nolint:forbidigo // and ends it
}
