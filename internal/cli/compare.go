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
	"github.com/spf13/pflag"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

type compareOptions struct {
	format string
	base   string
	selection
	all, brief   bool
	across       compare.Across
	question     result.Question // from the flags
	gate, strict bool
	failIf       []string
}

func newCompareCommand(a *App) *cobra.Command {
	var o compareOptions
	dash := -1
	c := command("compare BASE NEW...", "compare results, with intervals and verdicts",
		args(func(c *cobra.Command, args []string) error {
			dash = c.ArgsLenAtDash()
			if len(args) == 0 || dash == 0 || dash == len(args) {
				return errors.New("compare needs directories of results to compare")
			}
			return o.checkQuestion()
		}), func(_ *cobra.Command, args []string) error { return runCompare(a, o, args, dash) })
	f := c.Flags()
	choice(f, &o.format, "format", "text", "text, markdown, json (a line per number) or bench (Go's benchmark format)",
		"text", "markdown", "json", "bench")
	f.StringVar(&o.base, "base", "", "the base among the targets of one campaign (default: the first)")
	f.StringSliceVar(&o.steps, "step", nil, "ask about these steps only, and show no others")
	f.StringSliceVar(&o.metrics, "metric", nil,
		"ask about these metrics only, and show no others: throughput, p99, write_kb …")
	f.Var((*shareFlag)(&o.question.WorseBy), "worse-by", "the smallest difference for the worse that matters, such as 5%")
	f.Var((*shareFlag)(&o.question.BetterBy), "better-by", "the smallest difference for the better that matters")
	f.Var((*shareFlag)(&o.question.Within), "equivalent-within",
		"how far apart numbers may be that are called the same (default 1%, or what does not matter)")
	f.BoolVar(&o.all, "all", false, "show all numbers, not only the headline")
	f.BoolVar(&o.brief, "brief", false, "show only what is asked about")
	acrossFlags(f, &o.across)
	f.BoolVar(&o.gate, "gate", false,
		"exit with 3 if a regression is proven, and with 4 if a number asked about cannot be judged")
	f.BoolVar(&o.strict, "fail-unless-equivalent", false,
		"of --gate: exit with 3 also where a regression that matters is not excluded")
	failIfFlag(f, &o.failIf)
	return c
}

func failIfFlag(f *pflag.FlagSet, failIf *[]string) {
	f.StringArrayVar(failIf, "fail-if", nil, "a `condition` that makes the exit status 3; may be repeated")
}

// checkQuestion checks the flags that form the question, and resolves the names of
// metrics.
func (o *compareOptions) checkQuestion() error {
	switch {
	case o.all && o.brief:
		return errors.New("--all and --brief are opposites")
	case o.strict && !o.gate:
		return errors.New("--fail-unless-equivalent goes with --gate")
	case o.gate && len(o.failIf) > 0:
		return errors.New("--gate judges the question, --fail-if its own conditions: give one of them")
	}
	for _, name := range o.metrics {
		if m, err := metric.JudgedAs(name); err == nil { // other metrics are only shown
			o.question.Metrics = compare.AppendNew(o.question.Metrics, m)
		}
	}
	return resolveMetrics(&o.metrics)
}

// shareFlag is a share: 0.03 or 3%.
type shareFlag float64

func (f *shareFlag) String() string { return strconv.FormatFloat(100*float64(*f), 'g', -1, 64) + "%" }
func (f *shareFlag) Type() string   { return "share" }

func (f *shareFlag) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !result.ValidDifference(v) {
		return fmt.Errorf("%q is no share such as 0.05 or 5%%, above 0 and below 100%%", s)
	}
	*f = shareFlag(v)
	return nil
}

var compareFormats = map[string]func(io.Writer, []verdict.Comparison) error{
	"text": verdict.Text, "markdown": verdict.Markdown, "json": verdict.JSON, "bench": verdict.Bench,
}

func runCompare(a *App, o compareOptions, args []string, dash int) error {
	gates, err := parseConditions(o.failIf)
	if err != nil {
		return err
	}
	pairs, c, err := comparePairs(args, dash, o.base, o.across, o.steps)
	if err != nil {
		return err
	}
	if err := o.ask(c, gates); err != nil {
		return err
	}
	var list []verdict.Comparison
	var refused []error
	for _, p := range pairs {
		if one, err := compareTargets(c, p, o); err != nil {
			refused = append(refused, err)
		} else {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return errors.Join(refused...)
	}
	var passed []verdict.Gate
	var judged []*compare.Judgement
	for i := range list {
		if o.format == "json" || o.format == "bench" {
			printRemarks(a.Stderr, list[i].Levels, nil)
		}
		judged = append(judged, list[i].Judgement)
		if list[i].Narrow = o.brief || len(o.steps)+len(o.metrics) > 0; o.gate {
			g := verdict.GateOf(list[i].Judgement, o.strict)
			list[i].Gate, passed = g.Text, append(passed, g)
		}
	}
	if err := compareFormats[o.format](a.Stdout, list); err != nil {
		return err
	}
	held, err := verdict.Conditions(gates, judged, o.steps)
	if err != nil {
		return errors.Join(append(refused, usage(err))...)
	}
	return errors.Join(append(refused, gateError(a.Stderr, append(passed, held)))...)
}

// ask adds the flags to the campaign's question: they narrow it, and conditions
// replace it.
func (o *compareOptions) ask(c *compare.Campaign, gates []*compare.Gate) error {
	q := &c.Question
	if len(gates) > 0 {
		q.Steps, q.Metrics = stepNames(c), nil
		for _, g := range gates {
			q.Metrics = compare.AppendNew(q.Metrics, g.Judged()...)
		}
	}
	if len(o.steps) > 0 {
		q.Steps = o.steps
	}
	if len(o.question.Metrics) > 0 {
		q.Metrics = o.question.Metrics
	}
	q.WorseBy, q.BetterBy = cmp.Or(o.question.WorseBy, q.WorseBy), cmp.Or(o.question.BetterBy, q.BetterBy)
	q.Within = cmp.Or(o.question.Within, q.Within)
	if reason := q.Contradiction(); reason != "" {
		return usage(hint.Errorf("lower --equivalent-within", "%s", reason))
	}
	steps, metrics := c.Unasked()
	switch {
	case len(gates) > 0:
		return nil // they report which of them cannot be judged
	case len(steps) > 0:
		return usage(hint.Errorf("choose steps with --step", "no trial has the step %s that the plan asks about",
			strings.Join(steps, ", ")))
	case len(metrics) > 0:
		return usage(hint.Errorf("rumbench show prints the numbers that there are", "no step has a number of %s",
			strings.Join(metrics, ", ")))
	case o.strict && compare.Matters(q) == 0:
		return usage(hint.Errorf("add --worse-by 5%, or worse_by to the plan's question",
			"nothing says how great a difference matters, so none can be excluded"))
	}
	return nil
}

// exitCodes are the exit codes for the results of gates that did not pass.
var exitCodes = map[verdict.Passage]int{verdict.Undecided: ExitInvalid, verdict.Stopped: ExitWorse}

// gateError prints the results of gates and returns the error of the worst one that did
// not pass, if any: a regression takes precedence over an undecided gate.
func gateError(w io.Writer, gates []verdict.Gate) error {
	for _, g := range gates {
		for _, line := range g.Lines {
			fmt.Fprintln(w, line)
		}
	}
	worst := slices.MaxFunc(gates, func(a, b verdict.Gate) int { return cmp.Compare(a.Passage, b.Passage) })
	if worst.Passage == verdict.Passed {
		return nil
	}
	return exitError{errors.New(worst.Text), exitCodes[worst.Passage]}
}

func parseConditions(texts []string) (gates []*compare.Gate, err error) {
	for _, text := range texts {
		g, err := compare.NewGate(text)
		if err != nil {
			return nil, usage(hint.With(err,
				"a condition compares ratios, as in 'rows_per_s < 0.95 && sure'; shares have no %, texts stand in quotes"))
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// compareTargets compares two targets, if they did the same work.
func compareTargets(c *compare.Campaign, p pair, o compareOptions) (out verdict.Comparison, err error) {
	if out.Levels, out.Caveats, err = c.Comparable(p.base, p.other); err != nil {
		return out, err
	}
	out.Campaign, out.Notes = c, compare.Apart(p.base, p.other)
	out.Judgement = c.Judge(p.base, p.other)
	out.Caveats = append(out.Caveats, c.Caveats(out.Judgement)...)
	for _, it := range out.Judgement.Items {
		shown := it.Asked || !o.brief && (it.Headline || o.all || len(o.metrics) > 0)
		if shown && includes(o.steps, it.Step.Name) && includes(o.metrics, it.Metric()) &&
			(it.Base.Missing == "" || it.New.Missing == "") {
			out.Items = append(out.Items, it)
		}
	}
	if len(out.Items) == 0 {
		return out, fmt.Errorf("%s and %s have no number in common that is asked for", p.base.Name, p.other.Name)
	}
	return out, nil
}
