package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// host shows the machine and the versions. A fact shared by all trials is shown
// once.
func host(v *view) []page.Section {
	t := page.Table{Head: "fact", Columns: []page.Column{{Name: "value",
		Title: "As found before the trial; ≠ where trials differ"}}}
	versions := func(t *result.Trial) observe.Facts { return t.Versions }
	facts := func(t *result.Trial) observe.Facts {
		list := slices.Concat(t.Host, t.Ceilings.Facts())
		if t.Machine != "" {
			list = append(observe.Facts{{Name: "machine", Value: t.Machine}}, list...)
		}
		return list
	}
	name := "host"
	if slices.ContainsFunc(v.Targets, unseen) {
		name = "host of rumbench"
	}
	for _, g := range []page.Group{{Name: "versions", Rows: factRows(v.campaign, versions)},
		{Name: name, Rows: factRows(v.campaign, facts)}} {
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return []page.Section{{ID: "host", Title: "Machine and versions", Nav: "Machine", Folded: true,
		Blocks: []page.Block{t}}}
}

func factRows(c *campaign, value func(*result.Trial) observe.Facts) []page.Row {
	var rows []page.Row
	for _, name := range factNames(c, value) {
		text, differ := c.Shared(func(t *target) []string {
			return t.Distinct(func(trial *result.Trial) string { return value(trial).Value(name) })
		})
		rows = append(rows, plainRow(name, page.Cell{Text: text, Differs: differ}))
	}
	return rows
}

// factNames returns the names of all trials' facts.
func factNames(c *campaign, value func(*result.Trial) observe.Facts) (names []string) {
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			for _, f := range value(trial) {
				names = compare.AppendNew(names, f.Name)
			}
		}
	}
	return names
}

// mostDifferences is the number of facts that a warning names; the table has all.
const mostDifferences = 5

// hostsDiffer returns a warning if the trials' hosts differ in facts that may
// explain differences of numbers; "" if they do not.
func hostsDiffer(c *campaign) string {
	var parts []string
	for _, name := range factNames(c, func(t *result.Trial) observe.Facts { return t.Host }) {
		if !lasting(name) {
			continue
		}
		values, who := holders(c, func(t *result.Trial) string { return hostValue(t.Host, name) })
		if len(values) < 2 {
			continue // unknown is not different
		}
		for i, v := range values {
			values[i] = v + " for " + quantity.Joined(who[v])
		}
		parts = append(parts, name+" is "+strings.Join(values, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	more := "."
	if n := len(parts) - mostDifferences; n > 0 {
		parts = parts[:mostDifferences]
		more = fmt.Sprintf("; and %d more, see “Machine and versions”.", n)
	}
	return "Trials ran on hosts that differ: " + strings.Join(parts, "; ") + more
}

// lasting reports whether a fact is a property of the host that can affect
// numbers, unlike facts that change from minute to minute, the data's path, or
// the files that rumbench may read.
func lasting(name string) bool {
	switch name {
	case "load average", "mount point", "kernel.perf_event_paranoid", "hardware counters", observe.UsedFact,
		observe.ExtentsFact:
		return false
	}
	return true
}

// holders returns the different values that trials have, and the targets that have
// each, with the trials if a target has several values.
func holders(c *campaign, value func(*result.Trial) string) (values []string, who map[string][]string) {
	who = map[string][]string{}
	for _, t := range c.Targets {
		own := t.Distinct(value)
		values = compare.AppendNew(values, own...)
		for _, v := range own {
			label := t.Name
			if len(own) > 1 {
				var trials []string
				for _, trial := range t.Trials {
					if value(trial) == v {
						trials = append(trials, fmt.Sprint(trial.Trial))
					}
				}
				label += " (trial " + quantity.Joined(trials) + ")"
			}
			who[v] = append(who[v], label)
		}
	}
	return values, who
}

// hostValue returns a fact in a form that can be compared; "" if it is unknown.
func hostValue(facts observe.Facts, name string) string {
	v := facts.Value(name)
	switch {
	case v == "" && len(facts) > 0 && (name == "cpu quota" || name == "memory limit"):
		return "none" // only limits that are set are known
	case strings.HasPrefix(v, observe.ErrNoDevice.Error()):
		return observe.ErrNoDevice.Error() // the reason names the directory
	}
	return v
}
