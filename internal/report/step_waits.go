package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// roomForLabel is the width of a one-letter label in percent.
const roomForLabel = 1.1

// waitBlocks shows where the time of a step's sessions was spent, by samples;
// nothing if no target has samples.
func waitBlocks(s *step) []page.Block {
	keys, name := byRole(s.Keys(metric.WaitUS)), metric.WaitUS
	if len(keys) == 0 { // no operations to divide by
		if keys, name = byRole(s.Keys(metric.WaitShare)), metric.WaitShare; len(keys) == 0 {
			return nil
		}
	}
	w := page.Stacks{Title: "share of the sessions’ time"}
	if name == metric.WaitUS {
		w.Title = "time of the sessions per " + keys[0].Per
	}
	longest := 0.0
	for _, t := range s.c.Targets {
		longest = max(longest, sumOf(s, t, keys))
	}
	for _, k := range keys {
		role := engine.Role(k.Op)
		w.Legend = append(w.Legend, page.Part{Style: slices.Index(engine.Roles(), role), Label: k.Op, Title: role.Doc()})
	}
	for _, t := range s.c.Targets {
		bar := page.Stack{Head: t.Name, Series: t.Index}
		if whole := sumOf(s, t, keys); whole == 0 {
			bar.Absent = "not reported by the engine"
		} else {
			if name == metric.WaitUS {
				bar.Value = quantity.Micros(whole)
			}
			bar.Parts = waitParts(s, t, keys, whole, longest)
		}
		w.Rows = append(w.Rows, bar)
	}
	out := []page.Block{
		page.Heading{ID: s.id + "-waits", Level: 3, Text: "Where the time of the sessions went"},
		page.Paragraph{Class: "about",
			Spans: []page.Span{{Text: "What the sessions were doing or waiting for when sampled, ten " +
				"times a second."}, {Text: " Longer bars: more time per unit, with as many sessions.", Screen: true}}},
		w,
	}
	if words := clientWords(s, keys); len(words.Items) > 0 {
		out = append(out, words)
	}
	return out
}

// waitParts returns the parts of a target's bar.
func waitParts(s *step, t *target, keys []key, whole, longest float64) (out []page.Part) {
	for _, k := range keys {
		n := s.number(t, k)
		if n.Missing != "" || n.Value <= 0 {
			continue
		}
		role, share := engine.Role(k.Op), shareText(n.Value/whole)
		p := page.Part{Style: slices.Index(engine.Roles(), role), Length: 100 * n.Value / longest, Data: s.c.data(n)}
		p.Title = k.Op + ": " + share + ": " + role.Doc()
		for _, label := range []string{k.Op + " " + share, k.Op, share} {
			if p.Label == "" && float64(len([]rune(label)))*roomForLabel < p.Length {
				p.Label = label
			}
		}
		out = append(out, p)
	}
	return out
}

// byRole sorts keys by their roles.
func byRole(keys []key) []key {
	place := func(k key) int { return slices.Index(engine.Roles(), engine.Role(k.Op)) }
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(place(a), place(b)) })
	return keys
}

func sumOf(s *step, t *target, keys []key) (sum float64) {
	for _, k := range keys {
		if n := s.number(t, k); n.Missing == "" {
			sum += n.Value
		}
	}
	return sum
}

// shareText formats a share without digits beyond the precision of sampling.
func shareText(share float64) string {
	if share < 0.095 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// clientWords reports for each target whether its client was the bottleneck,
// with numbers of the trial that represents it.
func clientWords(s *step, keys []key) page.List {
	out := page.List{Class: "about words"}
	for t, r := range s.leaders() {
		share := r.Step.Find(metric.ClientShare, "", "")
		if share == nil {
			continue
		}
		who := t.Name
		if len(t.Trials) > 1 {
			who += fmt.Sprintf(", trial %d", r.Trial.Trial)
		}
		words := "it was not found to be the bottleneck."
		for _, w := range slices.Concat(r.Step.Warnings, r.Step.Notes) {
			if slices.Contains(remark.AboutClient, w.Code) {
				words = strings.TrimSuffix(w.Text, ".") + "."
				break
			}
		}
		// A session is sampled as working only once it has a processor.
		queued := ""
		whole := 0.0
		for _, k := range keys {
			if row := r.Step.Find(k.Metric, k.Op, k.Per); row != nil {
				whole += row.Value
			}
		}
		line := r.Step.Find(metric.ServerRunqueueUS, "", keys[0].Per)
		if line != nil && line.Value >= 0.01*whole {
			part := line.Value / whole
			queued = ", less up to " + shareText(part) + " for which the server’s own threads waited for CPU"
		}
		out.Items = append(out.Items, page.Item{Text: fmt.Sprintf("%s: the server waited for its client for %s of the "+
			"sessions’ time%s; %s", who, shareText(share.Value), queued, words)})
	}
	return out
}

// waitTables returns the shares, the times measured by the servers, and the events
// by the servers' names; the bars show the sampled times.
func waitTables(s *step, n *page.Notes) []page.Table {
	var out []page.Table
	keys := byRole(s.Keys(metric.WaitShare))
	if len(keys) > 0 {
		t := page.Table{Title: "Time of the sessions by role", Head: "target",
			Note: "Sampled from another session ten times a second; the server measures " +
				"timed waits itself. “–”: not seen, or not reported."}
		for _, k := range keys {
			t.Columns = append(t.Columns, page.Column{Name: k.Op, Title: engine.Role(k.Op).Doc()})
		}
		for _, m := range []struct{ metric, name string }{{metric.WaitShare, "share of the time"},
			{metric.TimedWaitUS, "timed µs per "}} {
			if g := waitGroup(s, m.metric, keys, n); len(g.Rows) > 0 {
				g.Name = m.name + per(s, m.metric)
				t.Groups = append(t.Groups, g)
			}
		}
		out = append(out, t)
	}
	if t := eventTable(s); !t.Empty() {
		out = append(out, t)
	}
	return out
}

// per returns the denominator of a metric's rows.
func per(s *step, metric string) string {
	if keys := s.Keys(metric); len(keys) > 0 {
		return keys[0].Per
	}
	return ""
}

// waitGroup returns the targets' numbers of a metric, in the columns of the roles.
func waitGroup(s *step, metric string, roles []key, n *page.Notes) page.Group {
	rows := targetRows(s.c.Targets, roles, func(t *target, role key) page.Cell {
		return s.c.plainCell(s.number(t, key{Op: role.Op, Metric: metric, Per: per(s, metric)}), n)
	})
	return page.Group{Link: "m-" + metric, Rows: view.Filter(rows, func(r page.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c page.Cell) bool { return !c.Absent })
	})}
}

// mostEvents is the number of its most frequent events that each target shows.
const mostEvents = 8

// eventTable returns the sampled events by the servers' names.
func eventTable(s *step) page.Table {
	t := page.Table{Title: "What sessions were seen doing", Head: "role: event", Columns: targetColumns(s.c.Targets),
		Note: fmt.Sprintf("Shares of the sessions’ time, as the servers call it: of each target the %d most frequent, "+
			"in the trial with the median throughput; all are in trial.json.", mostEvents)}
	byName := byTarget{}
	wanted := map[string]bool{}
	for tg, r := range s.leaders() {
		seen := 0
		for _, w := range r.Step.Rows {
			if w.Metric != metric.WaitShare || w.Labels.State == "" {
				continue
			}
			name := w.Op
			if w.Labels.Event != "" && w.Labels.Event != name {
				name += ": " + w.Labels.Event
			}
			wanted[name] = wanted[name] || seen < mostEvents
			byName.set(name, tg, page.Cell{Text: shareText(w.Value), Number: true})
			seen++
		}
	}
	for name := range byName {
		if !wanted[name] {
			delete(byName, name)
		}
	}
	t.Groups = []page.Group{{Rows: byName.rows(s.c.Targets, "not seen")}}
	return t
}
