package campaign

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rumbench/engine/fsize"
	"rumbench/internal/observe/confine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// Grace is how long a trial may take to end when it is asked to; then it is killed.
const Grace = 60 * time.Second

// partGrace is how long a process with clients of a trial elsewhere may take to end.
const partGrace = 5 * time.Second

// launcher runs trials in separate processes.
type launcher struct {
	Config
	locked []*os.File // of this host and of the directory; trials inherit them
	spare  spare
}

// trial runs a trial in a separate process and returns its result, however the
// process ended. In a duet it has a side, otherwise none. The error is about
// the campaign's own files. If the process has only loaded the data of several trials, another goes on.
func (l *launcher) trial(ctx context.Context, e result.Entry, s *side) (*result.Trial, error) {
	t, err := l.process(ctx, e, s)
	if err == nil && ctx.Err() == nil && t.Pending() {
		t, err = l.process(ctx, e, s)
	}
	return t, err
}

// process runs a process of a trial.
func (l *launcher) process(ctx context.Context, e result.Entry, s *side) (*result.Trial, error) {
	dir := result.TrialPath(l.Dir, e.Dir)
	log, err := openLog(dir)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	tidied := make(chan struct{})
	defer close(tidied)
	ended := l.exec(ctx, e, dir, log, s, tidied)
	t, err := result.ReadTrial(dir)
	if err != nil {
		t = &result.Trial{Format: result.Format, Campaign: l.Plan.Name, Target: e.Target, Trial: e.Trial,
			Status: result.Partial, Started: time.Now()}
	}
	lost := t.Status == result.Running || t.Status == result.Partial && t.Ended == nil
	if lost {
		l.explain(ctx, t, dir, ended)
	}
	err = l.tidy(dir) // first: if the disk is full it makes room
	if lost {
		err = errors.Join(err, l.spare.writeJSON(filepath.Join(dir, result.TrialFile), t))
	}
	return t, err
}

// openLog makes the directory of a process of a trial, and opens its log.
func openLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Join(dir, result.TempDir), 0o755); err != nil {
		return nil, fmt.Errorf("make the trial directory: %w", err)
	}
	return os.OpenFile(filepath.Join(dir, result.LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

// removeGroup removes the control group of a trial, as soon as the kernel has taken its processes out.
func removeGroup(dir string) {
	for range 50 {
		g := confine.Left(confine.NameOf(dir))
		if g == nil || g.Remove() == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// tidy removes the files of a trial that are not to be kept.
func (l *launcher) tidy(dir string) error {
	removeGroup(dir)
	if !l.Plan.Keep {
		return removeData(dir)
	}
	return errors.Join(server.Sweep(filepath.Join(dir, result.DataDir)), os.RemoveAll(filepath.Join(dir, result.TempDir)))
}

// exec runs the process to its end and passes its events on.
func (l *launcher) exec(ctx context.Context, e result.Entry, dir string, log *os.File, s *side,
	tidied <-chan struct{}) error {
	cmd, err := l.command(e, dir, log)
	if err != nil {
		return err
	}
	var cpus cpuset.Set
	event := l.Progress.Event
	if s != nil {
		defer s.leave()
		cpus, event = s.cpus, s.event
	}
	p, err := l.Start(cmd, cpus)
	if err != nil {
		return fmt.Errorf("start the trial: %w", err)
	}
	defer p.Input.Close()
	if s != nil {
		s.join(p.Input)
	}
	if l.Connect != nil && !strings.HasPrefix(e.Dir, ClientDir) {
		into := json.NewEncoder(p.Input)
		var turn sync.Mutex
		hear, leave := l.Connect(e.Dir, func(m divided.Message) {
			turn.Lock()
			defer turn.Unlock()
			_ = into.Encode(answer{Load: &m}) // one that has ended does not hear it
		}, func() {
			p.Input.Close()
			if _, part := PartOf(e.Dir); part { // it has nothing to tidy
				time.AfterFunc(partGrace, func() { _ = p.Signal(os.Kill) }) // unless it has ended
			}
		})
		defer leave()
		own := event
		event = func(v trial.Event) {
			if v.Load != nil {
				hear(*v.Load)
				return
			}
			own(v)
		}
	}
	stop := context.AfterFunc(ctx, func() {
		_ = p.Signal(syscall.SIGTERM)
		AskedAgain(tidied, time.After(Grace), func() { _ = p.Signal(os.Kill) }) // unless it has ended
	})
	defer stop()
	listen(p.Output, event)
	return p.Wait()
}

// Process is a process of a trial that runs.
type Process struct {
	Input  io.WriteCloser // it ends when this is closed, also when the campaign is killed
	Output io.Reader
	Signal func(os.Signal) error
	Wait   func() error // after the end of Output
}

func startProcess(cmd *exec.Cmd, cpus cpuset.Set) (*Process, error) {
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cpuset.Start(cmd, cpus)
	}
	return &Process{input, output, func(s os.Signal) error { return cmd.Process.Signal(s) }, cmd.Wait}, err
}

// AskedAgain kills what was asked to end when its time is over, nil: it has as long as it needs, or when the user
// asks again: later than a second, as programs like timeout signal both a process and its group.
// Until it has ended, such requests do not end the campaign itself.
func AskedAgain(ended <-chan struct{}, over <-chan time.Time, kill func()) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(again)
	for began := time.Now(); ; {
		select {
		case <-ended:
			return
		case <-again:
			if time.Since(began) < time.Second {
				continue
			}
		case <-over:
		}
		kill()
	}
}

// command returns the process of a trial.
func (l *launcher) command(e result.Entry, dir string, log *os.File) (*exec.Cmd, error) {
	temp, err := filepath.Abs(filepath.Join(dir, result.TempDir))
	if err != nil {
		return nil, err
	}
	program := ""
	if b := l.Builds.Of(e); b != nil {
		program = b.Path
	}
	args := append(slices.Clone(l.Child(program)), l.Dir, e.Dir)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = log
	// Engines sort on the same disk. The length of the environment shifts the stack, and with it the
	// speed of a program by some percent (Mytkowicz and others, ASPLOS 2009): one length is one sample.
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, server.Padding+strings.Repeat("x", rand.IntN(longestPad)))
	// A separate group: Ctrl-C reaches only the campaign, which asks the trial
	// to end in good order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = l.locked
	return cmd, nil
}

// longestPad is how much longer an environment may be: a page, so that all offsets in it occur.
const longestPad = 4096

// longestLine is the greatest length of a line between a campaign and a trial: the
// events of a step's end hold all of its numbers.
const longestLine = 32 << 20

// listen calls each for every line of JSON until the input ends.
func listen[T any](in io.Reader, each func(T)) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var v T
		if json.Unmarshal(lines.Bytes(), &v) == nil {
			each(v)
		}
	}
	_, _ = io.Copy(io.Discard, in) // a line too long must not block the other
}

// explain records the fate of a trial that ended without a result.
func (*launcher) explain(ctx context.Context, t *result.Trial, dir string, ended error) {
	now := time.Now()
	t.Ended = &now
	if ctx.Err() != nil {
		t.Status, t.Reason = result.Partial, "it was interrupted"
		return
	}
	t.Status = result.Failed
	where := ""
	if t.At != "" {
		where = " in step " + t.At
	}
	t.Reason = "its process ended" + where + " without a result"
	if exit, ok := errors.AsType[*exec.ExitError](ended); ok {
		t.Reason = "its process ended" + where + " with: " + exit.Error()
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
			t.Hint = "it was killed from outside, or by the kernel because the machine ran out of memory: see dmesg"
			if g := confine.Left(confine.NameOf(dir)); g != nil && g.Killed() {
				t.Reason += ": it needed more memory than memory: allows"
				t.Hint = "raise memory in the plan"
			}
		}
	} else if ended != nil {
		t.Reason = ended.Error()
	}
	if words := lastWords(filepath.Join(dir, result.LogFile)); words != "" {
		t.Reason += "; end of its log: " + words
		if strings.Contains(words, syscall.ENOSPC.Error()) {
			t.Hint = hint.Of(syscall.ENOSPC)
		}
	}
	if free, err := fsize.Free(dir); err == nil && free < roomForWords && t.Hint == "" {
		t.Reason += "; " + syscall.ENOSPC.Error()
		t.Hint = hint.Of(syscall.ENOSPC)
	}
}

// roomForWords is the free space on the disk with which a process can still log
// why it ended.
const roomForWords = 64 << 10

// mostWords is the end of a log that is searched.
const mostWords = 1 << 20

// lastWords returns the end of a process's log. For a Go panic it returns the
// beginning, which is more informative.
func lastWords(path string) string {
	b, err := regular.Tail(path, mostWords)
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(b))
	if i := strings.LastIndex(text, "panic: "); i >= 0 {
		text, _, _ = strings.Cut(text[i:], "\n")
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " | ")
}

// aside moves the files of an interrupted trial out of the way: its
// measurements are kept, its data is not.
func (l *launcher) aside(dir string) error {
	path := result.TrialPath(l.Dir, dir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !l.Plan.Keep {
		if err := removeData(path); err != nil {
			return err
		}
	}
	removeGroup(path)
	for n := 1; ; n++ {
		old := fmt.Sprintf("%s.partial%d", path, n)
		if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, old)
		}
	}
}

// removeData removes the data directories that a trial made in its own
// directory, after a server that still runs there has been ended.
func removeData(trialDir string) error {
	data := filepath.Join(trialDir, result.DataDir)
	return errors.Join(server.Sweep(data), os.RemoveAll(data), os.RemoveAll(filepath.Join(trialDir, result.TempDir)))
}
