package campaign

import (
	"slices"

	"rumbench/internal/plan"
	"rumbench/internal/result"
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

// wantsProfile reports whether a trial for a profile is still to be run.
func wantsProfile(state *result.Campaign, e *result.Entry) bool {
	sameTarget := func(done result.Entry) bool { return done.Target == e.Target }
	return e.Status != result.Complete && slices.ContainsFunc(completed(state.Trials), sameTarget)
}
