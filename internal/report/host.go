package report

import (
	"fmt"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// host shows the machine and the versions. A fact shared by all trials is shown
// once.
func host(v *view) []page.Section {
	t := page.Table{Head: "fact", Columns: []page.Column{{Name: "value", Title: "As found before the trial; ≠ where trials differ"}}}
	versions := func(t *result.Trial) observe.Facts { return t.Versions }
	facts := func(t *result.Trial) observe.Facts { return t.Host }
	for _, g := range []page.Group{{Name: "versions", Rows: factRows(v.campaign, versions)}, {Name: "host", Rows: factRows(v.campaign, facts)}} {
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return []page.Section{{ID: "host", Title: "Machine and versions", Nav: "Machine", Blocks: []page.Block{t}}}
}

func factRows(c *campaign, of func(*result.Trial) observe.Facts) []page.Row {
	var names []string
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			for _, f := range of(trial) {
				names = compare.AppendNew(names, f.Name)
			}
		}
	}
	var rows []page.Row
	for _, name := range names {
		rows = append(rows, plainRow(name, factCell(c, of, name)))
	}
	return rows
}

// factCell returns a fact's value, or its values if the trials differ.
func factCell(c *campaign, of func(*result.Trial) observe.Facts, name string) page.Cell {
	var distinct, parts []string
	for _, t := range c.Targets {
		var values []string
		for _, trial := range t.Trials {
			if v := of(trial).Value(name); v != "" {
				values = compare.AppendNew(values, v)
			}
		}
		if len(values) > 0 {
			distinct = compare.AppendNew(distinct, values...)
			parts = append(parts, t.Name+": "+strings.Join(values, " or "))
		}
	}
	if len(distinct) > 1 {
		return page.Cell{Text: strings.Join(parts, ", "), Differs: true}
	}
	return page.Words(strings.Join(distinct, ""))
}

// mostDifferences is how many facts a warning names; the table has all.
const mostDifferences = 5

// hostsDiffer returns a warning if the trials' hosts differ in facts that may
// explain differences of numbers; "" if they do not.
func hostsDiffer(c *campaign) string {
	var names []string
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			for _, f := range trial.Host {
				names = compare.AppendNew(names, f.Name)
			}
		}
	}
	var parts []string
	for _, name := range names {
		if !lasting(name) {
			continue
		}
		if text := factDiffers(c, name); text != "" {
			parts = append(parts, text)
		}
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
// numbers: not one that changes from minute to minute, the data's path, or what
// rumbench may read.
func lasting(name string) bool {
	switch name {
	case "load average", "mount point", "kernel.perf_event_paranoid", "hardware counters":
		return false
	}
	return true
}

// factDiffers reports which trials have which value of a fact; "" if those that
// have it agree: unknown is not different.
func factDiffers(c *campaign, name string) string {
	var values []string
	who := map[string][]string{}
	for _, t := range c.Targets {
		var own []string
		trials := map[string][]string{}
		for _, trial := range t.Trials {
			if v := hostValue(trial.Host, name); v != "" {
				own = compare.AppendNew(own, v)
				trials[v] = append(trials[v], fmt.Sprint(trial.Trial))
			}
		}
		values = compare.AppendNew(values, own...)
		for _, v := range own {
			label := t.Name
			if len(own) > 1 {
				label += " (trial " + quantity.Joined(trials[v]) + ")"
			}
			who[v] = append(who[v], label)
		}
	}
	if len(values) < 2 {
		return ""
	}
	var parts []string
	for _, v := range values {
		parts = append(parts, v+" for "+quantity.Joined(who[v]))
	}
	return name + " is " + strings.Join(parts, ", ")
}

// hostValue returns a fact in a form that can be compared; "" is quantity.Unknown.
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
