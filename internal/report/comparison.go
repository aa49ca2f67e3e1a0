package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
)

// Comparison is a judgement, ready to be printed.
type Comparison struct {
	*compare.Judgement
	Items  []compare.Item // those of the judgement that are to be shown
	First  string         // what is said before all else; "" if nothing is
	Doubts []string       // what a reader must know before the numbers
	Notes  []string       // in what else the two differ: it may be what is compared
	// Difference is the relative difference, such as 0.03, of which is told how
	// many trials it takes to find.
	Difference float64
}

// durability ends the heading with what a commit survived on both sides; "" if
// that differs, which is said below.
func (c Comparison) durability() string {
	base, of := c.Base.Trials[0], c.New.Trials[0]
	if base.Durability == "" || base.DurabilityText() != of.DurabilityText() {
		return ""
	}
	return "; durability " + base.DurabilityText()
}

// ComparisonText prints comparisons as tables.
func ComparisonText(w io.Writer, list []Comparison) error {
	return buffered(w, func(b *bufio.Writer) error {
		for i, c := range list {
			if i > 0 {
				fmt.Fprintln(b)
			}
			c.text(b)
		}
		return nil
	})
}

var comparisonHeads = []string{"step", "number", "base", "new", "ratio", "95 % interval", "trials", "verdict"}

func (c Comparison) text(w io.Writer) {
	if c.First != "" {
		fmt.Fprintf(w, "⚠ %s\n", c.First)
	}
	fmt.Fprintf(w, "%s against %s, the base%s\n", c.New.Name, c.Base.Name, c.durability())
	for _, d := range c.Doubts {
		fmt.Fprintf(w, "⚠ %s\n", d)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(w, "differs: %s\n", n)
	}
	n := &notes{}
	rows := c.rows(n)
	widths := columnWidths(comparisonHeads, [][][]string{rows})
	fmt.Fprintln(w, comparisonRow(comparisonHeads, widths))
	for _, r := range rows {
		fmt.Fprintln(w, comparisonRow(r, widths))
	}
	fmt.Fprintf(w, "\n%s\n", c.summary())
	textNotes(w, n, "--format json has them all")
}

// comparisonRow aligns words to the left and numbers to the right.
func comparisonRow(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		space := strings.Repeat(" ", widths[i]-width(c))
		if i < 2 || i == len(cells)-1 {
			b.WriteString(c + space + "  ")
		} else {
			b.WriteString(space + c + "  ")
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// ComparisonMarkdown prints comparisons as Markdown.
func ComparisonMarkdown(w io.Writer, list []Comparison) error {
	return buffered(w, func(b *bufio.Writer) error {
		for _, c := range list {
			c.markdown(b)
		}
		return nil
	})
}

func (c Comparison) markdown(w io.Writer) {
	if c.First != "" {
		fmt.Fprintf(w, "> ⚠ %s\n\n", escape(c.First))
	}
	fmt.Fprintf(w, "## %s against %s, the base%s\n\n", escape(c.New.Name), escape(c.Base.Name), escape(c.durability()))
	for _, d := range c.Doubts {
		fmt.Fprintf(w, "> ⚠ %s\n>\n", escape(d))
	}
	for _, n := range c.Notes {
		fmt.Fprintf(w, "- differs: %s\n", escape(n))
	}
	if len(c.Notes) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| %s |\n|---|---|---:|---:|---:|---:|---:|---|\n", strings.Join(comparisonHeads, " | "))
	n := &notes{}
	for _, r := range c.rows(n) {
		for i := range r {
			r[i] = escape(r[i])
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintf(w, "\n%s\n\n", escape(c.summary()))
	markdownNotes(w, n.list)
}

// rows are the table's; the doubts of numbers are marked in it.
func (c Comparison) rows(n *notes) [][]string {
	var out [][]string
	last := ""
	for i := range c.Items {
		it := &c.Items[i]
		step := it.Step.Name
		if step == last {
			step = ""
		}
		last = it.Step.Name
		marks := Cell{}
		for _, w := range metric.AppendNew(slices.Clone(it.Base.Warnings), it.New.Warnings...) {
			marks.Notes = withNote(marks.Notes, n.mark(w))
		}
		out = append(out, []string{step, numberName(it.New.Key), number{*it.Base}.whole(), number{*it.New}.whole(),
			effectRatio(it.Ratio), effectBounds(&it.Effect), effectTrials(&it.Effect), strings.TrimSpace(c.verdictText(&it.Effect) + " " + marks.Marks())})
	}
	return out
}

// numberName names a number as “rows_per_s insert” or “write_kb per insert row”.
func numberName(k key) string {
	name := k.Metric
	switch {
	case k.Per != "":
		name += " per " + k.Per
	case k.Op != "":
		name += " " + k.Op
	}
	if k.Group != "" && k.Group != k.Op {
		name += " (group " + k.Group + ")"
	}
	return name
}

func effectRatio(r float64) string {
	if math.IsNaN(r) {
		return unknown
	}
	return times(r)
}

func effectBounds(e *compare.Effect) string {
	if math.IsNaN(e.Low) || math.IsNaN(e.High) || math.IsInf(e.High, 0) {
		return unknown
	}
	return decimal(e.Low) + " to " + times(e.High)
}

func effectTrials(e *compare.Effect) string {
	if e.Pairs > 0 {
		return fmt.Sprintf("%d pairs", e.Pairs)
	}
	if a, b := len(e.Base.Rows), len(e.New.Rows); a != b {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return strconv.Itoa(len(e.New.Rows))
}

// verdictText is the verdict with its sign and, where it is open, how many
// trials would find a difference.
func (c Comparison) verdictText(e *compare.Effect) string {
	if e.Verdict == "" {
		if e.Why != "" {
			return unknown + " " + e.Why
		}
		return unknown + " neither direction is better"
	}
	text := markOf(e).sign + " " + string(e.Verdict)
	switch {
	case e.Verdict == compare.Unstable, e.Verdict == compare.Unclear && (e.Base.AtLeast() || e.New.AtLeast()), e.Verdict == compare.Unclear && c.Needed(e, c.Difference) == 0:
		return text + ": " + e.Why
	case e.Verdict == compare.Unclear && e.Notable() != "" && e.Ratio > 0:
		apart := math.Expm1(math.Abs(math.Log(e.Ratio)))
		return fmt.Sprintf("%s; as much as this takes %s trials", text, trialCount(c.Needed(e, apart)))
	case e.Verdict == compare.Unclear:
		return fmt.Sprintf("%s; %s takes %s trials", text, percent(c.Difference), trialCount(c.Needed(e, c.Difference)))
	}
	return text
}

// trialCount is a number of trials; beyond a thousand nobody runs them.
func trialCount(n int) string {
	if n > 1000 {
		return "more than 1,000"
	}
	return grouped(float64(n))
}

// summary counts the verdicts.
func (c Comparison) summary() string {
	text := tallyOf(c.Items)
	if text == "" {
		return "None of these numbers is a headline number that can be compared."
	}
	return strings.ToUpper(text[:1]) + text[1:] + ". Verdicts are corrected for all headline numbers together, intervals are of each number alone."
}

// comparedItem is a line of the JSON of a comparison. What is not known is left out.
type comparedItem struct {
	Base       string    `json:"base_target"`
	New        string    `json:"new_target"`
	Step       string    `json:"step"`
	Group      string    `json:"group,omitempty"`
	Op         string    `json:"op,omitempty"`
	Metric     string    `json:"metric"`
	Unit       string    `json:"unit,omitempty"`
	Per        string    `json:"per,omitempty"`
	Better     string    `json:"better,omitempty"` // "higher" or "lower"
	Headline   bool      `json:"headline"`
	BaseValue  *float64  `json:"base,omitempty"` // medians
	NewValue   *float64  `json:"new,omitempty"`
	BaseTrials []float64 `json:"base_trials,omitempty"`
	NewTrials  []float64 `json:"new_trials,omitempty"`
	Pairs      int       `json:"pairs,omitempty"`
	Ratio      *float64  `json:"ratio,omitempty"`
	Low        *float64  `json:"low,omitempty"`
	High       *float64  `json:"high,omitempty"`
	P          *float64  `json:"p,omitempty"`
	Adjusted   *float64  `json:"p_adjusted,omitempty"`
	Verdict    string    `json:"verdict,omitempty"`
	Why        string    `json:"why,omitempty"`
	Needed     int       `json:"trials_needed,omitempty"` // to find the difference asked for
	Warnings   []string  `json:"warnings,omitempty"`
}

// ComparisonJSON prints a line of JSON for every number compared.
func ComparisonJSON(w io.Writer, list []Comparison) error {
	return buffered(w, func(b *bufio.Writer) error {
		enc := json.NewEncoder(b)
		for _, c := range list {
			for i := range c.Items {
				if err := enc.Encode(c.json(&c.Items[i])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (c Comparison) json(it *compare.Item) comparedItem {
	out := comparedItem{
		Base: c.Base.Name, New: c.New.Name, Step: it.Step.Name, Group: it.New.Group, Op: it.New.Op, Metric: it.Metric(),
		Unit: it.New.Unit, Per: it.New.Per, Headline: it.Headline, BaseTrials: it.Base.Values(), NewTrials: it.New.Values(),
		Pairs: it.Pairs, Ratio: known(it.Ratio), Low: known(it.Low), High: known(it.High), P: known(it.P), Adjusted: known(it.Adjusted),
		Verdict: string(it.Verdict), Why: it.Why, Needed: c.Needed(&it.Effect, c.Difference),
		Warnings: metric.Texts(metric.AppendNew(slices.Clone(it.Base.Warnings), it.New.Warnings...)),
	}
	if m := metric.ByName(it.Metric()); m != nil {
		out.Better = string(m.Better)
	}
	if it.Base.Missing == "" {
		out.BaseValue = &it.Base.Value
	}
	if it.New.Missing == "" {
		out.NewValue, out.Unit = &it.New.Value, it.New.Unit
	}
	return out
}

// known is v, nil where JSON has no word for it.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// ComparisonBench prints the trials in the format of Go's benchmarks, which
// benchstat reads: benchstat -col target FILE. A number's unit is its metric.
func ComparisonBench(w io.Writer, list []Comparison) error {
	out := benchfmt.NewWriter(w)
	if err := benchUnits(out, list); err != nil {
		return err
	}
	var targets []*compare.Target
	numbers := map[*compare.Target][]benchNumber{}
	for _, c := range list {
		targets = appendOnce(appendOnce(targets, c.Base), c.New)
		for _, it := range c.Items {
			if it.Verdict == "" && it.Why != "" {
				continue // in doubt, or missing: benchstat could not know
			}
			for t, n := range map[*compare.Target]*compare.Number{c.Base: it.Base, c.New: it.New} {
				b := benchNumber{it.Step.Name, n}
				if !slices.ContainsFunc(numbers[t], b.same) { // the base of several is written once
					numbers[t] = append(numbers[t], b)
				}
			}
		}
	}
	for _, t := range targets {
		if err := benchTarget(out, t, numbers[t]); err != nil {
			return err
		}
	}
	return nil
}

// benchNumber is a number of a step.
type benchNumber struct {
	step string
	*compare.Number
}

func (b benchNumber) same(o benchNumber) bool { return b.step == o.step && b.Key == o.Key }

// benchUnits says which direction of which unit is better.
func benchUnits(out *benchfmt.Writer, list []Comparison) error {
	seen := map[string]bool{}
	for _, c := range list {
		for _, it := range c.Items {
			m := metric.ByName(it.Metric())
			if m == nil || m.Better == "" || seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			u := benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: m.Name, Key: "better"}, OrigUnit: m.Name, Value: string(m.Better)}
			if err := out.Write(&u); err != nil {
				return fmt.Errorf("write benchmark format: %w", err)
			}
		}
	}
	return nil
}

// benchTarget writes a line for every step, subject and trial of a target.
func benchTarget(out *benchfmt.Writer, t *compare.Target, numbers []benchNumber) error {
	for _, trial := range t.Trials {
		var names []string
		values := map[string][]benchfmt.Value{}
		for _, n := range numbers {
			for i, of := range n.Trials {
				if of == trial {
					name := benchName(trial.Workload, n.step, n.Key)
					names = appendNew(names, name)
					values[name] = append(values[name], benchfmt.Value{Value: n.Rows[i].Value, Unit: n.Metric})
				}
			}
		}
		for _, name := range names {
			r := benchfmt.Result{Config: []benchfmt.Config{{Key: "target", Value: []byte(t.Name), File: true}}, Name: benchfmt.Name(name), Iters: 1, Values: values[name]}
			if err := out.Write(&r); err != nil {
				return fmt.Errorf("write benchmark format: %w", err)
			}
		}
	}
	return nil
}

// benchName is as “Ibench/step=l.i1/op=insert”; spaces would end the name.
func benchName(workload, step string, k key) string {
	name := strings.ToUpper(workload[:min(1, len(workload))]) + workload[min(1, len(workload)):] + "/step=" + step
	for _, part := range []struct{ key, value string }{{"group", k.Group}, {"op", k.Op}, {"per", k.Per}} {
		if part.value != "" && (part.key != "group" || part.value != k.Op) {
			name += "/" + part.key + "=" + part.value
		}
	}
	return strings.ReplaceAll(name, " ", "_")
}
