package cli

import (
	"context"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/fleet"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/server"
	"rumbench/internal/text/escape"
)

// newAgentCommand returns the command that rumbench run starts on each machine of a fleet.
func newAgentCommand(a *App) *cobra.Command {
	var stdio bool
	var pass, name string
	c := command("agent --join FILE", "run trials on this machine for another rumbench, whose run has written the file",
		args(cobra.NoArgs), func(c *cobra.Command, _ []string) error {
			if stdio == (pass != "") {
				return usageErrorf("an agent joins with the file that rumbench run names: --join FILE")
			}
			// When the connection is gone, what it has started must still end cleanly.
			signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
			own, err := ownBuild().Of(executable())
			if err != nil {
				return err
			}
			local := fleet.Local{
				Build: own, LockFile: a.lockFile(), InfoOf: infoOf,
				EngineOf: func(name string) engine.Engine { e, _ := catalog.Plugins{}.Engine(name); return e },
				Load: func(ctx context.Context, dir string, f fleet.Flags, part bool) (*plan.Plan, []server.Found, error) {
					return loadOnMachine(ctx, a, dir, f, part)
				},
			}
			if pass != "" {
				return fleet.Join(c.Context(), local, pass, name, func(text string) { fmt.Fprintln(a.Stderr, text) })
			}
			return fleet.Serve(c.Context(), local, a.Stdin, escape.Raw(a.Stdout))
		})
	c.Flags().BoolVar(&stdio, "stdio", false, "serve the rumbench at standard input and output")
	_ = c.Flags().MarkHidden("stdio") // rumbench run uses it, by ssh
	c.Flags().StringVar(&pass, "join", "", "join the rumbench that has written this file")
	c.Flags().StringVar(&name, "as", "", "the name of this machine in the plan, if nothing numbers it")
	return c
}

// loadOnMachine reads the plan in a directory, with the servers' programs that are on this machine, unless it
// has only clients.
func loadOnMachine(ctx context.Context, a *App, dir string, f fleet.Flags, part bool) (*plan.Plan, []server.Found,
	error) {
	found := serverPrograms{fetch: true}
	load := func(extra ...plan.Option) (*plan.Plan, error) {
		return loadPlan(filepath.Join(dir, result.PlanFile), nil, append(extra, plan.Forced(f.Force), plan.OnMachine())...)
	}
	var p *plan.Plan
	var err error
	if part {
		p, err = load()
	} else {
		p, err = found.load(ctx, a, campaign.Config{Dir: dir, Resume: true}, load)
	}
	if err == nil && f.AA {
		p, err = campaign.AgainstItself(p)
	}
	return p, found.programs, err
}

// infoOf returns the description of a target's engine.
func infoOf(t *plan.Target) engine.Info {
	e, _ := catalog.Plugins{}.Engine(t.Engine)
	return engine.InfoOf(e, t.Config)
}
