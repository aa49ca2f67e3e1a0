package history

import (
	"fmt"
	"math"
	"path/filepath"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Judgements returns the changes that are not acknowledged as comparisons of each target's
// level before with that since, for conditions; a target without such a change is compared with
// itself. Effects that cannot be judged have the reason.
func Judgements(families []*Family) (out []*compare.Judgement) {
	for _, f := range families {
		var targets []string
		series := map[string][]*Series{}
		runs := map[string][]string{} // with changes, by target
		for _, s := range f.Series {
			targets, series[s.Target] = compare.AppendNew(targets, s.Target), append(series[s.Target], s)
			for _, c := range s.open() {
				runs[s.Target] = compare.AppendNew(runs[s.Target], c.Dir)
			}
		}
		for _, target := range targets {
			if len(runs[target]) == 0 {
				runs[target] = []string{""}
			}
			for _, run := range runs[target] {
				out = append(out, judgement(target, run, series[target]))
			}
		}
	}
	return out
}

// open returns the changes of the series that are not acknowledged.
func (s *Series) open() (out []Change) {
	for _, list := range [][]Change{s.Breaks, s.Changes} {
		for _, c := range list {
			if c.Note == "" {
				out = append(out, c)
			}
		}
	}
	return out
}

func judgement(target, run string, series []*Series) *compare.Judgement {
	before, since := target+" before", target
	if run != "" {
		before, since = target+" before "+filepath.Base(run), target+" since "+filepath.Base(run)
	}
	j := &compare.Judgement{Base: &compare.Target{Name: before}, New: &compare.Target{Name: since}}
	steps := map[string]*compare.Step{}
	for _, s := range series {
		if steps[s.Step] == nil {
			steps[s.Step] = &compare.Step{}
			steps[s.Step].Name = s.Step
		}
		if e, ok := s.effect(run); ok {
			j.Items = append(j.Items, compare.Item{Step: steps[s.Step], Effect: e})
		}
	}
	return j
}

// effect returns the change of the series at a run as an effect: that of equal levels if there
// is none. It is false if there is nothing to judge: no point, or too few and no more to come.
func (s *Series) effect(run string) (compare.Effect, bool) {
	start, end := s.bounds(len(s.Points) - 1)
	e := compare.Effect{Base: s.number(start, end), New: s.number(start, end), Ratio: 1, Low: math.NaN(), High: math.NaN(),
		P: math.NaN(), Adjusted: math.NaN(), Verdict: compare.Unclear, Why: "no change was found"}
	if len(s.Points) < MinRuns {
		e.Verdict, e.Why = "", fmt.Sprintf("%d of at least %d runs", len(s.Points), MinRuns)
	}
	for _, c := range s.open() {
		if c.Dir != run {
			continue
		}
		start, _ = s.bounds(c.At - 1)
		_, end = s.bounds(c.At)
		e.Base, e.New, e.Verdict, e.Why = s.number(start, c.At), s.number(c.At, end), c.Verdict, ""
		e.Base.Value, e.New.Value, e.Ratio = c.From, c.To, math.NaN()
		if c.Ratio != nil {
			e.Ratio = *c.Ratio
		}
		switch {
		case c.Kind == Split:
			e.Why = "the runs before " + filepath.Base(run) + " are not comparable"
		case c.Kind == Open:
			e.Why = fmt.Sprintf("%s before, %s since: it may be chance", quantity.Count(c.At-start, "run"),
				quantity.Count(end-c.At, "run"))
		case c.Speed != nil && c.Speed.Explains:
			e.Why = "the machine's own speed changed as much: " + c.Speed.String()
		}
		return e, true
	}
	return e, e.Verdict != "" || len(s.Points) > 0 && !s.ended
}

// number returns the level from one point up to, but not including, another.
func (s *Series) number(start, end int) *compare.Number {
	n := &compare.Number{Key: compare.Key{Group: s.Group, Op: s.Op, Metric: s.Metric, Per: s.Per}, Unit: s.Unit}
	for _, p := range s.Points[start:end] {
		n.Rows = append(n.Rows, &metric.Row{Value: p.Value})
	}
	if start < end {
		n.Value = s.level(start, end)
	}
	return n
}
