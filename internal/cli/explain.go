package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/page"
	"rumbench/internal/report"
)

// explainOptions are the flags of `explain`.
type explainOptions struct {
	base, format string
	steps        []string
	all          bool
	across       compare.Across
}

func newExplainCommand(a *App) *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain BASE NEW...",
		Short: "say why results differ: what a unit of work takes, item by item",
		Long: "explain splits the time that a unit of work takes, and each cost of it, into items that\n" +
			"sum to it, and says which items differ and how much of the difference each accounts for.\n" +
			"BASE and NEW are as of compare: directories of results, DIR:TARGET, or one campaign,\n" +
			"whose first target is the base.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return runExplain(a, &o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.base, "base", "", "the base among the targets of one campaign (default: the first)")
	f.StringSliceVar(&o.steps, "step", nil, "explain these steps only")
	f.BoolVar(&o.all, "all", false, "show every item of every number, also those that are not proven")
	f.StringVar(&o.format, "format", "text", "text, markdown or json (a line per cause)")
	choices(f, "format", "text", "markdown", "json")
	acrossFlags(f, &o.across)
	return c
}

func runExplain(a *App, o *explainOptions, args []string) error {
	pairs, c, err := comparePairs(args, -1, o.base)
	if err != nil {
		return err
	}
	c.Across = o.across
	if err := known("no trial has a step", o.steps, stepNames(c)); err != nil {
		return err
	}
	var list []*explain.Explanation
	var refused []error
	for _, p := range pairs {
		first, _, err := c.Comparable(p.base, p.of)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		if first != "" {
			fmt.Fprintln(a.Stderr, "⚠ "+first)
		}
		e := explain.Explain(c, c.Judge(p.base, p.of))
		e.Steps = slices.DeleteFunc(e.Steps, func(s *explain.Step) bool { return !among(o.steps, s.Of.Name) })
		list = append(list, e)
	}
	if err := writeExplanations(a.Stdout, list, o); err != nil {
		return err
	}
	if len(refused) == 0 && !slices.ContainsFunc(list, (*explain.Explanation).Judged) {
		return exitError{errors.New("nothing could be explained: the targets share no step whose numbers can be compared"), ExitInvalid}
	}
	return errors.Join(refused...)
}

func writeExplanations(w io.Writer, list []*explain.Explanation, o *explainOptions) error {
	var blocks []page.Block
	for _, e := range list {
		if o.format == "json" {
			if err := explain.WriteRecords(w, e.Records()); err != nil {
				return err
			}
			continue
		}
		blocks = append(blocks, report.Why(e, o.all)...)
	}
	switch o.format {
	case "json":
		return nil
	case "markdown":
		return page.Markdown(w, &page.Document{Lead: blocks}, true)
	}
	return page.Text(w, blocks, page.TextStyle{})
}
