// Command rumbench benchmarks database engines.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rumbench/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the program at once, unless it comes within a second of
	// the first: programs like timeout signal both the process and its group.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	os.Exit(cli.Process().Main(ctx))
}
