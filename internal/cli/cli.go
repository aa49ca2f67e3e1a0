package cli

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
)

// The exit codes.
const (
	ExitOK      = 0
	ExitError   = 1
	ExitUsage   = 2
	ExitWorse   = 3 // compare or history found a regression
	ExitInvalid = 4 // a measurement is invalid
	ExitUnfit   = 5 // the machine is not fit to measure on
)

// App is the interface between the commands and the process.
type App struct {
	// Program is the name that hints use for the program, as it was called; "" is
	// rumbench.
	Program        string
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Width is the width of the terminal behind Stderr, 0 if there is none.
	Width func() int
}

// Process returns the App of this process: the only place that uses its standard files,
// arguments and environment.
func Process() *App {
	width := func() int {
		w, _, err := term.GetSize(int(os.Stderr.Fd()))
		if err != nil {
			return 0
		}
		return w
	}
	program := ""
	if strings.ContainsRune(os.Args[0], filepath.Separator) { // its name alone does not find it
		program = os.Args[0]
	}
	return &App{Program: program, Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Width: width}
}

// Interruptible returns a context that ends with Ctrl-C or SIGTERM. A second one ends the
// program at once, unless it comes within a second of the first: programs like timeout signal
// both the process and its group.
func Interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx, stop
}

// interruptible are the commands that end well when their context does. A signal ends others at once.
var interruptible = []string{"agent", "doctor", "fleet", "run", "serve", "stat", "trial", "try"}

// Main runs the command and returns the exit code.
func (a *App) Main(ctx context.Context) int {
	a.Stdout, a.Stderr = escape.NewWriter(a.Stdout), escape.NewWriter(a.Stderr)
	root := Commands(a)
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		ends := func(c *cobra.Command) bool { return slices.Contains(interruptible, c.Name()) }
		if c.HasParent() && !ends(c) && !ends(c.Parent()) {
			signal.Reset(syscall.SIGINT, syscall.SIGTERM)
		}
	}
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	if c == root { // which does nothing itself: the command is unknown
		err = usage(hint.With(err, commandHint(root, a.Args)))
	}
	if exit, ok := errors.AsType[exitError](err); ok && exit.code == ExitUsage && hint.Of(err) == "" {
		err = hint.With(err, helpHint(c))
	}
	return a.explain(err)
}

func commandHint(root *cobra.Command, args []string) string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	const list = "rumbench help lists the commands"
	if len(args) == 0 {
		return list
	}
	return hint.Meant(args[0], names, list)
}

// wrongFlag turns an error about flags into one about the call, with a hint naming the
// flag that was probably meant.
func wrongFlag(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usage(err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	otherwise := helpHint(c)
	if c.Name() == "run" && plan.HasKey(name) {
		otherwise = "it is a key of the plan: --set " + name + "=VALUE"
	}
	return usage(hint.With(err, hint.Meant("--"+name, names, otherwise)))
}

// campaigns checks that a command has arguments, as most do: directories of campaigns.
func campaigns(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return hint.Errorf(latestHint(c), "%s needs directories of campaigns", c.Name())
	}
	return nil
}

// latestHint returns the call of a command with the latest campaign; "" without.
func latestHint(c *cobra.Command) (help string) {
	paths, _ := filepath.Glob(filepath.Join(resultsDir, "*", result.CampaignFile))
	var newest time.Time
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(newest) {
			newest, help = info.ModTime(), "for the latest: "+c.CommandPath()+" "+escape.Argument(filepath.Dir(path))
		}
	}
	return help
}

// dashesHint returns a hint at flags that stand after “--”, where they are arguments; "" if there
// are none.
func dashesHint(args []string) string {
	if i := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "-") }); i >= 0 {
		return args[i] + " stands after --, where nothing is a flag"
	}
	return ""
}

func helpHint(c *cobra.Command) string {
	return "rumbench help" + strings.TrimPrefix(c.CommandPath(), c.Root().Name()) + " shows how it is called"
}

// exitError is an error with its own exit code: ExitUsage if the command was called
// incorrectly, ExitInvalid if a measurement finished but must not be used, ExitWorse if
// a condition of --fail-if holds.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

func usage(err error) error { return exitError{err, ExitUsage} }

func usageErrorf(format string, values ...any) error { return usage(fmt.Errorf(format, values...)) }

// explain prints an error with its hint and returns its exit code.
func (a *App) explain(err error) int {
	if problems, ok := errors.AsType[hint.Problems](err); ok {
		for i := range problems {
			problems[i].Hint = a.asCalled(problems[i].Hint)
		}
		fmt.Fprintln(a.Stderr, secret.Hide(problems.Error()))
		return ExitUsage
	}
	exit, ok := errors.AsType[exitError](err)
	fmt.Fprintf(a.Stderr, "rumbench: %s\n", hint.Shorten(secret.Hide(err.Error())))
	if help := hint.Of(err); help != "" {
		fmt.Fprintf(a.Stderr, "hint: %s\n", a.asCalled(help))
	}
	if _, unfit := errors.AsType[*campaign.UnfitError](err); unfit {
		return ExitUnfit
	}
	if !ok {
		return ExitError
	}
	return exit.code
}

var commandText = regexp.MustCompile(`\brumbench ([a-z])`)

// asCalled returns a hint with its commands as the user can type them.
func (a *App) asCalled(help string) string {
	if a.Program == "" {
		return help
	}
	return commandText.ReplaceAllString(help, strings.ReplaceAll(a.Program, "$", "$$")+" $1")
}

// Commands returns the program with all of its commands.
func Commands(a *App) *cobra.Command {
	root := &cobra.Command{
		Use:           "rumbench",
		Short:         "benchmark database engines: throughput, quality of service and what an operation costs",
		Version:       Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.AddCommand(newRunCommand(a), newReportCommand(a), newCompareCommand(a), newExplainCommand(a), newTableCommand(a),
		newCostCommand(a), newProfileCommand(a), newImportCommand(a), newShowCommand(a), newListCommand(a),
		newSchemaCommand(a), newWorkloadCommand(a), newHistoryCommand(a), newServeCommand(a),
		newSiteCommand(a), newExportCommand(a), newStatCommand(a),
		newDoctorCommand(a), newVersionCommand(a), newTrialCommand(a), newAgentCommand(a),
		newFleetCommand(a))
	addCompletions(root)
	addHelp(root)
	return root
}

// command returns a command with its usage, what it does, the check of its arguments and flags, and what
// it runs.
func command(use, short string, check cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: check, RunE: run}
}

// group returns a command that has only subcommands: alone it asks which.
func group(use, short, question string) *cobra.Command {
	return command(use, short, args(cobra.NoArgs),
		func(*cobra.Command, []string) error { return usage(errors.New(question)) })
}

// args turns a failed check of the arguments, or of flags, into a usage error.
func args(checks ...cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := checkChoices(c); err != nil {
			return usage(err)
		}
		for _, check := range checks {
			if err := check(c, args); err != nil {
				return usage(err)
			}
		}
		return nil
	}
}

// version is set by the linker in released builds.
var version string

// Version returns the version of this binary, with the revision it was built from if the
// build recorded it.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return strings.Trim(cmp.Or(info.Main.Version, "(devel)"), "()")
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	if len(allowed) == 1 {
		return fmt.Errorf("--%s can only be %s, not %q", flag, allowed[0], value)
	}
	return hint.Errorf(hint.Meant(value, allowed, ""), "--%s is one of %s, not %q", flag, strings.Join(allowed, ", "),
		value)
}

// textWidth returns the width for tables on standard output.
func (a *App) textWidth() int {
	if a.Width != nil {
		if w := a.Width(); w > 0 {
			return w
		}
	}
	return 120
}

// defaultLock is shared by all users of a host.
const defaultLock = "/tmp/rumbench.lock"

// lockFile returns the file that a running campaign keeps locked.
func (a *App) lockFile() string { return cmp.Or(a.Getenv("RUMBENCH_LOCK"), defaultLock) }

// help holds the commands' help texts, in a file for each: what the command does and,
// after the line “Examples:”, how it is called. Short texts lack one of the two parts.
//
//go:embed help
var help embed.FS

func addHelp(c *cobra.Command) {
	for _, sub := range c.Commands() {
		addHelp(sub)
	}
	name := strings.TrimPrefix(strings.ReplaceAll(c.CommandPath(), " ", "-"), "rumbench-")
	text, err := help.ReadFile("help/" + name + ".txt")
	if err != nil {
		return // its single line is sufficient
	}
	about, examples, _ := strings.Cut("\n\n"+strings.TrimSuffix(string(text), "\n"), "\n\nExamples:\n")
	c.Long, c.Example = strings.TrimPrefix(about, "\n\n"), examples
}
