package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

// positionOf returns how far a running campaign is: "trial 3 of 8 (pebble.2), step 2 of 7 (l.x)"; "" if
// it does not run.
func positionOf(dir string, c *result.Campaign) string {
	if !result.IsRunning(dir) {
		return ""
	}
	var begun []*result.Trial
	for _, read := range result.ReadEach(dir, slices.Concat(c.Trials, c.Profiled)) {
		if read.Err == nil {
			begun = append(begun, read.Trial)
		}
	}
	text, _ := (&positions{}).position(dir, c, begun)
	return text
}

// positionIn returns how far a campaign is, given its trials that have begun. Without a forecast
// the steps of its plan are unknown.
func positionIn(c *result.Campaign, begun []*result.Trial, f *forecast.Forecast) string {
	entries, ended := slices.Concat(c.Trials, c.Profiled), 0
	for i, e := range entries {
		if e.Status != "" {
			ended++
		}
		index := slices.IndexFunc(begun, func(t *result.Trial) bool {
			return t.Status == result.Running && filepath.Base(t.Dir) == e.Dir
		})
		if index < 0 {
			continue
		}
		text := fmt.Sprintf("trial %d of %d (%s)", i+1, len(entries), e.Dir)
		if n := len(begun[index].Steps); n > 0 {
			text += ", step " + stepOf(f, e.Target, begun[index].Steps[n-1].Name)
		}
		return text
	}
	return fmt.Sprintf("%d of %d trials have ended", ended, len(entries))
}

// stepOf returns which of a target's steps one is, as far as the plan is known.
func stepOf(f *forecast.Forecast, target, step string) string {
	if f == nil {
		return step
	}
	t := f.Trial(target, 1)
	if part := t.Part(step); part >= 0 {
		return fmt.Sprintf("%d of %d (%s)", part+1, len(t.Parts), step)
	}
	return step
}

// positions says how far running campaigns are, and how long they take. It reads the plan of
// each once.
type positions struct {
	mu    sync.Mutex
	plans map[string]*forecast.Forecast // by directory; nil: it cannot be read
}

// position returns how far a campaign is, and about how much of it is left; 0: unknown.
func (k *positions) position(dir string, c *result.Campaign, begun []*result.Trial) (string, time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, found := k.plans[dir]
	if !found {
		if p, err := planOf(dir, c, plan.Forced(true)); err == nil {
			f = forecast.New(p, forecast.Find(p, filepath.Dir(dir), resultsDir))
		}
		if k.plans == nil {
			k.plans = map[string]*forecast.Forecast{}
		}
		k.plans[dir] = f
	}
	if f == nil {
		return positionIn(c, begun, nil), 0
	}
	var ahead []result.Entry
	var left forecast.Span
	for _, e := range slices.Concat(c.Trials, c.Profiled) {
		started := func(t *result.Trial) bool { return filepath.Base(t.Dir) == e.Dir && !t.Started.IsZero() }
		switch index := slices.IndexFunc(begun, started); {
		case e.Status != "":
		case index < 0:
			ahead = append(ahead, e)
		default: // two at the same time end together
			own := f.Trial(e.Target, e.Trial).Length().Minus(time.Since(begun[index].Started))
			left = left.Beside(own)
		}
	}
	if left = left.Plus(f.Trials(ahead, 0)); !left.Bounded() {
		return positionIn(c, begun, f), 0
	}
	return positionIn(c, begun, f), left.Most
}
