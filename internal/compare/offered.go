package compare

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// Across are the differences of targets that do not prevent comparisons, as the
// user requested.
type Across struct {
	Work       bool // workload, parameters, and the work offered to the clients
	Durability bool
}

// Unlike returns the reason if the numbers of a step on two targets are not
// compared: their work or their promises differ. It is "" if they are compared.
func (s *Step) Unlike(a, b *Target) string {
	if a == b {
		return ""
	}
	if reason := s.campaign.unlike(a, b); reason != "" || s.campaign.Across.Work {
		return reason
	}
	if list := s.Offered(a, b); len(list) > 0 {
		return "other work: " + strings.Join(list, "; ")
	}
	return ""
}

// unlike returns the reason if no number of two targets is compared. Targets of
// one plan may differ in durability, because the plan compares them
// deliberately.
func (c *Campaign) unlike(a, b *Target) string {
	pair := [2]*Target{a, b}
	reason, found := c.apart[pair]
	if !found {
		if list := Unlike(a, b); len(list) > 0 && !c.Across.Work {
			reason = "other work: " + strings.Join(list, "; ")
		} else if text := UnlikeDurability(a, b); text != "" && !c.Across.Durability && !onePlan(a, b) {
			reason = "other durability: " + text
		}
		c.apart[pair] = reason
	}
	return reason
}

// Randomized reports whether the trials of two targets alternated in one campaign, on servers
// that it started: what is not of the targets then met both alike.
func Randomized(a, b *Target) bool {
	return onePlan(a, b) && !slices.ContainsFunc(slices.Concat(a.Trials, b.Trials), func(t *result.Trial) bool {
		return t.Order == "sequential" || t.Knobs["dsn"] != "" || t.Imported != nil
	})
}

// Offered returns how the work offered to the clients of a step differed on two
// targets, as "rate of insert: 500/s and 4000/s". Missing records do not count
// as different.
func (s *stepRuns) Offered(a, b *Target) (out []string) {
	x, y := s.seenOn(a).offers, s.seenOn(b).offers
	if len(x) == 0 || len(y) == 0 || len(x) == 1 && len(y) == 1 && x[0].text == y[0].text {
		return nil
	}
	for _, o := range slices.Concat(x[1:], y) {
		out = AppendNew(out, quantity.Texts(GroupsDiffer(x[0].groups, o.groups), Difference.String)...)
		if x[0].begun != o.begun {
			out = AppendNew(out, "begun "+x[0].begun+" and "+o.begun)
		}
	}
	return out
}

// OtherWork returns the steps in which the clients of two targets were offered
// different work. complete: no step that both reached is left to compare.
func (c *Campaign) OtherWork(a, b *Target) (list []string, complete bool) {
	complete = true
	for _, s := range c.Steps {
		if len(s.Runs[a]) == 0 || len(s.Runs[b]) == 0 || s.Primary == "" || s.Warmup {
			continue
		}
		unlike := s.Offered(a, b)
		complete = complete && len(unlike) > 0
		if len(unlike) > 0 {
			list = append(list, s.Name+": "+strings.Join(unlike, "; "))
		}
	}
	return list, complete && len(list) > 0
}

// offer is the work offered to the clients of a step.
type offer struct {
	text   string // the text to compare, also for display
	groups []result.Group
	begun  string // how the step began
}

// Begun returns how a step began, as far as restarts matter.
func Begun(s *result.Step) string {
	switch s.Caches {
	case workload.CachesDropped:
		return "cold, just opened"
	case workload.CachesKept:
		return "after a restart, caches kept"
	}
	return "without a restart"
}

// offersOf returns the distinct offers of some runs.
func offersOf(runs []Run) (out []offer) {
	for _, r := range runs {
		if len(r.Step.Groups) == 0 {
			continue
		}
		text, begun := groupsText(r.Step.Groups), Begun(r.Step)
		if r.Step.Caches != "" {
			text += "; begun " + begun
		}
		if !slices.ContainsFunc(out, func(o offer) bool { return o.text == text }) {
			out = append(out, offer{text, r.Step.Groups, begun})
		}
	}
	return out
}

// groupsText returns the work offered to the clients of a step: "insert: clients
// 2, rate none (closed loop)".
func groupsText(groups []result.Group) string {
	var parts []string
	for i := range groups {
		var terms []string
		for _, t := range termsOf(&groups[i]) {
			if t.shown {
				terms = append(terms, t.name+" "+t.text)
			}
		}
		parts = append(parts, groups[i].Name+": "+strings.Join(terms, ", "))
	}
	return strings.Join(parts, "; ")
}

// Offer returns the work offered to the clients of the step on a target, as far
// as a number depends on it: for the answer of a search, also the goal of the
// search. Numbers with the same text describe the same work. "": not recorded.
func (s *stepRuns) Offer(t *Target, k Key) string {
	parts := quantity.Texts(s.seenOn(t).offers, func(o offer) string { return o.text })
	for _, found := range s.number(t, k).searches() {
		parts = AppendNew(parts, "find "+found.Question())
	}
	return strings.Join(parts, "; ")
}

// GroupsDiffer returns the differences in the work offered to two lists of groups of clients.
func GroupsDiffer(a, b []result.Group) (out []Difference) {
	for i := range a {
		g := &a[i]
		k := slices.IndexFunc(b, func(h result.Group) bool { return h.Name == g.Name })
		if k < 0 {
			out = append(out, Difference{What: "clients of " + g.Name, Base: fmt.Sprint(g.Clients), New: "none"})
			continue
		}
		others := termsOf(&b[k])
		for i, t := range termsOf(g) {
			if o := others[i]; t.known && o.known && t.text != o.text {
				out = append(out, Difference{What: t.name + " of " + g.Name, Base: t.text, New: o.text})
			}
		}
	}
	for _, h := range b {
		if !slices.ContainsFunc(a, func(g result.Group) bool { return h.Name == g.Name }) {
			out = append(out, Difference{What: "clients of " + h.Name, Base: "none", New: fmt.Sprint(h.Clients)})
		}
	}
	return out
}

// term is a part of the work offered to a group of clients.
type term struct {
	name, text string
	shown      bool // it is part of the offered work
	known      bool // it is recorded, and can be compared
}

func termsOf(g *result.Group) [6]term {
	arrivals, queue := g.Pace+" for each client", fmt.Sprint(g.Queue)
	if g.Open {
		arrivals = g.Pace + " for all clients together"
	}
	if g.Queue == 0 {
		queue = "of any length"
	}
	return [...]term{
		{"clients", fmt.Sprint(g.Clients), true, g.Clients > 0},
		{"rate", rateText(g), true, true},
		{"arrivals", arrivals, g.Pace != "", g.Pace != ""},
		{"queue", queue, g.Open, g.Open},
		{"ramp", rampText(g), g.Open, g.Ramp != nil},
		{"lead-in", fmt.Sprintf("%.10g s", g.LeadIn), g.LeadIn > 0, g.Open},
	}
}

func rateText(g *result.Group) string {
	if g.Rate == 0 {
		return "none (closed loop)"
	}
	return fmt.Sprintf("%.10g/s%s", g.Rate, g.RateUnit())
}

func rampText(g *result.Group) string {
	if len(g.Ramp) == 0 {
		return "none"
	}
	return strings.Join(quantity.Texts(g.Ramp, func(s result.Ramp) string {
		return fmt.Sprintf("%.10g/s to %.10g/s in %.10g s", s.From, s.To, s.Seconds)
	}), ", ")
}
