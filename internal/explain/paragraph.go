package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

func (p *Paragraph) first() *Step { return p.Steps[0] }

func (p *Paragraph) holds(s *Step) bool { return slices.Contains(p.Steps, s) }

// Paragraphs explains the steps in groups. Those without a proven difference are left out,
// unless the question is about them or nothing could be proven; silent are their names.
func (e *Explanation) Paragraphs() (out []Paragraph, silent []string) {
	groups := e.groups()
	subject, said := subjectOf(groups), map[string]bool{}
	led := e.designText(subject) != ""
	for _, p := range groups {
		p.led = led && p.holds(subject)
		p.last = e.Steps[len(e.Steps)-1] // space is a state: the last step reports it
		p.write(said)
		if len(p.Lines) > 0 {
			out = append(out, p)
			continue
		}
		silent = append(silent, p.Names())
	}
	return out, silent
}

// Names returns the steps: “read”, or “14 read steps”.
func (p *Paragraph) Names() string {
	const few = 3
	names := quantity.Texts(p.Steps, func(s *Step) string { return s.Of.Name })
	if len(names) <= few {
		return quantity.Joined(names)
	}
	kind := string(compare.GroupOf(p.Steps[0].Of))
	if workload.Access(kind) == workload.OtherAccess {
		kind = ""
	}
	return fmt.Sprintf("%d %s", len(names), strings.TrimSpace(kind+" steps"))
}

// write writes the lines: of throughput with the limits and causes, of each cost, and of the
// notes. What was said of other steps is not said again.
func (p *Paragraph) write(said map[string]bool) {
	once := func(sentence string) string {
		if sentence == "" || said[sentence] {
			return ""
		}
		said[sentence] = true
		return sentence
	}
	line := func(effects []*compare.Effect, sentences ...string) {
		text := strings.Join(strings.Fields(strings.Join(sentences, " ")), " ")
		if text != "" || len(effects) > 0 {
			p.Lines = append(p.Lines, Line{effects, text})
		}
	}
	first := p.first()
	if first.Rate != nil && (matters(first.Rate) || p.led) {
		effects := p.effects(throughput)
		if p.led && len(p.Steps) == 1 {
			effects = nil // the lead has reported it
		}
		line(effects, once(limited(first)), p.causes(throughput), once(reason(first)))
	}
	for _, name := range costs {
		if first.Rate != nil && name == metric.CPUUS && explainedByCPU(first) {
			continue // the throughput's line already reports it
		}
		p.cost(name, line)
	}
	var notes []string
	for _, n := range first.Notes {
		if n.Rule != RuleOthers { // which the lead reports for all steps
			notes = append(notes, once(n.Sentence))
		}
	}
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	if len(notes) > 0 && (len(p.Lines) > 0 || p.place() == 0) {
		line(nil, "Note: "+strings.Join(notes, "; ")+".")
	}
}

// cost writes the line of a cost, if it differs. Between structures that differ in kind a table shows its causes.
func (p *Paragraph) cost(name string, line func([]*compare.Effect, ...string)) {
	first := p.first()
	sum := first.sumOf(name)
	aside := name == metric.SpaceAmplification && !p.holds(p.last) ||
		name == metric.WriteKB && first.Of.WritesPer != first.Of.Primary // of other operations than the step is about
	switch {
	case aside || sum != nil && !matters(sum.Effect):
	case first.shapesDiffer():
		effects := slices.DeleteFunc(p.effects(name), func(e *compare.Effect) bool { return !matters(e) })
		line(effects, p.predicted(name)...)
	case sum != nil:
		if causes := p.causes(name); causes != "" {
			line(p.effects(name), append([]string{sizes(first, sum), causes}, p.predicted(name)...)...)
		}
	case first.asked():
		line(nil, p.predicted(name)...)
	}
}

// sizes returns the sizes of the live data and of the files, if the space is a ratio to live data
// that differs; "" otherwise.
func sizes(s *Step, sum *Sum) string {
	live, other := s.Base.metric(metric.LiveBytes), s.New.metric(metric.LiveBytes)
	if sum.Metric != metric.SpaceAmplification || !unequal(live, other, tolerance) {
		return ""
	}
	return fmt.Sprintf("Live data: %s; on disk: %s.", instead(bytes, live, other),
		instead(bytes, s.Base.metric(metric.DBBytes), s.New.metric(metric.DBBytes)))
}

// matters reports whether a difference is worth a line: it is proven, or nothing can be, and it
// is large.
func matters(e *compare.Effect) bool {
	return e.Sure() || e.TooFew() && math.Abs(math.Log(e.Ratio)) >= worthALine
}

// explainedByCPU reports whether the first cause of the throughput is CPU time of the engine.
func explainedByCPU(s *Step) bool {
	t := s.rate()
	if t == nil || !t.Total.Proven() && !t.TooFew() {
		return false
	}
	named := t.supporting()
	return len(named) > 0 && strings.HasPrefix(string(named[0].Item), string(Running)) // or a subsystem of it
}

// reason returns why a proven difference of the throughput is not explained.
func reason(s *Step) string {
	if s.Rate.Sure() && s.rate() == nil && s.Why != "" {
		return "Its throughput is not explained: " + s.Why + "."
	}
	return ""
}

// effects returns the effects of a number in the steps that compare it.
func (p *Paragraph) effects(name string) (out []*compare.Effect) {
	for _, s := range p.Steps {
		if e := s.effect(name); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// causes returns the causes of a number's difference; "" if no item is proven. If trials
// are too few for proofs these are the greatest items.
func (p *Paragraph) causes(name string) (text string) {
	first := p.first()
	sum := first.sumOf(name)
	if sum == nil || math.Abs(sum.Total.Log) < worthALine && sum != first.Sums[0] {
		return ""
	}
	if sum.throughput() && sum.Verdict == compare.Unstable {
		return ""
	}
	named, likely := sum.supporting(), sum.candidates()
	switch proven := sum.Total.Proven(); {
	case !proven && len(likely) > 0 && sum.TooFew():
		return p.told(name, likely) // the lead says that nothing is proven
	case !proven:
		return ""
	case len(named) == 0 || named[0].Share < leastShare:
		text = "Nothing that was counted explains it."
		if moved := first.along(likely, 2, ""); len(moved) > 0 {
			text += " With it: " + strings.Join(moved, "; ") + "."
		}
		return text
	}
	if sum.Metric == metric.CPUUS && named[0].Item == Running { // which is the number itself
		return "In which subsystems is not known: there are too few samples, or none."
	}
	return p.told(name, named) + p.remainder(sum)
}

const mostCauses = 3

// told says why, as far as that is proven: a count or amount that moved as much, with the settings that act
// on it and the items that it drives; then where the rest of the difference is; then what moved with that.
// The values are those of the first of several steps.
func (p *Paragraph) told(name string, causes []Cause) string {
	first := p.first()
	listed := causes[:min(len(causes), mostCauses)]
	for len(listed) > 1 && listed[len(listed)-1].Share < leastShare {
		listed = listed[:len(listed)-1]
	}
	unit := ""
	if first.sumOf(name).throughput() {
		unit = " per " + first.unit()
	}
	said := func(list []Cause) string {
		var texts []string
		for i, c := range list {
			text := c.Sentence
			if i == 0 {
				text += unit
				unit = ""
			}
			if c.Driver == "" {
				text += filled(" (%s)", c.Setting)
			}
			texts = append(texts, text+p.part(name, c))
		}
		return strings.Join(texts, ", ")
	}
	var out []string
	var places []Cause
	for len(listed) > 0 {
		c := listed[0]
		same := func(o Cause) bool { return o.Driver == c.Driver && c.Driver != "" || o.Item == c.Item }
		together := slices.DeleteFunc(slices.Clone(listed), func(o Cause) bool { return !same(o) })
		listed = slices.DeleteFunc(slices.Clone(listed), same)
		switch {
		case !c.Reason() || !c.Proven():
			places = append(places, together...)
		case c.Driver == "":
			out = append(out, "Because "+said(together)+".")
		default:
			out = append(out, "Because "+c.Driver+filled(" (%s)", c.Setting)+": "+said(together)+".")
		}
	}
	if len(places) > 0 {
		room := max(1, 2-len(out))
		out = append(out, "Where: "+said(places)+".")
		if moved := first.along(places, room, strings.Join(out, " ")); len(moved) > 0 {
			out = append(out, "With it: "+strings.Join(moved, "; ")+".")
		} else if len(out) == 1 {
			out = append(out, "No counter explains it.")
		}
	}
	if len(p.Steps) > 1 {
		out[0] = quantity.Capital("in " + first.Of.Name + ": " + out[0])
	}
	return strings.Join(out, " ")
}

// remainder reports what works against the difference, and what is not explained of it.
func (p *Paragraph) remainder(sum *Sum) (text string) {
	for _, c := range sum.Named() {
		if c.Log*sum.Total.Log < 0 && math.Abs(c.Log) >= leastShare*math.Abs(sum.Total.Log) {
			text += fmt.Sprintf(" Against it: %s (%s of the difference).", c.Text(), quantity.RoughShare(-c.Share))
			break
		}
	}
	remaining := sum.Unexplained()
	switch {
	case remaining < -leastShare:
		return text + fmt.Sprintf(" What is not explained works against it, by %s of the difference.",
			quantity.RoughShare(-remaining))
	case remaining < 0.05:
		return text
	}
	text += fmt.Sprintf(" Not explained: %s", quantity.RoughShare(min(1, remaining)))
	if a, b := sum.Rest.Low/sum.Total.Log, sum.Rest.High/sum.Total.Log; !math.IsNaN(a + b) {
		text += fmt.Sprintf(" (%s to %s)", quantity.RoughShare(min(a, b)), quantity.RoughShare(max(a, b)))
	}
	return text + "."
}

// predicted reports the predicted and the measured costs of both sides' structures, in the first of several steps.
func (p *Paragraph) predicted(name string) (out []string) {
	for _, x := range p.first().Predicted {
		if x.Metric == name {
			out = append(out, quantity.Capital(x.sentence())+".")
		}
	}
	return out
}

// part returns the share of a difference that a cause accounts for, if that is proven.
func (p *Paragraph) part(name string, c Cause) string {
	if math.IsNaN(c.Share) {
		return ""
	}
	shares := rangeOver(p.Steps, "–", func(s *Step) float64 { return s.sumOf(name).share(c.Item) }, quantity.RoughShare)
	if len(p.Steps) == 1 && !math.IsNaN(c.ShareLow) && c.ShareHigh-c.ShareLow > 0.5 {
		return fmt.Sprintf(" (%s to %s of the difference)", quantity.RoughShare(c.ShareLow), quantity.RoughShare(c.ShareHigh))
	}
	if c.Share >= 1.005 {
		return " (all of the difference)"
	}
	return " (" + shares + " of the difference)"
}
