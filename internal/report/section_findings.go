package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// findings returns all results of the campaign in words, and its conditions.
func findings(v *campaign) []page.Section {
	targets := legend(v.Targets, "")
	targets.ID = "targets"
	for i, t := range v.Targets {
		targets.Keys[i].Doc, targets.Keys[i].Base = describe(t), i == 0
	}
	return []page.Section{{ID: "findings", Title: "All findings, and the conditions", Nav: "Findings", Folded: true,
		Blocks: []page.Block{
			page.List{Class: "verdict", Items: verdictOn(v)}, page.Prose("caution", verdict.Caution(v.Campaign)),
			page.Facts{Class: "facts", Facts: headFacts(v)}, targets,
		}}}
}

// legend maps markers to targets.
func legend(targets []*target, class string) page.Legend {
	l := page.Legend{Class: class}
	for _, t := range targets {
		l.Keys = append(l.Keys, page.Key{Series: t.Index, Name: t.Name})
	}
	return l
}

// banners returns the messages to read before any number, without those that were said.
func banners(c *campaign, said ...metric.Code) []string {
	var out [][]any
	say := func(parts ...any) { out = append(out, parts) }
	said = append(said, remark.FewTrials, remark.TrialsFailed) // below
	for _, w := range conditions(c) {
		if !slices.Contains(said, w.Code) {
			say(w)
		}
	}
	for _, w := range c.in.Warnings {
		say(w)
	}
	for t, trial := range trialsOf(c) {
		switch trial.Status {
		case result.Complete:
		case result.Running:
			say(t.Name, ", trial ", trial.Trial, " is running: what it has measured so far is shown.")
		default:
			say(t.Name, ", trial ", trial.Trial, ": ", trial.Status, sentenceTail(trial.Reason, trial.Hint))
		}
		for _, w := range trial.Warnings {
			say(t.Name, ", trial ", trial.Trial, ": ", w)
		}
	}
	return page.Merged(out)
}

func sentenceTail(reason, hint string) string {
	s := "."
	if reason != "" {
		s = ": " + strings.TrimSuffix(reason, ".") + "."
	}
	if hint != "" {
		s += " Hint: " + hint
	}
	return s
}

// headFacts returns the first line: the conditions of the measurement.
func headFacts(c *campaign) []page.Fact {
	var list []page.Fact
	add := func(name string, value func(*result.Trial) string) { list = append(list, factOf(c, name, value)) }
	add("workload", func(t *result.Trial) string { return t.Workload })
	add("preset", func(t *result.Trial) string { return t.Preset })
	list = append(list, durabilityFact(c))
	add("cache", (*result.Trial).CacheText)
	add("seed", (*result.Trial).SeedText)
	add("start", (*result.Trial).StartText)
	add("interval", func(t *result.Trial) string {
		if t.Interval == 0 {
			return ""
		}
		return quantity.Amount(t.Interval) + " s"
	})
	add("imported from", func(t *result.Trial) string {
		if t.Imported == nil {
			return ""
		}
		return t.Imported.Tool + ", " + t.Imported.Mode
	})
	add("load", func(t *result.Trial) string { return t.Recorded })
	add("parameters", func(t *result.Trial) string { return params(c.chosen(t)) })
	trials, differ := c.Shared(trialCount)
	if !differ {
		trials += " each"
	}
	list = append(list, page.Fact{Name: "trials", Value: trials}, page.Fact{Name: "asked about", Value: askedAbout(c)},
		page.Fact{Name: "started", Value: startedAt(c)})
	return slices.DeleteFunc(list, func(f page.Fact) bool { return f.Value == "" })
}

// askedAbout returns the subject of a comparison of targets: all other verdicts are
// exploratory.
func askedAbout(c *campaign) string {
	if len(c.Targets) < 2 {
		return ""
	}
	var steps []string
	for _, s := range c.steps {
		if names := quantity.Texts(s.Asked(), func(k key) string { return k.Metric }); len(names) > 0 {
			steps = append(steps, s.Name+": "+strings.Join(names, ", "))
		}
	}
	const shown = 4 // a suite has dozens
	if n := len(steps) - shown; n > 0 {
		steps = append(steps[:shown], fmt.Sprintf("and %s more", quantity.Count(n, "step")))
	}
	text := strings.Join(steps, "; ")
	for i, share := range []float64{c.Question.WorseBy, c.Question.BetterBy} {
		if share > 0 {
			text += fmt.Sprintf("; %s by %s matters", [...]string{"worse", "better"}[i], quantity.Share(share))
		}
	}
	return text
}

// durabilityFact returns the level with its meaning, per target if either differs.
func durabilityFact(c *campaign) page.Fact {
	f := factOf(c, "durability", func(t *result.Trial) string { return t.Durability })
	f.Value = strings.Join(meanings(c), "; ")
	return f
}

// startedAt returns when the campaign began, as text; "" if that is unknown.
func startedAt(c *campaign) string {
	if first := began(c); !first.IsZero() {
		return first.UTC().Format("2006-01-02 15:04 UTC")
	}
	return ""
}

// began returns when the campaign was started or, if that is unknown, the earliest
// recorded start of a trial: in a resumed campaign the first may have been repeated.
func began(c *campaign) (first time.Time) {
	if !c.in.Started.IsZero() {
		return c.in.Started
	}
	for _, trial := range trialsOf(c) {
		if at := trial.Started; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// factOf returns a value that all trials should share; it warns when they do not.
func factOf(c *campaign, name string, subject func(*result.Trial) string) page.Fact {
	const notSet = "not set"
	value, differ := sharedValue(c, func(t *result.Trial) string { return cmp.Or(subject(t), notSet) })
	switch {
	case differ:
		return page.Fact{Name: name, Value: value, Warning: "differs: compare with care"}
	case value == notSet:
		value = ""
	}
	return page.Fact{Name: name, Value: value}
}

// chosen returns the parameters of a trial that differ from the usual ones; all, if
// these are unknown.
func (c *campaign) chosen(t *result.Trial) map[string]any {
	out := map[string]any{}
	for name, v := range t.Params {
		usual, ok := c.inputs[t].Usual[name]
		if !ok || plainValue(usual) != plainValue(v) {
			out[name] = v
		}
	}
	return out
}

func params(p map[string]any) string {
	text := func(name string) string { return name + " " + plainValue(p[name]) }
	return strings.Join(quantity.Texts(sortedKeys(p), text), ", ")
}

// meanings returns the meaning of the level of durability, with the targets if it
// differs.
func meanings(c *campaign) []string {
	levels, byName := holders(c, (*result.Trial).DurabilityText)
	if len(levels) > 1 {
		for i, text := range levels {
			levels[i] = strings.Join(byName[text], ", ") + ": " + text
		}
	}
	return levels
}

func trialCount(t *target) []string { return []string{fmt.Sprint(len(t.Trials))} }

// caches returns the cache that all targets have, or the cache of each target for which
// it is known.
func caches(c *campaign) string {
	sizes, byName := holders(c, (*result.Trial).CacheText)
	if len(sizes) == 1 && len(byName[sizes[0]]) == len(c.Targets) {
		return sizes[0]
	}
	for i, size := range sizes {
		sizes[i] = quantity.Joined(byName[size]) + ": " + size
	}
	return strings.Join(sizes, "; ")
}

// durability returns the level with its meaning; the level alone if its meaning differs
// between targets.
func durability(c *campaign) string {
	if texts, _ := holders(c, (*result.Trial).DurabilityText); len(texts) == 1 {
		return texts[0]
	}
	level, _ := sharedValue(c, func(t *result.Trial) string { return t.Durability })
	return level
}
