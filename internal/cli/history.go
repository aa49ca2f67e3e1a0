package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/compare/history"
	"rumbench/internal/report/trend"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// historyOptions are the flags of `history`.
type historyOptions struct {
	pick   history.Pick
	view   trend.View
	asJSON bool
}

func newHistoryCommand(a *App) *cobra.Command {
	var o historyOptions
	c := &cobra.Command{
		Use:   "history [DIR]",
		Short: "find where the level of numbers changed over the campaigns in a folder",
		Args:  args(cobra.MaximumNArgs(1), func(*cobra.Command, []string) error { return resolve(&o.pick.Metrics) }),
		RunE:  func(_ *cobra.Command, dirs []string) error { return runHistory(a, o, dirs) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.pick.Plans, "plan", nil, "only campaigns of these plans")
	f.StringSliceVar(&o.pick.Targets, "target", nil, "only these targets")
	f.StringSliceVar(&o.pick.Steps, "step", nil, "only these steps")
	f.StringSliceVar(&o.pick.Metrics, "metric", nil, "all numbers of these metrics, not the headline numbers")
	f.Float64Var(&o.view.Least, "least", 1, "print changes of the level by at least this many percent")
	f.BoolVar(&o.view.All, "all", false, "print series without a change too")
	f.BoolVar(&o.asJSON, "json", false, "one line of JSON per series, with all points and changes")
	return c
}

func runHistory(a *App, o historyOptions, dirs []string) error {
	runs, err := findRuns(a.Stderr, dirs, o.pick.Plans)
	if err != nil {
		return err
	}
	var trials []*result.Trial
	for _, r := range runs {
		for _, t := range r.Trials {
			trials = append(trials, t.Trial)
		}
	}
	chosen := selection{steps: o.pick.Steps, targets: o.pick.Targets}
	if err := chosen.check(trials); err != nil {
		return err
	}
	printProblems(a.Stderr, runs)
	families := history.Families(runs, o.pick)
	tested := history.Detect(families)
	if o.asJSON {
		return history.JSON(a.Stdout, families)
	}
	return trend.Text(a.Stdout, families, tested, o.view)
}

// printProblems prints the parts of a folder that are left out: unreadable ones, and
// copies.
func printProblems(w io.Writer, runs []*history.Run) {
	for _, r := range runs {
		for _, p := range r.Remarks() {
			fmt.Fprintf(w, "left out: %s: %s\n", r.Dir, p)
		}
	}
}

// findRuns returns the campaigns of the plans in the one directory given, or in the
// folder in which `run` creates them.
func findRuns(stderr io.Writer, dirs, plans []string) ([]*history.Run, error) {
	dir := resultsDir
	if len(dirs) > 0 {
		dir = dirs[0]
	}
	runs, err := history.Find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(err, "name a folder with campaigns; rumbench run makes them in "+resultsDir+
			" unless --out says otherwise")
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range runs {
		if r.Campaign != nil {
			names = compare.AppendNew(names, r.Campaign.Name)
		}
	}
	if err := known(dir+" has no campaign of a plan", plans, names); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs,
		func(r *history.Run) bool { return r.Campaign != nil && !among(plans, r.Campaign.Name) })
	if len(runs) == 0 {
		fmt.Fprintf(stderr, "there is no campaign in %s\n", dir)
	}
	return runs, nil
}
