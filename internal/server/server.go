// Package server runs real database servers on private directories: it finds
// the installed program, makes a data directory, writes the configuration,
// starts the server as an unprivileged user on a socket and a free port of its
// own, waits until it answers, and stops or kills it. A server never outlives
// the process that started it.
//
// It speaks no database protocol and knows no setting beyond where things are:
// engines give it the settings, and tell it when the server answers.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"rumbench/engine"
)

// Setting is a line of a server's configuration. A later one overrides an
// earlier one of the same name.
type Setting struct{ Name, Value string }

// Config says which server to start and how.
type Config struct {
	Kind   string // see Kinds
	Binary string // path of the server's program; "": the one that is installed
	// Dir is a private directory, which exists. What the server needs is made
	// in it, unless a server of the kind was started there before.
	Dir string
	// Log is the file that the server's messages are appended to; "" is
	// server.log in Dir.
	Log      string
	Settings []Setting
	// Ready makes a round trip of the server's protocol. It is called until it
	// succeeds or the server dies.
	Ready func(context.Context, Endpoint) error
}

// Endpoint is where a server listens.
type Endpoint struct {
	Socket string // path of the unix socket
	Port   int    // on 127.0.0.1
	User   string // who may do everything
	// Password is asked for at the port. At the socket nobody is asked: only
	// root and the server's user can get at it.
	Password string
}

// Server is a server that was started.
type Server struct {
	Config
	Program  Program
	endpoint Endpoint
	kind     kind
	owner    *owner // nil: this process's own user
	log      *os.File
	since    int64 // where this server's messages begin in the log
	made     bool  // the data was made by this start
	empty    map[engine.FileClass]int64
	cmd      *exec.Cmd

	done    chan struct{} // closed when the process has ended and was waited for
	ended   error         // how it ended, valid when done is closed
	mu      sync.Mutex
	stopped bool // we asked it to end
}

// startTime is how long a server may take until it answers: long enough for
// the recovery of a large database.
const startTime = 10 * time.Minute

// poll is how often a server is asked whether it is ready, or gone.
const poll = 20 * time.Millisecond

// Start starts a server and waits until it answers.
func Start(ctx context.Context, c Config) (*Server, error) {
	k, err := kindOf(c.Kind)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, kind: k, done: make(chan struct{})}
	if s.Program, err = Find(ctx, c.Kind, c.Binary); err != nil {
		return nil, err
	}
	// Where a process works is told without links.
	if s.Dir, err = filepath.EvalSymlinks(c.Dir); err != nil {
		return nil, fmt.Errorf("look at the data directory: %w", err)
	}
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.openLog(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		s.log.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes the directories, the configuration and the server's data.
func (s *Server) prepare(ctx context.Context) (err error) {
	if s.owner, err = newOwner(s.kind.user()); err != nil {
		return err
	}
	if err := s.owner.reaches(s.Dir); err != nil {
		return err
	}
	if err := waitGone(ctx, s.Dir); err != nil {
		return err
	}
	fresh, err := s.fresh()
	if err != nil {
		return err
	}
	for _, dir := range []string{s.runDir(), s.tempDir()} {
		if err := s.owner.makeDir(dir); err != nil {
			return err
		}
	}
	if s.endpoint, err = s.newEndpoint(); err != nil {
		return err
	}
	if s.endpoint.Password, err = s.password(); err != nil {
		return err
	}
	if err := s.kind.configure(s); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if !fresh {
		return s.kind.leftovers(s)
	}
	if err := s.owner.makeDir(s.DataDir()); err != nil {
		return err
	}
	if err := s.kind.makeData(ctx, s); err != nil {
		return fmt.Errorf("make the data directory of %s: %w", s.Kind, err)
	}
	s.made = true
	return nil
}

// fresh reports whether the data is still to be made. A directory that holds
// something else is refused.
func (s *Server) fresh() (bool, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return false, fmt.Errorf("look at the data directory: %w", err)
	}
	if len(entries) == 0 {
		return true, nil
	}
	if _, err := os.Stat(s.configFile()); err != nil {
		return false, fmt.Errorf("%s is not a directory of server %s: it holds %s, and no %s", s.Dir, s.Kind, entries[0].Name(), filepath.Base(s.configFile()))
	}
	if _, err := os.Stat(s.DataDir()); err != nil {
		return true, nil // it was not come to making the data
	}
	return false, nil
}

// What is where below Dir.
func (s *Server) configFile() string { return filepath.Join(s.Dir, s.Kind+".conf") }
func (s *Server) runDir() string     { return filepath.Join(s.Dir, "run") }
func (s *Server) tempDir() string    { return filepath.Join(s.Dir, "tmp") }

// DataDir returns the directory of the server's data.
func (s *Server) DataDir() string { return filepath.Join(s.Dir, "data") }

// Endpoint returns where it listens.
func (s *Server) Endpoint() Endpoint { return s.endpoint }

// PID returns the number of the server's process, of which all others descend.
func (s *Server) PID() int { return s.cmd.Process.Pid }

func (s *Server) openLog() (err error) {
	if s.Log == "" {
		s.Log = filepath.Join(s.Dir, "server.log")
	}
	if s.log, err = os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	info, err := s.log.Stat()
	if err != nil {
		s.log.Close()
		return err
	}
	s.since = info.Size()
	return nil
}

// begin starts the process and waits until it answers.
func (s *Server) begin(ctx context.Context) error {
	s.cmd = s.kind.command(s)
	s.cmd.Dir = s.DataDir()
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr = s.owner.attributes()
	s.cmd.SysProcAttr.Setsid = true // Ctrl-C is for rumbench, which stops the server itself
	if err := s.launch(); err != nil {
		return fmt.Errorf("start %s: %w", s.Program.Path, err)
	}
	if err := s.await(ctx); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// launch starts the process from a thread that lives as long as it does: the
// kernel kills the server when that thread ends, however this process dies.
func (s *Server) launch() error {
	s.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		s.ended = s.cmd.Wait()
		close(s.done)
	}()
	return <-started
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := s.Ready(ctx, s.endpoint)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return &DiedError{Doing: "start " + s.Program.Name(), How: s.ended, Words: s.words()}
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to answer: %w; its last answer: %w", s.Program.Name(), ctx.Err(), err)
		case <-time.After(poll):
		}
	}
}

// Died tells how a server ended that nobody asked to; nil while it runs.
func (s *Server) Died() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		if s.stopped {
			return nil
		}
		return &DiedError{Doing: s.Program.Name() + " ended", How: s.ended, Words: s.words()}
	default:
		return nil
	}
}

// Wait waits a moment for a server that may be dying to have ended.
func (s *Server) Wait(atMost time.Duration) {
	select {
	case <-s.done:
	case <-time.After(atMost):
	}
}

// stopTime is how long a server may take to stop: it may have all of its cache to write.
const stopTime = 10 * time.Minute

// Stop ends the server in good order: what it holds in memory is written. A
// server that has ended already, or that does not end in time and has to be
// killed, is an error.
func (s *Server) Stop() error {
	s.mu.Lock()
	again := s.stopped
	s.mu.Unlock()
	if again {
		return nil
	}
	if err := s.Died(); err != nil {
		s.Kill()
		return err
	}
	defer s.log.Close()
	if !s.askUntilDone() {
		s.Kill()
		return fmt.Errorf("%s did not stop within %v and was killed", s.Program.Name(), stopTime)
	}
	waitGone(context.Background(), s.Dir)
	var exit *exec.ExitError
	if errors.As(s.ended, &exit) {
		return &DiedError{Doing: "stop " + s.Program.Name(), How: s.ended, Words: s.words()}
	}
	return nil
}

// askUntilDone asks the server to end, again and again: one that has only just
// begun to answer may not hear it yet.
func (s *Server) askUntilDone() bool {
	deadline := time.After(stopTime)
	for {
		s.ask(s.kind.stopSignal())
		select {
		case <-s.done:
			return true
		case <-deadline:
			return false
		case <-time.After(time.Second):
		}
	}
}

// Kill ends the server and all of its processes at once, as a crash would, and
// waits until they are gone.
func (s *Server) Kill() {
	family := descendants(s.PID())
	s.ask(syscall.SIGKILL)
	for _, pid := range family {
		if worksFor(pid, s.Dir) { // the number may be another's by now
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-s.done
	waitGone(context.Background(), s.Dir)
	_ = s.kind.leftovers(s)
	s.log.Close()
}

func (s *Server) ask(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	_ = s.cmd.Process.Signal(sig) // it may have ended just now
}
