package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
)

func (a *App) showCommand() *cobra.Command {
	var asJSON, plans bool
	var format string
	var steps, metrics, targets []string
	c := &cobra.Command{
		Use:   "show DIR",
		Short: "print the numbers of a campaign or trial",
		Example: `  rumbench show results/mine
  rumbench show results/mine --metric write_kb --step l.i1
  rumbench show results/mine --plans --target innodb
  rumbench show results/mine --format sysbench --target innodb
  rumbench show results/mine --json | jq 'select(.metric == "rows_per_s")'`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error {
			if err := knownFormat(format); err != nil {
				return usageError{err}
			}
			trials, err := showTrials(dirs[0])
			if err != nil {
				return err
			}
			if plans {
				if asJSON || format != "" || len(metrics) > 0 {
					return usageError{errors.New("--plans goes with --step and --target only")}
				}
				if err := known(trials, steps, targets); err != nil {
					return usageError{err}
				}
				return showPlans(a.Stdout, trials, steps, targets)
			}
			if format == formatSysbench {
				if asJSON || len(metrics) > 0 {
					return usageError{errors.New("--format sysbench goes with neither --json nor --metric")}
				}
				if err := known(trials, steps, targets); err != nil {
					return usageError{err}
				}
				return showSysbench(a.Stdout, trials, steps, targets)
			}
			var rows []metric.Row
			for _, t := range trials {
				for i := range t.Steps {
					rows = append(rows, t.Steps[i].Shown()...)
				}
			}
			for _, m := range metrics {
				if metric.ByName(m) == nil {
					return usageError{fmt.Errorf("there is no metric %q; rumbench list metrics names them", m)}
				}
			}
			if err := known(trials, steps, targets); err != nil {
				return usageError{err}
			}
			rows = slices.DeleteFunc(rows, func(r metric.Row) bool {
				return !among(steps, r.Step) || !among(metrics, r.Metric) || !among(targets, r.Target)
			})
			if asJSON {
				return metric.WriteRows(a.Stdout, rows)
			}
			return printRows(a.Stdout, trials, rows)
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "one line of JSON per number")
	f.BoolVar(&plans, "plans", false, "print by which way the database finds the rows of each statement, with its plans")
	f.StringVar(&format, "format", "", formatUsage)
	f.StringSliceVar(&steps, "step", nil, "only these steps")
	f.StringSliceVar(&metrics, "metric", nil, "only these metrics")
	f.StringSliceVar(&targets, "target", nil, "only these targets")
	return c
}

// known returns an error for a step or target that no trial has.
func known(trials []*result.Trial, steps, targets []string) error {
	var allSteps, allTargets []string
	for _, t := range trials {
		if !slices.Contains(allTargets, t.Target) {
			allTargets = append(allTargets, t.Target)
		}
		for i := range t.Steps {
			if name := t.Steps[i].Name; !slices.Contains(allSteps, name) {
				allSteps = append(allSteps, name)
			}
		}
	}
	for _, s := range steps {
		if !slices.Contains(allSteps, s) {
			return fmt.Errorf("no trial has a step %q; %s", s, instead(s, "steps", allSteps))
		}
	}
	for _, t := range targets {
		if !slices.Contains(allTargets, t) {
			return fmt.Errorf("there is no target %q; %s", t, instead(t, "targets", allTargets))
		}
	}
	return nil
}

// instead tells which name was meant, or which names there are.
func instead(wrong, what string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := plan.Distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	const shown = 40
	switch {
	case best != "":
		return fmt.Sprintf("did you mean %s?", best)
	case len(names) > shown:
		return fmt.Sprintf("the %s are %s and %d more", what, strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return fmt.Sprintf("the %s are %s", what, strings.Join(names, ", "))
}

func among(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

// showTrials reads a campaign's trials, or the one in a trial directory.
func showTrials(dir string) ([]*result.Trial, error) {
	if t, err := result.ReadTrial(dir); err == nil {
		return []*result.Trial{t}, nil
	}
	_, trials, _, err := readCampaign(dir)
	return trials, err
}

func printRows(w io.Writer, trials []*result.Trial, rows []metric.Row) error {
	for _, t := range trials {
		fmt.Fprintf(w, "%s.%d: %s, %s on %s, durability %s", t.Target, t.Trial, t.Status, t.Workload, t.Engine, t.DurabilityText())
		if t.Imported != nil {
			fmt.Fprintf(w, ", imported from %s", t.Imported.Tool)
		} else {
			fmt.Fprintf(w, ", seed %d", t.Seed)
		}
		if t.Reason != "" {
			fmt.Fprintf(w, ": %s", t.Reason)
		}
		fmt.Fprintln(w)
		if t.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", t.Hint)
		}
		for _, warning := range t.Warnings {
			fmt.Fprintf(w, "  ! %s\n", warning)
		}
		for _, s := range t.Steps {
			for _, warning := range s.Warnings {
				fmt.Fprintf(w, "  ! %s: %s\n", s.Name, warning)
			}
		}
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "target\tstep\tgroup\top\tmetric\tvalue\tunit\tper\tn\tsource")
	for _, r := range rows {
		mark := ""
		if len(r.Warnings) > 0 {
			mark = " !"
		}
		fmt.Fprintf(table, "%s.%d\t%s\t%s\t%s\t%s\t%s%s\t%s\t%s\t%s\t%s\n", r.Target, r.Trial, r.Step, r.Group, r.Op, r.Metric,
			number(r.Value), maxOf(&r)+mark, r.Unit, r.Per, optional(r.N), r.Source)
	}
	return table.Flush()
}

// maxOf says that a row is no percentile.
func maxOf(r *metric.Row) string {
	if r.MaxOf == 0 {
		return ""
	}
	return fmt.Sprintf(" (max of %d)", r.MaxOf)
}

// number writes a value with four significant digits, whole numbers in full.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'g', 4, 64), ".")
}

func optional(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
