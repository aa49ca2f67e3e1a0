package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/doctor"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

type doctorOptions struct {
	dir     string
	seconds float64
	asJSON  bool
	install bool
	yes     bool
	profile bool
}

// maxSeconds is longer than anyone would watch.
const maxSeconds = 3600

func (o *doctorOptions) validate(*cobra.Command, []string) error {
	switch {
	case !(o.seconds > 0 && o.seconds <= maxSeconds):
		return fmt.Errorf("--seconds %v is not between 0 and %d", o.seconds, maxSeconds)
	case o.yes && !o.install:
		return errors.New("--yes says yes to --install: it goes with it only")
	case o.profile && o.install:
		return errors.New("--profile and --install do not go together")
	case o.asJSON && o.install:
		return errors.New("--json and --install do not go together")
	}
	return nil
}

func newDoctorCommand(a *App) *cobra.Command {
	var o doctorOptions
	c := command("doctor", "check whether this host is fit to measure on, and how to fix that",
		args(cobra.NoArgs, o.validate),
		func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a, o, doctor.Servers) })
	f := c.Flags()
	f.StringVar(&o.dir, "dir", ".", "`directory` that the data will lie in, or one on the same disk")
	f.Float64Var(&o.seconds, "seconds", 1, "how long to watch what else runs on the host")
	f.BoolVar(&o.profile, "profile", false, "check only the profile collectors")
	f.BoolVar(&o.asJSON, "json", false, "print a list in JSON")
	f.BoolVar(&o.install, "install", false, "print the commands that install missing programs, and check nothing")
	f.BoolVar(&o.yes, "yes", false, "with --install: run the commands, then check")
	return c
}

// runDoctor checks the host, and the programs returned by find.
func runDoctor(ctx context.Context, a *App, o doctorOptions, find func(context.Context) []doctor.Program) error {
	if o.profile {
		return o.write(a, doctor.Collectors(), nil)
	}
	if o.install {
		if err := install(ctx, a, o.yes, find(ctx)); err != nil || !o.yes {
			return err
		}
	}
	r, err := doctor.Look(ctx, doctor.Options{
		Dir: o.dir, Period: time.Duration(o.seconds * float64(time.Second)), Lock: a.lockFile(),
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	if err := o.write(a, r, find(ctx)); err != nil {
		return err
	}
	if names := r.Bad(); len(names) > 0 {
		return campaign.Unfit("fix what is bad, and run rumbench doctor again", "this host is not fit to measure on: %s",
			strings.Join(names, ", "))
	}
	return nil
}

func (o *doctorOptions) write(a *App, r *doctor.Report, programs []doctor.Program) error {
	if o.asJSON {
		return r.JSON(a.Stdout, programs)
	}
	return r.Text(a.Stdout, programs, min(a.textWidth(), 100))
}

func install(ctx context.Context, a *App, yes bool, programs []doctor.Program) error {
	commands := doctor.InstallCommands(programs, os.Geteuid())
	if len(commands) == 0 {
		fmt.Fprintln(a.Stderr, "nothing is missing")
		return nil
	}
	if !yes {
		for _, c := range commands {
			fmt.Fprintln(a.Stdout, strings.Join(c, " "))
		}
		return nil
	}
	err := doctor.Install(ctx, commands, escape.Raw(a.Stderr))
	if errors.Is(err, exec.ErrNotFound) {
		return hint.With(err, "packages are installed with apt, of Debian and Ubuntu; elsewhere install the programs by "+
			"your own means")
	}
	return err
}
