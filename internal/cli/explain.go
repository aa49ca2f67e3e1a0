package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/report"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

type explainOptions struct {
	base, format string
	experiment   string // a file
	steps        []string
	all          bool
	across       compare.Across
}

func newExplainCommand(a *App) *cobra.Command {
	var o explainOptions
	c := command("explain BASE NEW...", "say why results differ: what a unit of work takes, item by item",
		args(campaigns), func(_ *cobra.Command, args []string) error { return runExplain(a, &o, args) })
	f := c.Flags()
	f.StringVar(&o.base, "base", "", "the base among the targets of one campaign (default: the first)")
	f.StringSliceVar(&o.steps, "step", nil, "explain these steps only")
	f.BoolVar(&o.all, "all", false, "show every item of the numbers that are explained, also those that are not proven")
	choice(f, &o.format, "format", "text", "text, markdown or json (a line per cause)", "text", "markdown", "json")
	f.StringVar(&o.experiment, "experiment", "",
		"write a plan to a `file` that tests which setting makes the difference")
	acrossFlags(f, &o.across)
	return c
}

func runExplain(a *App, o *explainOptions, args []string) error {
	pairs, c, err := comparePairs(args, -1, o.base, o.across, o.steps)
	if err != nil {
		return err
	}
	var list []*explain.Explanation
	var refused []error
	for _, p := range pairs {
		levels, _, err := c.Comparable(p.base, p.other)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		printRemarks(a.Stderr, levels, nil)
		e := explain.Explain(c, c.Judge(p.base, p.other))
		e.Steps = slices.DeleteFunc(e.Steps, func(s *explain.Step) bool { return !includes(o.steps, s.Of.Name) })
		list = append(list, e)
	}
	if len(list) == 0 {
		return errors.Join(refused...)
	}
	if err := writeExplanations(a.Stdout, list, o); err != nil {
		return err
	}
	dir, _ := splitTarget(args[0])
	if _, err := profiledIn(dir); err == nil && o.format == "text" {
		fmt.Fprintln(a.Stdout, "\nWhich functions use the CPU time: rumbench profile "+dir)
	}
	if o.experiment != "" {
		if err := writeExperiment(a, list, o.experiment); err != nil {
			return err
		}
	}
	if len(refused) == 0 && !slices.ContainsFunc(list, (*explain.Explanation).Judged) {
		reason := "the targets share no step whose numbers can be compared"
		if slices.ContainsFunc(list, func(e *explain.Explanation) bool { return len(e.Steps) > 0 }) {
			reason = "nothing is recorded by which a number could be split, as in logs of other tools"
		}
		return exitError{errors.New("nothing could be explained: " + reason), ExitInvalid}
	}
	return errors.Join(refused...)
}

func writeExperiment(a *App, list []*explain.Explanation, file string) error {
	if len(list) != 1 {
		return usageErrorf("--experiment is about two targets: name them, as in DIR:A DIR:B")
	}
	if _, err := os.Lstat(file); err == nil {
		return hint.With(fmt.Errorf("%s exists, and is left alone", file), "name a new file")
	}
	if !list[0].Differs() {
		fmt.Fprintln(a.Stderr, "⚠ no number is proven to differ: an experiment may show nothing")
	}
	base, otherTrial := list[0].Base.Trials[0], list[0].New.Trials[0]
	campaign := filepath.Dir(filepath.Dir(otherTrial.Dir)) // of trials/TARGET.1
	text, err := result.ReadPlan(campaign)
	if err != nil {
		return err
	}
	text, err = plan.Experiment(filepath.Join(campaign, result.PlanFile), text, base.Target, otherTrial.Target)
	if err != nil {
		return err
	}
	if err := result.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\n%s: rumbench run %s, then rumbench explain its results\n", file, file)
	return nil
}

func writeExplanations(w io.Writer, list []*explain.Explanation, o *explainOptions) error {
	if o.format == "json" {
		var records []explain.Record
		for _, s := range explain.Settle(list) {
			records = append(records, s.Records()...)
		}
		for _, e := range list {
			records = append(records, e.Records()...)
		}
		return metric.WriteLines(w, records)
	}
	blocks := append(report.Settled(list, 2), report.Why(list, o.all)...)
	if o.format == "markdown" {
		return page.Markdown(w, &page.Document{Lead: blocks}, true)
	}
	return page.Text(w, blocks, page.TextStyle{})
}
