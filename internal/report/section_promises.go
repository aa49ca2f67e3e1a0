package report

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// promises shows whether each promise was kept on every target.
func promises(v *campaign) []page.Section {
	t := page.Table{Head: "target", Columns: []page.Column{
		{Name: "trials", Title: "How many repetitions there are; of several, every column shows the worst of them"},
		{Name: "promised/s", Link: "m-sla_target"},
		{Name: "achieved/s", Title: "Units a second on average over the window"},
		{Name: "intervals held", Link: "m-sla_share"},
		{Name: "worst interval/s", Title: "Units a second in the worst interval"},
		{Name: "backlog", Title: "Units that were due by the planned end but not done by then"},
		{Name: "max lateness", Link: "m-lateness_max_us"},
		{Name: "verdict", Link: "m-sla_met"},
	}}
	if slices.ContainsFunc(v.Targets, func(t *target) bool { return len(t.Trials) > 1 }) {
		t.Note = "Of several trials, every column shows the worst."
	}
	for _, s := range v.steps {
		for _, g := range s.Groups() {
			if g.Rate > 0 {
				t.Groups = append(t.Groups, promisesOf(s, g))
			}
		}
	}
	return folded(page.Section{ID: "sla", Title: "Promised rates", Nav: "Promised rates"}, t)
}

func promisesOf(s *step, group result.Group) page.Group {
	g := page.Group{Name: s.Name + ", group " + group.Name + group.RateUnit()}
	for _, t := range s.c.Targets {
		trials := 0
		var held []*metric.SLA
		for _, r := range s.Runs[t] {
			for _, rg := range r.Step.Groups {
				if rg.Name != group.Name {
					continue
				}
				trials++
				if sla := r.Step.Promise(group.Name); sla != nil {
					held = append(held, sla)
				}
			}
		}
		if trials > 0 {
			cells := append([]page.Cell{{Text: fmt.Sprint(trials), Number: true}}, promiseCells(group.Rate, trials, held)...)
			g.Rows = append(g.Rows, targetRow(t, cells...))
		}
	}
	return g
}

// promiseCells returns the worst results of the trials for a promise.
func promiseCells(rate float64, trials int, held []*metric.SLA) []page.Cell {
	num := func(v float64) page.Cell {
		if math.IsNaN(v) {
			return page.Absent("not known of a step that was interrupted")
		}
		return page.Exact(quantity.Amount(v), quantity.Full(v))
	}
	if len(held) == 0 {
		cells := []page.Cell{num(rate)}
		for range 6 {
			cells = append(cells, page.Absent("not measured: unknown is not missed"))
		}
		return cells
	}
	s := *held[0]
	judged := false
	for _, o := range held {
		s.Achieved, s.Backlog, s.MaxLateness = min(s.Achieved, o.Achieved), max(s.Backlog, o.Backlog),
			max(s.MaxLateness, o.MaxLateness)
		if o.Intervals == 0 {
			continue // too short to judge intervals
		}
		if !judged {
			s.Share, s.Worst, judged = o.Share, o.Worst, true
		}
		s.Share, s.Worst = min(s.Share, o.Share), min(s.Worst, o.Worst)
	}
	share, worst := page.Exact(quantity.Share(s.Share), quantity.Full(100*s.Share)+" %"), num(s.Worst)
	if !judged {
		share, worst = page.Absent("the step is too short to judge intervals"),
			page.Absent("the step is too short to judge intervals")
	}
	return []page.Cell{num(s.Target), num(s.Achieved), share, worst, num(s.Backlog),
		page.Exact(quantity.Micros(s.MaxLateness*1e6), quantity.Full(s.MaxLateness)+" s"), promiseVerdict(trials, held)}
}

// promiseVerdict reports in how many of the trials a promise was kept.
func promiseVerdict(trials int, held []*metric.SLA) page.Cell {
	missed, saturated, strict := 0, 0, 0
	for _, s := range held {
		if s.Saturated {
			saturated++
		}
		if s.Saturated || !s.Met {
			missed++
		} else if s.Share == 1 {
			strict++
		}
	}
	name := fmt.Sprintf(" of %d", trials)
	switch {
	case missed == 0 && len(held) < trials:
		return page.Words(fmt.Sprintf("held in %d%s, else not measured", len(held), name))
	case missed == 0 && strict == trials:
		return page.Words("held in every interval")
	case missed == 0:
		return page.Words("held")
	}
	c := page.Cell{Text: fmt.Sprintf("missed in %d%s", missed, name), Tag: "not comparable"}
	switch {
	case trials == 1 && saturated == 1:
		c.Text, c.Title = "saturated", "lateness grew without end"
	case trials == 1:
		c.Text = "missed"
	case saturated > 0:
		c.Text, c.Title = c.Text+fmt.Sprintf(", saturated in %d", saturated), "saturated: lateness grew without end"
	}
	return c
}
