package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/cli/watch"
	"rumbench/internal/importer"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/trial"
	"rumbench/internal/text/escape"
)

// take stores the command after --.
func (w *watching) take(c *cobra.Command, args []string) error {
	if c.ArgsLenAtDash() != 0 && len(args) > 0 {
		return fmt.Errorf("stat wants no %s; a command whose load is to be recorded follows --", args[0])
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
		return fmt.Errorf("a recording is of one server: give one --attach, not %d", len(w.attach))
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
	err = campaign.Record(ctx, dir, shownCommand(append([]string{"rumbench"}, w.app.Args...)), trial.Recording{
		Campaign: filepath.Base(absolute(dir)), Target: targets[0].Name, Step: w.program(),
		Command: cmp.Or(strings.Join(shownCommand(w.command), " "), "whatever used the server"),
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

// A password is a separate argument, or follows -p as in the clients of MySQL.
var (
	secretNext = regexp.MustCompile(`(?i)^-[^=]*(passw|pwd)[^=]*$`)
	secretArg  = regexp.MustCompile(`^-p.+`)
)

// shownCommand returns a command in a form that may be stored and shown. An argument
// of several words, as for sh -c, is treated as a separate command.
func shownCommand(args []string) []string {
	shown := plan.WithoutSecretArgs(args)
	for i := range shown {
		if words := strings.Split(args[i], " "); len(words) > 1 {
			shown[i] = strings.Join(shownCommand(words), " ")
			continue
		}
		if shown[i] = secretArg.ReplaceAllString(shown[i], "-p"+escape.Hidden); i > 0 && secretNext.MatchString(args[i-1]) {
			shown[i] = escape.Hidden
		}
	}
	return shown
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
	c.Stdin, c.Stdout, c.Stderr = w.app.Stdin, escape.Raw(w.app.Stdout), escape.Raw(w.app.Stderr)
	c.WaitDelay = ownTime // for pipes that its children keep open
	log := filepath.Join(dir, result.LoadFile)
	if slices.Contains(importer.Programs, w.program()) {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return load, err
		}
		defer f.Close()
		c.Stdout, c.Stderr = io.MultiWriter(c.Stdout, f), io.MultiWriter(c.Stderr, f)
	}
	if err := c.Start(); err != nil {
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
	if t, rerr := importer.ReadOutput(log); rerr == nil {
		load.Own = t
	}
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
