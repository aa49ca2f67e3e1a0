package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

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
func (r *runner) place(index int) forecast.Place {
	entries := slices.Concat(r.state.Trials, r.state.Profiled)
	e := entries[index]
	tail := slices.DeleteFunc(slices.Clone(entries[index+1:]),
		func(e result.Entry) bool { return e.Status == result.Complete })
	return forecast.Place{
		Number: index + 1, Of: len(entries),
		Trial: r.Forecast.Trial(e.Target, e.Trial), After: r.Forecast.Trials(tail, r.spent()),
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
