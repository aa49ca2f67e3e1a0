package campaign

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rumbench/internal/plan"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// describeExpected prints what the numbers of a campaign will not show, as far as that is known
// before.
func describeExpected(w io.Writer, c Config, f *forecast.Forecast) {
	texts := slices.Concat(fewMachines(c.Plan), fitting(c.Plan), short(c.Plan, f), bypassing(c), timers(c, f))
	for i, text := range texts {
		if i == 0 {
			fmt.Fprintf(w, "\nexpected, by estimates\n")
		}
		fmt.Fprintf(w, "  %s\n", text)
	}
}

// fewMachines returns that nothing can be proven, if that is so because of the machines.
func fewMachines(p *plan.Plan) []string {
	n := min(len(p.Fleet.Cells), p.Trials)
	if n == 0 || n == 1 || n >= leastMachines {
		return nil
	}
	return []string{fmt.Sprintf("trials on %d machines prove nothing, as each counts once: take one, or at least %d", n,
		leastMachines)}
}

// leastMachines is the least number of machines that prove anything, see docs/statistics.md.
const leastMachines = 3

// fitting returns which caches all data fit in.
func fitting(p *plan.Plan) []string {
	var largest int64
	var caches []string
	for i := range p.Targets {
		t := &p.Targets[i]
		ownPlan := p.For(t)
		room, place := t.Config.Cache, "cache"
		if t.Machine.Memory > 0 {
			room, place = t.Machine.Memory, "memory"
		}
		if data := ownPlan.Run.Estimate(ownPlan.Steps()).Bytes; data > 0 && data < room {
			largest = max(largest, data)
			caches = append(caches, t.Name+"'s "+place+" of "+quantity.Bytes(room))
		}
	}
	if len(caches) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the data of about %s fit in %s: little or nothing will be read from the device",
		quantity.Bytes(largest), quantity.Joined(caches))}
}

// mostShort is how many short steps are named.
const mostShort = 4

// short returns which steps will be brief, of those that are asked about.
func short(p *plan.Plan, f *forecast.Forecast) []string {
	var names []string
	steps := p.Steps()
	for i := range steps {
		s := &steps[i]
		prepares := !s.HasClients() || s.Warmup || s.Creates || s.Builds > 0
		if asked := p.Question.Steps; prepares || len(asked) > 0 && !slices.Contains(asked, s.Name) {
			continue
		}
		seconds := float64(workload.BriefStep)
		for k := range p.Targets {
			if part := f.Trial(p.Targets[k].Name, 1).Parts[i]; part.Probes == 0 && part.Length.Bounded() {
				seconds = min(seconds, part.Length.Most.Seconds())
			}
		}
		if seconds < workload.BriefStep {
			names = append(names, fmt.Sprintf("%s (about %s s)", s.Name, quantity.Digits(seconds)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	if extra := len(names) - mostShort; extra > 0 {
		names = append(names[:mostShort], fmt.Sprintf("%d more", extra))
	}
	return []string{"too short for checkpoints and compactions to recur: " + quantity.Joined(names)}
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
	return []string{fmt.Sprintf("bypassing the page cache: %s; with it as a second cache: %s", quantity.Joined(direct),
		quantity.Joined(cached))}
}
