package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/report"
	"rumbench/internal/report/published"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/quantity"
)

type tableOptions struct {
	layout, metric, base, notes string
	targets                     []string
	absolute, compatible        bool
	across                      compare.Across
}

var tableLayouts = []string{"text", "markdown", "tsv"}

func newTableCommand(a *App) *cobra.Command {
	var o tableOptions
	c := command("table DIR...",
		"print one number of all tests as ratios to a base, in the layout that results are published in",
		args(o.check), func(_ *cobra.Command, dirs []string) error { return runTable(a, o, dirs) })
	f := c.Flags()
	choice(f, &o.layout, "layout", "text", strings.Join(tableLayouts, ", "), tableLayouts...)
	choice(f, &o.layout, "format", "text", "the same as --layout", tableLayouts...) // named as in other commands
	_ = f.MarkHidden("format")                                                      // it fails for unknown flags only
	f.StringVar(&o.metric, "metric", "", "the number to show (default: throughput of the primary operation)")
	f.StringVar(&o.base, "base", "", "the `target` that the others are compared with (default: the first)")
	f.StringSliceVar(&o.targets, "targets", nil, "these targets only, in this order; the first is the base")
	f.BoolVar(&o.absolute, "absolute", false, "print the numbers themselves and not their ratios")
	f.BoolVar(&o.compatible, "compatible", false, "print and divide numbers as published tables do: rounded")
	f.StringVar(&o.notes, "notes", "", "a `file` of remarks for a last column: lines STEP: TEXT")
	acrossFlags(f, &o.across)
	return c
}

func (o *tableOptions) check(_ *cobra.Command, dirs []string) error {
	switch {
	case len(dirs) == 0:
		return errors.New("table needs directories of results")
	case o.metric != "":
		_, err := metric.Named(o.metric)
		return err
	}
	return nil
}

func runTable(a *App, o tableOptions, dirs []string) error {
	_, c, err := readSides(separateSides(dirs))
	if err == nil && len(o.targets) > 0 {
		c, err = chooseTargets(c, o.targets)
	}
	if err != nil {
		return err
	}
	c.Across = o.across
	base, err := targetNamed(c, cmp.Or(o.base, c.Targets[0].Name))
	if err != nil {
		return err
	}
	notes, err := readNotes(o.notes, c)
	if err != nil {
		return err
	}
	ro := compare.RelativeOptions{Base: base, Metric: o.chosen(c)}
	if o.compatible {
		ro.Round = published.Round
	}
	if o.layout == "tsv" && o.metric == "" {
		ro.Key = published.QueryRate
	}
	r := c.Relative(ro)
	if r.Empty() {
		return fmt.Errorf("no test has a number %s", cmp.Or(ro.Metric, metric.RowsPerS))
	}
	style := report.RelativeStyle{Absolute: o.absolute, Notes: notes}
	switch o.layout {
	case "tsv":
		return qpsTable(a, r, notes, o)
	case "markdown":
		return report.RelativeMarkdown(a.Stdout, r, style)
	}
	return report.RelativeText(a.Stdout, r, style, a.textWidth())
}

// chosen returns the metric to show: of the metrics that the name may mean, the
// one present in most steps.
func (o *tableOptions) chosen(c *compare.Campaign) string {
	means, _ := metric.Named(o.metric)
	if len(means) == 0 {
		return ""
	}
	having := func(name string) (n int) {
		for _, s := range c.Steps {
			if _, ok := s.About(name); ok {
				n++
			}
		}
		return n
	}
	return slices.MaxFunc(means, func(a, b string) int { return having(a) - having(b) })
}

// show returns the kind of values that the layouts of published tables show.
func (o *tableOptions) show() layout.Show {
	switch {
	case o.absolute:
		return layout.Numbers
	case o.compatible:
		return layout.RoundedRatios
	}
	return layout.Ratios
}

func qpsTable(a *App, r *compare.Relative, notes map[string]string, o tableOptions) error {
	printRemarks(a.Stderr, r.Durability, published.QPSRemarks(r))
	tests, decimals := published.QPS(r, notes)
	names := quantity.Texts(r.Targets, func(t *compare.Target) string { return t.Name })
	return layout.WriteQPS(a.Stdout, names, tests, o.show(), decimals)
}

// chooseTargets returns a campaign with only some targets, in the order in which they are
// named.
func chooseTargets(c *compare.Campaign, names []string) (*compare.Campaign, error) {
	var chosen []*compare.Target
	var trials []*result.Trial
	for _, name := range names {
		t, err := targetNamed(c, name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(chosen, t) {
			return nil, usageErrorf("%s is named twice", t.Name)
		}
		chosen, trials = append(chosen, t), append(trials, t.Trials...)
	}
	return compare.New(trials), nil
}

// printRemarks prints the remarks that a layout has no room for.
func printRemarks(w io.Writer, durability string, lines []string) {
	if durability != "" {
		fmt.Fprintf(w, "⚠ %s\n", verdict.DurabilityDiffers(durability))
	}
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// readNotes reads a file of remarks on tests; none if there is no file.
func readNotes(file string, c *compare.Campaign) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	src, err := regular.ReadText(file)
	if err != nil {
		return nil, usage(err)
	}
	notes, wrong := published.Notes(file, string(src), stepNames(c))
	if len(wrong) > 0 {
		return nil, wrong
	}
	return notes, nil
}

func stepNames(c *compare.Campaign) []string {
	return quantity.Texts(c.Steps, func(s *compare.Step) string { return s.Name })
}
