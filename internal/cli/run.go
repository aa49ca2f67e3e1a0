package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/campaign"
	"rumbench/internal/plan"
	"rumbench/internal/registry"
	"rumbench/internal/report"
	"rumbench/internal/result"
	"rumbench/internal/server"
	"rumbench/internal/ui"
)

type runOptions struct {
	out       string
	sets      []string
	dryRun    bool
	calibrate bool
	resume    string
	format    string
	force     bool
}

func (a *App) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "run a plan and write its report",
		Example: `  rumbench run plans/quick.yaml
  rumbench run plans/quick.yaml --out results/mine --set params.rows=2M --set trials=3
  rumbench run plans/quick.yaml --dry-run
  rumbench run plans/sysbench.yaml --format sysbench | tee run.log
  rumbench run plans/quick.yaml --calibrate --set trials=10
  rumbench run --resume results/mine`,
		Args: args(func(_ *cobra.Command, args []string) error {
			switch {
			case o.resume == "" && len(args) != 1:
				return fmt.Errorf("run wants one plan, not %d", len(args))
			case o.resume != "" && (len(args) > 0 || o.out != "" || len(o.sets) > 0 || o.calibrate):
				return errors.New("--resume goes on with a campaign as it was begun: it goes with no plan, --out or --set, nor --calibrate")
			}
			return knownFormat(o.format)
		}),
		RunE: func(c *cobra.Command, args []string) error {
			if o.resume != "" {
				return a.resume(c.Context(), o)
			}
			return a.run(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "directory of the campaign, which must not exist (default results/NAME-DATE)")
	f.StringArrayVar(&o.sets, "set", nil, "override a key of the plan: `key=value`, as in params.rows=2M; may be repeated")
	f.BoolVar(&o.dryRun, "dry-run", false, "print trials, steps and expected sizes, and run nothing")
	f.BoolVar(&o.calibrate, "calibrate", false, "run the plan's first target alone, under two names (A/A), to learn the smallest difference that this machine can see")
	f.BoolVar(&o.force, "force", false, "let targets with a dsn use a schema that exists, and replace the workload's tables in it; let options open a private server to others")
	f.StringVar(&o.format, "format", "", formatUsage)
	f.StringVar(&o.resume, "resume", "", "go on with the interrupted campaign in `DIR`")
	return c
}

// mostPlan is where reading a plan ends, whatever it comes from: a longer one is refused.
const mostPlan = 1 << 20

// lookedAt are the programs of the servers that a plan's targets start.
type lookedAt []server.Found

// look looks at the program of a server. If it cannot be used, the engine says so
// when it checks the target.
func (p *lookedAt) look(ctx context.Context) plan.Option {
	return plan.Looking(func(kind, binary string) {
		asked := func(f server.Found) bool { return f.Kind == kind && f.Binary == binary }
		if slices.ContainsFunc(*p, asked) {
			return
		}
		if f, err := server.Look(ctx, kind, binary); err == nil {
			*p = append(*p, f)
		}
	})
}

// loadPlan reads a plan from a file, or a pipe.
func loadPlan(path string, sets []string, options ...plan.Option) (*plan.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, mostPlan))
	if err != nil {
		return nil, err
	}
	return plan.Load(path, src, sets, registry.Catalog{}, options...)
}

func (a *App) run(ctx context.Context, path string, o runOptions) error {
	var found lookedAt
	p, err := loadPlan(path, o.sets, plan.Forced(o.force), found.look(ctx))
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	name := fileName(p.Name)
	if o.calibrate {
		if p, err = campaign.Twice(p); err != nil {
			return err
		}
		name += "-calibrate"
	}
	if o.out == "" {
		o.out = filepath.Join("results", name+"-"+time.Now().Format("20060102-150405"))
	}
	c := a.config(p, o)
	c.AA, c.Programs = o.calibrate, found
	return a.startAs(ctx, c, o)
}

// start runs a campaign, or tells what it would do.
func (a *App) start(ctx context.Context, c campaign.Config, dryRun bool) error {
	if !dryRun {
		return a.execute(ctx, c)
	}
	if err := campaign.Describe(a.Stdout, c); err != nil {
		return err
	}
	return campaign.Fits(c)
}

// planOf is the plan that a campaign was begun with.
func planOf(dir string, state *result.Campaign, options ...plan.Option) (*plan.Plan, error) {
	src, err := result.ReadPlan(dir)
	if err != nil {
		return nil, err
	}
	p, err := plan.Load(filepath.Join(dir, result.PlanFile), src, state.Sets, registry.Catalog{}, options...)
	if err != nil {
		return nil, err
	}
	p.Name = state.Name
	if state.AA {
		return campaign.Twice(p)
	}
	return p, nil
}

// fileName makes a plan's name fit for a directory.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r < ' ' {
			return '-'
		}
		return r
	}, name)
}

func (a *App) resume(ctx context.Context, o runOptions) error {
	state, err := result.ReadCampaign(o.resume)
	if err != nil {
		return err
	}
	var found lookedAt
	p, err := planOf(o.resume, state, plan.Forced(state.Force || o.force), found.look(ctx))
	if err != nil {
		return err
	}
	o.out = o.resume
	c := a.config(p, o)
	c.Resume, c.AA, c.Programs = true, state.AA, found
	return a.startAs(ctx, c, o)
}

// defaultLock is shared by all users of a host.
const defaultLock = "/tmp/rumbench.lock"

func (a *App) config(p *plan.Plan, o runOptions) campaign.Config {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return campaign.Config{
		Plan: p, Dir: o.out, Command: append([]string{"rumbench"}, a.Args...),
		Child: []string{exe, "trial"}, LockFile: a.lockFile(), Progress: ui.New(a.Stderr, a.Width),
		SpaceFactor: func(name string) (float64, int64) {
			e, _ := registry.Catalog{}.Engine(name)
			return e.Info().SpaceFactor, e.Info().SpaceBase
		},
		Force: o.force, Enough: precise(p.Stop.Precision),
	}
}

// execute runs the campaign, writes its report and prints the summary. What
// was measured is reported also when the campaign ended early.
func (a *App) execute(ctx context.Context, c campaign.Config) error {
	state, err := campaign.Run(ctx, c)
	summary := a.Stdout
	if _, data := c.Progress.(*ui.Sysbench); data {
		summary = a.Stderr // standard output has the data
	}
	c.Progress.(interface{ Clear() }).Clear()
	if state == nil {
		return err
	}
	if rerr := a.writeReports(c.Dir, summary); rerr != nil {
		if err == nil {
			err = rerr
		}
		return err
	}
	if errors.Is(err, campaign.ErrIncomplete) {
		for _, e := range state.Trials {
			if e.Status == result.Invalid {
				err = &invalidError{err}
				break
			}
		}
	}
	if err == nil && c.AA {
		return a.afterCalibrate(c.Dir)
	}
	return err
}

// writeReports writes the report of a campaign into its directory, and prints
// the summary and where the report is.
func (a *App) writeReports(dir string, w io.Writer) error {
	in, err := reportInput(dir)
	if err != nil {
		return nil // nothing was measured; why is told elsewhere
	}
	if err := writeReport(in, filepath.Join(dir, result.ReportFile), filepath.Join(dir, result.MarkdownFile)); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := report.Text(w, in, a.textWidth()); err != nil {
		return err
	}
	path, err := filepath.Abs(filepath.Join(dir, result.ReportFile))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nreport: %s\n", path)
	return nil
}

// textWidth is the width for tables on standard output.
func (a *App) textWidth() int {
	if a.Width != nil {
		if w := a.Width(); w > 0 {
			return w
		}
	}
	return 120
}
