package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// whyDifferent explains why targets differ from the base, whether trials were repeated or
// not: the costs of reads, updates and space, then for each target a waterfall and
// paragraphs.
func whyDifferent(v *campaign) []page.Section {
	if len(v.Targets) < 2 {
		return nil
	}
	sec := page.Section{ID: "why", Title: "Why they differ", Nav: "Why"}
	if d := tradeoff(explain.RUMOf(v.Campaign)); d != nil {
		sec.Blocks = append(sec.Blocks, *d)
	}
	base := v.Targets[0]
	var list []*explain.Explanation
	for _, t := range v.Targets[1:] {
		if e := explained(v, base, t); len(compare.Unlike(base, t)) == 0 && e.Explains() {
			list = append(list, e)
		}
	}
	sec.Blocks = append(sec.Blocks, Settled(list, 3)...)
	leads, shown := map[string]bool{}, 4
	if len(list) > 1 {
		shown = 2 // all fit on a screen; rumbench explain reports more of each
	}
	for _, e := range list {
		l := paragraphs(e, leads, shown)
		if len(l.Items) == 0 {
			continue
		}
		parts := []page.Block{l}
		if w := waterfall(v, e); w != nil {
			parts = append(parts, page.Drawing{Caption: w.Title, Picture: w.Picture()})
		}
		sec.Blocks = append(sec.Blocks, page.Heading{Level: 3, Text: verdict.Pair(base, e.New)},
			page.Panels{Cells: cells(parts...)})
	}
	if steps := v.leading(); len(list) > 0 && len(steps) > 0 {
		if t := subsystemTable(steps[0].Step, v.Targets); !t.Empty() {
			t.Title += " in " + steps[0].Name
			sec.Blocks = append(sec.Blocks, page.Grid{ID: "why-cpu", Tables: []page.Table{t}})
		}
	}
	if len(sec.Blocks) == 0 {
		return nil
	}
	return []page.Section{sec}
}

// paragraphs lists the effects in groups of steps with their causes. Warnings that stand with
// another pair of targets are not repeated, and groups beyond those shown are only named.
func paragraphs(e *explain.Explanation, repeated map[string]bool, shown int) page.List {
	l := page.List{Class: "verdict"}
	for _, text := range e.Lead() {
		if !repeated[text] {
			l.Items = append(l.Items, page.Item{Text: text})
		}
		repeated[text] = true
	}
	var extra []string
	groups, silent := e.Paragraphs()
	for i, p := range groups {
		if i >= shown {
			extra = append(extra, p.Names())
			continue
		}
		var lines []string
		for _, line := range p.Lines {
			effect := verdict.EffectsInWords(line.Effects, e.Base, e.New)
			lines = append(lines, strings.TrimSpace(effect+" "+line.Causes))
		}
		l.Items = append(l.Items, page.Item{Name: p.Names(), Text: lines[0], More: lines[1:]})
	}
	l.Items = append(l.Items, view.Texts("", nonEmpty(listing("Smaller differences in ", extra, "."),
		listing("No difference is proven and explained in ", silent, "."))...).Items...)
	return l
}

// Why returns explanations as blocks: for each a paragraph per group of steps and, with all, a
// table of every item of every sum.
func Why(list []*explain.Explanation, all bool) (out []page.Block) {
	const shown = 6
	leads := map[string]bool{}
	for _, e := range list {
		out = append(out, page.Heading{Level: 2, Text: fmt.Sprintf("Why %s differs from %s", e.New.Name, e.Base.Name)},
			paragraphs(e, leads, shown))
		if all {
			for _, s := range e.Steps {
				out = append(out, itemsOf(s))
			}
		}
		out = append(out, differing(e))
	}
	return append(out, kinds(list)...)
}

// kinds are tables of CPU time by subsystem, with the structures' work there, for engines that differ in kind: one for
// each step that compares them, without subsystems that take little.
func kinds(list []*explain.Explanation) (out []page.Block) {
	list = slices.DeleteFunc(slices.Clone(list), func(e *explain.Explanation) bool { return !e.UnlikeEngines() })
	if len(list) == 0 {
		return nil
	}
	targets := []*target{list[0].Base}
	for _, e := range list {
		targets = append(targets, e.New)
	}
	for _, s := range list[0].Steps {
		if t := subsystemTable(s.Of, targets); !t.Empty() && explain.ShapesDiffer(s.Of, targets) {
			const shown = 8
			t.Title, t.Note = fmt.Sprintf("%s: %s", s.Of.Name, t.Title), ""
			t.Groups[0].Rows = t.Groups[0].Rows[:min(shown, len(t.Groups[0].Rows))]
			out = append(out, t)
		}
	}
	return out
}

// Settled returns the result of an experiment, under a heading of a level; nothing if the
// targets are no experiment.
func Settled(list []*explain.Explanation, level int) []page.Block {
	var texts []string
	for _, s := range explain.Settle(list) {
		texts = append(texts, s.String())
	}
	if len(texts) == 0 {
		return nil
	}
	return []page.Block{page.Heading{Level: level, Text: "What each setting does"}, view.Texts("", texts...)}
}

// waterfall draws the proven sum that differs most in the step that the panels show first;
// nil if there is none.
func waterfall(v *campaign, e *explain.Explanation) *page.Waterfall {
	steps := v.leading()
	if len(steps) == 0 {
		return nil
	}
	own := v.standing(steps[0]).Step
	i := slices.IndexFunc(e.Steps, func(s *explain.Step) bool { return s.Of == own })
	if i < 0 || len(e.Steps[i].Sums) == 0 || !e.Steps[i].Sums[0].Total.Proven() || len(e.Steps[i].Sums[0].Named()) == 0 {
		return nil
	}
	sum := e.Steps[i].Sums[0]
	sign := 1.0 // of the better direction
	if m := metric.ByName(sum.Metric); m.Better == metric.Lower {
		sign = -1
	}
	class := func(log float64) string {
		if log*sign > 0 {
			return "better"
		}
		return "worse"
	}
	fall := func(name string, c explain.Contribution) page.Fall {
		return page.Fall{Name: name, Text: quantity.Times(c.Factor()), Class: class(c.Log), Factor: c.Factor(),
			Low: math.Exp(c.Low), High: math.Exp(c.High)}
	}
	w := &page.Waterfall{Title: fmt.Sprintf("%s in %s: what makes the ratio of %s to %s", metric.Label(sum.Metric),
		own.Name, e.New.Name, e.Base.Name), About: "Factors whose product is the ratio, with 95 % intervals."}
	remainder := sum.Total.Log
	const shown = 5
	for _, c := range sum.Named()[:min(shown, len(sum.Named()))] {
		remainder -= c.Log
		f := fall(string(c.Item), c.Contribution)
		if name, ok := c.Item.Subsystem(); ok {
			f.Hint = strings.Join(nonEmpty(hottest(own, e.New, name), hottest(own, e.Base, name)), "\n")
		}
		w.Rows = append(w.Rows, f)
	}
	whole := fall("in all", sum.Total)
	whole.Whole = true
	w.Rows = append(w.Rows, page.Fall{Name: "not explained", Text: quantity.Times(math.Exp(remainder)),
		Class:  class(remainder),
		Factor: math.Exp(remainder), Open: true}, whole)
	return w
}

// tradeoff draws the costs of reads, updates and space for the targets; nil without these.
func tradeoff(r *explain.RUM) *page.Drawing {
	if r == nil {
		return nil
	}
	p := page.Parallel{Title: "Read, update, space",
		About: "Reads and updates are geometric means over the steps that all targets finished, space is that of the last " +
			"step. Ratios to the best, on logarithmic axes: lower is better. A thin line: another target is at least as good " +
			"on every axis."}
	for i, name := range r.Metrics {
		if !r.Known(i) {
			p.About += " No axis for " + metric.Label(name) + ": not known of all targets."
			continue
		}
		p.Axes = append(p.Axes, [...]string{"Read", "Update", "Space"}[i]+": "+metric.Label(name))
	}
	for _, t := range r.Targets {
		l := page.Across{Name: t.Target.Name, Series: t.Target.Index, Thin: t.Beaten}
		for axis, v := range t.Costs {
			if !r.Known(axis) {
				continue
			}
			l.At = append(l.At, v/r.Best(axis))
			l.Labels = append(l.Labels, quantity.Digits(v))
		}
		p.Lines = append(p.Lines, l)
	}
	return &page.Drawing{Caption: p.Title, Picture: p.Picture()}
}

// differing lists the differences between the two that the first sentence does not name: causes of
// causes are among them, which only an experiment can tell apart.
func differing(e *explain.Explanation) page.Block {
	return view.Texts("", quantity.Texts(e.Unlisted(), func(d compare.Difference) string {
		return "also differs: " + d.String()
	})...)
}

// itemsOf is a table of all items of a step.
func itemsOf(s *explain.Step) page.Table {
	t := page.Table{Title: s.Of.Name, Head: "item",
		Note: "Base and new are means over the trials, per unit: µs of times, KB of bytes. " +
			"ln: the part of the logarithm of the ratio of means that the item accounts for; the items' add up to all of it. " +
			"Ratios elsewhere are of medians.",
		Columns: page.Columns("base", "new", "ln", "95 % interval", "share", "rule", "")}
	for _, sum := range s.Sums {
		g := page.Group{Name: fmt.Sprintf("%s, by %s", metric.Label(sum.Metric), sum.Of)}
		for _, c := range append([]explain.Cause{{Contribution: sum.Total}}, sum.Causes...) {
			head := string(c.Item)
			if head == "" {
				head = "in all"
			}
			g.Rows = append(g.Rows, page.Row{Head: head, Series: -1, Cells: itemCells(c)})
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

func itemCells(c explain.Cause) []page.Cell {
	number := func(v float64) page.Cell {
		if math.IsNaN(v) {
			return page.Absent("not known")
		}
		return page.Cell{Text: quantity.Thousandths(v), Number: true}
	}
	bounds, share, rule, proven := page.Absent("too few trials"), page.Absent("the difference is not proven"),
		page.Words(""), page.Words("")
	if !math.IsNaN(c.Low) {
		bounds = page.Cell{Text: quantity.Thousandths(c.Low) + " to " + quantity.Thousandths(c.High), Number: true}
	}
	if !math.IsNaN(c.Share) && c.Item != "" {
		share = page.Cell{Text: quantity.RoughShare(c.Share), Number: true}
	}
	if c.Rule != "" {
		rule = page.Words(string(c.Rule))
	}
	if c.Proven() {
		proven = page.Words("proven")
	}
	return []page.Cell{number(c.Base), number(c.New), number(c.Log), bounds, share, rule, proven}
}
