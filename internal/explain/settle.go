package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/quantity"
)

// Settled is what an experiment found of a number: how much of its difference each of the
// settings makes alone.
type Settled struct {
	Step, Metric string
	All          *compare.Effect // of all settings together
	Alone        []Alone         // the greatest share first
}

// Alone is a setting, and what it changes by itself.
type Alone struct {
	Setting compare.Difference
	*compare.Effect
	Share float64 // of the logarithm of the whole ratio
}

// Settle reads an experiment: of targets with one base, one differs from it in several
// settings, and others in one of these each. It returns the numbers that are proven to
// differ; nothing where the targets are no experiment.
func Settle(list []*Explanation) (out []Settled) {
	whole := slices.MaxFunc(append([]*Explanation{{}}, list...), func(a, b *Explanation) int { return len(a.Differ) - len(b.Differ) })
	var singles []*Explanation
	for _, e := range list {
		if len(e.Differ) == 1 && e.Base == whole.Base && slices.Contains(whole.Differ, e.Differ[0]) {
			singles = append(singles, e)
		}
	}
	if len(whole.Differ) < 2 || len(singles) == 0 {
		return nil
	}
	for _, s := range whole.Steps {
		for _, sum := range s.Sums {
			if sum.Effect.Sure() {
				out = append(out, settled(s, sum, singles))
			}
		}
	}
	return out
}

func settled(s *Step, sum *Sum, singles []*Explanation) Settled {
	out := Settled{Step: s.Of.Name, Metric: sum.Metric, All: sum.Effect}
	for _, e := range singles {
		i := slices.IndexFunc(e.Steps, func(o *Step) bool { return o.Of == s.Of })
		if i < 0 {
			continue
		}
		if own := e.Steps[i].sumOf(sum.Metric); own != nil {
			out.Alone = append(out.Alone, Alone{e.Differ[0], own.Effect, math.Log(own.Ratio) / math.Log(sum.Ratio)})
		}
	}
	slices.SortStableFunc(out.Alone, func(a, b Alone) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// String says what the experiment found.
func (s Settled) String() string {
	text := fmt.Sprintf("%s, %s: %s in all", s.Step, metric.Label(s.Metric), quantity.Times(s.All.Ratio))
	rest := 1.0
	for _, a := range s.Alone {
		rest -= a.Share
		proven := ""
		if !a.Sure() {
			proven = ", not proven"
		}
		text += fmt.Sprintf("; %s %s instead of %s alone: %s (%s of the difference%s)", a.Setting.What, short(a.Setting.New), short(a.Setting.Base),
			quantity.Times(a.Ratio), quantity.RoughShare(a.Share), proven)
	}
	if math.Abs(rest) >= 0.1 {
		text += fmt.Sprintf("; by no setting alone: %s", quantity.RoughShare(rest))
	}
	return text + "."
}
