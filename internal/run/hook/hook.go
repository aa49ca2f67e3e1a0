// Package hook runs the commands that a plan has around parts of a campaign.
package hook

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Run runs a command by the shell, as the user, and appends what it prints to a log. The environment has
// the given variables besides rumbench's own. A command that fails is an error; "" does nothing.
func Run(ctx context.Context, when, command, log string, env ...string) (_ []result.Hook, err error) {
	if command == "" {
		return nil, nil
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	fmt.Fprintf(out, "== %s: %s\n", when, command)
	// What it leaves running must not hold the campaign's locks, which a trial has inherited.
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // Linux 5.11
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watch(ctx, out, stop)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), env...)
	// A group of its own, which ends with the command when the user ends the campaign.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // for children that keep the output open
	start := time.Now()
	err = cmd.Run()
	done := []result.Hook{{When: when, Command: command, Seconds: time.Since(start).Seconds()}}
	if err == nil {
		return done, nil
	}
	done[0].Failed = err.Error()
	return done, hint.With(fmt.Errorf("the plan's command %s failed: %w", when, errors.Join(err, context.Cause(ctx))),
		"its output is in "+log)
}

// mostOutput is how many bytes the log may have.
const mostOutput = 64 << 20

// watch ends a command that prints more than the log may have.
func watch(ctx context.Context, log *os.File, stop context.CancelCauseFunc) {
	for tick := time.Tick(50 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			if info, err := log.Stat(); err == nil && info.Size() > mostOutput {
				stop(fmt.Errorf("its output is longer than %s", quantity.Bytes(mostOutput)))
			}
		}
	}
}
