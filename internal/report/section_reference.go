package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// host shows the machine and the versions. A fact shared by all trials is shown
// once.
func host(v *campaign) []page.Section {
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
	t.Groups = filledGroups(page.Group{Name: "versions", Rows: factRows(v, versions)},
		page.Group{Name: name, Rows: factRows(v, facts)})
	return []page.Section{{ID: "host", Title: "Machine and versions", Nav: "Machine", Folded: true,
		Blocks: []page.Block{t}}}
}

func factRows(c *campaign, facts func(*result.Trial) observe.Facts) []page.Row {
	return sharedRows(c, factNames(c, facts), func(t *result.Trial, name string) string { return facts(t).Value(name) })
}

// sharedRows returns named values of the trials, a row each.
func sharedRows(c *campaign, names []string, value func(t *result.Trial, name string) string) (rows []page.Row) {
	for _, name := range names {
		text, differ := sharedValue(c, func(t *result.Trial) string { return value(t, name) })
		rows = append(rows, plainRow(name, page.Cell{Text: text, Differs: differ}))
	}
	return rows
}

// factNames returns the names of all trials' facts.
func factNames(c *campaign, facts func(*result.Trial) observe.Facts) (names []string) {
	for _, trial := range trialsOf(c) {
		for _, f := range facts(trial) {
			names = compare.AppendNew(names, f.Name)
		}
	}
	return names
}

// differentFacts returns the facts of the trials' hosts that may explain differences of numbers, and who has which.
func differentFacts(c *campaign) (out []string) {
	for _, name := range factNames(c, func(t *result.Trial) observe.Facts { return t.Host }) {
		if slices.Contains(observe.FactsThat(observe.Varies|observe.Harmless), name) {
			continue
		}
		values, who := holders(c, func(t *result.Trial) string { return hostValue(t.Host, name) })
		if len(values) < 2 {
			continue // unknown is not different
		}
		for i, v := range values {
			values[i] = v + " for " + quantity.Joined(who[v])
		}
		out = append(out, name+" is "+strings.Join(values, ", "))
	}
	return out
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

// settings shows the targets' settings side by side.
func settings(v *campaign) []page.Section {
	t := page.Table{Note: "≠ marks settings in which targets that have them differ. “As set”: the engine cannot be " +
		"asked; all others were read back from it.", Head: "setting", Columns: targetColumns(v.Targets)}
	asked, effective := settingRows(v)
	t.Groups = filledGroups(page.Group{Name: "asked for", Rows: asked}, page.Group{Name: "in effect", Rows: effective})
	return folded(page.Section{ID: "settings", Title: "Settings", Nav: "Settings"}, t)
}

// settingRows returns the settings that the plan asked for, and the settings in
// effect, with the differing ones marked.
func settingRows(c *campaign) (requested, actual []page.Row) {
	asked, effective := byTarget{}, byTarget{}
	var own []string
	for _, tg := range c.Targets {
		own = compare.AppendNew(own, tg.Trials[0].OwnParams...)
	}
	for _, tg := range c.Targets {
		trial := tg.Trials[0]
		for name, value := range trial.Knobs {
			asked.set(name, tg, page.Cell{Text: value, Title: "as asked for in the plan"})
		}
		for _, name := range own {
			asked.set("params."+name, tg, page.Cell{Text: plainValue(trial.Params[name]), Title: "as asked for in the plan"})
		}
		asked.set("durability", tg, page.Cell{Text: trial.Durability,
			Title: cmp.Or(trial.Promise, "as asked for in the plan")})
		for _, s := range trial.Settings {
			effective.set(s.Name, tg, settingCell(s))
		}
	}
	requested = asked.rows(c.Targets, "not asked for: the engine's own default")
	actual = effective.rows(c.Targets, "no such setting")
	for _, r := range slices.Concat(requested, actual) {
		markDifferent(r.Cells)
	}
	return requested, actual
}

func settingCell(s engine.Setting) page.Cell {
	if s.Aside {
		return page.Absent(s.Value + ", of a part of the server that the tables do not use")
	}
	c := page.Cell{Text: compare.SettingText(s.Name, s.Value)}
	if s.Source != engine.ReadBack { // as the table's note states for all others
		c.Title = s.Source
	}
	if s.Source == engine.AsSet {
		c.Per = engine.AsSet
	}
	return c
}

func markDifferent(cells []page.Cell) {
	var texts []string
	for i := range cells {
		if cells[i].Number = false; !cells[i].Absent {
			texts = compare.AppendNew(texts, cells[i].Text)
		}
	}
	for i := range cells {
		cells[i].Differs = len(texts) > 1 && !cells[i].Absent
	}
}

// mostPlans is the number of operations in the table of plans.
const mostPlans = 30

// plans shows the plan that each target uses to find the rows of each
// operation.
func plans(v *campaign) []page.Section {
	t := page.Table{Head: "operation"}
	var ops []string
	for _, trial := range v.in.Trials {
		for _, p := range trial.Plans {
			ops = compare.AppendNew(ops, planHead(p))
		}
	}
	if len(ops) == 0 {
		return nil
	}
	t.Note = "How the database finds the rows of each operation, before and after each step of the first trial. " +
		"rumbench show DIR --plans prints the plans."
	if len(ops) > mostPlans {
		t.Note += fmt.Sprintf(" Here are %d of %d operations.", mostPlans, len(ops))
		ops = ops[:mostPlans]
	}
	plansOf := func(t *target) []result.StatementPlan { return v.inputs[t.Trials[0]].Plans }
	targets := view.Filter(v.Targets, func(t *target) bool { return len(plansOf(t)) > 0 })
	t.Columns = targetColumns(targets)
	named := func(op string) page.Row { return plainRow(op) }
	t.Add(view.Rows(ops, named, targets, func(op string, t *target) page.Cell { return planCell(plansOf(t), op) })...)
	return folded(page.Section{ID: "plans", Title: "Plans"}, t)
}

// planHead names an operation: scans that demand an index are listed
// separately.
func planHead(p result.StatementPlan) string {
	if p.Wanted == "" {
		return p.Op
	}
	return p.Op + ", wants " + p.Wanted
}

// planCell returns a target's plans of an operation, in all its steps.
func planCell(plans []result.StatementPlan, op string) page.Cell {
	var ways, texts []string
	for _, p := range plans {
		if planHead(p) == op && !slices.Contains(ways, p.Plan.Ways()) {
			ways = append(ways, p.Plan.Ways())
			texts = append(texts, p.Plan.Statement+"\n"+p.Plan.Text)
		}
	}
	return page.Cell{Text: strings.Join(ways, ", or "), Title: strings.Join(texts, "\n\n")}
}

// clientAlone shows the client's own throughput and cost, measured on the null
// engine.
func clientAlone(v *campaign) []page.Section {
	if v.client == nil {
		return nil
	}
	c, n := v.client, page.NewNotes("client")
	t := page.Table{Note: "The same clients on the engine that stores nothing: the ceiling of what rumbench could have " +
		"measured, and what it takes itself.", Head: "step"}
	measures := measuresOf(metric.RowsPerS, metric.ServiceP50US, metric.ServiceP99US, metric.CPUUS, metric.ClientCPUUS,
		metric.HostCPUUS)
	t.Columns = columnsOf(measures)
	named := func(s *step) page.Row { return plainRow(s.Name) }
	t.Add(view.Rows(c.stepsWith(measures), named, measures, func(s *step, m measure) page.Cell {
		k, _ := m.key(s)
		cell := c.plainCell(s.number(c.Targets[0], k), n)
		if !cell.Absent {
			cell.Per = s.unitOf(k)
		}
		return cell
	})...)
	return folded(page.Section{ID: "client", Title: "The client alone", Nav: "Client"}, t, n)
}

// glossary returns the meanings of all metrics.
func glossary(*campaign) []page.Section {
	var terms page.Terms
	for _, m := range metric.All() {
		aside := m.Unit
		if m.Better != "" {
			aside += ", " + string(m.Better) + " is better"
		}
		terms = append(terms, page.Term{ID: "m-" + m.Name, Name: m.Name, Aside: aside, Text: m.Meaning()})
	}
	return []page.Section{{ID: "glossary", Title: "Glossary", Nav: "Glossary", Folded: true, Blocks: []page.Block{terms}}}
}

// appendix shows the plan and commands behind the results, and offers the rows
// for download.
func appendix(v *campaign) []page.Section {
	sec := page.Section{ID: "appendix", Title: "Appendix", Nav: "Appendix", Folded: true}
	if len(v.in.Commands) > 0 {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Commands", Text: strings.Join(v.in.Commands, "\n")})
	}
	if t := parameters(v); !t.Empty() {
		sec.Blocks = append(sec.Blocks, t)
	}
	if v.in.Plan != "" {
		sec.Blocks = append(sec.Blocks, page.Code{Title: "Plan", Language: "yaml", Text: v.in.Plan})
	}
	count := countRows(v)
	if v.client != nil {
		count += countRows(v.client)
	}
	sec.Blocks = append(sec.Blocks,
		page.Download{Title: "Rows", Text: fmt.Sprintf("All %d numbers of this page are in it as JSON, in the element with "+
			"the id rows, which says how to read it.", count)})
	return []page.Section{sec}
}

func countRows(c *campaign) (n int) {
	for _, t := range trialsOf(c) {
		for i := range t.Steps {
			n += len(t.Steps[i].Rows)
		}
	}
	return n
}

// parameters lists all parameters of the workload.
func parameters(c *campaign) page.Table {
	names := map[string]bool{}
	for _, trial := range trialsOf(c) {
		for name := range trial.Params {
			names[name] = true
		}
	}
	value := func(t *result.Trial, name string) string { return plainValue(t.Params[name]) }
	return page.Table{Title: "Parameters", Head: "parameter",
		Groups:  []page.Group{{Rows: sharedRows(c, sortedKeys(names), value)}},
		Columns: []page.Column{{Name: "value", Title: "As in the trials; ≠ where these differ"}}}
}
