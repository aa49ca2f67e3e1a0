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
)

// tableOptions are the flags of `table`.
type tableOptions struct {
	layout, metric, base, notes string
	blocks                      []string
	absolute, compatible        bool
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

Layouts:
  text, markdown  for people, with groups, means, doubts and notes
  tsv, csv        the tables qps.abs and qps.rel of the sysbench suite
  mrg, rel        the insert benchmark's 21 columns for every step, absolute and
                  relative to the first target of each block
  met             the sysbench suite's costs per operation

What published layouts have no place for is said on standard error. A directory
is a campaign or a trial; DIR:TARGET is one target of it.`,
		Example: `  rumbench table results/mine
  rumbench table results/mine --metric write_kb --base innodb
  rumbench table results/mine --layout tsv --compatible
  rumbench table results/old results/new --notes notes.txt --layout markdown`,
		Args: args(func(_ *cobra.Command, dirs []string) error { return o.check(dirs) }),
		RunE: func(_ *cobra.Command, dirs []string) error { return a.table(dirs, o) },
	}
	f := c.Flags()
	f.StringVar(&o.layout, "layout", "text", strings.Join(tableLayouts, ", "))
	f.StringVar(&o.metric, "metric", "", "the number to show (default: the rate of what each test is about)")
	f.StringVar(&o.base, "base", "", "the `target` that the others are compared with (default: the first)")
	f.BoolVar(&o.absolute, "absolute", false, "print the numbers themselves and not their ratios")
	f.BoolVar(&o.compatible, "compatible", false, "divide the numbers as they are printed, as published tables do")
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
	case o.compatible && o.absolute:
		return errors.New("--compatible is about ratios, and --absolute prints none")
	case o.metric != "":
		return checkMetrics([]string{o.metric})
	}
	return nil
}

func (a *App) table(dirs []string, o tableOptions) error {
	c, err := tableCampaign(dirs)
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
		a.tellCellDoubts(r)
		return r.QPS(o.absolute, notes).TSV(a.Stdout)
	case "csv":
		a.tellCellDoubts(r)
		return r.QPS(o.absolute, nil).CSV(a.Stdout)
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

func targetNamed(c *compare.Campaign, name string) (*compare.Target, error) {
	if t := c.Target(name); t != nil {
		return t, nil
	}
	var names []string
	for _, t := range c.Targets {
		names = append(names, t.Name)
	}
	return nil, usageError{fmt.Errorf("there is no target %q; there are %s", name, strings.Join(names, ", "))}
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

// tellCellDoubts says the same of the numbers of one table.
func (a *App) tellCellDoubts(r *compare.Relative) {
	a.tellDurability(r.Durability)
	for i, t := range r.Targets {
		if len(r.Unlike[i]) > 0 {
			fmt.Fprintf(a.Stderr, "⚠ %s did other work than %s: %s\n", t.Name, r.Base().Name, strings.Join(r.Unlike[i], "; "))
		}
		for _, g := range r.Groups {
			for _, row := range g.Rows {
				doubts := row.Cells[i].Doubts
				switch {
				case g.Group == compare.Before && i == 0:
					fmt.Fprintf(a.Stderr, "left out: %s, a warm-up or from before the writes\n", row.Step.Name)
				case g.Group != compare.Before && len(doubts) > 0:
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
