package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Story compares the targets of a campaign in sentences, the most important first. All its ratios
// are those of the subject, the best target or the second of two, to another one.
type Story struct {
	Lead   string   // the main number of the step that the campaign is about
	Tests  []string // the throughput of the other tests, the subject's losses first
	Values string   // latency, costs and space
	Limits []string // what is not proven, not compared, and what the trials could have found
}

// Sentences returns all sentences.
func (s Story) Sentences() []string {
	all := slices.Concat([]string{s.Lead}, s.Tests, []string{s.Values}, s.Limits)
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
	subject := c.Targets[len(c.Targets)-1]
	if lead != nil {
		goal, _ := compare.Goal(lead)
		if subject = c.Contest(lead, goal).Subject; !c.Narrow || slices.Contains(lead.Asked(), goal) {
			s.Lead = c.Lead(lead, " in "+lead.Name)
		}
	}
	if subject == nil || len(c.Targets) < 2 {
		return s
	}
	s.Tests = c.tests(subject, lead)
	if lead != nil {
		if values := c.Values(subject, lead); len(values) > 0 {
			s.Values = "In " + lead.Name + ": " + strings.Join(values, "; ") + "."
		}
		s.Values = strings.TrimSpace(s.Values + " " + Sentence(c.space(subject)))
	}
	s.Limits = c.limits(subject, lead)
	return s
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
	type against struct {
		losses int
		text   string
	}
	var list []against
	for _, t := range c.Targets {
		if t == subject {
			continue
		}
		j := c.Judged(t, subject)
		by := map[string][]*compare.Item{}
		for _, it := range c.rates(j, but) {
			text := seems(j, &it.Effect)
			by[text] = append(by[text], it)
		}
		list = append(list, against{len(by[slower]) + len(by[likely+slower]) + len(by[seen+slower]), testsText(j, by)})
	}
	slices.SortStableFunc(list, func(a, b against) int { return cmp.Compare(b.losses, a.losses) })
	for _, a := range list[:min(len(list), mostTargets)] {
		if a.text != "" {
			out = append(out, a.text)
		}
	}
	return out
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
func seems(j *compare.Judgement, e *compare.Effect) (text string) {
	v := e.Verdict
	switch {
	case v == compare.Same:
		return equivalent
	case !e.Sure():
		v, text = e.Notable(), likely
		if min(len(j.Base.Trials), len(j.New.Trials)) < compare.LeastTrials {
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
	items = slices.Clone(items)
	apart := func(it *compare.Item) float64 {
		if math.IsNaN(it.Ratio) || it.Ratio <= 0 {
			return 0
		}
		return math.Abs(math.Log(it.Ratio))
	}
	if len(items) > limit {
		slices.SortStableFunc(items, func(a, b *compare.Item) int { return cmp.Compare(apart(b), apart(a)) })
	}
	parts := quantity.Texts(items[:min(limit, len(items))], text)
	if n := len(items) - limit; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return quantity.Joined(parts)
}

// Values reports latency, costs and what else is asked about in a step.
func (c *Campaign) Values(subject *compare.Target, s *compare.Step) (out []string) {
	goal, _ := compare.Goal(s)
	var keys []compare.Key
	if !c.Narrow {
		keys = c.usual(s)
	}
	for _, k := range compare.AppendNew(keys, s.Asked()...) {
		elsewhere := k.Metric == metric.RowsPerS || k.Metric == metric.SpaceAmplification && !c.Narrow
		if k != goal && !elsewhere {
			out = append(out, c.value(subject, s, k))
		}
	}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

// space reports the space at the end of all steps: data not written yet take none.
func (c *Campaign) space(subject *compare.Target) string {
	last := c.LastWith(metric.SpaceAmplification)
	if last == nil || c.Narrow { // among the step's values, if it is asked about
		return ""
	}
	k, _ := last.Own(metric.SpaceAmplification)
	return c.value(subject, last, k)
}

// usual returns the keys of the numbers that any comparison reports of a step.
func (c *Campaign) usual(s *compare.Step) (keys []compare.Key) {
	if k, ok := c.typical(s); ok {
		keys = append(keys, k)
	}
	for _, name := range []string{metric.CPUUS, metric.WriteKB, metric.ReadKB, metric.ServerMemoryBytes} {
		if k, ok := s.Own(name); ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// typical returns the key of the step's p99, or of its p50 if some target has too few operations
// for that.
func (c *Campaign) typical(s *compare.Step) (k compare.Key, ok bool) {
	for _, q := range []metric.Quantile{"p99", "p50"} {
		if k, ok = compare.PrimaryLatency(s, q); ok && !slices.ContainsFunc(c.Targets, func(t *compare.Target) bool {
			n := s.Number(t, k)
			return n.Few() != "" || n.Missing != ""
		}) {
			return k, true
		}
	}
	return k, ok
}

// value reports a number of all targets: “p99 of insert: pebble 6.58 ms, 0.315× bbolt’s 20.9 ms”. It is ""
// if the subject's is unknown, or if they hardly differ and nobody asked.
func (c *Campaign) value(subject *compare.Target, s *compare.Step, k compare.Key) string {
	const littleKB = 0.05
	own, known := compare.Undisturbed(s, k, c.Targets...)
	mine := Number{s.Number(subject, own)}
	much := func(t *compare.Target) bool { n := s.Number(t, own); return n.Unit != "KB" || n.Value >= littleKB }
	if !known || mine.Missing != "" || !slices.ContainsFunc(c.Targets, much) {
		return ""
	}
	parts, differ := []string{subject.Name + " " + mine.bound()}, slices.Contains(s.Asked(), k)
	for _, t := range c.Targets {
		theirs := Number{s.Number(t, own)}
		if t == subject || theirs.Missing != "" || len(s.Refusals(t)) > 0 {
			continue
		}
		e := c.Judged(t, subject).Effect(s, k)
		if e == nil && c.Full != nil && len(c.Targets) <= mostTargets+1 { // it judges all numbers
			e = c.Full(t, subject).Effect(s, k)
		}
		text, apart := related(e, t.Name, theirs.bound())
		differ = differ || apart
		parts = append(parts, text)
	}
	if !differ || len(parts) < 2 {
		return ""
	}
	if n := len(parts) - mostNamed - 1; n > 0 {
		parts = append(parts[:mostNamed+1], fmt.Sprintf("%d more", n))
	}
	return valueName(s, own) + ": " + strings.Join(parts, ", ")
}

// bound returns the number with its unit, and whether it is only a lower bound.
func (n Number) bound() string {
	text := n.Whole()
	if n.Unit == "µs" && !metric.IsLatency(n.Metric) {
		text = quantity.Micros(n.Value)
	}
	if n.AtLeast() {
		text += " or more"
	}
	return text
}

// related returns another target's number with the ratio to it, and whether the two differ: notably,
// or proven.
func related(e *compare.Effect, name, number string) (text string, differ bool) {
	const level = 1.05
	plain := name + " " + number
	if e == nil || math.IsNaN(e.Ratio) || e.Verdict == "" || e.New.AtLeast() && e.Base.AtLeast() {
		if e != nil && e.Verdict == "" && e.Why != "" {
			plain += " (not compared: " + e.Why + ")"
		}
		return plain, false
	}
	ratio, apart := quantity.Times(e.Ratio)+" "+name+"’s "+number, max(e.Ratio, 1/e.Ratio) > level
	switch {
	case e.Verdict == compare.Same:
		return equivalent + " to " + name + "’s " + number, false
	case e.Bounded() != "" && !e.Sure():
		return e.Bounded() + " " + ratio, true
	case e.Sure():
		return proven + " " + ratio, true
	case e.TooFew():
		return ratio, apart
	case e.Notable() != "":
		return likely + ratio, true
	}
	return ratio + " (not proven)", apart
}

// valueName names a number in a sentence about a step: “p99 of insert”, “CPU per insert row”.
func valueName(s *compare.Step, k compare.Key) string {
	switch m := metric.ByName(k.Metric); {
	case m == nil:
		return Name(k)
	case k.Metric == metric.SpaceAmplification:
		return "bytes on disk per byte of live data after " + s.Name
	case k.Metric == metric.CPUUS:
		return "CPU per " + k.Per
	case m.Unit == "KB" && k.Per != "":
		verb := "written"
		if m.Name == metric.ReadKB || m.StandsIn == metric.ReadKB {
			verb = "read"
		}
		return "KB " + verb + " per " + k.Per
	case m.Quantile != "":
		return fmt.Sprintf("%s of %s", m.Quantile, cmp.Or(k.Op, "all"))
	case k.Per != "" && k.Per != "step":
		return quantity.Capital(m.Label) + " per " + k.Per
	default:
		return m.Label
	}
}

// limits reports what else is asked about in other steps, what is not proven or not compared, and
// which difference the trials would have found.
func (c *Campaign) limits(subject *compare.Target, lead *compare.Step) (out []string) {
	var better, worse, likelyWorse, likelyBetter, open, refused []*compare.Item
	for _, t := range c.Targets {
		if t == subject {
			continue
		}
		j := c.Judged(t, subject)
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
			case it.Notable() == compare.Worse:
				likelyWorse = append(likelyWorse, it)
			case it.Notable() == compare.Better:
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
	for _, t := range c.Targets {
		if t == subject {
			continue
		}
		j := c.Judged(t, subject)
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
	have := quantity.Count(by.Outlook(worst).Have, string(worst.Unit))
	if worst.Groups == 0 {
		have += " each"
	}
	text := fmt.Sprintf("With %s, differences in %s below %s may stay unseen", have, number+s.Name,
		DetectableText(worst.Detectable()))
	smallest := by.Question.Smallest()
	switch needed := worst.Needed(smallest); {
	case worst.Detectable() <= smallest:
	case needed > 0:
		text += fmt.Sprintf("; %d %ss would find %s", needed, worst.Unit, quantity.RoughShare(smallest))
	case worst.Unit == compare.MachineUnit:
		text += fmt.Sprintf("; to find %s needs machines that are more alike, or one machine", quantity.RoughShare(smallest))
	case worst.Unit == compare.LoadUnit:
		text += fmt.Sprintf("; to find %s needs more loads than anybody makes: they differ", quantity.RoughShare(smallest))
	default:
		text += fmt.Sprintf("; to find %s needs longer steps, or targets that run side by side (duet), not more trials",
			quantity.RoughShare(smallest))
	}
	return text + "." + byMachine(by, worst)
}

// MachinesApart reports the machines that are not as fast as the others in the first step that is
// compared.
func MachinesApart(c *compare.Campaign) (out []string) {
	for _, s := range c.Steps {
		k, ok := compare.Capacity(s)
		if !ok || s.Warmup {
			continue
		}
		for _, m := range compare.MachinesApart(s, k, c.Targets...) {
			out = append(out, fmt.Sprintf("Machine %s is %s as fast as the others in %s (%s to %s): see what differs, or "+
				"leave it out.", m.Name, quantity.Times(m.Ratio), s.Name, quantity.Times(m.Low), quantity.Times(m.High)))
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
	if more := len(over.Names) - named; more > 0 {
		each = append(each, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf(" %s against %s by machine: %s, a standard deviation of %s between machines.", j.New.Name,
		j.Base.Name, strings.Join(each, ", "), quantity.RoughShare(over.SD))
}
