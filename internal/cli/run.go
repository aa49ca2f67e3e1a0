package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/cli/doctor"
	"rumbench/internal/cli/progress"
	"rumbench/internal/compare"
	"rumbench/internal/plan"
	"rumbench/internal/report"
	"rumbench/internal/report/serve"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/hint"
)

type runOptions struct {
	out       string
	sets      []string
	dryRun    bool
	calibrate bool
	resume    string
	format    string
	force     bool

	noPreflight, keepGoing, hooks, serve bool
}

func newRunCommand(a *App) *cobra.Command {
	var o runOptions
	c := command("run PLAN", "run a plan and write its report",
		args(func(_ *cobra.Command, args []string) error {
			switch {
			case o.resume == "" && len(args) != 1:
				return hint.Errorf(dashesHint(args), "run wants one plan, not %d", len(args))
			case o.resume != "" && (len(args) > 0 || o.out != "" || len(o.sets) > 0 || o.calibrate):
				return errors.New("--resume continues a campaign as it was begun: it cannot be combined with a plan, --out, " +
					"--set or --calibrate")
			}
			return nil
		}), func(c *cobra.Command, args []string) error {
			if o.resume != "" {
				return resume(c.Context(), a, o)
			}
			return runPlan(c.Context(), a, o, args[0])
		})
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "directory of the campaign, new or empty (default results/NAME-DATE)")
	f.StringArrayVar(&o.sets, "set", nil, "override a key of the plan: `key=value`, as in params.rows=2M; may be repeated")
	f.BoolVar(&o.dryRun, "dry-run", false, "print trials, steps, how long they take and expected sizes, and run nothing")
	f.BoolVar(&o.calibrate, "calibrate", false,
		"run the plan's first target alone, under two names (A/A), to learn the smallest difference that the machine can see")
	f.BoolVar(&o.force, "force", false,
		"let targets with a dsn use a schema that exists, and replace what earlier runs have left in it; let options open a "+
			"private server to others")
	f.BoolVar(&o.noPreflight, "no-preflight", false,
		"begin with the trials, without having run the steps briefly on every target")
	f.BoolVar(&o.hooks, "hooks", false,
		"run the commands that the plan has before and after the campaign, its trials and its steps")
	f.BoolVar(&o.keepGoing, "keep-going", false,
		"run the other trials when one of the plan's first target, the base of comparisons, has failed")
	f.BoolVar(&o.serve, "serve", false, "show the campaign as a page while it runs; the link is printed")
	choice(f, &o.format, "format", "", formatUsage, formatSysbench)
	f.StringVar(&o.resume, "resume", "", "go on with the interrupted campaign in `DIR`")
	return c
}

// loadPlan reads a plan from a file, or a pipe.
func loadPlan(path string, sets []string, options ...plan.Option) (*plan.Plan, error) {
	src, err := regular.ReadText(path)
	if err != nil {
		return nil, usage(hint.With(err, cmp.Or(planHint(path), hint.Of(err))))
	}
	return plan.Load(path, src, sets, catalog.Plugins{}, options...)
}

// planHint returns a hint at the plan that was meant by the path of a missing one: in its folder,
// or in the folder of plans there; "" if there is none.
func planHint(path string) string {
	isPlan := func(path string) bool { return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) }
	near := hint.Paths(path, isPlan)
	if len(near) == 0 {
		near = hint.Paths(filepath.Join(filepath.Dir(path), "plans", filepath.Base(path)), isPlan)
	}
	return hint.AnyOf(near)
}

func runPlan(ctx context.Context, a *App, o runOptions, path string) error {
	c := campaign.Config{Dir: o.out, AA: o.calibrate, Force: o.force}
	err := configure(ctx, a, o, &c, func(options ...plan.Option) (*plan.Plan, error) {
		p, err := loadPlan(path, o.sets, options...)
		if err == nil && o.calibrate {
			return campaign.AgainstItself(p)
		}
		return p, err
	})
	if err != nil {
		return err
	}
	return start(ctx, a, c, o)
}

func resume(ctx context.Context, a *App, o runOptions) error {
	state, err := result.ReadCampaign(o.resume)
	if err != nil {
		return err
	}
	c := campaign.Config{Dir: o.resume, Resume: true, AA: state.AA, Force: o.force || state.Force}
	err = configure(ctx, a, o, &c, func(options ...plan.Option) (*plan.Plan, error) {
		return planOf(o.resume, state, options...)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no %s: an imported or recorded campaign cannot be resumed", o.resume, result.PlanFile)
	}
	if err != nil {
		return err
	}
	return start(ctx, a, c, o)
}

// planOf returns the plan that a campaign was started with.
func planOf(dir string, state *result.Campaign, options ...plan.Option) (*plan.Plan, error) {
	src, err := result.ReadPlan(dir)
	if err != nil {
		return nil, err
	}
	p, err := plan.Load(filepath.Join(dir, result.PlanFile), src, nil, catalog.Plugins{}, options...)
	if err != nil {
		return nil, err
	}
	p.Name = state.Name
	if state.AA {
		return campaign.AgainstItself(p)
	}
	return p, nil
}

// configure completes the configuration of a campaign by its plan, which read reads, and the programs for it.
func configure(ctx context.Context, a *App, o runOptions, c *campaign.Config,
	read func(...plan.Option) (*plan.Plan, error),
) error {
	servers, builds := serverPrograms{fetch: !o.dryRun}, newBuilds(a)
	p, err := servers.load(ctx, a, *c, func(look ...plan.Option) (*plan.Plan, error) {
		return read(append(look, plan.Forced(c.Force), builds.find(ctx))...)
	})
	if err != nil {
		return err
	}
	if c.Dir == "" {
		name := fileName(p.Name)
		if c.AA {
			name += "-calibrate"
		}
		c.Dir = newDir(name)
	}
	c.Plan, c.Programs, c.Builds = p, servers.programs, builds.needed(p)
	c.Command, c.LockFile = append([]string{"rumbench"}, a.Args...), a.lockFile()
	c.Child = func(program string) []string { return []string{program, "trial", "--"} }
	c.Progress, c.InfoOf = progress.New(a.Stderr, a.Width), infoOf
	c.Forecast = forecast.New(p, forecast.Find(p, filepath.Dir(c.Dir), resultsDir))
	c.NoPreflight, c.KeepGoing, c.Enough = o.noPreflight, o.keepGoing, precise(p.Stop.Precision)
	return nil
}

// precise judges whether the trials of a campaign compare as precisely as its
// plan asks for.
func precise(precision float64) func([]*result.Trial) (bool, string) {
	return func(trials []*result.Trial) (bool, string) {
		enough, worst, number := compare.Precise(trials, precision)
		switch {
		case number == "" && !enough:
			return false, "nothing that is asked about can be compared"
		case math.IsInf(worst, 1):
			return false, "nothing is known yet of the precision of " + number
		}
		return enough, fmt.Sprintf("what is asked about is known to ±%.2g %% (the least precise: %s), ±%.2g %% was wanted",
			100*worst, number, 100*precision)
	}
}

// start runs a campaign, printing its steps in the requested format, or describes the
// run it would start.
func start(ctx context.Context, a *App, c campaign.Config, o runOptions) error {
	switch {
	case o.dryRun:
		if err := campaign.Describe(a.Stdout, c); err != nil {
			return err
		}
		if c.Plan.Fleet.Any() {
			return nil
		}
		return campaign.Fits(c)
	case o.serve:
		o.serve = false
		in, name := filepath.Split(filepath.Clean(c.Dir))
		s, err := startServer(ctx, cmp.Or(in, "."), name, "")
		if err != nil {
			return err
		}
		defer s.http.Close()
		fmt.Fprintf(a.Stderr, "to look on: %s\n", s.link(serve.LiveAddress(name)))
		return start(ctx, a, c, o)
	case !o.hooks && (c.Plan.Before.Any() || c.Plan.After.Any()):
		return usage(hint.Errorf("--dry-run shows them; --hooks runs them", "the plan has commands to run (before, after)"))
	case o.format != formatSysbench:
		return execute(ctx, a, c)
	case c.Plan.Order == plan.Duet || c.Plan.Fleet.Any():
		return usageErrorf("--format sysbench goes with no duet and no machines: several trials would print at the same " +
			"time; rumbench show --format sysbench prints them afterwards")
	}
	s := &progress.Sysbench{Progress: progress.New(a.Stderr, nil), Out: a.Stdout, Dir: c.Dir,
		Interval: c.Plan.Interval.Seconds()}
	c.Progress = s
	return errors.Join(execute(ctx, a, c), s.Err())
}

// execute runs the campaign, writes its report and prints the summary. The measurements
// are reported even if the campaign ended early.
func execute(ctx context.Context, a *App, c campaign.Config) error {
	if !c.Plan.Fleet.Any() {
		if f := doctor.LookForOthers(ctx, time.Second); f != nil {
			word := map[doctor.Status]string{doctor.Bad: "its numbers will be worthless", doctor.Warn: "its numbers will vary"}
			fmt.Fprintf(a.Stderr, "this machine is not idle, so that %s: others use %s; %s\n",
				word[f.Status], f.Found, f.Fix)
		}
	}
	end, err := onMachines(ctx, &c)
	if err != nil {
		return err
	}
	defer end()
	state, err := campaign.Run(ctx, c)
	summary := a.Stdout
	if _, data := c.Progress.(*progress.Sysbench); data {
		summary = a.Stderr // standard output carries the data
	}
	c.Progress.(interface{ Clear() }).Clear()
	if state == nil {
		return err
	}
	if rerr := summarize(summary, a.textWidth(), c.Dir); rerr != nil {
		return cmp.Or(err, rerr)
	}
	invalid := func(e result.Entry) bool { return e.Status == result.Invalid }
	if errors.Is(err, campaign.ErrIncomplete) && slices.ContainsFunc(state.Trials, invalid) {
		return exitError{err, ExitInvalid}
	}
	if err != nil || !c.AA {
		return err
	}
	trials, err := readCampaign(c.Dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout)
	return verdict.Calibration(a.Stdout, trials)
}

// summarize writes the report of a campaign into its directory, and prints the summary
// and the path of the report.
func summarize(w io.Writer, width int, dir string) error {
	in, err := reportInput(dir)
	if err != nil {
		return nil // nothing was measured; the campaign's own error states the reason
	}
	html, err := writeReport(in, dir, false)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := report.Text(w, in, width); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nreport: %s\n", absolute(html))
	return err
}
