package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/result/redact"
	"rumbench/internal/text/quantity"
)

// trust returns how far the comparison can be trusted: poor if targets did different
// work, ran elsewhere, or did not end; fair if something limits its conclusions. Remarks that were said are left out.
func trust(c *campaign, said ...metric.Code) page.Badge {
	poor, fair := problems(c, said)
	if len(c.in.Running) > 0 { // what is missing may come
		fair = slices.Concat([]string{"The campaign is running: " + strings.Join(c.in.Running, "; ") + "."}, poor, fair)
		poor = nil
	}
	all := slices.Concat(poor, fair)
	b := page.Badge{More: compare.AppendNew(banners(c),
		slices.Concat(all, remarksOn(c), []string{verdict.Caution(c.Campaign)})...)}
	if levels := meanings(c); len(levels) > 1 {
		b.More = append(b.More, "Durability: "+strings.Join(levels, "; ")+".")
	}
	switch {
	case len(poor) > 0:
		b.Level = page.Poor
	case len(fair) > 0:
		b.Level = page.Fair
	default:
		b.Level, b.Line = page.Good, sound(c)
		return b
	}
	const shown = 2
	first := all[:min(shown, len(all))]
	b.Line = strings.Join(first, " ")
	b.More = slices.DeleteFunc(b.More, func(s string) bool { return slices.Contains(first, s) })
	if n := len(b.More); n > 0 {
		b.Line += fmt.Sprintf(" And %s.", quantity.Count(n, "more remark"))
	}
	return b
}

// sound returns the reasons to trust a comparison.
func sound(c *campaign) string {
	text := quantity.Count(len(c.Targets[0].Trials), "trial")
	imported := slices.ContainsFunc(c.Targets, func(t *target) bool { return t.Trials[0].Imported != nil })
	switch {
	case imported: // machine and durability are unknown
	case len(c.Targets) > 1 && slices.ContainsFunc(c.Targets, unseen):
		text += " each, of equal work, at equal durability"
	case len(c.Targets) > 1:
		text += " each, of equal work, at equal durability, on one machine"
	}
	return text + "; no remarks on the numbers asked about."
}

// problems returns what limits a comparison, the worst first: remarks that leave no conclusion, and those that
// leave some.
func problems(c *campaign, said []metric.Code) (poor, fair []string) {
	for _, w := range remarks(c) {
		switch {
		case slices.Contains(said, w.Code):
		case remark.OthersShare(w) >= remark.MuchShared: // no other remark matters as much
			poor = append([]string{w.Text}, poor...)
		case remark.Of(w.Code).Doubt == remark.Poor:
			poor = append(poor, w.Text)
		case remark.Of(w.Code).Doubt == remark.Fair:
			fair = append(fair, w.Text)
		}
	}
	fair = append(fair, view.Filter(c.in.Warnings, func(w string) bool { return w != redact.Notice })...)
	return poor, append(fair, onAsked(c)...)
}

// onAsked counts the remarks on the numbers asked about, by kind.
func onAsked(c *campaign) (out []string) {
	byName, all := map[string]int{}, 0
	var order []string
	for _, s := range c.steps {
		for _, k := range s.Asked() {
			for _, t := range c.Targets {
				all++
				var kinds []string
				for _, w := range s.number(t, k).Warnings {
					kinds = compare.AppendNew(kinds, cmp.Or(w.Code.Kind().Short, strings.TrimSuffix(w.Text, ".")))
				}
				for _, kind := range kinds {
					order, byName[kind] = compare.AppendNew(order, kind), byName[kind]+1
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return byName[b] - byName[a] })
	for _, kind := range order {
		out = append(out, fmt.Sprintf("%d of %d numbers asked about: %s.", byName[kind], all, kind))
	}
	return out
}

// remarksOn counts the remarks on all steps, by their kind.
func remarksOn(c *campaign) (out []string) {
	byKey := map[metric.Code][]string{}
	var order []metric.Code
	for _, s := range c.steps {
		name := s.Name
		if compare.IsProbe(s.Step) {
			name = "probes of " + s.Base
		}
		for _, t := range c.Targets {
			for _, r := range s.Runs[t] {
				for _, w := range r.Step.Warnings {
					if w.Code.Kind().Short != "" {
						order, byKey[w.Code] = compare.AppendNew(order, w.Code), compare.AppendNew(byKey[w.Code], name)
					}
				}
			}
		}
	}
	for _, code := range order {
		out = append(out, fmt.Sprintf("%s: in %s.", code.Kind().Short, quantity.Joined(byKey[code])))
	}
	return out
}
