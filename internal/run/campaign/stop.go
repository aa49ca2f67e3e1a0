package campaign

import (
	"fmt"
	"slices"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
)

// stop ends a campaign before a block that is not needed, or that there is no
// time for: the trials from there on are taken off its list. A block is expected to take as long as each.
func (r *runner) stop(next int, each time.Duration) (stopped bool, err error) {
	enough, reason, err := r.ask(next)
	if err != nil {
		return false, err
	}
	if !enough {
		reason = exhausted(r.Plan.Stop.Budget, r.spent(), each)
	}
	if reason == "" {
		return false, nil
	}
	r.state.Trials, r.state.Stopped = r.state.Trials[:next], reason
	r.Progress.Note(fmt.Sprintf("no more trials than these %d: %s", next, reason))
	return true, r.save()
}

// ask asks whether the trials before one are enough. They are not if there is
// no judge, or if the last block is not complete or, in an interleaved
// campaign, has no reverse yet.
func (r *runner) ask(next int) (enough bool, reason string, err error) {
	if r.Enough == nil || r.Plan.Stop.Precision == 0 {
		return false, "", nil
	}
	done := r.state.Trials[:next]
	list := blocks(done)
	n := list[len(list)-1][0].Trial
	if len(r.Machines) > 0 { // the last blocks still run: those count that are complete with their reverses
		list = pairs(list)
		if n, done = len(list), slices.Concat(list...); n == 0 {
			return false, "", nil
		}
	}
	if n < r.Plan.Stop.MinTrials || !complete(list[len(list)-1]) || r.Plan.Order == plan.Interleaved && n%2 == 1 {
		return false, "", nil
	}
	// In the plan's order of targets: precision means that of all others
	// against the first.
	trials, err := result.ReadTrials(r.Dir,
		&result.Campaign{Targets: r.state.Targets, Question: r.state.Question, Trials: completed(done)})
	if err != nil {
		return false, "", fmt.Errorf("look at the trials so far: %w", err)
	}
	enough, reason = r.Enough(trials)
	return enough, reason, nil
}

// pairs returns the blocks that are complete, each with its reverse.
func pairs(list [][]result.Entry) (out [][]result.Entry) {
	for i := 0; i+1 < len(list); i += 2 {
		if complete(list[i]) && complete(list[i+1]) {
			out = append(out, list[i], list[i+1])
		}
	}
	return out
}

// sumUp notes how precise the greatest number of trials has been.
func (r *runner) sumUp() error {
	enough, reason, err := r.ask(len(r.state.Trials))
	switch {
	case err != nil || reason == "":
		return err
	case enough:
		r.Progress.Note("all trials are done, and as precise as was wanted: " + reason)
	default:
		r.Progress.Note("all trials are done, and not as precise as was wanted: " + reason)
	}
	return nil
}

// exhausted returns why there is no time for another block, "" if there is.
func exhausted(budget, spent, each time.Duration) string {
	if budget == 0 || spent+each <= budget {
		return ""
	}
	return fmt.Sprintf("of the budget of %v %s are spent, and a block takes about %s", budget, coarse(spent), coarse(each))
}

// coarse writes a duration without needless digits.
func coarse(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
