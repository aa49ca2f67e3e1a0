package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/comparison"
	"rumbench/internal/figure"
	"rumbench/internal/hint"
	"rumbench/internal/quantity"
)

type compareOptions struct {
	format string
	base   string
	selection
	all          bool
	across       compare.Across
	failIf       []string
	margin, find float64
}

func newCompareCommand(a *App) *cobra.Command {
	o := compareOptions{margin: compare.DefaultRule().Margin, find: 0.03}
	dash := -1
	c := &cobra.Command{
		Use:   "compare BASE NEW...",
		Short: "compare results, with intervals and verdicts",
		Long: `compare says for every step and headline number how NEW differs from BASE: the
ratio of the medians over trials, its 95 % interval, and a verdict.

  better, worse  different (95 %), in or against the metric's direction
  same           no farther apart than --margin (95 %)
  unclear        it may be chance; the verdict says how many trials would show it
  unstable       the trials of one side contradict each other

A directory is a campaign or a trial; DIR:TARGET is one target of a campaign.
One campaign alone: its first target is the base of the others. Two or more: the
first is the base of each of the others. Several campaigns on a side stand on
both sides of --. Targets of the same name are compared; a single target on both
sides is, whatever its name.

Conditions of --fail-if see a metric's name, or a short one such as p99, as new ÷
base, low.METRIC and high.METRIC as the bounds of its interval, base.METRIC and
new.METRIC, verdict.METRIC, sure (all verdicts in it are better or worse), step
and op.

Exit status: 0 no condition holds; 3 a condition of --fail-if holds; 4 none holds,
but one cannot be judged where BASE has a number, as NEW has none that may be
compared; 1 and 2 errors.`,
		Example: `  rumbench compare results/old results/new
  rumbench compare results/mine
  rumbench compare results/mine:innodb results/mine:myrocks --all
  rumbench compare results/old1 results/old2 -- results/new1 results/new2
  rumbench compare results/old results/new --fail-if 'rows_per_s < 0.95 && sure'
  rumbench compare results/old results/new --format bench > c.txt; benchstat -col target c.txt`,
		Args: args(func(c *cobra.Command, args []string) error {
			dash = c.ArgsLenAtDash()
			if len(args) == 0 || dash == 0 || dash == len(args) {
				return errors.New("compare needs directories of results to compare")
			}
			if !(o.margin >= 0 && o.margin < 1) || !(o.find > 0 && o.find < 10) {
				return errors.New("--margin and --find are shares such as 0.03, which is 3 %")
			}
			return cmp.Or(oneOf("format", o.format, "text", "markdown", "json", "bench"), resolve(&o.metrics))
		}),
		RunE: func(_ *cobra.Command, args []string) error { return runCompare(a, o, args, dash) },
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", "text", "text, markdown, json (a line per number) or bench (Go's benchmark format)")
	f.StringVar(&o.base, "base", "", "the base among the targets of one campaign (default: the first)")
	f.StringSliceVar(&o.steps, "step", nil, "show only these steps, and judge conditions in them alone")
	f.StringSliceVar(&o.metrics, "metric", nil, "show only these metrics, headline or not")
	f.BoolVar(&o.all, "all", false, "show all numbers, not only the headline")
	acrossFlags(f, &o.across)
	f.StringArrayVar(&o.failIf, "fail-if", nil, "a `condition` that makes the exit status 3; may be repeated")
	f.Var((*shareFlag)(&o.margin), "margin", "how far apart numbers may be that are called the same, such as 2%")
	f.Var((*shareFlag)(&o.find), "find", "print how many trials would find a difference of this, such as 3%")
	return c
}

// shareFlag is a share: 0.03 or 3%.
type shareFlag float64

func (f *shareFlag) String() string { return strconv.FormatFloat(100*float64(*f), 'g', -1, 64) + "%" }
func (f *shareFlag) Type() string   { return "share" }

func (f *shareFlag) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q is no share such as 0.03 or 3%%", s)
	}
	if percent {
		v /= 100
	}
	*f = shareFlag(v)
	return nil
}

var compareFormats = map[string]func(io.Writer, []comparison.Comparison) error{
	"text": comparison.Text, "markdown": comparison.Markdown, "json": comparison.JSON, "bench": comparison.Bench,
}

func runCompare(a *App, o compareOptions, args []string, dash int) error {
	gates, err := o.gates()
	if err != nil {
		return err
	}
	pairs, c, err := comparePairs(args, dash, o.base)
	if err != nil {
		return err
	}
	c.Across = o.across
	if err := known("no trial has a step", o.steps, stepNames(c)); err != nil {
		return err
	}
	var list []comparison.Comparison
	var refused []error
	for _, p := range pairs {
		if one, err := compared(c, p, o); err != nil {
			refused = append(refused, err)
		} else {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return errors.Join(refused...)
	}
	if o.format == "json" || o.format == "bench" { // which have no place for it
		for _, one := range list {
			if one.First != "" {
				fmt.Fprintln(a.Stderr, "⚠ "+one.First)
			}
		}
	}
	if err := compareFormats[o.format](a.Stdout, list); err != nil {
		return err
	}
	return errors.Join(append(refused, judge(a.Stderr, gates, list, o.steps))...)
}

// gates compiles the conditions of --fail-if.
func (o *compareOptions) gates() (gates []*compare.Gate, err error) {
	for _, text := range o.failIf {
		g, err := compare.NewGate(text)
		if err != nil {
			return nil, usage(hint.With(err, "a condition compares ratios, as in 'rows_per_s < 0.95 && sure'; shares have no %, texts stand in quotes"))
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// compared compares two targets, if they did the same work.
func compared(c *compare.Campaign, p pair, o compareOptions) (out comparison.Comparison, err error) {
	out.Difference = o.find
	if out.First, out.Caveats, err = c.Comparable(p.base, p.of); err != nil {
		return out, err
	}
	out.Notes = compare.Apart(p.base, p.of)
	rule := compare.DefaultRule()
	rule.Margin = o.margin
	out.Judgement = c.Judge(p.base, p.of, rule)
	out.Caveats = append(out.Caveats, c.Caveats(out.Judgement)...)
	for _, it := range out.Judgement.Items {
		shown := it.Headline || o.all || len(o.metrics) > 0
		if shown && among(o.steps, it.Step.Name) && among(o.metrics, it.Metric()) && (it.Base.Missing == "" || it.New.Missing == "") {
			out.Items = append(out.Items, it)
		}
	}
	if len(out.Items) == 0 {
		return out, fmt.Errorf("%s and %s have no number in common that is asked for", p.base.Name, p.of.Name)
	}
	return out, nil
}

// judge prints which conditions hold, and which cannot be judged, and returns
// the error that they are.
func judge(w io.Writer, gates []*compare.Gate, list []comparison.Comparison, steps []string) error {
	var bad, blind []string
	for _, g := range gates {
		judged := 0
		for _, c := range list {
			found, err := g.Find(c.Judgement, steps)
			if err != nil {
				return usage(err)
			}
			judged += found.Judged
			for _, f := range found.True {
				bad = append(bad, fmt.Sprintf("%s: %s against %s in %s", g, c.New.Name, c.Base.Name, figure.FindingText(&f)))
			}
			for _, text := range found.Blind {
				blind = append(blind, fmt.Sprintf("%s: %s against %s in %s", g, c.New.Name, c.Base.Name, text))
			}
		}
		if judged == 0 && len(blind) == 0 {
			blind = append(blind, fmt.Sprintf("%s: its metrics are not known on both sides of any step", g))
		}
	}
	for _, text := range slices.Concat(bad, blind) {
		fmt.Fprintln(w, text)
	}
	switch {
	case len(bad) > 0:
		return exitError{fmt.Errorf("a condition holds in %s", quantity.Count(len(bad), "place")), ExitWorse}
	case len(blind) > 0:
		return exitError{fmt.Errorf("a condition cannot be judged in %s", quantity.Count(len(blind), "place")), ExitInvalid}
	}
	return nil
}
