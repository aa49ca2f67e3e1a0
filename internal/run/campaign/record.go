package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rumbench/internal/result"
	"rumbench/internal/run/trial"
)

// Record records a load as a campaign of one trial in a directory, which it makes.
// command is the command line of the recording.
func Record(ctx context.Context, dir string, command []string, r trial.Recording) error {
	if err := result.CheckEmpty(dir); err != nil {
		return err
	}
	entry := result.Entry{Dir: r.Target + ".1", Target: r.Target, Trial: 1}
	r.Dir = result.TrialPath(dir, entry.Dir)
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of the recording: %w", err)
	}
	started := time.Now()
	state := &result.Campaign{
		Format: result.Format, Name: r.Campaign, Command: command, Started: started, Order: "sequential",
		Targets: []string{r.Target}, Trials: []result.Entry{entry},
	}
	save := func() error { return result.WriteJSON(filepath.Join(dir, result.CampaignFile), state) }
	if err := save(); err != nil {
		return err
	}
	t, err := trial.Record(ctx, r)
	state.Trials[0].Status, state.Spent = t.Status, time.Since(started).Seconds()
	if serr := save(); err == nil {
		err = serr
	}
	return err
}
