// Command rumbench benchmarks database engines.
package main

import (
	"os"

	"rumbench/internal/cli"
)

func main() {
	ctx, stop := cli.Interruptible()
	defer stop()
	os.Exit(cli.Process().Main(ctx))
}
