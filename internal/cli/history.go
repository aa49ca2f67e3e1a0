package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/compare/history"
	"rumbench/internal/report/trend"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
)

type historyOptions struct {
	pick   history.Pick
	view   trend.View
	asJSON bool
	failIf []string
	order  string
}

func newHistoryCommand(a *App) *cobra.Command {
	var o historyOptions
	c := command("history [DIR]", "find the runs at which numbers changed over the campaigns in a folder",
		args(cobra.MaximumNArgs(1), func(*cobra.Command, []string) error { return resolveMetrics(&o.pick.Metrics) }),
		func(_ *cobra.Command, dirs []string) error { return runHistory(a, o, dirs) })
	f := c.Flags()
	f.StringSliceVar(&o.pick.Plans, "plan", nil, "only campaigns of these plans")
	f.StringSliceVar(&o.pick.Targets, "target", nil, "only these targets")
	f.StringSliceVar(&o.pick.Steps, "step", nil, "only these steps")
	f.StringSliceVar(&o.pick.Metrics, "metric", nil, "all numbers of these metrics, not the headline numbers")
	f.Float64Var(&o.view.Least, "least", 1, "print changes of the level by at least this many percent")
	f.BoolVar(&o.view.All, "all", false, "print series without a change too")
	f.BoolVar(&o.asJSON, "json", false, "one line of JSON per series, with all points and changes")
	f.StringVar(&o.order, "order", "", "a `file` of revisions or versions, one a line: the order of the runs")
	failIfFlag(f, &o.failIf)
	return c
}

func runHistory(a *App, o historyOptions, dirs []string) error {
	gates, err := parseConditions(o.failIf)
	if err != nil {
		return err
	}
	for _, g := range gates { // which replace what is looked at
		o.pick.Metrics = compare.AppendNew(o.pick.Metrics, g.Metrics()...)
	}
	runs, err := findRuns(dirs, o.pick.Plans)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		_, err := result.ReadCampaign(folder(dirs))
		return usage(hint.With(noneIn(dirs), hint.Of(err)))
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
	judged, err := readJudged(a.Stderr, folder(dirs), runs)
	if err != nil {
		return err
	}
	if o.order != "" {
		if runs, err = inOrder(a.Stderr, o.order, runs); err != nil {
			return err
		}
	}
	families := history.Families(runs, o.pick)
	tested := history.Detect(families)
	findings := history.Findings(families, judged)
	if o.asJSON {
		err = history.JSON(a.Stdout, families)
	} else {
		err = trend.Text(a.Stdout, families, findings, tested, o.view)
	}
	if err != nil || len(gates) == 0 {
		return err
	}
	held, err := verdict.Conditions(gates, history.Judgements(families), o.pick.Steps)
	if err != nil {
		return usage(err)
	}
	return gateError(a.Stderr, []verdict.Gate{held})
}

// readJudged reads the acknowledged changes of a folder, and prints those of unknown runs.
func readJudged(stderr io.Writer, dir string, runs []*history.Run) (history.Judged, error) {
	judged, err := history.ReadJudged(dir)
	if err != nil {
		return nil, err
	}
	if unknown := judged.Unknown(dir, runs); len(unknown) > 0 {
		fmt.Fprintln(stderr, unknown)
	}
	return judged, nil
}

// inOrder sorts the runs into the order of the revisions in a file, and prints those that it
// leaves out.
func inOrder(stderr io.Writer, file string, runs []*history.Run) ([]*history.Run, error) {
	content, err := regular.ReadText(file)
	if err != nil {
		return nil, fmt.Errorf("read the order of revisions: %w", err)
	}
	sorted, remaining := history.InOrder(runs, strings.Fields(string(content)))
	if len(sorted) == 0 && len(runs) > 0 {
		return nil, usage(hint.Errorf("a line has a revision or version, as the runs' directories, binaries or engines "+
			"have; rumbench list runs shows them", "%s has the revision of no run", file))
	}
	for _, r := range remaining {
		fmt.Fprintf(stderr, "left out: %s: its revision is not in %s\n", r.Dir, file)
	}
	return sorted, nil
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

// folder returns the one directory given, or the one in which run creates campaigns.
func folder(dirs []string) string {
	if len(dirs) > 0 {
		return dirs[0]
	}
	return resultsDir
}

// findRuns returns the campaigns of the plans in a folder.
func findRuns(dirs, plans []string) ([]*history.Run, error) {
	dir := folder(dirs)
	runs, err := history.Find(dir)
	if err != nil {
		return nil, usage(err)
	}
	var names []string
	for _, r := range runs {
		if r.Campaign != nil {
			names = compare.AppendNew(names, r.Campaign.Name)
		}
	}
	if err := checkNames(dir+" has no campaign of a plan", plans, names); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(runs,
		func(r *history.Run) bool { return r.Campaign != nil && !includes(plans, r.Campaign.Name) }), nil
}

func noneIn(dirs []string) error { return fmt.Errorf("there is no campaign in %s", folder(dirs)) }
