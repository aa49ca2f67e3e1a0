// Command rumbench benchmarks database engines.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rumbench/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(cli.Process().Main(ctx))
}
