package trial

import (
	"rumbench/internal/result"
)

// addBefore compares a step with the one that did the same before something
// was done to the data: what that has cost is seen nowhere as clearly.
func (r *rows) addBefore() {
	if r.step.Before == "" {
		return
	}
	for i := range r.trial.res.Steps {
		s := &r.trial.res.Steps[i]
		if s.Name != r.step.Before || s.Status != result.Complete {
			continue
		}
		then, now := s.Find("rows_per_s", r.step.Primary, ""), r.out.Find("rows_per_s", r.step.Primary, "")
		if then != nil && now != nil && then.Value > 0 {
			r.put("relative_to_before", now.Value/then.Value, of(now.Group, now.Op), count(now.N), warnings(then.Warnings), warnings(now.Warnings))
		}
	}
}
