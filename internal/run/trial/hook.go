package trial

import (
	"context"
	"fmt"
	"path/filepath"

	"rumbench/internal/result"
	"rumbench/internal/run/hook"
)

// hooked runs a command of the plan around a trial or a step of its own.
func hooked(ctx context.Context, t *trial, when, command string) error {
	if !t.measures() || t.recorded {
		return nil
	}
	done, err := hook.Run(ctx, when, command, filepath.Join(t.Dir, result.HooksFile), "RUMBENCH_TARGET="+t.Target.Name,
		fmt.Sprintf("RUMBENCH_TRIAL=%d", t.Trial), "RUMBENCH_DIR="+t.Dir, "RUMBENCH_DATA="+t.data)
	t.res.Hooks = append(t.res.Hooks, done...)
	return err
}
