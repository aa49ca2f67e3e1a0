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
	"slices"
	"strings"
	"sync"
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
	"rumbench/internal/text/quantity"
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
	c.WaitDelay = graceTime // for an input that is no file
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
		if remark := out.end(graceTime); remark != "" {
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
		err = stopCommand(c.Process, ended)
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
	graceTime = 3 * time.Second
	termTime  = 10 * time.Second
)

// stopCommand waits for the end of an interrupted command.
func stopCommand(p *os.Process, ended <-chan error) error {
	for _, next := range []struct {
		after time.Duration
		by    os.Signal
	}{{graceTime, syscall.SIGTERM}, {termTime, syscall.SIGKILL}} {
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

// maxLog is more than any program prints that measures.
const maxLog = 64 << 20

// outputs passes the output of a command on, and keeps it in a log. A child that the
// command leaves behind may keep the output open, which delays nothing.
type outputs struct {
	log  *capped // nil: none
	done sync.WaitGroup
	// theirs are the ends of pipes that the command has, ours those that are read.
	theirs, ours []*os.File
}

// pass returns the file to which the command writes what a writer gets.
func (o *outputs) pass(w io.Writer) (*os.File, error) {
	if f, ok := w.(*os.File); ok && o.log == nil {
		return f, nil
	}
	r, f, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.ours, o.theirs = append(o.ours, r), append(o.theirs, f)
	if o.log != nil {
		w = io.MultiWriter(w, o.log)
	}
	o.done.Go(func() {
		_, _ = io.Copy(w, r)
		r.Close() // the command is not to wait for a reader
	})
	return f, nil
}

// begun closes what only the command needs.
func (o *outputs) begun() {
	for _, f := range o.theirs {
		f.Close()
	}
	o.theirs = nil
}

// end waits for the rest of the output, for a limited time, and returns a remark about
// what is missing; "": nothing.
func (o *outputs) end(limit time.Duration) (remark string) {
	o.begun()
	late := time.AfterFunc(limit, func() {
		for _, f := range o.ours {
			f.Close()
		}
	})
	o.done.Wait()
	if !late.Stop() && len(o.ours) > 0 {
		remark = "the command left its output open: what came later is not in it"
	}
	if o.log == nil {
		return remark
	}
	if err := cmp.Or(o.log.err, o.log.file.Close()); err != nil {
		remark = fmt.Sprintf("its output is not all in %s: %v", o.log.file.Name(), err)
	}
	return remark
}

// capped is a file that takes a limited number of bytes, and drops the rest.
type capped struct {
	mu   sync.Mutex
	file *os.File
	size int
	err  error // why the rest is dropped
}

// Write never fails: the output is also written elsewhere.
func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(b); c.size > maxLog && c.err == nil {
		c.err = errors.New("it is longer than " + quantity.FormatSize(maxLog))
	}
	if c.err == nil {
		_, c.err = c.file.Write(b)
	}
	return len(b), nil
}
