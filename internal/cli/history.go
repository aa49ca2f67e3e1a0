package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rumbench/internal/history"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// historyOptions are the flags of `history`.
type historyOptions struct {
	pick   history.Pick
	view   history.View
	asJSON bool
}

func (a *App) historyCommand() *cobra.Command {
	var o historyOptions
	c := &cobra.Command{
		Use:   "history [DIR]",
		Short: "find where the level of numbers changed over the campaigns in a folder",
		Long: `history lines up the numbers of all campaigns in a folder that can be compared
(one plan, workload and parameters, one kind of machine), the oldest first, and
finds the runs at which their level changed. Without --metric it looks at the
headline numbers of each step.`,
		Example: `  rumbench history
  rumbench history /srv/bench --plan nightly --target pebble --step l.i1
  rumbench history --metric write_kb,db_bytes --all
  rumbench history --json | jq 'select(.changes != [])'`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error { return a.history(dirs, o) },
	}
	f := c.Flags()
	f.StringSliceVar(&o.pick.Plans, "plan", nil, "only campaigns of these plans")
	f.StringSliceVar(&o.pick.Targets, "target", nil, "only these targets")
	f.StringSliceVar(&o.pick.Steps, "step", nil, "only these steps")
	f.StringSliceVar(&o.pick.Metrics, "metric", nil, "all numbers of these metrics, not the headline numbers")
	f.Float64Var(&o.view.Least, "least", 1, "print changes of the level by at least so many percent")
	f.BoolVar(&o.view.All, "all", false, "print series without a change too")
	f.BoolVar(&o.asJSON, "json", false, "one line of JSON per series, with all points and changes")
	return c
}

func (a *App) history(dirs []string, o historyOptions) error {
	for _, m := range o.pick.Metrics {
		if metric.ByName(m) == nil {
			return usageError{fmt.Errorf("there is no metric %q; rumbench list metrics names them", m)}
		}
	}
	runs, err := a.findRuns(dirs, o.pick.Plans)
	if err != nil {
		return err
	}
	var trials []*result.Trial
	for _, r := range runs {
		for _, t := range r.Trials {
			trials = append(trials, t.Trial)
		}
	}
	if err := known(trials, o.pick.Steps, o.pick.Targets); err != nil {
		return usageError{err}
	}
	a.tellProblems(runs)
	families := history.Families(runs, o.pick)
	tested := history.Detect(families)
	if o.asJSON {
		return history.JSON(a.Stdout, families)
	}
	return history.Text(a.Stdout, families, tested, o.view)
}

// tellProblems says on standard error what of a folder cannot be read, and what
// is there twice.
func (a *App) tellProblems(runs []*history.Run) {
	for _, r := range runs {
		for _, p := range r.Problems {
			fmt.Fprintf(a.Stderr, "left out: %s: %s\n", r.Dir, p)
		}
		if r.CopyOf != "" {
			fmt.Fprintf(a.Stderr, "left out: %s: a copy of %s\n", r.Dir, r.CopyOf)
		}
	}
}
