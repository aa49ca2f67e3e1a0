package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

// run runs the blocks of trials that are not complete.
func (r *runner) run(ctx context.Context) error {
	if len(r.Machines) > 0 {
		return spreadOut(ctx, r)
	}
	if err := r.preflight(ctx); err != nil {
		return err
	}
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	ran := false
	first := 0 // trial of the block
	for n, block := range blocks(r.state.Trials) {
		start := first
		first += len(block)
		if err := r.recognize(block); err != nil {
			return err
		}
		if complete(block) {
			continue
		}
		if ctx.Err() != nil {
			return r.early(ctx)
		}
		if n > 0 && untouched(block) {
			if stopped, err := r.stop(start, r.spent()/time.Duration(n)); stopped || err != nil {
				if err != nil {
					return err
				}
				break
			}
		}
		if err := r.block(ctx, block, start, ran); err != nil {
			return err
		}
		ran = true
	}
	err := r.conclude(ctx, ran)
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, runProfiled(ctx, r, ran), dropBases(r))
}

// dropBases removes the loaded data of a campaign that is complete: nothing will begin from them.
func dropBases(r *runner) error {
	dir := filepath.Join(r.Dir, result.BasesDir)
	if complete(r.state.Trials) && complete(r.state.Profiled) {
		return os.RemoveAll(dir)
	}
	if _, err := os.Stat(dir); err == nil {
		r.Progress.Note("the data that were loaded stay in " + dir + " until the campaign is complete")
	}
	return nil
}

// complete reports whether nothing of a block is left to be done.
func complete(block []result.Entry) bool { return len(completed(block)) == len(block) }

// completed returns the trials that are complete.
func completed(block []result.Entry) []result.Entry {
	return slices.DeleteFunc(slices.Clone(block), func(e result.Entry) bool { return e.Status != result.Complete })
}

// untouched reports whether none of a block's trials has ended yet.
func untouched(block []result.Entry) bool {
	return !slices.ContainsFunc(block, func(e result.Entry) bool { return e.Status != "" })
}

// block runs the trials of a block; start is the number of the first. Complete
// ones stay, but not in a duet, whose trials are nothing without each other.
func (r *runner) block(ctx context.Context, block []result.Entry, start int, ran bool) error {
	if r.Plan.Order == plan.Duet {
		if err := r.pause(ctx, ran, block[0].Dir); err != nil {
			return err
		}
		return r.duet(ctx, block, start)
	}
	for i := range block {
		e := &block[i]
		if e.Status == result.Complete {
			continue
		}
		t, err := r.one(ctx, e, ran, func() forecast.Place { return r.place(start + i) })
		if err != nil {
			return err
		}
		if err := r.baseless(e, t, start+i+1); err != nil {
			return err
		}
		ran = true
	}
	return nil
}

// one runs a trial after a pause; at is its position.
func (r *runner) one(ctx context.Context, e *result.Entry, ran bool, at func() forecast.Place) (*result.Trial, error) {
	if err := r.pause(ctx, ran, e.Dir); err != nil {
		return nil, err
	}
	if err := r.aside(e.Dir); err != nil {
		return nil, err
	}
	r.Progress.Begin(*e, at())
	t, err := r.trial(ctx, *e, nil)
	return t, r.ended(e, t, err)
}

// baseless ends a campaign in which a trial of the base has failed, unless that
// is not wanted or nothing is left to do from the next trial on.
func (r *runner) baseless(e *result.Entry, t *result.Trial, next int) error {
	goOn := r.KeepGoing || r.Plan.Leveled || complete(r.state.Trials[next:])
	if goOn || e.Target != r.Plan.Targets[0].Name || t.Status != result.Failed {
		return nil
	}
	return hint.Errorf("--keep-going runs the other trials all the same; later, go on with it: "+resuming(r.Dir),
		"%s failed, and every comparison needs the base %s: the campaign ends with %d of %d trials complete (%w): %s",
		e.Dir, e.Target, len(completed(r.state.Trials)), len(r.state.Trials), ErrIncomplete, t.Reason)
}

// place returns the position of the campaign when one of its trials, from 0,
// begins.
func (r *runner) place(at int) forecast.Place {
	e := r.state.Trials[at]
	rest := slices.DeleteFunc(slices.Concat(r.state.Trials[at+1:], r.state.Profiled),
		func(e result.Entry) bool { return e.Status == result.Complete })
	return forecast.Place{
		Number: at + 1, Of: len(r.state.Trials) + len(r.state.Profiled),
		Trial: r.Forecast.Trial(e.Target, e.Trial), After: r.Forecast.Trials(rest, r.spent()),
	}
}

// ended takes note of a trial's end, with the error of the campaign's own files.
func (r *runner) ended(e *result.Entry, t *result.Trial, err error) error {
	if t != nil {
		e.Status = t.Status
		r.Forecast.Add(t)
		r.Progress.End(*e, t) // first: it may show why nothing can be written
	}
	if err != nil {
		return err
	}
	return r.save()
}

// conclude reports the end of a campaign that has no trial left to begin.
func (r *runner) conclude(ctx context.Context, ran bool) error {
	bad := len(r.state.Trials) - len(completed(r.state.Trials))
	switch {
	case bad > 0 && ctx.Err() != nil:
		return r.early(ctx)
	case bad > 0:
		return fmt.Errorf("%d of %d: %w", bad, len(r.state.Trials), ErrIncomplete)
	case ran && r.state.Stopped == "":
		return r.sumUp()
	case !ran && complete(r.state.Profiled):
		r.Progress.Note("the campaign is complete: nothing is left to run")
	}
	return nil
}

// recognize sees that trials are complete though the campaign was killed before
// it could write that down.
func (r *runner) recognize(block []result.Entry) error {
	found := false
	for i := range block {
		e := &block[i]
		if e.Status != "" {
			continue
		}
		t, err := result.ReadTrial(result.TrialPath(r.Dir, e.Dir))
		if err == nil && t.Status == result.Complete {
			e.Status, found = t.Status, true
		}
	}
	if !found {
		return nil
	}
	return r.save()
}

// pause is called before a trial: it ends a campaign that its user has ended, trims the file systems if
// the plan wants it, and lets the machine rest after that and after a trial that ran before.
func (r *runner) pause(ctx context.Context, ran bool, next string) error {
	if ctx.Err() != nil {
		return r.early(ctx)
	}
	between := r.Plan.Between
	if between.Trim {
		if err := trimAll(r, next); err != nil {
			return err
		}
	}
	if between.Rest == 0 || !ran && !between.Trim {
		return nil
	}
	r.Progress.Note(fmt.Sprintf("resting for %v", between.Rest))
	select {
	case <-time.After(between.Rest):
		return nil
	case <-ctx.Done():
		return r.early(ctx)
	}
}

// earlyError reports that a campaign's user ended it.
type earlyError struct{ cause error }

func (earlyError) Error() string   { return "the campaign was interrupted" }
func (e earlyError) Unwrap() error { return e.cause }

// early returns the error of a campaign that its user ended.
func (r *runner) early(ctx context.Context) error {
	return hint.With(earlyError{ctx.Err()}, "go on with it: "+resuming(r.Dir))
}

// resuming returns the command that goes on with a campaign.
func resuming(dir string) string { return "rumbench run --resume " + escape.Argument(dir) }
