package remark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Found is a remark on a target in a step.
type Found struct {
	Step, Target string
	Code         metric.Code
	Values       metric.Values
}

// On returns the remarks on a target in a step that have a text for several: those that were stored, and
// those whose condition holds.
func On(f *Facts) (out []Found) {
	for _, w := range f.Warnings {
		if Of(w.Code).Several != "" && !(f.Searched && w.Code == OnCredit) { // what was found is not the closed loop's rate
			out = append(out, Found{f.Step, f.Target, w.Code, w.Values})
		}
	}
	for _, r := range table {
		if r.When == nil {
			continue
		}
		if values := r.When(f); values != nil {
			out = append(out, Found{f.Step, f.Target, r.Code, values})
		}
	}
	return out
}

// mostNamed is how many targets or steps are named.
const mostNamed = 4

// Expected returns the texts of the remarks whose condition holds by what is expected of a run.
func Expected(facts []*Facts) (out []string) {
	for _, r := range table {
		if r.When == nil || r.Before == "" {
			continue
		}
		values := metric.Values{}
		var each []string
		for _, f := range facts {
			applies := r.When(f)
			if applies == nil {
				continue
			}
			for name, v := range applies {
				values[name] = widened(values[name], v)
			}
			applies["step"], applies["target"] = f.Step, f.Target
			each = append(each, metric.Fill(r.BeforeEach, applies))
		}
		if extra := len(each) - mostNamed; extra > 0 {
			each = append(each[:mostNamed], fmt.Sprintf("%d more", extra))
		}
		if values["each"] = quantity.Joined(each); len(each) > 0 {
			out = append(out, metric.Fill(r.Before, values))
		}
	}
	return out
}

// Several returns the remarks on the targets of a step, and of all steps the worst of those of which only
// that is shown.
func Several(step string, found []Found) (out []metric.Warning) {
	shown := map[string]bool{}
	for _, r := range table {
		if r.Several == "" || shown[r.Several] {
			continue
		}
		shown[r.Several] = true // several codes may share a text
		worded := filter(found, func(f Found) bool { return Of(f.Code).Several == r.Several })
		inStep := filter(worded, func(f Found) bool { return f.Step == step })
		if r.Worst {
			inStep = worst(worded)
		}
		saysMore := func(w metric.Warning) bool { return w.Code == r.Unless }
		if len(inStep) > 0 && !slices.ContainsFunc(out, saysMore) {
			values := r.over(inStep, worded)
			out = append(out, metric.Warning{Code: r.Code, Values: values, Text: metric.Fill(r.Several, values)})
		}
	}
	return out
}

func filter(found []Found, keep func(Found) bool) (out []Found) {
	for _, f := range found {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// worst returns the first remark with the greatest share, if that is more than a little.
func worst(found []Found) []Found {
	share := func(f Found) float64 { v, _ := f.Values["share"].(float64); return v }
	found = filter(found, func(f Found) bool { return share(f) >= LittleShared })
	if len(found) == 0 {
		return nil
	}
	return []Found{slices.MaxFunc(found, func(a, b Found) int { return cmp.Compare(share(a), share(b)) })}
}

// over returns the values of a text for several targets.
func (r Remark) over(inStep, inAll []Found) metric.Values {
	values := metric.Values{"step": inStep[0].Step}
	var targets, elsewhere []string
	byTarget := map[string]metric.Values{}
	for _, f := range inStep {
		if byTarget[f.Target] == nil {
			targets, byTarget[f.Target] = append(targets, f.Target), metric.Values{"target": f.Target}
		}
		for name, v := range f.Values {
			values[name] = widened(values[name], v)
			byTarget[f.Target][name] = greater(byTarget[f.Target][name], v)
		}
	}
	for _, f := range inAll {
		if f.Step != inStep[0].Step && !slices.Contains(elsewhere, f.Step) {
			elsewhere = append(elsewhere, f.Step)
		}
	}
	values["target"] = quantity.Joined(targets)
	if n := len(targets); n > mostNamed {
		values["target"] = quantity.Count(n, "target")
	}
	values["each"] = listed(quantity.Texts(targets, func(t string) string { return metric.Fill(r.Each, byTarget[t]) }))
	if len(elsewhere) > 0 {
		values["elsewhere"] = quantity.Joined(elsewhere)
	}
	return values
}

// listed joins texts, which may have commas.
func listed(texts []string) string {
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, ",") }) {
		return strings.Join(texts, "; ")
	}
	return quantity.Joined(texts)
}

// widened returns the range of a value that was known and another; the last one of texts.
func widened(known, v any) any {
	low, high := metric.Ends(v)
	if math.IsNaN(low) || known == nil {
		return v
	}
	knownLow, knownHigh := metric.Ends(known)
	return metric.Range{Low: min(low, knownLow), High: max(high, knownHigh)}
}

// greater returns the greater of a value that was known and another; the last one of texts.
func greater(known, v any) any {
	_, knownHigh := metric.Ends(known)
	if _, high := metric.Ends(v); knownHigh > high {
		return known
	}
	return v
}
