package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// Paragraph explains steps with the same findings. Its lines are about throughput, then
// about a cost each, and last about the warnings.
type Paragraph struct {
	Steps []*Step
	Lines []Line
}

// Line explains a number's difference.
type Line struct {
	Effects []*compare.Effect // in the steps; none for predictions and notes
	Causes  string
}

// signature holds the common properties of a paragraph's steps.
type signature struct {
	access      compare.Group
	unit        string
	verdict     compare.Verdict
	base, other Limit
	causes      string // the rule, the item and the sign of the first cause of each sum, and the rules of notes
}

func (s *Step) signature() signature {
	g := signature{access: compare.GroupOf(s.Of), unit: s.Of.Primary, base: s.Base.Limit, other: s.New.Limit}
	if t := s.rate(); t != nil {
		g.verdict = t.Verdict
	}
	for _, sum := range s.Sums {
		if named := sum.named(); len(named) > 0 {
			g.causes += fmt.Sprintln(sum.Metric, named[0].Rule, named[0].Item, named[0].Log < 0)
		}
	}
	for _, n := range s.Notes {
		g.causes += fmt.Sprintln(n.Rule)
	}
	return g
}

// rate returns the step's sum of throughput; nil if it is not explained.
func (s *Step) rate() *Sum { return s.find((*Sum).throughput) }

// Paragraphs explains all steps, those that differ most first.
func (e *Explanation) Paragraphs() (out []Paragraph) {
	var known []signature
	for _, s := range e.Steps {
		g := s.signature()
		i := slices.Index(known, g)
		if i < 0 {
			i, known, out = len(known), append(known, g), append(out, Paragraph{})
		}
		out[i].Steps = append(out[i].Steps, s)
	}
	slices.SortStableFunc(out, func(a, b Paragraph) int {
		return cmp.Or(cmp.Compare(a.aside(), b.aside()), cmp.Compare(b.weight(), a.weight()))
	})
	for i := range out {
		out[i].Lines = out[i].write()
	}
	return out
}

// aside is 1 for steps that do not test access to rows, such as loads: they come after the
// others.
func (p *Paragraph) aside() int {
	if compare.GroupOf(p.Steps[0].Of) == compare.Other {
		return 1
	}
	return 0
}

// weight is the median difference of the steps × their number.
func (p *Paragraph) weight() float64 {
	var w []float64
	for _, s := range p.Steps {
		if len(s.Sums) > 0 {
			w = append(w, s.Sums[0].weight())
		}
	}
	if len(w) == 0 {
		return 0
	}
	slices.Sort(w)
	return w[len(w)/2] * float64(len(p.Steps))
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

// write writes the paragraph: the limits, the causes, the unexplained part, and the
// warnings.
func (p *Paragraph) write() (out []Line) {
	line := func(effects []*compare.Effect, sentences ...string) {
		out = append(out, Line{effects, strings.TrimSpace(strings.Join(sentences, " "))})
	}
	first := p.Steps[0]
	if t := first.rate(); t != nil {
		limits := ""
		if t.Sure() && max(first.Base.shared(), first.New.shared()) <= mostShared {
			limits = first.limits()
		}
		line(p.effects(throughput), limits, p.causes(throughput))
	}
	for _, name := range costs {
		if t := first.rate(); name == metric.CPUUS && t != nil && t.Of == Processors && t.Total.Proven() {
			continue // the throughput's line already reports it
		}
		switch causes, predicted := p.causes(name), p.predicted(name); {
		case causes != "":
			line(p.effects(name), append([]string{causes}, predicted...)...)
		case len(predicted) > 0 && first.sumOf(name) == nil:
			line(nil, predicted...)
		}
	}
	notes := quantity.Texts(first.Notes, func(n Note) string { return n.Sentence })
	if len(notes) > 0 {
		line(nil, "Note: "+strings.Join(notes, "; ")+".")
	}
	return out
}

const throughput = metric.RowsPerS

// effects returns the effects of a number in the steps that explain it.
func (p *Paragraph) effects(name string) (out []*compare.Effect) {
	for _, s := range p.Steps {
		if sum := s.sumOf(name); sum != nil {
			out = append(out, sum.Effect)
		}
	}
	return out
}

// limits returns what limits the two, and how far the next limit is.
func (s *Step) limits() string {
	b, n := s.Base.Limit, s.New.Limit
	text := ""
	switch {
	case b == n && b == Unlimited:
		return ""
	case b == n:
		text = fmt.Sprintf("Both are limited by %s.", b)
	case b == Unlimited:
		text = fmt.Sprintf("%s is limited by %s.", s.New.Target.Name, n)
	case n == Unlimited:
		text = fmt.Sprintf("%s is limited by %s.", s.Base.Target.Name, b)
	default:
		text = fmt.Sprintf("%s is limited by %s, %s by %s.", s.Base.Target.Name, b, s.New.Target.Name, n)
	}
	more := s.about(func(s *Side) bool { return s.wall() > 1 },
		func(s *Side) string { return quantity.Times(s.wall()) + " on " + name(s) })
	if more != "" {
		text += " Beyond that limit, the processors would allow at most " + more + "."
	}
	return text
}

// causes returns the causes of a number's difference; "" if no item is proven. If trials
// are too few for proofs the greatest items are reported as observed.
func (p *Paragraph) causes(name string) (text string) {
	sum := p.Steps[0].sumOf(name)
	if sum == nil || math.Abs(sum.Total.Log) < worthALine && sum != p.Steps[0].Sums[0] {
		return ""
	}
	if sum.throughput() && sum.Verdict == compare.Unstable {
		return ""
	}
	const nothing = "Nothing that was counted explains it."
	named, likely := sum.named(), sum.likely()
	switch {
	case len(named) > 0 && named[0].Share < leastShare:
		return nothing
	case len(named) > 0:
		switch rest := sum.Unexplained(); {
		case rest > mostUnexplained:
			text = "Mostly unexplained. "
		case rest > muchUnexplained:
			text = "Partly unexplained. "
		}
		text += p.because(name, named)
	case len(likely) > 0:
		text = "Observed, not proven: " + p.listed(name, likely)
	case sum.Total.Proven():
		return nothing
	default:
		return ""
	}
	if sum.Total.Proven() {
		text += p.rest(sum)
	}
	return text
}

const (
	mostCauses = 3
	leastShare = 0.1 // of a difference: a smaller one is not reported as a cause
)

// because lists causes. Those that are part of an identity or of a law come before those
// that only correlate with the difference.
func (p *Paragraph) because(name string, named []Cause) (text string) {
	var sure, pattern []Cause
	for i, c := range named[:min(len(named), mostCauses)] {
		switch {
		case i > 0 && c.Share < leastShare:
		case c.Evidence == Pattern:
			pattern = append(pattern, c)
		default:
			sure = append(sure, c)
		}
	}
	if len(sure) > 0 {
		text = "Because " + p.listed(name, sure)
	}
	if len(pattern) > 0 {
		text = strings.TrimSpace(text + " Coincides with: " + p.listed(name, pattern))
	}
	return text
}

// listed lists causes with their shares of the difference. The values come from the first
// sides several steps.
func (p *Paragraph) listed(name string, causes []Cause) string {
	parts := quantity.Texts(causes, func(c Cause) string { return c.Sentence + p.part(name, c) })
	text := strings.Join(parts, "; ") + "."
	if len(p.Steps) > 1 {
		text = "in " + p.Steps[0].Of.Name + " " + text
	}
	return text
}

// rest reports what works against the difference, and what is not explained of it.
func (p *Paragraph) rest(sum *Sum) (text string) {
	for _, c := range sum.Named() {
		if c.Log*sum.Total.Log < 0 && math.Abs(c.Log) >= leastShare*math.Abs(sum.Total.Log) {
			text += fmt.Sprintf(" Partly offset: %s.", c.Sentence)
			break
		}
	}
	rest := sum.Unexplained()
	switch {
	case rest < -leastShare:
		return text + fmt.Sprintf(" What is not explained offsets %s of the difference.", quantity.RoughShare(-rest))
	case rest < 0.05:
		return text
	}
	text += fmt.Sprintf(" Not explained: %s", quantity.RoughShare(rest))
	if a, b := sum.Rest.Low/sum.Total.Log, sum.Rest.High/sum.Total.Log; !math.IsNaN(a + b) {
		text += fmt.Sprintf(" (%s to %s)", quantity.RoughShare(min(a, b)), quantity.RoughShare(max(a, b)))
	}
	text += "."
	if sum.throughput() && rest > muchUnexplained && (p.Steps[0].Base.dozes() || p.Steps[0].New.dozes()) {
		text += " Sessions slept or waited for devices: sysctl kernel.task_delayacct=1, set before the run, separates the " +
			"two."
	}
	return text
}

// predicted reports the predicted and the measured costs of both sides' structures; a cost
// is reported as expected only if it fits in all steps.
func (p *Paragraph) predicted(name string) []string {
	var unit string
	var sides, fit, misfit []string
	for _, prediction := range p.Steps[0].Predicted {
		if prediction.Metric != name {
			continue
		}
		unit = prediction.unit()
		each := func(value func(Prediction) float64) string {
			return p.over(func(s *Step) float64 {
				for _, x := range s.Predicted {
					if x.beside(prediction) {
						return value(x)
					}
				}
				return math.NaN()
			}, quantity.Digits)
		}
		sides = append(sides, fmt.Sprintf("%s for %s (measured: %s)", each(func(x Prediction) float64 { return x.Predicted }),
			prediction.Side.Target.Name, each(func(x Prediction) float64 { return x.Measured })))
		if p.fits(prediction) {
			fit = append(fit, prediction.Side.Target.Name)
		} else {
			misfit = append(misfit, prediction.Side.Target.Name)
		}
	}
	if len(sides) == 0 {
		return nil
	}
	ends := "as expected"
	switch {
	case len(fit) == 0:
		ends = "the models do not explain it"
	case len(misfit) > 0:
		ends = fmt.Sprintf("as expected of %s, and not explained of %s", quantity.Joined(fit), quantity.Joined(misfit))
	}
	return []string{fmt.Sprintf("Predicted from the structure, %s: %s; %s.", unit, strings.Join(sides, ", "), ends)}
}

// fits reports whether a side's predictions of a number fit in all steps.
func (p *Paragraph) fits(prediction Prediction) bool {
	return !slices.ContainsFunc(p.Steps, func(s *Step) bool {
		return slices.ContainsFunc(s.Predicted, func(x Prediction) bool { return x.beside(prediction) && !x.Fits() })
	})
}

// part returns the share of a difference that a cause accounts for, if that is proven.
func (p *Paragraph) part(name string, c Cause) string {
	if math.IsNaN(c.Share) {
		return ""
	}
	shares := p.over(func(s *Step) float64 { return s.sumOf(name).share(c.Item) }, quantity.RoughShare)
	if len(p.Steps) == 1 && !math.IsNaN(c.ShareLow) && c.ShareHigh-c.ShareLow > 0.5 {
		return " (" + roughly(c.Share) + " the difference)"
	}
	if c.Share >= 1.005 {
		return " (more than the whole difference)"
	}
	return " (" + shares + " of the difference)"
}

// share returns the share of an item, NaN if it is missing.
func (s *Sum) share(item Item) float64 {
	if s != nil {
		if i := slices.IndexFunc(s.Causes, func(c Cause) bool { return c.Item == item }); i >= 0 {
			return s.Causes[i].Share
		}
	}
	return math.NaN()
}

// roughly formats a share whose interval is wide.
func roughly(share float64) string {
	switch {
	case share > 0.6:
		return "most of"
	case share > 0.4:
		return "about half of"
	}
	return "a part of"
}

// over returns the range of a number over the paragraph's steps.
func (p *Paragraph) over(value func(*Step) float64, format func(float64) string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range p.Steps {
		if v := value(s); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	switch a, b := format(low), format(high); {
	case math.IsInf(low, 0):
		return quantity.Unknown
	case a == b:
		return a
	default:
		return a + "–" + b
	}
}

func (s *Step) sumOf(name string) *Sum {
	return s.find(func(sum *Sum) bool { return sum.Metric == name })
}

// find returns the first sum with a property; nil if there is none.
func (s *Step) find(has func(*Sum) bool) *Sum {
	if i := slices.IndexFunc(s.Sums, has); i >= 0 {
		return s.Sums[i]
	}
	return nil
}

// worthALine is the logarithm of a ratio below which a number is not explained in words,
// unless nothing in the step differs more.
const worthALine = 0.1

// Unexplained shares of a difference from which they are reported first.
const (
	muchUnexplained = 0.3
	mostUnexplained = 0.5
)

// named returns the proven causes that work in the direction of the difference.
func (s *Sum) named() (out []Cause) {
	for _, c := range s.Named() {
		if c.Log*s.Total.Log > 0 {
			out = append(out, c)
		}
	}
	return out
}

// likely returns the greatest items if none is proven: those that are a good part of the
// difference.
func (s *Sum) likely() (out []Cause) {
	const minimum, part = 0.05, 0.3
	for _, c := range s.Causes {
		if !c.Item.is(slack) && c.Log*s.Total.Log > 0 && math.Abs(c.Log) >= max(minimum, part*math.Abs(s.Total.Log)) {
			out = append(out, c)
		}
	}
	return out
}
