package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/cli/watch"
	"rumbench/internal/importer"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/trial"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
)

// take stores the command after --.
func (w *watching) take(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
	case c.ArgsLenAtDash() != 0:
		return fmt.Errorf("stat wants no %s; a command whose load is to be recorded follows --", args[0])
	case strings.HasPrefix(args[0], "-"):
		return hint.Errorf("write flags before --, or leave -- out if no command is to be recorded",
			"%s is no command: the command whose load on a server is recorded follows --", args[0])
	}
	w.command = args
	return nil
}

// records reports whether a campaign is recorded, instead of samples being shown or
// written.
func (w *watching) records() bool { return len(w.command) > 0 || w.out != "" && w.format == "" }

// checkRecording refuses flags that a recording does not support.
func (w *watching) checkRecording() error {
	samples := len(w.machine.Devices)+len(w.machine.Dirs)+len(w.machine.PIDs)+len(w.exprs)+len(w.filters) > 0 ||
		w.exprFile != ""
	switch {
	case len(w.attach) != 1:
		err := fmt.Errorf("a recording is of one server: give one --attach, not %d", len(w.attach))
		if len(w.command) > 0 {
			err = hint.With(err, "the command whose load on that server is recorded follows --: "+
				"rumbench stat --attach ENGINE:DSN -- "+escape.Argument(w.command[0]))
		}
		return err
	case w.format != "" || w.listen != "" || w.list || samples:
		return errors.New("a recording goes with --attach, --out, --interval and --count only: it has all counters of the " +
			"server, its processes and its device")
	case w.config.Count > 0 && len(w.command) > 0:
		return errors.New("--count goes with no command: its load is recorded until it ends")
	case len(w.command) > 0:
		_, err := exec.LookPath(w.command[0])
		return err
	}
	return nil
}

// program names the program that makes the load.
func (w *watching) program() string {
	if len(w.command) == 0 {
		return "load"
	}
	return fileName(escape.Line(filepath.Base(w.command[0])))
}

// record records the load of the command, or of any clients of the server.
func (w *watching) record(ctx context.Context) error {
	targets, err := watch.ParseAttachments(w.attach, catalog.Plugins{})
	if err != nil {
		return usage(err)
	}
	server, dsn, err := targets[0].Open(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	dir := cmp.Or(w.out, newDir(w.program()))
	load := w.untilInterrupted
	if len(w.command) > 0 {
		load = w.runCommand
	}
	err = campaign.Record(ctx, dir, append([]string{"rumbench"}, w.app.Args...), trial.Recording{
		Campaign: filepath.Base(absolute(dir)), Target: targets[0].Name, Step: w.program(),
		Command: cmp.Or(strings.Join(secret.Program(w.command), " "), "whatever used the server"),
		Engine:  targets[0].Engine, Server: server, DSN: dsn, Interval: w.config.Interval, Version: Version(), Load: load,
	})
	if rerr := summarize(w.app.Stderr, w.app.textWidth(), dir); rerr != nil {
		err = cmp.Or(err, rerr)
	}
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitError{err, exitCode(ended.ProcessState)}
	}
	return err
}

// untilInterrupted waits for the end of the recording.
func (w *watching) untilInterrupted(ctx context.Context, _ string) (load trial.Load, err error) {
	w.note("recording; Ctrl-C ends it")
	var end <-chan time.Time
	if w.config.Count > 0 {
		end = time.After(time.Duration(w.config.Count) * w.config.Interval)
	}
	select {
	case <-ctx.Done():
	case <-end:
	}
	return load, nil
}

// runCommand runs the command, with the standard files of this process.
func (w *watching) runCommand(ctx context.Context, dir string) (load trial.Load, err error) {
	c := exec.Command(w.command[0], w.command[1:]...)
	c.Stdin = w.app.Stdin
	c.WaitDelay = ownTime // for an input that is no file
	log := filepath.Join(dir, result.LoadFile)
	var out outputs
	if slices.Contains(importer.Programs, w.program()) {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return load, err
		}
		out.log = &capped{file: f}
	}
	load.Own = func() (own *result.Trial) {
		if remark := out.end(ownTime); remark != "" {
			w.note("warning: " + remark)
		}
		if out.log != nil && out.log.err == nil {
			own, _ = importer.ReadOutput(log) // if it cannot be read, it has no times
		}
		return own
	}
	if c.Stdout, err = out.pass(escape.Raw(w.app.Stdout)); err == nil {
		c.Stderr, err = out.pass(escape.Raw(w.app.Stderr))
	}
	if err == nil {
		err = c.Start()
	}
	out.begun()
	if err != nil {
		return load, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = end(c.Process, ended)
	}
	used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	load.CPU = &used
	if err != nil {
		err = fmt.Errorf("%s: %w", w.program(), err)
	}
	if c.ProcessState.ExitCode() < 0 || ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", trial.ErrKilled, cmp.Or(err, ctx.Err()))
	}
	return load, err
}

// An interrupted command has time to end by itself, since a terminal interrupts it as
// well; then it is asked to end, and finally killed.
const (
	ownTime  = 3 * time.Second
	lastTime = 10 * time.Second
)

// end waits for the end of an interrupted command.
func end(p *os.Process, ended <-chan error) error {
	for _, next := range []struct {
		after time.Duration
		by    os.Signal
	}{{ownTime, syscall.SIGTERM}, {lastTime, syscall.SIGKILL}} {
		select {
		case err := <-ended:
			return err
		case <-time.After(next.after):
			_ = p.Signal(next.by) // it may just have ended
		}
	}
	return <-ended
}

// exitCode returns the exit code of a command in the way shells do.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
