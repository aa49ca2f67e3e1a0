package trend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/compare/history"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// findings returns a block for each finding, and one for those that are acknowledged.
func (v View) findings(list []*history.Finding) (out []page.Block) {
	var acknowledged page.Tree
	for _, f := range list {
		moves := v.moves(f)
		switch {
		case len(moves) == 0 && !f.Split:
		case f.Note == "" || v.All:
			out = append(out, finding(f, moves))
		default:
			acknowledged.Add("%s: %s", headline(f, moves), f.Note)
		}
	}
	if n := len(acknowledged.Items); n > 0 {
		acknowledged.Text = fmt.Sprintf("acknowledged in %s: %s (--all shows them)", history.JudgedFile,
			quantity.Count(n, "finding"))
		out = append(out, acknowledged)
	}
	return out
}

// The numbers of facts that a finding names in its first line, and of those and of numbers below.
const (
	mostLeading = 3
	mostListed  = 8
)

// finding returns a finding with the command that compares its runs, and its numbers; those of
// runs that are not compared in a line each.
func finding(f *history.Finding, moves []history.Move) page.Tree {
	out := page.Tree{Text: headline(f, moves)}
	if f.Note != "" {
		out.Add("acknowledged: %s", f.Note)
	}
	out.Items = append(out.Items, page.Tree{Text: command(f), Verbatim: true})
	out.Add("between %s (%s) and %s (%s); numbers are medians of the runs before and since", f.Before.Dir,
		minute(f.Before.Campaign.Started), f.Run.Dir, minute(f.Run.Campaign.Started))
	_, remaining := leading(f)
	for i, fact := range remaining {
		if i == mostListed {
			out.Add("… and %d more: see --json", len(remaining)-i)
			break
		}
		out.Add("%s", factText(fact))
	}
	if index := slices.IndexFunc(moves, func(m history.Move) bool { return m.Speed != nil }); index >= 0 {
		out.Add("the machine's own speed changed at the same time: %s before the trials since", &moves[index].Speed.Pace)
	}
	if len(f.Facts) == 0 {
		out.Add("no recorded version, setting or fact of the host changed there")
	}
	for i, m := range moves {
		text := fmt.Sprintf("%s: %s → %s%s", m.Series, quantity.Four(m.From), quantity.Four(m.To), unit(&m.Name))
		if m.Ratio != nil {
			text += ", ×" + quantity.Four(*m.Ratio)
		}
		switch {
		case m.Kind != history.Level && i >= mostListed:
			continue
		case m.Kind != history.Level:
			out.Add("%s", text)
		default:
			number := tree(m.Series)
			number.Text = strings.TrimSuffix(text+", "+string(m.Verdict), ", ")
			out.Items = append(out.Items, number)
		}
	}
	if extra := len(moves) - mostListed; extra > 0 && moves[0].Kind != history.Level {
		out.Add("… and %d more numbers: see --json", extra)
	}
	return out
}

// headline returns a finding in a line: "night-11: durability process → os; update rate in l.x
// 47k/s → 6,123/s; not compared further".
func headline(f *history.Finding, moves []history.Move) string {
	subject := f.Run.Dir
	if f.Several {
		subject += ", " + f.Target
	}
	facts, _ := leading(f)
	parts := []string{strings.Join(quantity.Texts(facts, factText), ", "), movement(moves)}
	if f.Split && (len(moves) == 0 || moves[0].Kind == history.Split) {
		parts = append(parts, "not compared further")
	}
	return subject + ": " + strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// leading returns the facts for the first line, and the rest. Settings follow from what split
// the runs.
func leading(f *history.Finding) (facts, remaining []history.Fact) {
	for _, fact := range f.Facts {
		if len(facts) < mostLeading && !(f.Split && fact.Kind == history.Setting) {
			facts = append(facts, fact)
		} else {
			remaining = append(remaining, fact)
		}
	}
	return facts, remaining
}

// movement returns the first number that moved and, if it is known, how.
func movement(moves []history.Move) string {
	if len(moves) == 0 {
		return "no number in common with the runs before"
	}
	m := moves[0]
	text := fmt.Sprintf("%s %s → %s", subject(&m.Name), amount(&m.Name, m.From), amount(&m.Name, m.To))
	switch {
	case m.Verdict != "":
		text += ", " + string(m.Verdict)
	case m.Speed != nil && m.Speed.Explains:
		text += ", as the machine's own speed"
	case m.Kind == history.Open:
		text += ", not proven"
	}
	return text
}

func factText(f history.Fact) string {
	text := f.Name + " " + cmp.Or(f.From, quantity.Unknown) + " → " + cmp.Or(f.To, quantity.Unknown)
	if f.Kind == history.Version || f.Kind == history.Setting || f.Kind == history.Source {
		text = f.Kind + " " + text
	}
	return text
}

// subject names a number in a sentence: "insert rate in l.i1".
func subject(n *history.Name) string {
	name := n.Metric
	switch {
	case n.Metric == metric.RowsPerS:
		return strings.TrimSpace(n.Op+" rate") + " in " + n.Step
	case n.Metric == metric.HighestRate || metric.IsLatency(n.Metric):
		name = strings.TrimSuffix(metric.Label(n.Metric), "/s")
	}
	switch {
	case n.Per != "":
		name += " per " + n.Per
	case n.Op != "":
		name += " of " + n.Op
	case n.Group != "":
		name += " of " + n.Group
	}
	return name + " in " + n.Step
}

// amount writes a value of a number in a few characters, with its unit.
func amount(n *history.Name, v float64) string {
	switch {
	case n.Unit == "1/s":
		return quantity.Short(v) + "/s"
	case metric.IsLatency(n.Metric):
		return quantity.Micros(v)
	}
	return quantity.Digits(v) + unit(n)
}

// command returns the command that compares the two runs of a finding.
func command(f *history.Finding) string {
	words := []string{f.Before.Dir, f.Run.Dir}
	for i, word := range words {
		if f.Several {
			word += ":" + f.Target
		}
		words[i] = escape.Argument(word)
	}
	for _, fact := range f.Facts {
		switch {
		case fact.Kind == history.Work:
			words = compare.AppendNew(words, "--anyway")
		case fact.Kind == history.Knob && fact.Name == "durability":
			words = compare.AppendNew(words, "--across-durability")
		}
	}
	return "rumbench compare " + strings.Join(words, " ")
}
