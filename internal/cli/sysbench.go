package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"rumbench/internal/campaign"
	"rumbench/internal/plan"
	"rumbench/internal/published"
	"rumbench/internal/result"
	"rumbench/internal/ui"
)

// formatSysbench prints steps as sysbench prints its runs.
const (
	formatSysbench = "sysbench"
	formatUsage    = "`sysbench`: print each step as sysbench 1.0.20 prints a run, interval by interval"
)

func knownFormat(format string) error {
	if format != "" && format != formatSysbench {
		return fmt.Errorf("--format is sysbench, or nothing for the tables of rumbench; not %q", format)
	}
	return nil
}

// startAs starts a campaign whose steps are printed in the format asked for.
func (a *App) startAs(ctx context.Context, c campaign.Config, o runOptions) error {
	if o.format != formatSysbench || o.dryRun {
		return a.start(ctx, c, o.dryRun)
	}
	if c.Plan.Order == plan.Duet {
		return usageError{errors.New("--format sysbench goes with no duet: two trials would print at the same time; rumbench show --format sysbench prints them afterwards")}
	}
	s := &ui.Sysbench{Progress: ui.New(a.Stderr, nil), Out: a.Stdout, Dir: c.Dir, Interval: c.Plan.Interval.Seconds()}
	c.Progress = s
	return errors.Join(a.start(ctx, c, false), s.Err())
}

// showSysbench prints the steps of trials as sysbench prints its runs.
func showSysbench(w io.Writer, trials []*result.Trial, steps, targets []string) error {
	for _, t := range trials {
		if !among(targets, t.Target) {
			continue
		}
		if t.Imported != nil {
			return usageError{fmt.Errorf("%s was imported from %s: its log has what was printed", t.Target, t.Imported.Tool)}
		}
		err := published.WriteSysbench(w, t, func(step string) bool { return among(steps, step) }, func(yield func(result.Line) error) error {
			return result.ReadSeries(t.Dir, []string{published.OpsSource}, yield)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
