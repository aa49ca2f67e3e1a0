package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/layout"
	"rumbench/internal/plan"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// tableOptions are the flags of `table`.
type tableOptions struct {
	layout, metric, base, notes string
	targets, blocks             []string
	absolute, compatible        bool
	warmUps                     bool
	across                      compare.Across
}

var (
	tableLayouts = []string{"text", "markdown", "tsv", "csv", "mrg", "rel", "met"}
	// publishedWhole are the layouts whose columns are given.
	publishedWhole = []string{"mrg", "rel", "met"}
)

func (a *App) tableCommand() *cobra.Command {
	var o tableOptions
	c := &cobra.Command{
		Use:   "table DIR...",
		Short: "print one number of all tests as ratios to a base, in the layouts that results are published in",
		Long: `table prints for every test (step) and target what the target has ÷ what the base
has, with two decimals, in groups of tests: point, range, write and mixed with
their geometric means, and others. ▲ and ▼ mark what is surely better or worse,
= what is surely within 1 %.

Targets may be named by a part of their names that only one has.

Layouts:
  text, markdown  for people, with groups, means, warnings and notes
  tsv, csv        the tables qps.abs and qps.rel of the sysbench suite
  mrg, rel        the insert benchmark's 21 columns for every step, absolute and
                  relative to the first target of each block
  met             the sysbench suite's costs per operation

What published layouts have no place for is said on standard error. A directory
is a campaign or a trial; DIR:TARGET is one target of it.`,
		Example: `  rumbench table results/mine
  rumbench table results/mine --metric write_kb --base innodb
  rumbench table results/mine --targets 8.0,8.4 --absolute
  rumbench table results/mine --layout tsv --compatible
  rumbench table results/old results/new --notes notes.txt --layout markdown`,
		Args: args(func(_ *cobra.Command, dirs []string) error { return o.check(dirs) }),
		RunE: func(_ *cobra.Command, dirs []string) error { return a.table(dirs, o) },
	}
	f := c.Flags()
	f.StringVar(&o.layout, "layout", "text", strings.Join(tableLayouts, ", "))
	f.StringVar(&o.metric, "metric", "", "the number to show (default: the rate of what each test is about)")
	f.StringVar(&o.base, "base", "", "the `target` that the others are compared with (default: the first)")
	f.StringSliceVar(&o.targets, "targets", nil, "these targets only, in this order; the first is the base")
	f.BoolVar(&o.absolute, "absolute", false, "print the numbers themselves and not their ratios")
	f.BoolVar(&o.compatible, "compatible", false, "print and divide numbers as published tables do: rounded")
	f.BoolVar(&o.warmUps, "warm-ups", false, "of tsv and csv: also the tests that warm up or come before the writes")
	f.StringVar(&o.notes, "notes", "", "a `file` of remarks for a last column: lines STEP: TEXT")
	f.StringSliceVar(&o.blocks, "block", nil, "of mrg and rel: begin a new block, with its own base, at these targets")
	acrossFlags(f, &o.across)
	return c
}

func (o *tableOptions) check(dirs []string) error {
	whole := slices.Contains(publishedWhole, o.layout)
	switch {
	case len(dirs) == 0:
		return errors.New("table wants directories of results")
	case !slices.Contains(tableLayouts, o.layout):
		return fmt.Errorf("--layout is one of %s, not %q", strings.Join(tableLayouts, ", "), o.layout)
	case whole && (o.metric != "" || o.absolute):
		return fmt.Errorf("the layout %s has columns of its own: --metric and --absolute are not for it", o.layout)
	case o.notes != "" && (whole || o.layout == "csv"):
		return fmt.Errorf("the layout %s has no place for notes", o.layout)
	case len(o.blocks) > 0 && o.layout != "mrg" && o.layout != "rel":
		return errors.New("--block is for the layouts mrg and rel")
	case o.warmUps && o.layout != "tsv" && o.layout != "csv":
		return errors.New("--warm-ups is for the layouts tsv and csv: the others have them")
	case o.metric != "":
		return checkMetrics([]string{o.metric})
	}
	return nil
}

func (a *App) table(dirs []string, o tableOptions) error {
	c, err := tableCampaign(dirs)
	if err == nil && len(o.targets) > 0 {
		c, err = only(c, o.targets)
	}
	if err != nil {
		return err
	}
	c.Across = o.across
	base, err := targetNamed(c, cmp.Or(o.base, c.Targets[0].Name))
	if err != nil {
		return err
	}
	var firsts []*compare.Target
	for _, name := range o.blocks {
		t, err := targetNamed(c, name)
		if err != nil {
			return err
		}
		firsts = append(firsts, t)
	}
	notes, err := readNotes(o.notes, c)
	if err != nil {
		return err
	}
	switch o.layout {
	case "mrg", "rel", "met":
		a.tellDoubts(c, base)
		return a.printPublished(c, base, firsts, o)
	}
	r := c.Relative(compare.RelativeOptions{Base: base, Metric: o.metric, Compatible: o.compatible})
	if r.Empty() {
		return fmt.Errorf("no test has a number %s", cmp.Or(o.metric, "rows_per_s"))
	}
	style := report.RelativeStyle{Absolute: o.absolute, Notes: notes}
	switch o.layout {
	case "tsv":
		a.cellWarnings(r, o.warmUps)
		return r.QPS(o.absolute, o.warmUps, notes).TSV(a.Stdout)
	case "csv":
		a.cellWarnings(r, o.warmUps)
		return r.QPS(o.absolute, o.warmUps, nil).CSV(a.Stdout)
	case "markdown":
		return report.RelativeMarkdown(a.Stdout, r, style)
	}
	return report.RelativeText(a.Stdout, r, style, a.textWidth())
}

func (a *App) printPublished(c *compare.Campaign, base *compare.Target, firsts []*compare.Target, o tableOptions) error {
	switch o.layout {
	case "mrg":
		return layout.Merged(a.Stdout, c.MergedSteps(base, firsts))
	case "rel":
		return layout.MergedRatios(a.Stdout, c.MergedSteps(base, firsts), o.compatible)
	}
	return layout.Costs(a.Stdout, c.CostTests(base), o.compatible)
}

// tableCampaign reads all results into one campaign. Targets of several
// directories that share a name are told apart by the directory.
func tableCampaign(dirs []string) (*compare.Campaign, error) {
	if err := distinct(dirs); err != nil {
		return nil, usageError{err}
	}
	var groups [][]string
	for _, dir := range dirs {
		groups = append(groups, []string{dir})
	}
	_, trials, err := readSides(groups)
	if err != nil {
		return nil, err
	}
	return compare.New(trials), nil
}

// only is a campaign of some targets, in the order in which they are named.
func only(c *compare.Campaign, names []string) (*compare.Campaign, error) {
	var chosen []*compare.Target
	var trials []*result.Trial
	for _, name := range names {
		t, err := targetNamed(c, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(chosen, t) {
			return nil, usageError{fmt.Errorf("%s is named twice", t.Name)}
		}
		chosen, trials = append(chosen, t), append(trials, t.Trials...)
	}
	return compare.New(trials), nil
}

// targetNamed finds a target by its name, or by a part of it that only one has.
func targetNamed(c *compare.Campaign, name string) (*compare.Target, error) {
	if t := c.Target(name); t != nil {
		return t, nil
	}
	var names, fitting []string
	for _, t := range c.Targets {
		names = append(names, t.Name)
		if name != "" && strings.Contains(t.Name, name) {
			fitting = append(fitting, t.Name)
		}
	}
	switch len(fitting) {
	case 0:
		return nil, usageError{fmt.Errorf("there is no target %q; there are %s", name, strings.Join(names, ", "))}
	case 1:
		return c.Target(fitting[0]), nil
	}
	return nil, usageError{fmt.Errorf("%q may be any of the targets %s", name, strings.Join(fitting, ", "))}
}

// tellDoubts says on standard error what the published layouts cannot say.
func (a *App) tellDoubts(c *compare.Campaign, base *compare.Target) {
	a.tellDurability(c.Durability())
	for _, t := range c.Targets {
		if unlike := compare.Unlike(base, t); len(unlike) > 0 {
			fmt.Fprintf(a.Stderr, "⚠ %s did other work than %s: %s\n", t.Name, base.Name, strings.Join(unlike, "; "))
		}
		for _, s := range c.Steps {
			doubts := s.PublishedDoubts(t)
			if unlike := s.Unlike(base, t); unlike != "" && len(compare.Unlike(base, t)) == 0 {
				doubts = append(doubts, unlike)
			}
			if s.Primary != "" && len(doubts) > 0 {
				fmt.Fprintf(a.Stderr, "⚠ %s in %s: %s; not comparable\n", t.Name, s.Name, strings.Join(doubts, ", "))
			}
		}
	}
}

// tellDurability says that the targets promise different things.
func (a *App) tellDurability(levels string) {
	if levels != "" {
		fmt.Fprintf(a.Stderr, "⚠ %s\n", report.DurabilityDiffers(levels))
	}
}

// cellWarnings says the same of the numbers of one table, and which tests are
// not in it.
func (a *App) cellWarnings(r *compare.Relative, warmUps bool) {
	a.tellDurability(r.Durability)
	for i, t := range r.Targets {
		if len(r.Unlike[i]) > 0 {
			fmt.Fprintf(a.Stderr, "⚠ %s did other work than %s: %s\n", t.Name, r.Base().Name, strings.Join(r.Unlike[i], "; "))
		}
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				left := g.Group == compare.Before && !warmUps && !compare.PublishedWarmUp(row.Step)
				if left && i == 0 {
					fmt.Fprintf(a.Stderr, "left out: %s, a warm-up or from before the writes\n", row.Step.Name)
				}
				if doubts := row.Cells[i].Doubts; !left && len(doubts) > 0 {
					fmt.Fprintf(a.Stderr, "⚠ %s in %s: %s; not comparable\n", t.Name, row.Step.Name, strings.Join(doubts, ", "))
				}
			}
		}
	}
}

// maxNotes is the size of a file above which it is no file of notes.
const maxNotes = 1 << 20

// readNotes reads a file of remarks on tests; none if there is no file.
func readNotes(file string, c *compare.Campaign) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxNotes {
		return nil, usageError{fmt.Errorf("%s is too large for a file of notes", file)}
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var steps []string
	for _, s := range c.Steps {
		steps = append(steps, s.Name)
	}
	notes, wrong := layout.Notes(string(src), steps)
	var problems plan.Problems
	for _, p := range wrong {
		problems = append(problems, plan.Problem{File: file, Line: p.Line, Column: p.Column, Reason: p.Reason, Hint: p.Hint})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return notes, nil
}
