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
	// A second Ctrl-C ends the program at once; not one that comes with the first,
	// as programs like timeout send to the process and to its group.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	os.Exit(cli.Process().Main(ctx))
}
