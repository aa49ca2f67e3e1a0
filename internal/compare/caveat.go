package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// Comparable returns an error if two targets did different work, or promised
// different durability, unless c.Across allows that. Otherwise it returns their levels of
// durability if these differ, and the caveats to show above their numbers.
func (c *Campaign) Comparable(base, otherTarget *Target) (levels string, caveats []string, err error) {
	work := Unlike(base, otherTarget)
	offered, complete := c.OtherWork(base, otherTarget)
	if complete {
		work = append(work, offered...)
	}
	if len(work) > 0 {
		text := fmt.Sprintf("%s and %s did different work: %s", base.Name, otherTarget.Name, strings.Join(work, "; "))
		if !c.Across.Work {
			return "", nil, hint.With(errors.New(text), "compare runs of one plan, or say --anyway")
		}
		caveats = append(caveats, text)
	}
	for _, text := range offered {
		switch {
		case complete:
		case c.Across.Work:
			caveats = append(caveats, "different work in "+text)
		default:
			caveats = append(caveats, "not compared, as the work differs, in "+text+" (--anyway compares them all the same)")
		}
	}
	levels = UnlikeDurability(base, otherTarget)
	if levels != "" && !c.Across.Durability {
		return "", nil, hint.Errorf("compare targets of one level, or say --across-durability",
			"%s and %s differ in durability: %s. The one may lose commits that the other keeps", base.Name,
			otherTarget.Name, levels)
	}
	return levels, caveats, nil
}

// Caveats returns the caveats to read before the numbers of a judgement: that
// nothing was compared in pairs, and which steps and trials are not included.
func (c *Campaign) Caveats(j *Judgement) (out []string) {
	if c.Conflict {
		out = append(out, "the plans ask different questions; the last one's is answered")
	}
	if j.unpaired() {
		if j.Base.Trials[0].Order == "duet" && j.New.Trials[0].Order == "duet" {
			out = append(out, "the two overlapped too little to be compared in pairs: one was done long before the other")
		} else {
			out = append(out, "the two did not run side by side: what the machine did in between is in every difference, and "+
				"no number of trials takes it out")
		}
	}
	if w := Contained(j.Base, j.New); w != nil {
		out = append(out, strings.TrimSuffix(w.Text, "."))
	}
	if oneBuild(j.Base, j.New) {
		out = append(out, "one build each: a difference of a few percent may be the layout of the code")
	}
	for _, s := range c.Steps {
		if IsProbe(s) {
			continue // searches try their own rates
		}
		switch a, b := len(s.Runs[j.Base]), len(s.Runs[j.New]); {
		case a > 0 && b == 0:
			out = append(out, s.Name+" only on "+j.Base.Name)
		case a == 0 && b > 0:
			out = append(out, s.Name+" only on "+j.New.Name)
		}
	}
	return append(append(out, c.lost(j.Base)...), c.lost(j.New)...)
}

// Contained returns the remark which of two servers ran in a container; nil if both did, or neither, or one is
// embedded.
func Contained(a, b *Target) *metric.Warning {
	x, y := a.Trials[0], b.Trials[0]
	if x.Hosting != result.Server || y.Hosting != result.Server || x.Contained() == y.Contained() {
		return nil
	}
	if x.Contained() {
		b = a
	}
	w := metric.Warn(remark.Contained, metric.Values{"target": b.Name})
	return &w
}

// oneBuild reports whether two targets with one embedded engine ran in two programs, each in one.
func oneBuild(a, b *Target) bool {
	programs := func(t *Target) []string {
		return t.Distinct(func(trial *result.Trial) string {
			if trial.Build == nil || trial.Hosting != result.Embedded {
				return ""
			}
			return trial.Build.SHA256
		})
	}
	x, y := programs(a), programs(b)
	return a.Trials[0].Engine == b.Trials[0].Engine && len(x) == 1 && len(y) == 1 && x[0] != y[0]
}

// unpaired reports whether no trials ran side by side.
func (j *Judgement) unpaired() bool {
	return !slices.ContainsFunc(j.Items, func(it Item) bool { return it.beside }) &&
		slices.ContainsFunc(j.Items, func(it Item) bool { return !math.IsNaN(it.P) })
}

// lost returns the trials of a target whose numbers are in no median: they
// failed, or did not reach a step that others reached.
func (c *Campaign) lost(t *Target) (out []string) {
	for _, trial := range t.Trials {
		if trial.Status != result.Complete {
			text := fmt.Sprintf("%s, trial %d: %s", t.Name, trial.Trial, trial.Status)
			if trial.Reason != "" {
				text += ": " + trial.Reason
			}
			out = append(out, text)
		}
	}
	for _, s := range c.Steps {
		trials := slices.DeleteFunc(slices.Clone(t.Trials), s.Copied)
		if n := len(s.Used(t)); n > 0 && n < len(trials) {
			out = append(out, fmt.Sprintf("%s in %s: %d of %d trials", t.Name, s.Name, n, len(trials)))
		}
	}
	return out
}
