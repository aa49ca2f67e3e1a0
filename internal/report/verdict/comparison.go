package verdict

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// Comparison is a judgement, ready to be printed.
type Comparison struct {
	*compare.Judgement
	Campaign *compare.Campaign    // of the two
	Items    []compare.Item       // the items of the judgement to show
	Levels   string               // of durability, if they differ
	Caveats  []string             // to read before the numbers
	Notes    []compare.Difference // other differences of the two: they may be the subject of the comparison
	Narrow   bool                 // the answer is limited to the numbers shown
	Gate     string               // the result of a gate on the question; "" without one
}

// durability returns the end of the heading: the failures that a commit survived on
// both sides; "" if they differ, which a caveat reports.
func (c Comparison) durability() string {
	base, trial := c.Base.Trials[0], c.New.Trials[0]
	if base.Durability == "" || base.DurabilityText() != trial.DurabilityText() {
		return ""
	}
	return "; durability " + base.DurabilityText()
}

// Text prints comparisons as tables.
func Text(w io.Writer, list []Comparison) error {
	for i, c := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := page.Text(w, c.blocks(), page.TextStyle{More: "--format json has them all"}); err != nil {
			return err
		}
	}
	return nil
}

// Markdown prints comparisons as Markdown.
func Markdown(w io.Writer, list []Comparison) error {
	var d page.Document
	for _, c := range list {
		d.Lead = append(d.Lead, c.blocks()...)
	}
	return page.Markdown(w, &d, true)
}

// blocks returns a comparison as the blocks of a page: the answer, then its limits.
func (c Comparison) blocks() (out []page.Block) {
	if c.Levels != "" {
		out = append(out, page.Banner(DurabilityDiffers(c.Levels).Text))
	}
	out = append(out, page.Heading{Level: 2, Text: Pair(c.Base, c.New) + ", the base" + c.durability()})
	sentences := c.story().Sentences()
	if len(sentences) == 0 {
		sentences = []string{"None of the numbers asked about was measured."}
	}
	if c.Gate != "" {
		sentences = append(sentences, "Gate: "+c.Gate+".")
	}
	out = append(out, view.Paragraphs("", sentences...)...)
	for _, d := range c.Caveats {
		out = append(out, page.Banner(d))
	}
	if len(c.Notes) > 0 {
		out = append(out, view.Texts("", quantity.Texts(c.Notes, func(n compare.Difference) string {
			return "differs: " + n.String()
		})...))
	}
	notes := page.NewNotes("")
	for i, title := range []string{"", "Beyond the question (exploratory, corrected by itself)"} {
		asked := i == 0
		items := view.Filter(c.Items, func(it compare.Item) bool { return it.Asked == asked })
		if len(items) > 0 {
			out = append(out, c.table(title, items, notes))
		}
	}
	switch few := min(len(c.Base.Trials), len(c.New.Trials)); {
	case few < compare.LeastTrials:
		out = append(out, page.Prose("", TooFew(few)+" to prove a difference."))
	case c.Judgement.Tested() > 0:
		out = append(out, page.Prose("", correction(c.Judgement)))
	}
	return append(out, notes)
}

// story returns the comparison in sentences.
func (c Comparison) story() Story {
	pair := *c.Campaign
	pair.Targets = []*compare.Target{c.Base, c.New}
	about := Campaign{Campaign: &pair, Narrow: c.Narrow,
		Judged: func(_, _ *compare.Target) *compare.Judgement { return c.Judgement }}
	return about.Story()
}

func (c Comparison) table(title string, items []compare.Item, notes *page.Notes) page.Table {
	t := page.Table{Title: title, Head: "step",
		Columns: page.Columns("number", "base", "new", "ratio", "95 % interval", "trials", "verdict")}
	for i := range items {
		it := &items[i]
		row := page.Row{Head: it.Step.Name, Series: -1, Cells: []page.Cell{page.Words(Name(it.New.Key))}}
		if i > 0 && items[i-1].Step.Name == row.Head {
			row.Head = ""
		}
		for _, text := range []string{Number{*it.Base}.Whole(), Number{*it.New}.Whole(), effectRatio(it.Ratio),
			effectBounds(&it.Effect), effectTrials(&it.Effect)} {
			row.Cells = append(row.Cells, page.Cell{Text: text, Number: true})
		}
		verdict := page.Words(c.verdictText(&it.Effect))
		for _, w := range warnings(it) {
			verdict.Note(notes.Mark(w))
		}
		row.Cells = append(row.Cells, verdict)
		t.Add(row)
	}
	return t
}

func effectRatio(r float64) string {
	if math.IsNaN(r) {
		return quantity.Unknown
	}
	return quantity.Times(r)
}

func effectBounds(e *compare.Effect) string {
	switch {
	case math.IsNaN(e.Low) || !quantity.Finite(e.High):
		return quantity.Unknown
	case e.High >= useless*e.Low && e.High > e.Low:
		return fmt.Sprintf("wider than %d×", useless)
	}
	return quantity.Digits(e.Low) + " to " + quantity.Times(e.High)
}

func effectTrials(e *compare.Effect) string {
	if e.Groups > 0 {
		return quantity.Count(e.Groups, string(e.Unit))
	}
	if e.Pairs > 0 {
		return fmt.Sprintf("%d pairs", e.Pairs)
	}
	if a, b := len(e.Base.Rows), len(e.New.Rows); a != b {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return strconv.Itoa(len(e.New.Rows))
}

// verdictText returns the verdict with its sign and, if it is open, how many
// trials would find a difference.
func (c Comparison) verdictText(e *compare.Effect) string {
	if e.Verdict == "" {
		return quantity.Unknown + " " + cmp.Or(e.Why, "neither direction is better")
	}
	text := MarkOf(e).Sign + " " + string(e.Verdict)
	switch {
	case e.TooFew():
		return MarkOf(e).Sign // that nothing is proven is said once, below
	case e.Sure() || e.Verdict == compare.Same:
		return text
	case e.Likely() != "":
		return MarkOf(e).Sign + " " + likely + string(e.Likely())
	}
	return text + ": " + e.Why
}

// warnings returns the warnings of both numbers.
func warnings(it *compare.Item) []metric.Warning {
	return metric.AppendNew(slices.Clone(it.Base.Warnings), it.New.Warnings...)
}

// comparedItem is a line of the JSON of a comparison, flat so that a line is a
// record: so it has many fields. Unknown values are left out.
type comparedItem struct {
	Base       string    `json:"base_target"`
	New        string    `json:"new_target"`
	Step       string    `json:"step"`
	Group      string    `json:"group,omitempty"`
	Op         string    `json:"op,omitempty"`
	Metric     string    `json:"metric"`
	Unit       string    `json:"unit,omitempty"`
	Per        string    `json:"per,omitempty"`
	Better     string    `json:"better,omitempty"`   // "higher" or "lower"
	Measured   string    `json:"measured,omitempty"` // the metric that replaces it; see For of Effect
	Asked      bool      `json:"asked"`              // the question is about it
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
	Test       string    `json:"test,omitempty"`
	Difference *float64  `json:"difference,omitempty"`    // to be detected, as a share
	Needed     int       `json:"trials_needed,omitempty"` // to find it; 0: too many, or unknown
	Detectable *float64  `json:"detectable,omitempty"`    // the smallest difference that this many trials detect
	Warnings   []string  `json:"warnings,omitempty"`
}

// JSON prints a line of JSON for every number compared.
func JSON(w io.Writer, list []Comparison) error {
	var lines []comparedItem
	for _, c := range list {
		for i := range c.Items {
			lines = append(lines, c.json(&c.Items[i]))
		}
	}
	return metric.WriteLines(escape.NewWriter(w), lines)
}

func (c Comparison) json(it *compare.Item) comparedItem {
	out := comparedItem{
		Base: c.Base.Name, New: c.New.Name, Step: it.Step.Name, Group: it.New.Group, Op: it.New.Op, Metric: it.Metric(),
		Unit: it.New.Unit, Per: it.New.Per, Headline: it.Headline, BaseTrials: it.Base.Values(), NewTrials: it.New.Values(),
		Pairs: it.Pairs, Ratio: quantity.Known(it.Ratio), Low: quantity.Known(it.Low), High: quantity.Known(it.High),
		P: quantity.Known(it.P), Adjusted: quantity.Known(it.Adjusted), Asked: it.Asked, Test: string(it.Test),
		Verdict: string(it.Verdict), Why: it.Why, Warnings: metric.Texts(warnings(it)),
	}
	if it.Verdict == compare.Unclear || it.Verdict == compare.Unstable {
		o := c.Outlook(&it.Effect)
		out.Difference, out.Needed, out.Detectable = quantity.Known(o.Difference), o.Trials, quantity.Known(o.Detectable)
	}
	if it.For != "" {
		out.Measured = it.New.Metric
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

// Bench prints the trials in Go's benchmark format, which benchstat reads: benchstat -col target FILE. A number's
// unit is its metric; which direction of each is better comes first.
func Bench(w io.Writer, list []Comparison) error {
	var units, lines string
	var targets []*compare.Target
	seen, numbers := map[string]bool{}, map[*compare.Target][]benchNumber{}
	for _, c := range list {
		targets = compare.AppendNew(targets, c.Base, c.New)
		for _, it := range c.Items {
			if m := metric.ByName(it.New.Metric); m != nil && m.Better != "" && !seen[m.Name] {
				seen[m.Name] = true
				units += fmt.Sprintf("Unit %s better=%s\n", m.Name, m.Better)
			}
			if it.Verdict == "" && it.Why != "" {
				continue // not comparable, or missing: benchstat would not notice
			}
			for t, n := range map[*compare.Target]*compare.Number{c.Base: it.Base, c.New: it.New} {
				b := benchNumber{it.Step.Name, n}
				if !slices.ContainsFunc(numbers[t], b.same) { // the base of several targets is written once
					numbers[t] = append(numbers[t], b)
				}
			}
		}
	}
	for _, t := range targets {
		if text := benchLines(t, numbers[t]); text != "" {
			lines += "\ntarget: " + t.Name + "\n\n" + text
		}
	}
	_, err := io.WriteString(w, units+strings.TrimPrefix(lines, "\n"))
	return err
}

// benchNumber is a number of a step.
type benchNumber struct {
	step string
	*compare.Number
}

func (b benchNumber) same(o benchNumber) bool { return b.step == o.step && b.Key == o.Key }

// benchLines returns a line for every step, subject and trial of a target.
func benchLines(t *compare.Target, numbers []benchNumber) (out string) {
	for _, trial := range t.Trials {
		var names []string
		values := map[string]string{}
		for _, n := range numbers {
			if i := slices.Index(n.Trials, trial); i >= 0 {
				name := benchName(trial.Workload, n.step, n.Key)
				names, values[name] = compare.AppendNew(names, name), values[name]+fmt.Sprintf(" %v %s", n.Rows[i].Value, n.Metric)
			}
		}
		for _, name := range names {
			out += "Benchmark" + name + " 1" + values[name] + "\n"
		}
	}
	return out
}

// benchName returns a name such as “Ibench/step=l.i1/op=insert”; spaces would
// end it.
func benchName(workload, step string, k compare.Key) string {
	name := quantity.Capital(workload) + "/step=" + step
	for _, part := range []struct{ key, value string }{{"group", k.Group}, {"op", k.Op}, {"per", k.Per}} {
		if part.value != "" && (part.key != "group" || part.value != k.Op) {
			name += "/" + part.key + "=" + part.value
		}
	}
	return strings.ReplaceAll(name, " ", "_")
}
