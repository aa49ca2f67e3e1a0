package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/comparison"
	"rumbench/internal/hint"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

type compareOptions struct {
	format         string
	base           string
	steps, metrics []string
	all            bool
	across         compare.Across
	failIf         []string
	margin, find   float64
}

func (a *App) compareCommand() *cobra.Command {
	o := compareOptions{margin: compare.DefaultRule().Margin, find: 0.03}
	dash := -1
	c := &cobra.Command{
		Use:   "compare BASE NEW...",
		Short: "say which differences are sure, with intervals and verdicts",
		Long: `compare says for every step and headline number how NEW differs from BASE: the
ratio of the medians over trials, its 95 % interval, and a verdict.

  better, worse  surely different, in or against the metric's direction
  same           surely no farther apart than --margin
  unclear        it may be chance; the verdict says how many trials would tell
  unstable       the trials of one side contradict each other

A directory is a campaign or a trial; DIR:TARGET is one target of a campaign.
One campaign alone: its first target is the base of the others. Two or more: the
first is the base of each of the others. Several campaigns on a side stand on
both sides of --. Targets of the same name are compared; a single target on both
sides is, whatever its name.

Conditions of --fail-if see a metric's name as new ÷ base, low.METRIC and
high.METRIC as the bounds of its interval, base.METRIC and new.METRIC,
verdict.METRIC, sure (all verdicts in it are better or worse), step and op.

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
				return errors.New("compare wants directories of results to compare")
			}
			if !slices.Contains(compareFormats, o.format) {
				return fmt.Errorf("--format is one of %s, not %q", strings.Join(compareFormats, ", "), o.format)
			}
			if !(o.margin >= 0 && o.margin < 1) || !(o.find > 0 && o.find < 10) {
				return errors.New("--margin and --find are shares such as 0.03, which is 3 %")
			}
			return checkMetrics(o.metrics)
		}),
		RunE: func(_ *cobra.Command, args []string) error { return a.compare(args, dash, o) },
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
	f.Var((*shareFlag)(&o.find), "find", "tell how many trials would find a difference of this, such as 3%")
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

var compareFormats = []string{"text", "markdown", "json", "bench"}

func checkMetrics(names []string) error {
	for _, m := range names {
		if metric.ByName(m) == nil {
			return fmt.Errorf("there is no metric %q; rumbench list metrics names them", m)
		}
	}
	return nil
}

// regressionError says that a condition of --fail-if holds.
type regressionError struct{ error }

func (a *App) compare(args []string, dash int, o compareOptions) error {
	var gates []*compare.Gate
	for _, text := range o.failIf {
		g, err := compare.NewGate(text)
		if err != nil {
			return usageError{hint.With(err, "a condition compares ratios, as in 'rows_per_s < 0.95 && sure'; shares have no %, texts stand in quotes")}
		}
		gates = append(gates, g)
	}
	pairs, c, err := comparePairs(args, dash, o.base)
	if err != nil {
		return err
	}
	c.Across = o.across
	for _, s := range o.steps {
		if c.Step(s) == nil {
			return usageError{fmt.Errorf("no trial has a step %q", s)}
		}
	}
	rule := compare.DefaultRule()
	rule.Margin = o.margin
	var list []comparison.Comparison
	var refused []error
	for _, p := range pairs {
		if cmp, err := compared(c, p, rule, o); err != nil {
			refused = append(refused, err)
		} else {
			list = append(list, cmp)
		}
	}
	if len(list) == 0 {
		return errors.Join(refused...)
	}
	if o.format == "json" || o.format == "bench" { // which have no place for it
		for _, cmp := range list {
			if cmp.First != "" {
				fmt.Fprintln(a.Stderr, "⚠ "+cmp.First)
			}
		}
	}
	if err := printComparisons(a.Stdout, list, o.format); err != nil {
		return err
	}
	return errors.Join(append(refused, a.judge(gates, list, o.steps))...)
}

func printComparisons(w io.Writer, list []comparison.Comparison, format string) error {
	switch format {
	case "markdown":
		return comparison.Markdown(w, list)
	case "json":
		return comparison.JSON(w, list)
	case "bench":
		return comparison.Bench(w, list)
	}
	return comparison.Text(w, list)
}

// compared compares two targets, if they did the same work.
func compared(c *compare.Campaign, p pair, rule compare.Rule, o compareOptions) (comparison.Comparison, error) {
	out := comparison.Comparison{Difference: o.find}
	if err := alike(c, p, &out); err != nil {
		return out, err
	}
	out.Notes = compare.Apart(p.base, p.of)
	out.Judgement = c.Judge(p.base, p.of, rule)
	if apart(out.Judgement) {
		out.Doubts = append(out.Doubts, apartNote(p))
	}
	out.Doubts = append(out.Doubts, missingSteps(c, p)...)
	out.Doubts = append(out.Doubts, lostTrials(c, p)...)
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

// alike refuses targets that did other work, or promised another durability,
// unless that was asked for; then it is said above the numbers.
func alike(c *compare.Campaign, p pair, out *comparison.Comparison) error {
	work := compare.Unlike(p.base, p.of)
	offered, whole := c.OtherWork(p.base, p.of)
	if whole {
		work = append(work, offered...)
	}
	if len(work) > 0 {
		text := fmt.Sprintf("%s and %s did different work: %s", p.base.Name, p.of.Name, strings.Join(work, "; "))
		if !c.Across.Work {
			return hint.With(errors.New(text), "compare runs of one plan, or say --anyway")
		}
		out.Doubts = append(out.Doubts, text)
	}
	for _, text := range offered {
		switch {
		case whole:
		case c.Across.Work:
			out.Doubts = append(out.Doubts, "different work in "+text)
		default:
			out.Doubts = append(out.Doubts, "not compared, as the work differs, in "+text+" (--anyway compares them all the same)")
		}
	}
	levels := compare.UnlikeDurability(p.base, p.of)
	if levels == "" {
		return nil
	}
	if !c.Across.Durability {
		return hint.With(fmt.Errorf("%s and %s differ in durability: %s. The one may lose commits that the other keeps", p.base.Name, p.of.Name, levels),
			"compare targets of one level, or say --across-durability")
	}
	out.First = fmt.Sprintf("durability differs: %s. The ratios of %s to %s are those of different promises.", levels, p.of.Name, p.base.Name)
	return nil
}

// missingSteps tells of steps to which only one of the targets came.
func missingSteps(c *compare.Campaign, p pair) []string {
	var out []string
	for _, s := range c.Steps {
		switch a, b := len(s.Runs[p.base]), len(s.Runs[p.of]); {
		case a > 0 && b == 0:
			out = append(out, s.Name+" only on "+p.base.Name)
		case a == 0 && b > 0:
			out = append(out, s.Name+" only on "+p.of.Name)
		}
	}
	return out
}

// apart tells whether nothing was compared in pairs.
func apart(j *compare.Judgement) bool {
	return !slices.ContainsFunc(j.Items, func(it compare.Item) bool { return it.Pairs > 0 }) &&
		slices.ContainsFunc(j.Items, func(it compare.Item) bool { return !math.IsNaN(it.P) })
}

func apartNote(p pair) string {
	if p.base.Trials[0].Order == "duet" && p.of.Trials[0].Order == "duet" {
		return "the two ran beside each other for too little of their time to be compared in pairs: one was done long before the other"
	}
	return "the two did not run side by side: what the machine did in between is in every difference, and no number of trials takes it out"
}

// lostTrials tells of trials whose numbers are in no median: they ended badly,
// or did not come to a step that others came to.
func lostTrials(c *compare.Campaign, p pair) []string {
	var out []string
	for _, t := range []*compare.Target{p.base, p.of} {
		for _, trial := range t.Trials {
			if trial.Status != result.Complete {
				text := fmt.Sprintf("%s, trial %d: %s", t.Name, trial.Trial, trial.Status)
				if trial.Reason != "" {
					text += ": " + trial.Reason
				}
				out = append(out, text)
			}
		}
		for _, s := range c.Steps {
			if n := len(s.Used(t)); n > 0 && n < len(t.Trials) {
				out = append(out, fmt.Sprintf("%s in %s: %d of %d trials", t.Name, s.Name, n, len(t.Trials)))
			}
		}
	}
	return out
}

// judge tells which conditions hold.
func (a *App) judge(gates []*compare.Gate, list []comparison.Comparison, steps []string) error {
	var bad, blind []string
	for _, g := range gates {
		judged := 0
		for _, c := range list {
			found, err := g.Find(c.Judgement, steps)
			if err != nil {
				return usageError{err}
			}
			judged += found.Judged
			for _, f := range found.True {
				bad = append(bad, findingText(g, c, f))
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
		fmt.Fprintln(a.Stderr, text)
	}
	switch {
	case len(bad) > 0:
		return &regressionError{fmt.Errorf("a condition holds in %s", places(len(bad)))}
	case len(blind) > 0:
		return &invalidError{fmt.Errorf("a condition cannot be judged in %s", places(len(blind)))}
	}
	return nil
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

func findingText(g *compare.Gate, c comparison.Comparison, f compare.Finding) string {
	var parts []string
	for _, e := range f.Effects {
		part := e.Metric()
		if e.New.Per != "" {
			part += " per " + e.New.Per
		}
		part += fmt.Sprintf(" %.3f×", e.Ratio)
		if !math.IsNaN(e.Low) {
			part += fmt.Sprintf(" (%.3f to %.3f)", e.Low, e.High)
		}
		parts = append(parts, part+" "+string(e.Verdict))
	}
	where := f.Step.Name
	if f.Op != "" {
		where += ", " + f.Op
	}
	return fmt.Sprintf("%s: %s against %s in %s: %s", g, c.New.Name, c.Base.Name, where, strings.Join(parts, "; "))
}
