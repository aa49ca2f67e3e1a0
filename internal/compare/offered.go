package compare

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// Across are the differences of targets that do not prevent comparisons, as the
// user requested.
type Across struct {
	Work       bool // workload, parameters, and what was offered to the clients
	Durability bool
}

// Unlike returns why the numbers of a step on two targets are not compared:
// their work or their promises differ. It is "" if they are compared.
func (s *Step) Unlike(a, b *Target) string {
	if a == b {
		return ""
	}
	if why := s.campaign.unlike(a, b); why != "" || s.campaign.Across.Work {
		return why
	}
	if list := s.Offered(a, b); len(list) > 0 {
		return "other work: " + strings.Join(list, "; ")
	}
	return ""
}

// unlike returns why no number of two targets is compared. Targets of one plan
// may differ in durability, because the plan compares them deliberately.
func (c *Campaign) unlike(a, b *Target) string {
	pair := [2]*Target{a, b}
	why, known := c.apart[pair]
	if !known {
		if list := Unlike(a, b); len(list) > 0 && !c.Across.Work {
			why = "other work: " + strings.Join(list, "; ")
		} else if text := UnlikeDurability(a, b); text != "" && !c.Across.Durability && !onePlan(a, b) {
			why = "other durability: " + text
		}
		c.apart[pair] = why
	}
	return why
}

// onePlan reports whether all trials of two targets are of one campaign.
func onePlan(a, b *Target) bool {
	first := filepath.Dir(a.Trials[0].Dir)
	return !slices.ContainsFunc(slices.Concat(a.Trials, b.Trials), func(t *result.Trial) bool { return filepath.Dir(t.Dir) != first })
}

// UnlikeDurability returns the levels of durability in which two targets
// differ, as "none and os"; "" if they do not, or one is unknown.
func UnlikeDurability(a, b *Target) string {
	x, y := Durability(a), Durability(b)
	if x == y || x == "" || y == "" {
		return ""
	}
	return x + " and " + y
}

// Durability returns a target's level, or its levels; "" if it is unknown.
func Durability(t *Target) string {
	var out []string
	for _, trial := range t.Trials {
		if trial.Durability != "" && trial.Durability != result.Unknown {
			out = AppendNew(out, trial.Durability)
		}
	}
	return strings.Join(out, " or ")
}

// durabilityText returns the same with the meaning of the level, if it is
// known.
func durabilityText(t *Target) string {
	var out []string
	for _, trial := range t.Trials {
		if trial.Durability != "" && trial.Durability != result.Unknown {
			out = AppendNew(out, trial.DurabilityText())
		}
	}
	return strings.Join(out, " or ")
}

// Durability returns which level each target has, if they differ: "a: none, b:
// os". Unknown levels do not count as different.
func (c *Campaign) Durability() string {
	var levels, parts []string
	for _, t := range c.Targets {
		if level := Durability(t); level != "" {
			levels, parts = AppendNew(levels, level), append(parts, t.Name+": "+durabilityText(t))
		}
	}
	if len(levels) < 2 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// Offered returns how the work offered to the clients of a step differed on two
// targets, as "rate of insert: 500/s and 4000/s". What was not recorded does
// not count as different.
func (s *stepRuns) Offered(a, b *Target) (out []string) {
	x, y := s.seenOn(a).offers, s.seenOn(b).offers
	if len(x) == 0 || len(y) == 0 || len(x) == 1 && len(y) == 1 && x[0].text == y[0].text {
		return nil
	}
	for _, o := range slices.Concat(x[1:], y) {
		out = AppendNew(out, x[0].differs(&o)...)
	}
	return out
}

// OtherWork returns in which steps different work was offered to the clients of
// two targets. whole: no step that both reached is left to compare.
func (c *Campaign) OtherWork(a, b *Target) (list []string, whole bool) {
	whole = true
	for _, s := range c.Steps {
		if len(s.Runs[a]) == 0 || len(s.Runs[b]) == 0 || s.Primary == "" || s.Warmup {
			continue
		}
		unlike := s.Offered(a, b)
		whole = whole && len(unlike) > 0
		if len(unlike) > 0 {
			list = append(list, s.Name+": "+strings.Join(unlike, "; "))
		}
	}
	return list, whole && len(list) > 0
}

// offer is what was offered to the clients of a step.
type offer struct {
	text   string // what it is compared by, also for display
	groups []result.Group
}

// offersOf returns the distinct offers of some runs.
func offersOf(runs []Run) (out []offer) {
	for _, r := range runs {
		if len(r.Step.Groups) == 0 {
			continue
		}
		text := groupsText(r.Step.Groups)
		if !slices.ContainsFunc(out, func(o offer) bool { return o.text == text }) {
			out = append(out, offer{text, r.Step.Groups})
		}
	}
	return out
}

// groupsText returns what is offered to the clients of a step: "insert: clients 2,
// rate none (closed loop)".
func groupsText(groups []result.Group) string {
	var parts []string
	for i := range groups {
		g := &groups[i]
		text := fmt.Sprintf("%s: clients %d, rate %s", g.Name, g.Clients, rateText(g))
		if g.Pace != "" {
			text += ", arrivals " + arrivalsText(g)
		}
		if g.Open {
			text += fmt.Sprintf(", queue %s, ramp %s", queueText(g), rampText(g))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// Offer returns what was offered to the clients of the step on a target, as far
// as a number depends on it: for the answer of a search, also what was searched
// for. Numbers with the same text are of the same work. "": not recorded.
func (s *stepRuns) Offer(t *Target, k Key) string {
	var parts []string
	for _, o := range s.seenOn(t).offers {
		parts = append(parts, o.text)
	}
	for _, found := range s.number(t, k).searches() {
		parts = AppendNew(parts, "find "+found.Question())
	}
	return strings.Join(parts, "; ")
}

func (o *offer) differs(other *offer) (out []string) {
	for i := range o.groups {
		g := &o.groups[i]
		k := slices.IndexFunc(other.groups, func(h result.Group) bool { return h.Name == g.Name })
		if k < 0 {
			out = append(out, fmt.Sprintf("clients of %s on one side only", g.Name))
			continue
		}
		out = append(out, groupsDiffer(g, &other.groups[k])...)
	}
	for _, h := range other.groups {
		if !slices.ContainsFunc(o.groups, func(g result.Group) bool { return h.Name == g.Name }) {
			out = append(out, fmt.Sprintf("clients of %s on one side only", h.Name))
		}
	}
	return out
}

// sameRate is the share by which equal promised rates may differ: those of logs
// that older builds imported are derived from counts.
const sameRate = 1e-3

func groupsDiffer(g, h *result.Group) (out []string) {
	differ := func(what, of, other string) {
		if of != other {
			out = append(out, fmt.Sprintf("%s of %s: %s and %s", what, g.Name, of, other))
		}
	}
	if g.Clients > 0 && h.Clients > 0 {
		differ("clients", fmt.Sprint(g.Clients), fmt.Sprint(h.Clients))
	}
	if g.RateOf != h.RateOf || math.Abs(g.Rate-h.Rate) > sameRate*max(g.Rate, h.Rate) {
		differ("rate", rateText(g), rateText(h))
	}
	if g.Pace != "" && h.Pace != "" {
		differ("arrivals", arrivalsText(g), arrivalsText(h))
	}
	if g.Open && h.Open {
		differ("queue", queueText(g), queueText(h))
	}
	if g.Ramp != nil && h.Ramp != nil {
		differ("ramp", rampText(g), rampText(h))
	}
	return out
}

func rateText(g *result.Group) string {
	if g.Rate == 0 {
		return "none (closed loop)"
	}
	return fmt.Sprintf("%.10g/s%s", g.Rate, g.RateUnit())
}

func arrivalsText(g *result.Group) string {
	if g.Open {
		return g.Pace + " for all clients together"
	}
	return g.Pace + " for each client"
}

func queueText(g *result.Group) string {
	if g.Queue == 0 {
		return "of any length"
	}
	return fmt.Sprint(g.Queue)
}

func rampText(g *result.Group) string {
	if len(g.Ramp) == 0 {
		return "none"
	}
	var parts []string
	for _, s := range g.Ramp {
		parts = append(parts, fmt.Sprintf("%.10g/s to %.10g/s in %.10g s", s.From, s.To, s.Seconds))
	}
	return strings.Join(parts, ", ")
}
