// Package trend writes a store of campaigns as text: its runs, what changed at which of them,
// and its series over time.
package trend

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/internal/compare"
	"rumbench/internal/compare/history"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// View selects the parts of the series to print.
type View struct {
	Least float64 // changes of the level by at least this many percent
	All   bool    // series without such a change too
}

// Text writes the findings, and the families that they are in, for people; tested is the result
// of history.Detect.
func Text(w io.Writer, families []*history.Family, findings []*history.Finding, tested int, v View) error {
	blocks := v.findings(findings)
	for _, f := range families {
		blocks = append(blocks, v.family(f, families))
	}
	if tested > 0 {
		blocks = append(blocks, page.Prose("", looked(tested)))
	}
	if text := tooFew(families, tested); text != "" {
		blocks = append(blocks, page.Prose("", text+": make more runs, or choose fewer series with --target, --step or "+
			"--metric."))
	}
	return page.Text(w, blocks, page.TextStyle{})
}

func (v View) family(f *history.Family, families []*history.Family) page.Tree {
	byStart := func(a, b *history.Run) int { return a.Campaign.Started.Compare(b.Campaign.Started) }
	first, last := slices.MinFunc(f.Runs, byStart), slices.MaxFunc(f.Runs, byStart)
	out := page.Tree{Text: fmt.Sprintf("%s (%s): %s, %s to %s", f.Plan, f.Workload, quantity.Count(len(f.Runs), "run"),
		minute(first.Campaign.Started), minute(last.Campaign.Started))}
	out.Add("machine: %s", cmp.Or(f.Machine, quantity.Unknown))
	if text := apartFrom(f, families); text != "" {
		out.Add("kept apart from other runs of %s by %s", f.Plan, text)
	}
	for _, s := range slices.Sorted(maps.Keys(f.LeftOut)) {
		out.Add("left out: %s", quantity.Count(f.LeftOut[s], string(s)+" trial"))
	}
	var few, small, quiet int
	moves := func(c history.Change) bool { return c.Moves(v.Least / 100) }
	for _, s := range f.Series {
		switch {
		case len(s.Points) < history.MinRuns:
			few++
		case len(s.Changes) == 0:
			quiet++
		case !slices.ContainsFunc(s.Changes, moves):
			small++
		}
	}
	if quiet > 0 {
		out.Add("%d series without a change that can be distinguished from chance", quiet)
	}
	if small > 0 {
		out.Add("%d series with changes below %g %% only", small, v.Least)
	}
	if f.Odd != nil {
		out.Add("%s", oddText(f))
	}
	if few > 0 {
		out.Add("%d series with too few runs: %d are needed", few, history.MinRuns)
	}
	for i := 0; i < len(f.Series) && v.All; i++ {
		out.Items = append(out.Items, tree(f.Series[i]))
	}
	return out
}

// oddText returns the guess about a family in a line.
func oddText(f *history.Family) string {
	o, run := f.Odd, f.Odd.Dir
	if slices.ContainsFunc(f.Series, func(s *history.Series) bool { return s.Target != o.Target }) {
		run += ", " + o.Target + ","
	}
	far := o.Far()
	var rates []string
	for i, r := range far[:min(mostLeading, len(far))] {
		rates = append(rates, subject(&r.Name)+" "+quantity.Times(r.Ratio)+[...]string{" their median", ""}[min(i, 1)])
	}
	if extra := len(far) - len(rates); extra > 0 {
		rates = append(rates, fmt.Sprintf("and %d more", extra))
	}
	if o.Speed != nil {
		rates[len(rates)-1] += "; before its trials, " + o.Speed.String()
	}
	return fmt.Sprintf("%s is %s than the other %d of its kind: %s; one run may be chance", run,
		map[bool]string{true: "slower", false: "faster"}[o.Ratio < 1], o.Others, strings.Join(rates, ", "))
}

// apartFrom reports how a family differs from the others of its plan.
func apartFrom(f *history.Family, families []*history.Family) string {
	var names, parts []string
	machine := false
	for _, o := range families {
		if o.Plan != f.Plan || o.Workload != f.Workload {
			continue
		}
		machine = machine || o.Machine != f.Machine
		for _, params := range []map[string]any{f.Params, o.Params} {
			for name := range params {
				if history.ParamText(f.Params[name]) != history.ParamText(o.Params[name]) {
					names = compare.AppendNew(names, name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		text := "no " + name
		if v, ok := f.Params[name]; ok {
			text = name + "=" + history.ParamText(v)
		}
		parts = append(parts, text)
	}
	if machine {
		parts = append(parts, "the machine")
	}
	return strings.Join(parts, ", ")
}

// promises reports the differences that separate a series from others of its family
// with its name: other promises, or other work.
func promises(s *history.Series) string {
	differs := func(value func(*history.Series) string) bool {
		return slices.ContainsFunc(s.Siblings(), func(o *history.Series) bool {
			return o.String() == s.String() && value(o) != value(s)
		})
	}
	var parts []string
	if differs(func(s *history.Series) string { return s.Durability }) {
		parts = append(parts, "durability "+cmp.Or(s.Durability, quantity.Unknown))
	}
	if differs(func(s *history.Series) string { return s.Offer }) {
		parts = append(parts, "offered "+cmp.Or(s.Offer, quantity.Unknown))
	}
	return strings.Join(parts, "; ")
}

// tree shows a series with its values and warnings.
func tree(s *history.Series) page.Tree {
	out := page.Tree{Text: s.String()}
	if apart := promises(s); apart != "" {
		out.Add("only runs with %s", apart)
	}
	values := s.Values()
	summary := quantity.Count(len(values), "run")
	if n := len(values); n > 0 {
		low, high := quantity.Four(slices.Min(values)), quantity.Four(slices.Max(values))
		summary += fmt.Sprintf("  %s  %s … %s, last %s%s",
			sparkline(values), low, high, quantity.Four(values[n-1]), unit(&s.Name))
	}
	out.Add("%s", summary)
	if s.Disturbed > 0 {
		out.Add("left out: %s that other programs disturbed", quantity.Count(s.Disturbed, "number"))
	}
	for _, text := range warnings(s) {
		out.Add("! %s", text)
	}
	return out
}

// warnings returns the different warnings on the points, each with its number of
// points. Warnings that differ in figures only are merged.
func warnings(s *history.Series) (out []string) {
	notes, runs := page.NewNotes(""), map[int]int{}
	for _, p := range s.Points {
		seen := map[int]bool{} // a point may have several that are merged
		for _, w := range p.Remarks {
			if n := notes.Mark(w).Number; !seen[n] {
				seen[n] = true
				runs[n]++
			}
		}
	}
	return quantity.Texts(notes.List, func(n page.Note) string {
		return quantity.Count(runs[n.Number], "run") + ": " + n.Text
	})
}

// looked returns how many series were searched for changes.
func looked(tested int) string {
	return fmt.Sprintf("Series looked at: %d; expected false positives among the changes: at most %.0f %%.", tested,
		100*history.FalseShare)
}

// tooFew returns that a change of few series cannot be found in so many; "" if it can.
func tooFew(families []*history.Family, tested int) string {
	n := 0 // points of the longest series
	for _, f := range families {
		for _, s := range f.Series {
			n = max(n, len(s.Points))
		}
	}
	if tested == 0 || history.Together(n, tested) <= 1 {
		return ""
	}
	return fmt.Sprintf("With %d runs, a change of fewer than %d of them can hardly be distinguished from chance", n,
		history.Together(n, tested))
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// unit returns the text after the series' numbers; for a ratio it is empty.
func unit(n *history.Name) string {
	if n.Unit == "ratio" {
		return ""
	}
	return " " + n.Unit
}

// RunsText writes a line for each run, then the problems of some of them.
func RunsText(w io.Writer, runs []*history.Run) error {
	var rows [][]string
	var remarks []string
	for _, r := range runs {
		l := r.Line()
		started, trials := quantity.Unknown, quantity.Unknown
		if l.Started != nil {
			started, trials = minute(*l.Started), fmt.Sprintf("%d of %d", l.TrialsDone, l.TrialsPlanned)
		}
		row := []string{l.Dir, started, l.Plan, l.Workload, trials, string(l.Status), l.Durability, Main(&l),
			Targets(l.Targets)}
		for i, text := range row {
			row[i] = cmp.Or(text, quantity.Unknown)
		}
		rows = append(rows, row)
		for _, text := range r.Remarks() {
			remarks = append(remarks, fmt.Sprintf("! %s: %s", r.Dir, text))
		}
	}
	t := page.WordTable([]string{"directory", "started (UTC)", "plan", "workload", "trials", "status", "durability",
		"main number", "targets"}, rows...)
	t.Groups[0].Foot = remarks
	return page.Text(w, []page.Block{t}, page.TextStyle{})
}

// Main returns the main numbers of a run: "insert rate in l.i1 61.2k/s", or with several
// targets "insert rate in l.i1: pebble 61.2k/s, sqlite 9,000/s".
func Main(l *history.Line) string {
	var parts []string
	last := ""
	for _, m := range l.Main {
		text := amount(&m.Name, m.Value)
		if len(l.Targets) > 1 {
			text = m.Target + " " + text
		}
		if name := subject(&m.Name); name != last {
			last, text = name, name+map[bool]string{true: ": ", false: " "}[len(l.Targets) > 1]+text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// Targets names the targets with their engines: "innodb (mysql
// 10.11.6-MariaDB)". An engine with the target's name is not repeated.
func Targets(targets []history.Target) string {
	var out []string
	for _, t := range targets {
		subject := t.Version
		if t.Engine != t.Name {
			subject = strings.TrimSpace(strings.TrimPrefix(t.Engine, result.Unknown) + " " + t.Version)
		}
		if subject != "" {
			subject = " (" + subject + ")"
		}
		out = append(out, t.Name+subject)
	}
	return strings.Join(out, ", ")
}

// sparkline draws values with a character each; if there are more than sixty, a
// character is the median of some neighbours. The height represents at least a
// tenth of the greatest value, so that noise looks flat.
func sparkline(values []float64) string {
	const width = 60
	var v []float64
	for group := range slices.Chunk(values, (len(values)+width-1)/width) {
		v = append(v, stat.Median(group))
	}
	low, high := slices.Min(v), slices.Max(v)
	lowest := 0.1 * math.Max(math.Abs(low), math.Abs(high))
	if lowest == 0 {
		lowest = 1 // nothing but zeros
	}
	if high-low < lowest {
		middle := (low + high) / 2
		low, high = middle-lowest/2, middle+lowest/2
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, x := range v {
		i := int((x - low) / (high - low) * float64(len(bars)))
		b.WriteRune(bars[min(i, len(bars)-1)])
	}
	return b.String()
}
