package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// firstScreen returns the part of the report that is visible without scrolling: the
// comparison, how far it can be trusted, the answer, and the pictures.
func firstScreen(v *campaign) []page.Block {
	out := []page.Block{page.Prose("head", strings.Join(headline(v), " · ")), trust(v)}
	first, below := sentences(v)
	out = append(out, view.Paragraphs("answer", first...)...)
	if steps := v.leading(); len(steps) > 0 {
		out = append(out, page.Medium{Drawn: panels(v, steps), Written: []page.Block{numbersTable(v.standing(steps[0]))}})
	}
	var differ []page.Block
	if t := settingsThatDiffer(v); t != nil {
		differ = []page.Block{page.Medium{Drawn: []page.Block{*t}, Written: []page.Block{inLine(t)}}}
	}
	lower := page.Panels{Class: "lower", Cells: heatMaps(v, len(differ) == 0)}
	if len(lower.Cells) == 0 {
		lower = page.Panels{Cells: overTimeOf(v)}
	}
	if len(lower.Cells) > 0 {
		lower.Cells[0], differ = append(lower.Cells[0], differ...), nil
		out = append(out, lower)
	} else if len(differ) > 0 {
		out = append(out, page.Panels{Cells: [][]page.Block{differ}})
	}
	if tests := testsMean(v); tests != "" {
		out = append(out, page.Prose("about", tests))
	}
	return append(out, view.Paragraphs("answer", below...)...)
}

// testsMean returns the question that each test answers, of those on the first screen; "" if
// there are many, as the tables link to them.
func testsMean(c *campaign) string {
	const limit = 8
	tests := c.heated(func(s *step) (key, bool) { return compare.Capacity(s.Step) })
	parts := nonEmpty(quantity.Texts(tests, func(s *step) string {
		question, _, asked := strings.Cut(s.Doc, "?")
		if asked {
			return s.Name + ": " + question + "?"
		}
		return labelText(s.Name+":", question)
	})...)
	if len(c.Targets) < 2 || len(parts) < 2 || len(parts) > limit {
		return ""
	}
	return strings.Join(parts, " ")
}

// overTimeOf returns the course of the step that the panels show first; only the report
// of a single target has room for it.
func overTimeOf(v *campaign) [][]page.Block {
	steps := v.leading()
	if len(v.Targets) > 1 || len(steps) == 0 {
		return nil
	}
	charts := chartsOf(steps[0], v.tracks[steps[0]])
	if charts == nil {
		return nil
	}
	var out []page.Block
	for _, p := range charts.Static {
		out = append(out, page.Drawing{Caption: p.Label, Picture: p.Picture()})
	}
	const limit = 3
	return cells(out[:min(len(out), limit)]...)
}

// headline returns the subject and the conditions of the comparison, in pieces.
func headline(c *campaign) []string {
	workload, _ := sharedValue(c, func(t *result.Trial) string { return t.Workload })
	preset, _ := sharedValue(c, func(t *result.Trial) string { return t.Preset })
	load, _ := sharedValue(c, func(t *result.Trial) string { return t.Recorded })
	trials, differ := c.Shared(trialCount)
	if differ {
		trials = "trials: " + trials
	} else if trials = quantity.Count(len(c.Targets[0].Trials), "trial"); len(c.Targets) > 1 {
		trials += " each"
	}
	return nonEmpty(versions(c), strings.TrimSpace(workload+" "+preset), labelText("load:", load), clients(c), extent(c),
		labelText("cache", caches(c)), labelText("durability", durability(c)), machine(c), trials, startedAt(c))
}

// versions returns the targets with the versions of their engines and their custom SQL,
// shared by those of one version.
func versions(c *campaign) string {
	var order []string
	byName := map[string][]string{}
	for _, t := range c.Targets {
		v, _, _ := strings.Cut(t.Trials[0].EngineVersion(), " ")
		v = strings.TrimSpace(t.Trials[0].Engine + " " + v)
		if t.Trials[0].Knobs["dsn"] != "" {
			v += ", attached"
		}
		v = strings.Join(nonEmpty(v, ownSQL(t, "")), "; ")
		order, byName[v] = compare.AppendNew(order, v), append(byName[v], t.Name)
	}
	var parts []string
	for _, v := range order {
		names := quantity.Joined(byName[v])
		if v != "" && v != names {
			names += " (" + v + ")"
		}
		parts = append(parts, names)
	}
	return strings.Join(parts, ", ")
}

// extent returns the amount of data and the duration of the step that leads.
func extent(c *campaign) string {
	steps := c.leading()
	if len(steps) == 0 {
		return ""
	}
	s := steps[0]
	var data, disk, seconds string
	if low, high, ok := s.span(metric.LiveBytes); ok {
		data = dataText(low, high) + " of data"
	}
	if last := c.verdicts.LastWith(metric.DBBytes); last != nil {
		if low, high, ok := c.stepOf(last).span(metric.DBBytes); ok {
			disk = dataText(low, high) + " on disk at the end"
		}
	}
	if short, long := s.lengths(); long.seconds > 0 {
		shortest, longest := quantity.Digits(short.seconds)+" s", quantity.Digits(long.seconds)+" s"
		if seconds = s.Name + " ran " + longest; shortest != longest {
			seconds = fmt.Sprintf("%s ran %s (%s) to %s (%s)", s.Name, shortest, short.target.Name, longest, long.target.Name)
		}
	}
	return strings.Join(nonEmpty(data, disk, seconds), ", ")
}

// clients returns the numbers of clients in the steps that the campaign is about, and where they were if that
// was not the server's machine.
func clients(c *campaign) string {
	low, high := math.MaxInt, 0
	for _, s := range c.steps {
		if s.Primary == "" || len(s.Asked()) == 0 && !compare.IsProbe(s.Step) {
			continue
		}
		n := 0
		for _, g := range s.Groups() {
			n += g.Clients
		}
		low, high = min(low, n), max(high, n)
	}
	where := ""
	if p := c.Targets[0].Trials[0].Placement; p != nil {
		where = " on " + quantity.Count(len(p.Clients), "machine") + " of their own"
		if n := len(p.Observed) + 1; n > 1 {
			where += fmt.Sprintf(", %d servers", n)
		}
	}
	if high == 0 {
		return ""
	}
	text := quantity.Count(high, "client")
	if low < high {
		text = fmt.Sprintf("%d to %s", low, text)
	}
	return text + where
}

// machine returns the host of the first trial whose server was on it, in a few words.
func machine(c *campaign) string {
	seen := view.Filter(c.Targets, func(t *target) bool { return !unseen(t) })
	if len(seen) == 0 {
		return "server's machine unknown"
	}
	facts := observe.Facts(seen[0].Trials[0].Host)
	value := facts.Value
	var out []string
	if cpus, err := strconv.Atoi(value("cpus usable")); err == nil {
		out = append(out, strings.TrimSpace(quantity.Count(cpus, "CPU")+" "+value("cpu")))
	}
	out = append(out, value("memory"))
	if fs, device := value("filesystem"), value("device"); fs != "" && device != "" {
		out = append(out, fs+" on "+device)
	} else {
		out = append(out, cmp.Or(fs, device))
	}
	text := strings.Join(nonEmpty(out...), ", ")
	limits, differ := sharedValue(c, limitsOf)
	switch {
	case differ:
		text += ", limited differently: " + limits
	case limits != "":
		text = "limited to " + limits + " of " + text
	}
	others := view.Filter(c.Targets, unseen)
	return text + listing("; unknown for ", quantity.Texts(others, func(t *target) string { return t.Name }), "")
}

// limitsOf returns what a trial's target may use of the machine; "" if that is all of it.
func limitsOf(t *result.Trial) string {
	size := t.Knobs["memory"]
	if n, err := quantity.ParseSize(size); err == nil {
		size = quantity.Bytes(n) + " of memory"
	}
	cpus := labelText("CPUs", t.Knobs["cpus"])
	if n, err := strconv.Atoi(t.Knobs["cpus"]); err == nil {
		cpus = quantity.Count(n, "CPU")
	}
	return quantity.Joined(nonEmpty(size, cpus))
}

// mostSettings is the number of settings on the first screen; the table has all.
const mostSettings = 8

// memorySettings are parts of the names of settings that come first: they decide which reads are
// of memory, and how large data are.
var memorySettings = []string{"cache", "buffer", "direct", "flush_method", "mem", "compression"}

// settingsThatDiffer returns the settings that all targets have with different values,
// and the values that the plan asked for; nil without any.
func settingsThatDiffer(c *campaign) *page.Table {
	if len(c.Targets) < 2 {
		return nil
	}
	t := page.Table{Title: "Settings that differ, of those that all have", Head: "setting",
		Columns: targetColumns(c.Targets)}
	asked, effective := settingRows(c)
	var rows []page.Row
	for _, r := range slices.Concat(asked, effective) {
		if differs(r.Cells) && r.Head != "server_version" &&
			!slices.ContainsFunc(rows, func(o page.Row) bool { return o.Head == r.Head }) {
			for i := range r.Cells {
				r.Cells[i].Differs = false // all of these do
			}
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	memory := func(r page.Row) uint { // the largest of those that are none
		return uint(slices.IndexFunc(memorySettings, func(part string) bool { return strings.Contains(r.Head, part) }))
	}
	slices.SortStableFunc(rows, func(a, b page.Row) int { return cmp.Compare(memory(a), memory(b)) })
	if n := len(rows) - mostSettings; n > 0 {
		rows = rows[:mostSettings]
		t.Note = fmt.Sprintf("And %d more, see Settings.", n)
	}
	t.Groups = []page.Group{{Rows: rows}}
	return &t
}

// differs reports whether all targets have a setting and it differs.
func differs(cells []page.Cell) bool {
	return !slices.ContainsFunc(cells, func(c page.Cell) bool { return c.Absent }) &&
		slices.ContainsFunc(cells, func(c page.Cell) bool { return c.Differs })
}

// inLine returns a table in a sentence.
func inLine(t *page.Table) page.Paragraph {
	parts := quantity.Texts(t.Groups[0].Rows, func(r page.Row) string {
		var values []string
		for i, cell := range r.Cells {
			values = append(values, t.Columns[i].Name+" "+cell.Text)
		}
		return r.Head + " (" + strings.Join(values, ", ") + ")"
	})
	return page.Prose("", t.Title+": "+strings.Join(parts, "; ")+".")
}
