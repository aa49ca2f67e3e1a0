// Package cli is the command line: it reads flags, calls the other packages and
// prints. Standard output is data, standard error is talk.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"rumbench/internal/campaign"
	"rumbench/internal/hint"
	"rumbench/internal/plain"
	"rumbench/internal/plan"
	"rumbench/internal/result"
)

// The exit codes.
const (
	ExitOK      = 0
	ExitError   = 1
	ExitUsage   = 2
	ExitWorse   = 3 // compare found a regression
	ExitInvalid = 4 // a measurement is invalid
	ExitUnfit   = 5 // the machine is not fit to measure on
)

// App is everything that commands have to do with the process.
type App struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Width is the width of the terminal behind Stderr, 0 if there is none.
	Width func() int
}

// Main runs the command and returns the exit code.
func (a *App) Main(ctx context.Context) int {
	a.Stdout, a.Stderr = plain.NewWriter(a.Stdout), plain.NewWriter(a.Stderr)
	root := a.root()
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if c == root { // which does nothing itself: there is no such command
		err = usageError{err}
	}
	return a.explain(err)
}

// usageError is an error in how the command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// explain prints an error with its hint and returns its exit code.
func (a *App) explain(err error) int {
	var problems plan.Problems
	if errors.As(err, &problems) {
		fmt.Fprintln(a.Stderr, problems.Error())
		return ExitUsage
	}
	fmt.Fprintf(a.Stderr, "rumbench: %v\n", err)
	if h := hint.Of(err); h != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", h)
	}
	var usage usageError
	var unfit *campaign.UnfitError
	var invalid *invalidError
	var regression *regressionError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(a.Stderr, "hint: rumbench help tells the commands, rumbench help COMMAND its flags")
		return ExitUsage
	case errors.As(err, &unfit):
		return ExitUnfit
	case errors.As(err, &regression):
		return ExitWorse
	case errors.As(err, &invalid):
		return ExitInvalid
	}
	return ExitError
}

// invalidError says that a measurement ran to its end but must not be used.
type invalidError struct{ error }

func (e *invalidError) Unwrap() error { return e.error }

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rumbench",
		Short: "benchmark database engines: throughput, quality of service and what an operation costs",
		Long: `rumbench runs workloads on database engines and reports side by side throughput,
quality of service and the hardware that one operation costs.

Exit status: 0 all went well; 1 an error; 2 a wrong call or a wrong plan;
3 compare found a regression; 4 a measurement is invalid; 5 the machine is not fit for it.`,
		Version:       Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(a.runCommand(), a.reportCommand(), a.compareCommand(), a.tableCommand(), a.importCommand(), a.showCommand(), a.listCommand(), a.historyCommand(), a.exportCommand(), a.statCommand(), a.doctorCommand(), a.trialCommand())
	return root
}

// args makes a wrong number of arguments a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// Version is the version of this binary, as far as its build tells.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version, revision, modified := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = " " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " modified"
		}
	}
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	return version + revision + modified
}

// input reads the campaign that a directory holds.
func readCampaign(dir string) (*result.Campaign, []*result.Trial, []string, error) {
	c, err := result.ReadCampaign(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	trials, dirs, err := result.ReadTrials(dir, c)
	if err == nil && len(trials) == 0 {
		err = fmt.Errorf("%s: no trial has been begun", dir)
	}
	return c, trials, dirs, err
}

// create creates a file that a command was asked to write, or says why not.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(plain.NewWriter(f)); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Close()
}
