package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/progress"
	"rumbench/internal/compare"
	"rumbench/internal/fleet"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/run/campaign"
	"rumbench/internal/stat"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

func newFleetCommand(a *App) *cobra.Command {
	c := group("fleet up|status|check|down|manifest PLAN",
		"the machines of a plan: prepare them, look at them, clear them",
		"fleet up, status, check, down or manifest, with a plan")
	sub := func(use, short string, do func(ctx context.Context, p *plan.Plan, f *fleet.Coordinator) error) {
		c.AddCommand(command(use+" PLAN", short, args(cobra.ExactArgs(1)),
			func(c *cobra.Command, args []string) error { return withFleet(c.Context(), a, args[0], do) }))
	}
	status := func(ctx context.Context, _ *plan.Plan, f *fleet.Coordinator) error {
		return page.Text(a.Stdout, []page.Block{machineTable(f.Reports(ctx))},
			page.TextStyle{Width: a.textWidth(), Wrap: true})
	}
	sub("up", "copy rumbench to the machines, so that a run need not", status)
	sub("status", "which machines can be used, what runs on them and what is left on them", status)
	sub("check", "whether the machines are alike and have what the plan needs",
		func(ctx context.Context, p *plan.Plan, f *fleet.Coordinator) error {
			if err := status(ctx, p, f); err != nil {
				return err
			}
			builds := newBuilds(a)
			for i := range p.Targets {
				if _, err := builds.checked(ctx, &p.Targets[i]); err != nil {
					return err
				}
			}
			if _, err := f.Check(ctx, p, builds.needed(p), fleet.Flags{}); err != nil {
				return err
			}
			which := "each has"
			if p.Fleet.Divided() {
				which = "those of servers have"
			}
			fmt.Fprintf(a.Stdout, "\n%s: %s the programs of the plan's servers, and they are alike where that matters\n\n",
				quantity.Count(len(p.Fleet.Used()), "machine"), which)
			return errors.Join(paths(ctx, a, p, f), gauge(ctx, a, p, f))
		})
	sub("down", "remove what rumbench has left on the machines, but nothing of a campaign that runs",
		func(ctx context.Context, p *plan.Plan, f *fleet.Coordinator) error {
			if err := f.Clear(ctx); err != nil {
				return err
			}
			return status(ctx, p, f)
		})
	c.AddCommand(newManifestCommand(a))
	return c
}

// newManifestCommand returns the command that prints what starts the agents of machines that join.
func newManifestCommand(a *App) *cobra.Command {
	var slurm, kubernetes bool
	var image, cpus, memory string
	c := command("manifest PLAN --slurm|--kubernetes",
		"print what starts the agents of machines that join, for Slurm or Kubernetes",
		args(cobra.ExactArgs(1)), func(_ *cobra.Command, args []string) error {
			p, err := loadPlan(args[0], nil)
			if err != nil {
				return err
			}
			own, err := ownBuild().Of(executable())
			if err != nil {
				return err
			}
			m, err := fleet.NewManifest(p, own.Path)
			m.Image, m.CPUs, m.Memory = image, cpus, memory
			switch {
			case err != nil:
				return usage(err)
			case slurm == kubernetes:
				return usageErrorf("one of --slurm and --kubernetes")
			case slurm:
				return m.Slurm(a.Stdout)
			case image == "" || cpus == "" || memory == "":
				return usageErrorf("a pod needs --image, --cpus and --memory")
			}
			return m.Kubernetes(a.Stdout)
		})
	c.Flags().BoolVar(&slurm, "slurm", false, "a batch script for Slurm")
	c.Flags().BoolVar(&kubernetes, "kubernetes", false, "manifests for Kubernetes")
	c.Flags().StringVar(&image, "image", "", "the image of pods, with this rumbench and the servers of the plan")
	c.Flags().StringVar(&cpus, "cpus", "", "the processors of a pod, as in 8")
	c.Flags().StringVar(&memory, "memory", "", "the memory of a pod, as in 32Gi")
	return c
}

// paths measures the network between machines of clients and of private servers.
func paths(ctx context.Context, a *App, p *plan.Plan, f *fleet.Coordinator) error {
	var rows [][]string
	var all error
	for _, path := range f.Paths(ctx, p) {
		all = errors.Join(all, path.Err)
		row := []string{path.Client + " to " + path.Server, quantity.Unknown, quantity.Unknown}
		if path.Err == nil {
			row[1], row[2] = quantity.Nanos(float64(path.Trip)), quantity.Bytes(path.BytesPerS)+"/s"
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	t := page.WordTable([]string{"network", "round trip", "one connection carries"}, rows...)
	err := page.Text(a.Stdout, []page.Block{t}, page.TextStyle{Width: a.textWidth()})
	fmt.Fprintln(a.Stdout)
	if all != nil {
		all = hint.With(all, "other machines must reach the address of listen, at any port")
	}
	return errors.Join(err, all)
}

// benchmarkRounds is how often fleet check measures each machine.
const benchmarkRounds = 5

// gauge measures the machines of a plan, without a database, and names those that are not as fast as the
// others.
func gauge(ctx context.Context, a *App, p *plan.Plan, f *fleet.Coordinator) error {
	benchmarks, err := f.Benchmark(ctx, p.Name, benchmarkRounds)
	if err != nil {
		return err
	}
	var rows [][]string
	logs := map[string][]float64{}
	for i, g := range benchmarks {
		name := p.Fleet.Used()[i].Name
		var own []float64
		for _, rate := range g.Rates {
			own = append(own, math.Log(rate))
		}
		if !p.Fleet.Serves(name) { // it has no clients
			logs[name] = own
		}
		row := []string{name, quantity.Digits(math.Exp(stat.Mean(own))) + "/s", quantity.Unknown, quantity.Unknown}
		if c := g.Ceilings; c != nil {
			row[2], row[3] = quantity.Digits(c.Reads)+"/s", quantity.Digits(c.Flushes)+"/s"
		}
		rows = append(rows, row)
	}
	t := page.WordTable([]string{"machine", "null engine", "reads of 4 KiB", "flushes"}, rows...)
	if err := page.Text(a.Stdout, []page.Block{t}, page.TextStyle{Width: a.textWidth()}); err != nil {
		return err
	}
	for _, m := range compare.MachinesOff(logs) {
		fmt.Fprintf(a.Stdout, "\n%s is %s as fast as the others (%s to %s) on the null engine: see what differs, or leave "+
			"it out\n", m.Name, quantity.Times(m.Ratio), quantity.Times(m.Low), quantity.Times(m.High))
	}
	return nil
}

// withFleet does something with the machines of a plan. Those that cannot be used are reported after it.
func withFleet(ctx context.Context, a *App, path string,
	do func(ctx context.Context, p *plan.Plan, f *fleet.Coordinator) error,
) error {
	p, err := loadPlan(path, nil)
	if err != nil {
		return err
	}
	if !p.Fleet.Any() {
		return usage(hint.Errorf("machines: and spread: name them", "plan %s runs on this machine alone", p.Name))
	}
	f, unusable, err := startFleet(ctx, p, progress.New(a.Stderr, nil))
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(do(ctx, p, f), unusable)
}

// startFleet starts an agent on each machine of a plan. unusable is about those where it could not.
func startFleet(ctx context.Context, p *plan.Plan, shown campaign.Progress) (f *fleet.Coordinator,
	unusable, err error) {
	own, err := ownBuild().Of(executable())
	if err != nil {
		return nil, nil, err
	}
	f, unusable = fleet.Start(ctx, &p.Fleet, own, shown.Note)
	if f == nil {
		return nil, nil, unusable
	}
	return f, unusable, nil
}

func machineTable(reports []fleet.Report) page.Table {
	var rows [][]string
	for _, r := range reports {
		place := cmp.Or(r.Host.SSH, "joins")
		if r.Err != nil {
			rows = append(rows, []string{r.Host.Name, place, "cannot be used", "", "", ""})
			continue
		}
		left := "nothing"
		if n := len(r.Hello.Left); n > 0 {
			left = quantity.Count(n, "campaign") + " in " + filepath.Dir(r.Hello.Left[0])
		}
		rows = append(rows, []string{r.Host.Name, place, cmp.Or(r.Hello.Build.Version, quantity.Unknown),
			cmp.Or(strings.TrimSpace(r.Hello.Busy), "free"), left, r.Trip.Round(10 * time.Microsecond).String()})
	}
	return page.WordTable([]string{"machine", "ssh", "rumbench", "runs", "left", "round trip"}, rows...)
}

// onMachines gives a campaign the machines of its plan, with an agent on each; the function that it
// returns ends them.
func onMachines(ctx context.Context, c *campaign.Config) (end func(), err error) {
	if !c.Plan.Fleet.Any() {
		return func() {}, nil
	}
	f, unusable, err := startFleet(ctx, c.Plan, c.Progress)
	if err != nil {
		return nil, err
	}
	if err = unusable; err != nil && c.Resume {
		err = f.LeaveOut()
	}
	if err == nil {
		c.Programs, err = f.Check(ctx, c.Plan, c.Builds, fleet.Flags{Force: c.Force, AA: c.AA, NoPreflight: c.NoPreflight})
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	c.Machines = f.Machines(c.Dir)
	return f.Close, nil
}
