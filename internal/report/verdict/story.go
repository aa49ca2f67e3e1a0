package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/text/quantity"
)

// Story compares the targets of a campaign in sentences, the most important first. All its ratios
// are those of the subject, the best target or the second of two, to another one.
type Story struct {
	Lead   string   // the main number of the step that the campaign is about; if it is undecided, what is proven
	Proven string   // the other proven differences in that step, the greatest first
	Tests  []string // the throughput of the other tests, the subject's losses first
	Limits []string // what is not proven, not compared, and what the trials could have found
}

// Sentences returns all sentences.
func (s Story) Sentences() []string {
	all := slices.Concat([]string{s.Lead, s.Proven}, s.Tests, s.Limits)
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// Story returns the comparison of the targets. It begins with the first of the steps that the
// campaign is about.
func (c *Campaign) Story() (s Story) {
	var lead *compare.Step
	if steps := c.Leading(); len(steps) > 0 {
		lead = steps[0]
	}
	return c.StoryOf(lead)
}

// StoryOf is the story that begins with a step; nil if no throughput is asked about.
func (c *Campaign) StoryOf(lead *compare.Step) (s Story) {
	if len(c.Targets) == 0 {
		return s
	}
	subject, decided := c.Targets[len(c.Targets)-1], false
	if lead != nil {
		goal, _ := compare.Goal(lead)
		x := c.Contest(lead, goal)
		decided = !x.undecided()
		if subject = x.Subject; !c.Narrow || slices.Contains(lead.Asked(), goal) {
			s.Lead = c.Lead(lead, " in "+lead.Name)
		}
	}
	if subject == nil || len(c.Targets) < 2 {
		return s
	}
	if s.Tests = c.tests(subject, lead); decided {
		s.Proven = c.Proven(subject, lead, mostNamed)
	}
	s.Limits = c.limits(subject, lead)
	return s
}

// Proven names the greatest proven differences of a target from the others, in a step or, with nil, in any; "" if none
// is proven.
func (c *Campaign) Proven(subject *compare.Target, in *compare.Step, limit int) string {
	var items []*compare.Item
	for _, j := range c.judgements(subject) {
		for i := range j.Items {
			it := &j.Items[i]
			duplicate := slices.ContainsFunc(items, func(o *compare.Item) bool {
				return o.Step == it.Step && o.New.Key == it.New.Key && o.Base == it.Base // of a metric that it stands in for
			})
			redundant := in != nil && (it.New.Metric == metric.RowsPerS || // one number of the latencies is enough
				metric.IsLatency(it.New.Metric) && metric.ByName(it.New.Metric).Quantile != "p99" && !it.Asked)
			relevant := (in == nil || in == it.Step) && (it.Asked || it.Headline && !c.Narrow)
			if it.Sure() && relevant && len(it.Base.Trials) > 0 && !duplicate && !redundant {
				items = append(items, it)
			}
		}
	}
	far := func(it *compare.Item) float64 { return math.Abs(math.Log(it.Ratio)) } // NaN: last
	slices.SortStableFunc(items, func(a, b *compare.Item) int { return cmp.Compare(far(b), far(a)) })
	if len(items) == 0 {
		return ""
	}
	where, prefix := "Proven", ""
	if in != nil {
		where, prefix = "Proven in "+in.Name, in.Name+" "
	}
	return where + ": " + firstOf(items[:min(limit, len(items))], limit, func(it *compare.Item) string {
		return strings.TrimPrefix(Guess(it), prefix) + " against " + it.Base.Trials[0].Target
	}) + "."
}

// judgements returns the judgements of a target against each other one.
func (c *Campaign) judgements(subject *compare.Target) (out []*compare.Judgement) {
	for _, t := range c.Targets {
		if t != subject {
			out = append(out, c.Judged(t, subject))
		}
	}
	return out
}

// Leading returns the steps that the campaign is about, the most important first: if no question
// names them, loads and index builds come last.
func (c *Campaign) Leading() (out []*compare.Step) {
	for _, s := range c.Steps {
		if _, ok := s.Rate(s.Primary); ok && len(s.Asked()) > 0 {
			out = append(out, s)
		}
	}
	weight := func(s *compare.Step) int {
		_, searched := s.Own(metric.HighestRate)
		first := s.First()
		switch {
		case len(s.Judged) > 0 || len(c.Question.Steps) > 0 || searched:
			return 0
		case first.Trial.Prepares(first.Step):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b *compare.Step) int { return cmp.Compare(weight(a), weight(b)) })
	return out
}

// mostNamed is the number of tests or numbers of a kind that a sentence names, and mostTargets that
// of targets that get a sentence each.
const mostNamed, mostTargets = 3, 3

// tests compares the throughput of a target in all tests but one with each other target: first
// with those that are faster in most of them.
func (c *Campaign) tests(subject *compare.Target, but *compare.Step) (out []string) {
	losses := map[string]int{}
	for _, j := range c.judgements(subject) {
		by := map[string][]*compare.Item{}
		for _, it := range c.rates(j, but) {
			text := seems(&it.Effect)
			by[text] = append(by[text], it)
		}
		text := testsText(j, by)
		out, losses[text] = append(out, text), len(by[slower])+len(by[likely+slower])+len(by[seen+slower])
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(losses[b], losses[a]) })
	return slices.DeleteFunc(out[:min(len(out), mostTargets)], func(text string) bool { return text == "" })
}

// rates returns the throughputs of the tests but one that can be compared. Where a rate was
// promised, the throughput says nothing.
func (c *Campaign) rates(j *compare.Judgement, but *compare.Step) (out []*compare.Item) {
	for _, s := range c.Steps {
		k, ok := s.Rate(s.Primary)
		if !ok || s == but || compare.IsProbe(s) || compare.PrimaryRated(s) {
			continue
		}
		if it := j.Item(s, k); it != nil && it.Verdict != "" && (it.Asked || !c.Narrow) {
			out = append(out, it)
		}
	}
	return out
}

// How the throughput of a test compares: proven; likely, as it is notable, see
// [compare.Effect.Notable]; or only seen, if the two have too few trials to prove anything.
const slower, faster, likely, seen = "slower", "faster", "likely ", "seems "

// seems returns how a throughput compares; "" if the difference may well be chance.
func seems(e *compare.Effect) (text string) {
	v := e.Verdict
	switch {
	case v == compare.Same:
		return equivalent
	case !e.Sure():
		v, text = e.Notable(), likely
		if e.TooFew() {
			text = seen
		}
	}
	switch v {
	case compare.Worse:
		return text + slower
	case compare.Better:
		return text + faster
	}
	return ""
}

func testsText(j *compare.Judgement, by map[string][]*compare.Item) string {
	var parts []string
	for _, word := range []string{slower, likely + slower, seen + slower, faster, likely + faster, seen + faster} {
		if items := by[word]; len(items) > 0 {
			parts = append(parts, word+" in "+firstOf(items, mostNamed, func(it *compare.Item) string {
				return it.Step.Name + " (" + times(&it.Effect) + ")"
			}))
		}
	}
	text := fmt.Sprintf("%s against %s: ", j.New.Name, j.Base.Name)
	switch open := by[""]; {
	case len(open) == 0 && len(parts) == 0 && len(by[equivalent]) == 0:
		return ""
	case len(parts) == 0 && len(by[equivalent]) == 0:
		return text + "no difference in " + quantity.Count(len(open), "other test") + " is proven."
	case len(open) > 0 && !open[0].TooFew():
		parts = append(parts, "not proven in "+quantity.Count(len(open), "test"))
	}
	if n := len(by[equivalent]); n > 0 {
		parts = append(parts, equivalent+" in "+quantity.Count(n, "test"))
	}
	return text + strings.Join(parts, "; ") + "."
}

// firstOf lists items: all in their order, or the most extreme and the number of the others if there
// are too many.
func firstOf(items []*compare.Item, limit int, text func(*compare.Item) string) string {
	if len(items) > limit {
		apart := func(it *compare.Item) float64 {
			if math.IsNaN(it.Ratio) || it.Ratio <= 0 {
				return 0
			}
			return math.Abs(math.Log(it.Ratio))
		}
		items = slices.Clone(items)
		slices.SortStableFunc(items, func(a, b *compare.Item) int { return cmp.Compare(apart(b), apart(a)) })
	}
	parts := quantity.Texts(items[:min(limit, len(items))], text)
	if n := len(items) - limit; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return quantity.Joined(parts)
}

// limits reports what else is asked about in other steps, what is not proven or not compared, and
// which difference the trials would have found.
func (c *Campaign) limits(subject *compare.Target, lead *compare.Step) (out []string) {
	var better, worse, likelyWorse, likelyBetter, open, refused []*compare.Item
	for _, j := range c.judgements(subject) {
		for i := range j.Items {
			switch it := &j.Items[i]; {
			case it.Headline && !it.Asked && !c.Narrow && it.Verdict == compare.Worse && !it.TooFew() &&
				it.New.Metric != metric.RowsPerS && it.Step != lead && it.Step.Primary != "":
				worse = append(worse, it)
			case !it.Asked || it.Base.Missing != "" && it.New.Missing != "" || it.Step == lead:
			case it.Verdict == "":
				refused = append(refused, it)
			case it.TooFew() || it.New.Metric == metric.RowsPerS || it.Verdict == compare.Same:
			case it.Verdict == compare.Worse:
				worse = append(worse, it)
			case it.Verdict == compare.Better:
				better = append(better, it)
			case it.Likely() == compare.Worse:
				likelyWorse = append(likelyWorse, it)
			case it.Likely() == compare.Better:
				likelyBetter = append(likelyBetter, it)
			default:
				open = append(open, it)
			}
		}
	}
	against := func(it *compare.Item) string {
		if len(c.Targets) == 2 || len(it.Base.Trials) == 0 {
			return Guess(it)
		}
		return Guess(it) + " against " + it.Base.Trials[0].Target
	}
	for _, list := range []struct {
		lead  string
		items []*compare.Item
		text  func(*compare.Item) string
	}{{"Also worse on " + subject.Name, worse, against},
		{"Likely worse on " + subject.Name, likelyWorse, against}, {"Also better on " + subject.Name, better, against},
		{"Likely better on " + subject.Name, likelyBetter, against}, {"Not proven", open, against},
		{"Not compared", refused, func(it *compare.Item) string { return Subject(it) + " (" + it.Why + ")" }}} {
		if len(list.items) > 0 {
			out = append(out, list.lead+": "+firstOf(list.items, mostNamed, list.text)+".")
		}
	}
	if lead != nil {
		out = append(out, c.power(subject, lead))
	}
	return out
}

// power reports the smallest difference in a step's main number that the trials would have found,
// and what would find a smaller one; "" if that is unknown. It is the noisiest of the comparisons
// with the others.
func (c *Campaign) power(subject *compare.Target, s *compare.Step) string {
	k, _ := compare.Goal(s)
	var worst *compare.Effect
	var by *compare.Judgement
	for _, j := range c.judgements(subject) {
		e := j.Effect(s, k)
		if e == nil || math.IsNaN(e.Detectable()) {
			return ""
		}
		if worst == nil || e.Detectable() > worst.Detectable() {
			worst, by = e, j
		}
	}
	if worst == nil {
		return ""
	}
	number := "the throughput of "
	if k.Metric != metric.RowsPerS {
		number = Name(k) + " in "
	}
	count := by.Outlook(worst).Have
	have := quantity.Count(count, string(worst.Unit))
	switch {
	case worst.Groups > 0:
	case worst.Pairs > 0 && worst.Pairs != count:
		have = quantity.Count(worst.Pairs, "pair")
	default:
		have += " each"
	}
	text := fmt.Sprintf("With %s, differences in %s below %s may stay unseen", have, number+s.Name,
		DetectableText(worst.Detectable()))
	smallest, needs := by.Question.Smallest(), ""
	switch needed := worst.Needed(smallest); {
	case worst.Detectable() <= smallest:
	case needed > 0:
		text += fmt.Sprintf("; %d %ss would find %s", needed, worst.Unit, quantity.RoughShare(smallest))
	case worst.Unit == compare.MachineUnit:
		needs = "machines that are more alike, or one machine"
	case worst.Unit == compare.LoadUnit:
		needs = "more loads than anybody makes: they differ"
	case by.Base.Trials[0].Order == "duet":
		needs = "longer steps, not more trials"
	default:
		needs = "longer steps, or targets that run side by side (duet), not more trials"
	}
	if needs != "" {
		text += "; to find " + quantity.RoughShare(smallest) + " needs " + needs
	}
	return text + "." + byMachine(by, worst)
}

// MachinesApart reports the machines that are not as fast as the others in the first step that is
// compared.
func MachinesApart(c *compare.Campaign) (out []metric.Warning) {
	for _, s := range c.Steps {
		k, ok := compare.Capacity(s)
		if !ok || s.Warmup {
			continue
		}
		for _, m := range compare.MachinesApart(s, k, c.Targets...) {
			out = append(out, metric.Warn(remark.MachineApart, metric.Values{"machine": m.Name, "ratio": quantity.Times(m.Ratio),
				"step": s.Name, "low": quantity.Times(m.Low), "high": quantity.Times(m.High)}))
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// byMachine reports how far machines agree on a ratio; "" unless several ran trials.
func byMachine(j *compare.Judgement, e *compare.Effect) string {
	over := e.OverMachines()
	if over == nil {
		return ""
	}
	const named = 6
	var each []string
	for i, name := range over.Names[:min(named, len(over.Names))] {
		each = append(each, name+" "+quantity.Times(over.Ratios[i]))
	}
	if extra := len(over.Names) - named; extra > 0 {
		each = append(each, fmt.Sprintf("%d more", extra))
	}
	return fmt.Sprintf(" %s against %s by machine: %s, a standard deviation of %s between machines.", j.New.Name,
		j.Base.Name, strings.Join(each, ", "), quantity.RoughShare(over.SD))
}
