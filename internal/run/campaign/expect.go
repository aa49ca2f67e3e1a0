package campaign

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/quantity"
)

// describeExpected prints what the numbers of a campaign will not show, as far as that is known
// before.
func describeExpected(w io.Writer, c Config, f *forecast.Forecast) {
	facts := append(targetsExpected(c.Plan), stepsExpected(c.Plan, f)...)
	texts := slices.Concat(fewMachines(c.Plan), remark.Expected(facts), bypassing(c), timers(c, f))
	for i, text := range texts {
		if i == 0 {
			fmt.Fprintf(w, "\nexpected, by estimates\n")
		}
		fmt.Fprintf(w, "  %s\n", text)
	}
}

// fewMachines returns that nothing can be proven, if that is so because of the machines.
func fewMachines(p *plan.Plan) []string {
	n := float64(min(len(p.Fleet.Cells), p.Trials))
	if n == 0 || n == 1 || n >= leastMachines {
		return nil
	}
	return []string{remark.Before(remark.FewMachines, metric.Values{"machines": n, "least": leastMachines})}
}

// leastMachines is the least number of machines that prove anything, see docs/statistics.md.
const leastMachines = 3.0

// targetsExpected returns what is expected of the targets: their data, and what is to hold them.
func targetsExpected(p *plan.Plan) (out []*remark.Facts) {
	for i := range p.Targets {
		t := &p.Targets[i]
		ownPlan := p.For(t)
		data := float64(ownPlan.Run.Estimate(ownPlan.Steps()).Bytes)
		f := &remark.Facts{Target: t.Name, Place: "cache", Cache: float64(t.Config.Cache), Row: func(name string) float64 {
			if name == metric.LiveBytes {
				return data
			}
			return math.NaN()
		}}
		if t.Machine.Memory > 0 {
			f.Cache, f.Place = float64(t.Machine.Memory), "memory"
		}
		out = append(out, f)
	}
	return out
}

// stepsExpected returns what is expected of the steps that are asked about: the shortest time.
func stepsExpected(p *plan.Plan, f *forecast.Forecast) (out []*remark.Facts) {
	steps := p.Steps()
	for i := range steps {
		s := &steps[i]
		prepares := !s.HasClients() || s.Warmup || s.Creates || s.Builds > 0
		if asked := p.Question.Steps; prepares || len(asked) > 0 && !slices.Contains(asked, s.Name) {
			continue
		}
		shortest := math.Inf(1)
		for k := range p.Targets {
			if part := f.Trial(p.Targets[k].Name, 1).Parts[i]; part.Probes == 0 && part.Length.Bounded() {
				shortest = min(shortest, part.Length.Most.Seconds())
			}
		}
		out = append(out, &remark.Facts{Step: s.Name, Seconds: shortest})
	}
	return out
}

// bypassing returns which targets bypass the page cache, if others do not.
func bypassing(c Config) []string {
	var direct, cached []string
	for i := range c.Plan.Targets {
		t := &c.Plan.Targets[i]
		info := c.InfoOf(t)
		options := strings.ToLower(fmt.Sprint(t.Config.Options))
		own := strings.Contains(options, "direct") || strings.Contains(options, "flush")
		switch knob := t.Config.DirectIO; {
		case t.Config.Server.DSN != "" || own || info.SpaceFactor == 0: // unknown, or without I/O
		case knob != nil && *knob:
			direct = append(direct, t.Name)
		case knob == nil && info.DirectIO != "":
			direct = append(direct, t.Name+" (by default "+info.DirectIO+")")
		default:
			cached = append(cached, t.Name)
		}
	}
	if len(direct) == 0 || len(cached) == 0 {
		return nil
	}
	return []string{remark.Before(remark.PageCacheApart,
		metric.Values{"direct": quantity.Joined(direct), "cached": quantity.Joined(cached)})}
}
