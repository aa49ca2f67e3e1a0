package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

type showOptions struct {
	asJSON, plans bool
	format        string
	selection
}

func newShowCommand(a *App) *cobra.Command {
	var o showOptions
	c := command("show DIR", "print the numbers of a campaign or trial", args(campaigns, cobra.ExactArgs(1), o.check),
		func(_ *cobra.Command, dirs []string) error { return runShow(a.Stdout, &o, dirs[0]) })
	f := c.Flags()
	f.BoolVar(&o.asJSON, "json", false, "one line of JSON per number")
	f.BoolVar(&o.plans, "plans", false, "print the access path and the plan of each statement")
	choice(f, &o.format, "format", "", formatUsage, formatSysbench)
	f.StringSliceVar(&o.steps, "step", nil, "only these steps")
	f.StringSliceVar(&o.metrics, "metric", nil, "only these metrics")
	f.StringSliceVar(&o.targets, "target", nil, "only these targets")
	return c
}

func (o *showOptions) check(*cobra.Command, []string) error {
	switch {
	case o.plans && (o.asJSON || o.format != "" || len(o.metrics) > 0):
		return errors.New("--plans goes with --step and --target only")
	case o.format != "" && (o.asJSON || len(o.metrics) > 0):
		return errors.New("--format sysbench goes with neither --json nor --metric")
	}
	return nil
}

func runShow(w io.Writer, o *showOptions, dir string) error {
	trials, err := readTrials(dir)
	if err != nil {
		return err
	}
	if err := o.selection.check(trials); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(trials),
		func(t *result.Trial) bool { return !includes(o.targets, t.Target) })
	switch {
	case o.plans:
		return showPlans(w, chosen, o.steps)
	case o.format == formatSysbench:
		return showSysbench(w, chosen, o.steps)
	}
	var rows []metric.Row
	for _, t := range trials {
		rows = append(rows, t.Shown()...)
	}
	rows = slices.DeleteFunc(rows, func(r metric.Row) bool { return !o.has(&r) })
	if o.asJSON {
		return metric.WriteLines(w, rows)
	}
	return printRows(w, chosen, o.steps, rows)
}

func showPlans(w io.Writer, trials []*result.Trial, steps []string) error {
	shown := 0
	for _, t := range trials {
		plans, err := result.ReadPlans(t.Dir)
		if err != nil {
			return err
		}
		for _, p := range plans {
			if includes(steps, p.Step) {
				printPlan(w, t, p)
				shown++
			}
		}
	}
	if shown == 0 {
		fmt.Fprintln(w, "no plans: the engines have none, or the results are older than plans")
	}
	return nil
}

func printPlan(w io.Writer, t *result.Trial, p result.StatementPlan) {
	fmt.Fprintf(w, "%s.%d, %s, %s of the step: %s: %s\n", t.Target, t.Trial, p.Step, p.When, p.Op, p.Plan.Ways())
	if p.Wanted != "" {
		fmt.Fprintf(w, "  wanted: %s\n", p.Wanted)
	}
	fmt.Fprintf(w, "  %s\n", p.Plan.Statement)
	for line := range strings.Lines(p.Plan.Text) {
		fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// formatSysbench prints steps as sysbench prints its runs.
const (
	formatSysbench = "sysbench"
	formatUsage    = "`sysbench`: print each step as sysbench 1.0.20 prints a run, interval by interval"
)

func showSysbench(w io.Writer, trials []*result.Trial, steps []string) error {
	for _, t := range trials {
		if t.Imported != nil {
			return usageErrorf("%s was imported from %s: its log has what was printed", t.Target, t.Imported.Tool)
		}
		err := published.WriteSysbench(w, t, func(step string) bool { return includes(steps, step) },
			func(yield func(result.Line) error) error {
				return result.ReadSeries(t.Dir, []string{published.OpsSource}, yield)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// printRows prints rows below the trials, with the warnings of the wanted steps.
func printRows(w io.Writer, trials []*result.Trial, steps []string, rows []metric.Row) error {
	for _, t := range trials {
		fmt.Fprintf(w, "%s.%d: %s, %s on %s, durability %s", t.Target, t.Trial, t.Status, t.Workload, t.Engine,
			t.DurabilityText())
		switch {
		case t.Imported != nil:
			fmt.Fprintf(w, ", imported from %s", t.Imported.Tool)
		case t.Recorded != "":
			fmt.Fprintf(w, ", load by %s", t.Recorded)
		default:
			fmt.Fprintf(w, ", seed %d", t.Seed)
			if load := t.LoadText(); load != "" {
				fmt.Fprintf(w, ", a copy of load %s (seed %d)", load, t.Start.Seed)
			} else if start := t.StartText(); start != "" {
				fmt.Fprintf(w, ", %s", start)
			}
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
		for i := range t.Steps {
			s := &t.Steps[i]
			if !includes(steps, s.Name) {
				continue
			}
			if s.Search != nil {
				fmt.Fprintf(w, "  %s: %s\n", s.Name, s.Search)
			}
			for _, warning := range s.Warnings {
				fmt.Fprintf(w, "  ! %s: %s\n", s.Name, warning)
			}
			if s.Caches == "" {
				continue
			}
			for _, note := range s.Notes { // why the time to warm up is not known
				fmt.Fprintf(w, "  %s: %s\n", s.Name, note)
			}
		}
	}
	fmt.Fprintln(w)
	var lines [][]string
	notes := &page.Notes{}
	for _, r := range rows {
		value := strings.ReplaceAll(quantity.Four(r.Value), ",", "") // so that it can be copied
		if r.MaxOf != 0 {                                            // it is not a percentile
			value += fmt.Sprintf(" (max of %d)", r.MaxOf)
		}
		var marked page.Cell
		for _, warning := range r.Warnings {
			marked.Note(notes.Mark(warning))
		}
		value = strings.TrimSpace(value + " " + marked.Marks())
		n := ""
		if r.N != 0 {
			n = strconv.FormatInt(r.N, 10)
		}
		if !r.Whole() {
			continue // --json has the numbers of parts
		}
		lines = append(lines, []string{fmt.Sprintf("%s.%d", r.Target, r.Trial), r.Step, r.Group, r.Op, r.Metric, value,
			r.Unit, r.Per, n, r.Source})
	}
	table := page.WordTable([]string{"target", "step", "group", "op", "metric", "value", "unit", "per", "n", "source"},
		lines...)
	return page.Text(w, []page.Block{table, notes}, page.TextStyle{})
}
