package campaign

import (
	"context"
	"fmt"
	"slices"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

// profiledEntries returns the trials that a plan wants for their profiles alone, one of
// each target.
func profiledEntries(p *plan.Plan) (out []result.Entry) {
	if p.Profile.Mode != result.ProfileExtra {
		return nil
	}
	for _, name := range targetNames(p) {
		out = append(out, result.Entry{Dir: name + ".p1", Target: name, Trial: 1})
	}
	return out
}

// profiledText returns how a trial in a list is profiled.
func profiledText(p *plan.Plan, e result.Entry) string {
	switch {
	case slices.Contains(profiledEntries(p), result.Entry{Dir: e.Dir, Target: e.Target, Trial: e.Trial}):
		return ", for its profile alone"
	case p.Profile.Mode == result.ProfileInside:
		return ", profiled"
	}
	return ""
}

// runProfiled runs the trials that run for their profiles, after all others: their
// measurements are compared with nothing. A target without a complete trial has none.
func runProfiled(ctx context.Context, r *runner, ran bool) error {
	failed := 0
	for i := range r.state.Profiled {
		e := &r.state.Profiled[i]
		if !wantsProfile(r.state, e) {
			continue
		}
		all := len(r.state.Trials)
		if _, err := r.one(ctx, e, ran, func() forecast.Place {
			return forecast.Place{Number: all + i + 1, Of: all + len(r.state.Profiled),
				Trial: r.Forecast.Trial(e.Target, e.Trial), After: r.Forecast.Trials(r.state.Profiled[i+1:], r.spent())}
		}); err != nil {
			return err
		}
		if ran = true; e.Status != result.Complete {
			failed++
		}
	}
	return unprofiled(failed, len(r.state.Profiled))
}

// wantsProfile reports whether a trial for a profile is still to be run.
func wantsProfile(state *result.Campaign, e *result.Entry) bool {
	sameTarget := func(done result.Entry) bool { return done.Target == e.Target }
	return e.Status != result.Complete && slices.ContainsFunc(completed(state.Trials), sameTarget)
}

// unprofiled returns the error of trials for profiles that have failed; nil if none has.
func unprofiled(failed, all int) error {
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d trials for profiles: %w", failed, all, ErrIncomplete)
}
