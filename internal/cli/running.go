package cli

import (
	"fmt"
	"slices"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

// whereIs returns how far a running campaign is: "trial 3 of 8 (pebble.2), step 2 of 7 (l.x)"; "" if
// it does not run.
func whereIs(dir string, c *result.Campaign) string {
	if !result.IsRunning(dir) {
		return ""
	}
	all, ended := slices.Concat(c.Trials, c.Profiled), 0
	for i, e := range all {
		if e.Status != "" {
			ended++
		}
		t, err := result.ReadTrial(result.TrialPath(dir, e.Dir))
		if err != nil || t.Status != result.Running {
			continue
		}
		text := fmt.Sprintf("trial %d of %d (%s)", i+1, len(all), e.Dir)
		if n := len(t.Steps); n > 0 {
			text += ", step " + stepOf(dir, c, e.Target, t.Steps[n-1].Name)
		}
		return text
	}
	return fmt.Sprintf("%d of %d trials have ended", ended, len(all))
}

// stepOf returns which of a target's steps one is, as far as the plan is known.
func stepOf(dir string, c *result.Campaign, target, step string) string {
	p, err := planOf(dir, c, plan.Forced(true))
	if err != nil {
		return step
	}
	t := forecast.New(p, nil).Trial(target, 1)
	if part := t.Part(step); part >= 0 {
		return fmt.Sprintf("%d of %d (%s)", part+1, len(t.Parts), step)
	}
	return step
}
