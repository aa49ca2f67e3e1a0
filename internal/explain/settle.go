package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Settled is the result of an experiment for a number: how much of its difference each of
// the settings causes.
type Settled struct {
	Step, Base, New string
	Metric          string
	All             *compare.Effect // of all settings together
	Parts           []Part          // the greatest share first
	Rest            float64         // the share that no setting causes alone
}

// Part is what a setting alone contributes to a difference.
type Part struct {
	Setting compare.Difference
	Alone   *compare.Effect
	Share   float64 // of the logarithm of the whole ratio
}

// Settle reads an experiment: of targets with one base, one differs from it in several
// settings, and others in each of these alone. It returns the numbers that are
// proven to differ, throughput first; nothing if the targets are no experiment.
func Settle(list []*Explanation) (out []Settled) {
	whole := slices.MaxFunc(append([]*Explanation{{}}, list...),
		func(a, b *Explanation) int { return len(a.Differ) - len(b.Differ) })
	alone := make([]*Explanation, len(whole.Differ))
	for _, e := range list {
		if e.Base == whole.Base && len(e.Differ) == 1 {
			if index := slices.Index(whole.Differ, e.Differ[0]); index >= 0 {
				alone[index] = e
			}
		}
	}
	if len(whole.Differ) < 2 || slices.Contains(alone, nil) {
		return nil
	}
	var rates []Settled
	for _, s := range whole.Steps {
		for i, k := range numbersOf(s.Of) {
			all := whole.judgement.Effect(s.Of, k)
			if !hasRatio(all) || !all.Sure() {
				continue
			}
			parts, remainder := partsOf(all, alone, s.Of, k)
			found := Settled{Step: s.Of.Name, Base: whole.Base.Name, New: whole.New.Name, Metric: k.Metric, All: all,
				Parts: parts, Rest: remainder}
			switch {
			case len(parts) == 0:
			case i == 0: // the rate
				rates = append(rates, found)
			default:
				out = append(out, found)
			}
		}
	}
	return append(rates, out...)
}

// numbersOf returns the subjects of experiments: a step's rate, and its costs.
func numbersOf(s *compare.Step) []compare.Key {
	rate, _ := s.Rate(s.Primary)
	return append([]compare.Key{rate}, costsOf(s)...)
}

// hasRatio reports whether an effect was judged, and its ratio has a logarithm.
func hasRatio(e *compare.Effect) bool {
	return e != nil && e.Verdict != "" && e.Ratio > 0 && !math.IsInf(e.Ratio, 0)
}

// partsOf returns the contribution of each setting to a number of a step, and the share that no setting causes alone;
// none if a setting's own is not known. An effect may describe the replacement of the metric, if others disturbed the
// device.
func partsOf(all *compare.Effect, alone []*Explanation, s *compare.Step, k compare.Key) (out []Part,
	remainder float64) {
	remainder = 1
	for _, e := range alone {
		own := e.judgement.Effect(s, k)
		if !hasRatio(own) || own.New.Key != all.New.Key {
			return nil, 0
		}
		p := Part{Setting: e.Differ[0], Alone: own, Share: math.Log(own.Ratio) / math.Log(all.Ratio)}
		out = append(out, p)
		remainder -= p.Share
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return out, remainder
}

// String returns the result of the experiment in words.
func (s Settled) String() string {
	text := fmt.Sprintf("%s, %s: %s in all", s.Step, metric.Label(s.Metric), quantity.Times(s.All.Ratio))
	for _, p := range s.Parts {
		text += "; " + p.sentence()
	}
	if math.Abs(s.Rest) >= 0.1 {
		text += "; by no setting alone: " + quantity.RoughShare(s.Rest)
	}
	return text + "."
}

// Records returns the parts as lines of JSON.
func (s Settled) Records() (out []Record) {
	for _, p := range s.Parts {
		out = append(out, Record{Step: s.Step, Base: s.Base, New: s.New, Metric: s.Metric, Per: s.All.New.Per,
			Item: Item("setting " + p.Setting.What), Proven: p.Alone.Sure(), Sentence: p.sentence(),
			Log: quantity.Known(math.Log(p.Alone.Ratio)), Low: quantity.Known(math.Log(p.Alone.Low)),
			High: quantity.Known(math.Log(p.Alone.High)), Share: quantity.Known(p.Share)})
	}
	return out
}

func (p Part) sentence() string {
	text := fmt.Sprintf("%s %s instead of %s: %s alone, %s of the difference", p.Setting.What, short(p.Setting.New),
		short(p.Setting.Base), quantity.Times(p.Alone.Ratio), quantity.RoughShare(p.Share))
	if !p.Alone.Sure() {
		text += ", not proven"
	}
	return text
}
